import { CURVE_PERCENT, ROW_MOVES, type WhatIfQuery, type WhatIfView } from '../../control/what-if-view.ts'
import type { PositionView } from '../../control/views.ts'
import { isInverse } from '../../domain/instrument.ts'
import { openLots } from '../../domain/order.ts'
import { isFlat } from '../../domain/position.ts'
import { openOrdersOf } from '../../engine/book/book.ts'
import { floatOnGrid } from '../../lib/grid.ts'
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
} from '../../risk/scenario.ts'
import type { ShownAccount, StoredPrice } from '../account/shown-account.ts'
import { toAmount } from '../reporting/money-figures.ts'
import { viewPositions } from './account-view.ts'
import { viewProfit } from './money-view.ts'

type Moves = ReadonlyMap<string, number>

/** An account as scenarios look at it, and what of it is not known, in words. */
interface Pictured {
  readonly account: ScenarioAccount
  readonly prices: ReadonlyMap<string, StoredPrice>
  readonly notCounted: readonly string[]
}

/** What an account would hold, be worth and have left under a scenario. A daemon that runs and a journal at rest give the same. */
export function viewWhatIf(shown: ShownAccount, query: WhatIfQuery): WhatIfView {
  const { account, prices, notCounted } = picture(shown)
  const all = (move: number): Moves => new Map(account.instruments.map(({ symbol }) => [symbol, move]))
  const moves = new Map(
    [...all(query.move)].map(([symbol, move]) => [symbol, query.moves.get(symbol) ?? move]),
  )
  const strangers = [...query.moves.keys()].filter((symbol) => !shown.settings.instruments.has(symbol))
  const view = (scenario: Scenario) => {
    const first = findFirstLiquidation(account, scenario)
    return { first, outcome: computeScenario(account, scenario) }
  }
  const asked = view({ moves, fill: query.fill })
  const [down, up] = [-1, 1].map((side) =>
    findFirstLiquidation(account, { moves: all(side / 10), fill: query.fill }),
  )
  return {
    name: shown.config.name,
    coin: shown.config.account.marginCoin,
    equity: amountOf(account.equity),
    prices: Object.fromEntries(prices),
    notCounted: [
      ...notCounted,
      ...strangers.map((symbol) => `${symbol} is not an instrument of this account`),
    ],
    scenario: viewScenario(account, { moves, fill: query.fill }, asked),
    rows: ROW_MOVES.map((move) => ({
      move,
      ...viewOutcome(computeScenario(account, { moves: all(move), fill: query.fill }), {
        first: move < 0 ? down : up,
        share: Math.abs(move) * 10,
      }),
    })),
    curve: drawCurve(account, all),
  }
}

/** @param share How far the scenario goes on the way of the first liquidation. */
function viewOutcome(
  { equity, need, free, used, ...outcome }: ScenarioOutcome,
  {
    first = 'none',
    share,
  }: { readonly first: ReturnType<typeof findFirstLiquidation> | undefined; readonly share: number },
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
  { moves, fill }: Scenario,
  {
    first,
    outcome,
  }: { readonly first: ReturnType<typeof findFirstLiquidation>; readonly outcome: ScenarioOutcome },
): WhatIfView['scenario'] {
  const { filled, realised, fees, funding, positions } = outcome
  return {
    moves: Object.fromEntries(moves),
    fill,
    filled,
    realised: toAmount(realised).toString(),
    fees: toAmount(fees).toString(),
    funding: toAmount(funding).toString(),
    ...viewOutcome(outcome, { first, share: 1 }),
    liquidation: typeof first === 'object' ? viewLiquidation(account, first) : null,
    positions: positions.map(({ symbol, holdSide, size, entryPrice, price, worth, profit, need }) => ({
      symbol,
      side: holdSide,
      size: clean(size),
      entryPrice: clean(entryPrice),
      price: clean(price),
      worth: toAmount(worth).toString(),
      profit: toAmount(profit).toString(),
      need: amountOf(need),
    })),
  }
}

function viewLiquidation({ instruments }: ScenarioAccount, { moves }: FirstLiquidation) {
  const priceOf = ({ symbol, price }: ScenarioInstrument): [string, number] => [
    symbol,
    clean(price * (1 + (moves.get(symbol) ?? 0))),
  ]
  const moved = instruments.filter(({ symbol }) => (moves.get(symbol) ?? 0) !== 0)
  return { moves: Object.fromEntries(moves), prices: Object.fromEntries(moved.map(priceOf)) }
}

function drawCurve(account: ScenarioAccount, all: (move: number) => Moves): WhatIfView['curve'] {
  const moves = Array.from({ length: 2 * CURVE_PERCENT + 1 }, (_, index) => (index - CURVE_PERCENT) / 100)
  const equities = (fill: FillRule) =>
    moves.map((move) => {
      const { equity } = computeScenario(account, { moves: all(move), fill })
      return Number.isNaN(equity) ? null : clean(equity)
    })
  const liquidations = (fill: FillRule) =>
    [-1, 1].flatMap((side) => {
      const first = findFirstLiquidation(account, { moves: all(side / 10), fill })
      return typeof first === 'object' ? [clean((first.share * side) / 10)] : []
    })
  return {
    moves,
    none: equities('none'),
    reached: equities('reached'),
    liquidations: { none: liquidations('none'), reached: liquidations('reached') },
  }
}

/** Twelve digits that count: what a float has beyond them is noise. */
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
  const instruments = [...settings.instruments.keys()].flatMap((symbol): readonly ScenarioInstrument[] => {
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
  })
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

/** As our own figures value what is held: the last price, inside bid and ask. */
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
    takerFeeRate: rules?.takerFeeRate ?? (liquidation === 'none' ? 0 : Number(liquidation.takerFeeRate)),
    fundingRate: tickers?.read(symbol, 'fundingRate') ?? Number.NaN,
    leverage: leverageOf(shown, symbol),
  }
}

function leverageOf({ settings, engine, config }: ShownAccount, symbol: string): number {
  const configured = settings.instruments.get(symbol)?.leverage ?? engine.instrument(symbol)?.setup.leverage
  return Number(configured ?? config.simulator?.leverage ?? Number.NaN)
}

function toLeg(shown: ShownAccount, { symbol, side, ...view }: PositionView): readonly ScenarioLeg[] {
  if (side === 'flat' || view.entryPrice === null) return []
  const size = Number(view.size)
  const leg = { holdSide: side, size, entryPrice: view.entryPrice }
  const spec = shown.settings.instruments.get(symbol)
  if (spec === undefined || shown.settings.marginMode === 'crossed') return [leg]
  const stated = shown.positions.get(symbol)?.rows.find(({ holdSide }) => holdSide === side)?.margin
  const worth = isInverse(spec) ? size : size * view.entryPrice
  return [{ ...leg, margin: stated ?? worth / leverageOf(shown, symbol) }]
}

/** The equity at these prices: NaN while a part of it is not known. */
function equityAt(shown: ShownAccount, instruments: readonly ScenarioInstrument[]): number {
  const { engine, settings, state } = shown
  const profits = instruments.reduce((sum, instrument) => {
    const { positions } = computeScenario(asAlone(shown, instrument), { moves: new Map(), fill: 'none' })
    const profit = positions.reduce((whole, position) => whole + position.profit, 0)
    // What the equity counts already, at the prices of when the position was compared.
    const counted = engine.unrealisedOn(instrument.symbol)
    if (state === 'atRest' || instrument.legs.length === 0) return sum + profit
    return Number.isNaN(counted) ? sum : sum + profit - counted
  }, 0)
  if (engine.equity) return engine.equity.equity + profits
  if (state !== 'atRest' || settings.capital === undefined) return Number.NaN
  const { realised, fees, funding } = viewProfit(shown).total
  return (
    Number(settings.capital.toString()) + Number(realised) - Number(fees) + Number(funding ?? 0) + profits
  )
}

function asAlone({ settings }: ShownAccount, instrument: ScenarioInstrument): ScenarioAccount {
  const { positionMode, marginMode } = settings
  return { equity: 0, positionMode, isIsolated: marginMode === 'isolated', instruments: [instrument] }
}
