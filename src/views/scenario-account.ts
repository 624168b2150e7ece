import type { DaemonConfig } from '../config/load-config.ts'
import { isInverse } from '../domain/instrument.ts'
import { openLots } from '../domain/order.ts'
import { isFlat, type HoldSide } from '../domain/position.ts'
import { openOrdersOf } from '../engine/book/book.ts'
import { floatOnGrid } from '../lib/grid.ts'
import {
  computeScenario,
  type ScenarioAccount,
  type ScenarioInstrument,
  type ScenarioLeg,
  sortByReach,
} from '../risk/scenario.ts'
import { viewEntry } from './account-view.ts'
import type { ShownAccount, StoredPrice } from './shown-account.ts'

export type PicturedAccount = Pick<
  ShownAccount,
  'settings' | 'book' | 'engine' | 'state' | 'tickers' | 'storedPrices' | 'positions'
> & { readonly config: Pick<DaemonConfig, 'risk' | 'simulator'> }

export interface AccountPicture {
  readonly account: ScenarioAccount
  readonly prices: ReadonlyMap<string, StoredPrice>
  readonly notCounted: readonly string[]
}

/**
 * @param booked equity when positions were last compared; at rest without what is held; NaN if not
 * known
 */
export function pictureAccount(shown: PicturedAccount, booked: number): AccountPicture {
  const { settings, book, engine } = shown
  const notCounted: string[] = []
  const prices = new Map<string, StoredPrice>()
  const instruments = [...settings.instruments.keys()].flatMap(
    (symbol): readonly ScenarioInstrument[] => {
      const orders = [...openOrdersOf(book, symbol)]
      const held = book.account.get(symbol) ?? NOTHING
      if (isFlat(held) && orders.length === 0) return []
      const price = priceOf(shown, symbol)
      if (price === undefined) {
        notCounted.push(`${symbol}: no price of it is known`)
        return []
      }
      prices.set(symbol, price)
      const legs = legsOf(shown, symbol)
      const pictured = pictureInstrument(shown, symbol, { price: price.price, legs })
      if (pictured.rules === undefined)
        notCounted.push(`${symbol}: its maintenance margin (instruments.${symbol}.maintenance)`)
      if (Number.isNaN(pictured.fundingRate)) notCounted.push(`${symbol}: its next funding`)
      if (legs.length < Math.sign(held.longLots) + Math.sign(held.shortLots))
        notCounted.push(`${symbol}: a position of it, since it is not known what was paid for it`)
      if (legs.some(({ margin = 0 }) => Number.isNaN(margin)))
        notCounted.push(`${symbol}: the margin that it has set aside (account.leverage)`)
      const { marginMode } = engine.instrument(symbol)?.setup ?? {}
      if (marginMode !== undefined && marginMode !== settings.marginMode)
        notCounted.push(`${symbol}: that it is held in ${marginMode} margin`)
      return [pictured]
    },
  )
  const equity = equityAt(shown, booked, instruments)
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

/** The price is limited to bid and ask, as in our own figures. */
function priceOf(
  { tickers, storedPrices }: PicturedAccount,
  symbol: string,
): StoredPrice | undefined {
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
  shown: PicturedAccount,
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

function leverageOf({ settings, engine, config }: PicturedAccount, symbol: string): number {
  const configured =
    settings.instruments.get(symbol)?.leverage ?? engine.instrument(symbol)?.setup.leverage
  return Number(configured ?? config.simulator?.leverage ?? Number.NaN)
}

function legsOf(shown: PicturedAccount, symbol: string): readonly ScenarioLeg[] {
  const { settings, book, positions } = shown
  const { longLots, shortLots } = book.account.get(symbol) ?? NOTHING
  const spec = settings.instruments.get(symbol)
  const toLeg = (holdSide: HoldSide, lots: number): readonly ScenarioLeg[] => {
    if (spec === undefined || lots === 0) return []
    const row = positions.get(symbol)?.rows.find((one) => one.holdSide === holdSide)
    const stated = row && Number.isFinite(row.openPriceAvg) ? row.openPriceAvg : null
    const grids = settings.instruments
    const { entryPrice } = viewEntry({ book, grids }, { symbol, side: holdSide, stated })
    if (entryPrice === null) return []
    const size = floatOnGrid(spec.lot, lots)
    if (settings.marginMode === 'crossed') return [{ holdSide, size, entryPrice }]
    const worth = isInverse(spec) ? size : size * entryPrice
    const margin = row?.margin ?? worth / leverageOf(shown, symbol)
    return [{ holdSide, size, entryPrice, margin }]
  }
  return [...toLeg('long', longLots), ...toLeg('short', shortLots)]
}

function equityAt(
  shown: PicturedAccount,
  booked: number,
  instruments: readonly ScenarioInstrument[],
): number {
  const { engine, state } = shown
  return instruments.reduce((sum, instrument) => {
    const { positions } = computeScenario(asAlone(shown, instrument), {
      moves: new Map(),
      fill: 'none',
    })
    const profit = positions.reduce((whole, position) => whole + position.profit, 0)
    // The booked equity counts it already, at earlier prices.
    const counted = engine.unrealisedOn(instrument.symbol)
    if (state === 'atRest' || instrument.legs.length === 0) return sum + profit
    return Number.isNaN(counted) ? sum : sum + profit - counted
  }, booked)
}

function asAlone({ settings }: PicturedAccount, instrument: ScenarioInstrument): ScenarioAccount {
  const { positionMode, marginMode } = settings
  return {
    equity: 0,
    positionMode,
    isIsolated: marginMode === 'isolated',
    instruments: [instrument],
  }
}
