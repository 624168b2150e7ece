import { capitalOf, holdingOf, splitPair } from '../engine/book/book.ts'
import {
  describeStranger,
  ROW_MOVES,
  type WhatIfQuery,
  type WhatIfView,
} from '../control/what-if-view.ts'
import {
  computeScenario,
  findFirstLiquidation,
  type FirstLiquidation,
  type MoveScenario,
  type ScenarioAccount,
  type ScenarioInstrument,
  type ScenarioOutcome,
} from '../risk/scenario.ts'
import { isFlat } from '../domain/position.ts'
import { showOnGrid } from '../lib/grid.ts'
import { toAmount } from './money-figures.ts'
import { viewProfit } from './money-view.ts'
import {
  clean,
  drawCurve,
  findBoth,
  type FoundLiquidation,
  moveAll,
  SEARCH_MOVE,
} from './move-curve.ts'
import { pictureAccount } from './scenario-account.ts'
import type { ShownAccount } from './shown-account.ts'

export async function viewWhatIf(
  shown: ShownAccount,
  query: WhatIfQuery,
  rest: Rest,
): Promise<WhatIfView> {
  const { account, prices, notCounted } = pictureAccount(shown, equityBooked(shown))
  const { fill } = query
  const moves = new Map(
    [...moveAll(account, query.move)].map(([symbol, move]) => [
      symbol,
      query.moves.get(symbol) ?? move,
    ]),
  )
  const strangers = [...query.moves.keys()].filter(
    (symbol) => !shown.settings.instruments.has(symbol),
  )
  const first = findFirstLiquidation(account, { moves, fill })
  await rest()
  const curve = await finish(drawCurve(account), rest)
  const [down, up] = await finish(findBoth(account, fill), rest)
  return {
    name: shown.config.name,
    coin: shown.config.account.marginCoin,
    equity: amountOf(account.equity),
    prices: Object.fromEntries(prices),
    notCounted: [...notCounted, ...describeExits(shown), ...strangers.map(describeStranger)],
    scenario: viewScenario(account, { moves, fill }, first),
    rows: ROW_MOVES.map((move) => ({
      move,
      ...viewOutcome(computeScenario(account, { moves: moveAll(account, move), fill }), {
        first: move < 0 ? down : up,
        share: Math.abs(move) / SEARCH_MOVE,
      }),
    })),
    curve,
  }
}

/** A scenario has no path, so nothing can be triggered in it. */
function describeExits({ book, grids, settings }: ShownAccount): readonly string[] {
  const kept = [...book.exits].map(([key, { stopLossTicks, takeProfitTicks }]) => {
    const [symbol, side] = splitPair(key)
    const tick = grids.get(symbol)?.tick
    const at = (name: string, ticks: number | undefined): readonly string[] =>
      ticks === undefined || tick === undefined ? [] : [`${name} at ${showOnGrid(tick, ticks)}`]
    const both = [...at('the stop-loss', stopLossTicks), ...at('the take-profit', takeProfitTicks)]
    return `${symbol} ${side}: ${both.join(' and ')} that the exchange keeps`
  })
  const own = [...settings.instruments.keys()].flatMap((symbol) => {
    const holders = [...settings.strategies].filter(
      ([id, { exits }]) => exits !== undefined && !isFlat(holdingOf(book, id, symbol)),
    )
    if (holders.length === 0) return []
    const ids = holders.map(([id]) => id).join(', ')
    return [`${symbol}: the exits of ${ids}`]
  })
  return [...kept, ...own]
}

/** Long work pauses, so that prices need not wait. */
export type Rest = () => Promise<void>

async function finish<Result>(work: Generator<void, Result>, rest: Rest): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await rest()
  }
}

function viewOutcome(
  { equity, need, free, marginRatio, ...outcome }: ScenarioOutcome,
  { first, share }: { readonly first: FoundLiquidation; readonly share: number },
) {
  const isOnTheWay = typeof first === 'object' && first.share <= share
  return {
    equity: amountOf(equity),
    change: toAmount(outcome.change).toString(),
    need: amountOf(need),
    free: amountOf(free),
    marginRatio: Number.isFinite(marginRatio) ? marginRatio : null,
    isLiquidated: outcome.isLiquidated || isOnTheWay,
  }
}

function viewScenario(
  account: ScenarioAccount,
  scenario: MoveScenario,
  first: FoundLiquidation,
): WhatIfView['scenario'] {
  const outcome = computeScenario(account, scenario)
  const { filled, realised, fees, funding, positions } = outcome
  return {
    moves: Object.fromEntries(scenario.moves),
    fill: scenario.fill,
    filled,
    realised: toAmount(realised).toString(),
    fees: toAmount(fees).toString(),
    funding: toAmount(funding).toString(),
    ...viewOutcome(outcome, { first, share: 1 }),
    liquidation: typeof first === 'object' ? viewLiquidation(account, first) : null,
    positions: positions.map(
      ({ symbol, holdSide, size, entryPrice, price, worth, profit, need }) => ({
        symbol,
        side: holdSide,
        size: clean(size),
        entryPrice: clean(entryPrice),
        price: clean(price),
        worth: toAmount(worth).toString(),
        profit: toAmount(profit).toString(),
        need: amountOf(need),
      }),
    ),
  }
}

function viewLiquidation({ instruments }: ScenarioAccount, { moves }: FirstLiquidation) {
  const priceThere = ({ symbol, price }: ScenarioInstrument): [string, number] => [
    symbol,
    clean(price * (1 + (moves.get(symbol) ?? 0))),
  ]
  const moved = instruments.filter(({ symbol }) => (moves.get(symbol) ?? 0) !== 0)
  return { moves: Object.fromEntries(moves), prices: Object.fromEntries(moved.map(priceThere)) }
}

function amountOf(value: number): string | null {
  return Number.isFinite(value) ? toAmount(value).toString() : null
}

function equityBooked(shown: ShownAccount): number {
  const { engine, state } = shown
  const capital = capitalOf(shown)
  const known = engine.equityNow
  if (known) return known.equity
  if (state !== 'atRest' || capital === undefined) return Number.NaN
  const { realised, fees, funding } = viewProfit(shown).total
  return Number(capital.toString()) + Number(realised) - Number(fees) + Number(funding ?? 0)
}
