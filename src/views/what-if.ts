import { ROW_MOVES, type WhatIfQuery, type WhatIfView } from '../control/what-if-view.ts'
import type { PositionView } from '../control/views.ts'
import { isInverse } from '../domain/instrument.ts'
import { openLots } from '../domain/order.ts'
import { isFlat } from '../domain/position.ts'
import { openOrdersOf } from '../engine/book/book.ts'
import { floatOnGrid } from '../lib/grid.ts'
import {
  computeScenario,
  type FillRule,
  findFirstLiquidation,
  type FirstLiquidation,
  type Scenario,
  type ScenarioAccount,
  type ScenarioInstrument,
  type ScenarioLeg,
  type ScenarioOutcome,
  sortByReach,
} from '../risk/scenario.ts'
import type { ShownAccount, StoredPrice } from './shown-account.ts'
import { toAmount } from './money-figures.ts'
import { viewPositions } from './account-view.ts'
import { viewProfit } from './money-view.ts'

/** From -30 % to 30 %. */
const CURVE_STEP = 2
const CURVE_POINTS = 15

type Moves = ReadonlyMap<string, number>

/** An account for scenarios, and its unknown parts in words. */
interface Pictured {
  readonly account: ScenarioAccount
  readonly prices: ReadonlyMap<string, StoredPrice>
  readonly notCounted: readonly string[]
}

/** A running daemon and a journal at rest give the same result. */
export async function viewWhatIf(
  shown: ShownAccount,
  query: WhatIfQuery,
  rest: Rest,
): Promise<WhatIfView> {
  const { account, prices, notCounted } = picture(shown)
  const { fill } = query
  const all = (move: number): Moves =>
    new Map(account.instruments.map(({ symbol }) => [symbol, move]))
  const moves = new Map(
    [...all(query.move)].map(([symbol, move]) => [symbol, query.moves.get(symbol) ?? move]),
  )
  const strangers = [...query.moves.keys()].filter(
    (symbol) => !shown.settings.instruments.has(symbol),
  )
  const first = findFirstLiquidation(account, { moves, fill })
  await rest()
  const curve = await drawCurve(account, all, rest)
  const [down, up] = await findBoth(account, { all, fill, rest })
  return {
    name: shown.config.name,
    coin: shown.config.account.marginCoin,
    equity: amountOf(account.equity),
    prices: Object.fromEntries(prices),
    notCounted: [
      ...notCounted,
      ...strangers.map((symbol) => `${symbol} is not an instrument of this account`),
    ],
    scenario: viewScenario(account, { moves, fill }, first),
    rows: ROW_MOVES.map((move) => ({
      move,
      ...viewOutcome(computeScenario(account, { moves: all(move), fill }), {
        first: move < 0 ? down : up,
        share: Math.abs(move) / MOVE_STEP,
      }),
    })),
    curve,
  }
}

/** Called between parts of long work, so that prices are not delayed. */
export type Rest = () => Promise<void>

/** Direction of the search for the first liquidations. */
const MOVE_STEP = 0.1

interface BothWays {
  readonly all: (move: number) => Moves
  readonly fill: FillRule
  readonly rest: Rest
}

async function findBoth(account: ScenarioAccount, { all, fill, rest }: BothWays) {
  const down = findFirstLiquidation(account, { moves: all(-MOVE_STEP), fill })
  await rest()
  const up = findFirstLiquidation(account, { moves: all(MOVE_STEP), fill })
  await rest()
  return [down, up] as const
}

type First = ReturnType<typeof findFirstLiquidation>

/** @param share position of the scenario on the way to the first liquidation */
function viewOutcome(
  { equity, need, free, used, ...outcome }: ScenarioOutcome,
  { first, share }: { readonly first: First; readonly share: number },
) {
  const isOnTheWay = typeof first === 'object' && first.share <= share
  return {
    equity: amountOf(equity),
    change: toAmount(outcome.change).toString(),
    need: amountOf(need),
    free: amountOf(free),
    used: Number.isFinite(used) ? used : null,
    isLiquidated: outcome.isLiquidated || isOnTheWay,
  }
}

function viewScenario(
  account: ScenarioAccount,
  scenario: Scenario,
  first: First,
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

async function drawCurve(
  account: ScenarioAccount,
  all: (move: number) => Moves,
  rest: Rest,
): Promise<WhatIfView['curve']> {
  const moves = Array.from(
    { length: 2 * CURVE_POINTS + 1 },
    (_, index) => ((index - CURVE_POINTS) * CURVE_STEP) / 100,
  )
  const draw = async (fill: FillRule) => {
    const equities = moves.map((move) => {
      const { equity } = computeScenario(account, { moves: all(move), fill })
      return Number.isNaN(equity) ? null : clean(equity)
    })
    await rest()
    const both = await findBoth(account, { all, fill, rest })
    const liquidations = both.flatMap((first, index) =>
      typeof first === 'object' ? [clean(first.share * MOVE_STEP * (index === 0 ? -1 : 1))] : [],
    )
    return { equities, liquidations }
  }
  const [none, reached] = [await draw('none'), await draw('reached')]
  return {
    moves,
    none: none.equities,
    reached: reached.equities,
    liquidations: { none: none.liquidations, reached: reached.liquidations },
  }
}

/** Twelve significant digits remove float noise. */
function clean(value: number): number {
  return Number(value.toPrecision(12))
}

function amountOf(value: number): string | null {
  return Number.isFinite(value) ? toAmount(value).toString() : null
}

function picture(shown: ShownAccount): Pictured {
  const { settings, book } = shown
  const notCounted: string[] = []
  const prices = new Map<string, StoredPrice>()
  const positions = viewPositions(shown)
  const instruments = [...settings.instruments.keys()].flatMap(
    (symbol): readonly ScenarioInstrument[] => {
      const orders = [...openOrdersOf(book, symbol)]
      if (isFlat(book.account.get(symbol) ?? NOTHING) && orders.length === 0) return []
      const price = priceOf(shown, symbol)
      if (price === undefined) {
        notCounted.push(`${symbol}: no price of it is known`)
        return []
      }
      prices.set(symbol, price)
      const views = positions.filter((view) => view.symbol === symbol)
      const legs = views.flatMap((view) => toLeg(shown, view))
      const pictured = pictureInstrument(shown, symbol, { price: price.price, legs })
      if (pictured.rules === undefined)
        notCounted.push(`${symbol}: its maintenance margin (instruments.${symbol}.maintenance)`)
      if (Number.isNaN(pictured.fundingRate)) notCounted.push(`${symbol}: its next funding`)
      if (views.some(({ side, entryPrice }) => side !== 'flat' && entryPrice === null))
        notCounted.push(`${symbol}: a position of it, since it is not known what was paid for it`)
      if (legs.some(({ margin = 0 }) => Number.isNaN(margin)))
        notCounted.push(`${symbol}: the margin that it has set aside (account.leverage)`)
      return [pictured]
    },
  )
  const equity = equityAt(shown, instruments)
  if (Number.isNaN(equity))
    notCounted.push(
      settings.capital === undefined
        ? 'the equity: account.capital is not set'
        : 'the equity: a part of it is not known just now',
    )
  const { positionMode, marginMode } = settings
  const account = { equity, positionMode, isIsolated: marginMode === 'isolated', instruments }
  return { account, prices, notCounted }
}

const NOTHING = { longLots: 0, shortLots: 0 }

/** The valuation of our own figures: the last price, limited to bid and ask. */
function priceOf({ tickers, storedPrices }: ShownAccount, symbol: string): StoredPrice | undefined {
  if (tickers === undefined) return storedPrices?.get(symbol)
  const [bid, ask, last] = [
    tickers.read(symbol, 'bidPr'),
    tickers.read(symbol, 'askPr'),
    tickers.read(symbol, 'lastPr'),
  ]
  const price = bid > 0 && ask >= bid ? Math.min(Math.max(last, bid), ask) : last
  return price > 0 && Number.isFinite(price) ? { price, at: Math.round(tickers.readAt) } : undefined
}

function pictureInstrument(
  shown: ShownAccount,
  symbol: string,
  now: Pick<ScenarioInstrument, 'price' | 'legs'>,
): ScenarioInstrument {
  const { settings, book, tickers, config } = shown
  const spec = settings.instruments.get(symbol)
  if (spec === undefined) throw new Error(`${symbol} is not configured`)
  const rules = settings.liquidation?.rules.get(symbol)
  const { liquidation } = config.risk
  const orders = [...openOrdersOf(book, symbol)].map((order) => ({
    action: order.terms.action,
    size: floatOnGrid(spec.lot, openLots(order)),
    price: order.terms.ticks === undefined ? undefined : floatOnGrid(spec.tick, order.terms.ticks),
  }))
  return {
    symbol,
    isInverse: isInverse(spec),
    ...now,
    orders: sortByReach(orders, now.price),
    rules,
    takerFeeRate:
      rules?.takerFeeRate ?? (liquidation === 'none' ? 0 : Number(liquidation.takerFeeRate)),
    fundingRate: tickers?.read(symbol, 'fundingRate') ?? Number.NaN,
    leverage: leverageOf(shown, symbol),
  }
}

function leverageOf({ settings, engine, config }: ShownAccount, symbol: string): number {
  const configured =
    settings.instruments.get(symbol)?.leverage ?? engine.instrument(symbol)?.setup.leverage
  return Number(configured ?? config.simulator?.leverage ?? Number.NaN)
}

function toLeg(
  shown: ShownAccount,
  { symbol, side, ...view }: PositionView,
): readonly ScenarioLeg[] {
  if (side === 'flat' || view.entryPrice === null) return []
  const size = Number(view.size)
  const leg = { holdSide: side, size, entryPrice: view.entryPrice }
  const spec = shown.settings.instruments.get(symbol)
  if (spec === undefined || shown.settings.marginMode === 'crossed') return [leg]
  const stated = shown.positions.get(symbol)?.rows.find(({ holdSide }) => holdSide === side)?.margin
  const worth = isInverse(spec) ? size : size * view.entryPrice
  return [{ ...leg, margin: stated ?? worth / leverageOf(shown, symbol) }]
}

/** NaN while a part is unknown. */
function equityAt(shown: ShownAccount, instruments: readonly ScenarioInstrument[]): number {
  const { engine, settings, state } = shown
  const profits = instruments.reduce((sum, instrument) => {
    const { positions } = computeScenario(asAlone(shown, instrument), {
      moves: new Map(),
      fill: 'none',
    })
    const profit = positions.reduce((whole, position) => whole + position.profit, 0)
    // The equity already counts it, at earlier prices.
    const counted = engine.unrealisedOn(instrument.symbol)
    if (state === 'atRest' || instrument.legs.length === 0) return sum + profit
    return Number.isNaN(counted) ? sum : sum + profit - counted
  }, 0)
  if (engine.equity) return engine.equity.equity + profits
  if (state !== 'atRest' || settings.capital === undefined) return Number.NaN
  const { realised, fees, funding } = viewProfit(shown).total
  return (
    Number(settings.capital.toString()) +
    Number(realised) -
    Number(fees) +
    Number(funding ?? 0) +
    profits
  )
}

function asAlone({ settings }: ShownAccount, instrument: ScenarioInstrument): ScenarioAccount {
  const { positionMode, marginMode } = settings
  return {
    equity: 0,
    positionMode,
    isIsolated: marginMode === 'isolated',
    instruments: [instrument],
  }
}
