import { DELIVERY_STATES } from '../../domain/ticker-table.ts'
import { type MarketSight } from '../../domain/seen-market.ts'
import { type RiskMarket } from '../../risk/risk-context.ts'
import { type Core, exchangeNow } from './core.ts'

/** The market of an instrument as risk and the planner look at it; everything NaN where there is no row. */
export function marketOf(core: Core, symbol: string): RiskMarket {
  const { tickers } = core
  if (!tickers || tickers.rowOf(symbol) < 0) {
    return {
      bid: Number.NaN,
      ask: Number.NaN,
      last: Number.NaN,
      ageMs: Number.POSITIVE_INFINITY,
      deliveryState: undefined,
    }
  }
  const rowAgeMs = exchangeNow(core) - tickers.read(symbol, 'ts')
  return {
    bid: tickers.read(symbol, 'bidPr'),
    ask: tickers.read(symbol, 'askPr'),
    last: tickers.read(symbol, 'lastPr'),
    ageMs: Math.max(core.now - tickers.readAt, Number.isNaN(rowAgeMs) ? Number.POSITIVE_INFINITY : rowAgeMs),
    deliveryState: DELIVERY_STATES[tickers.read(symbol, 'deliveryStatus')],
  }
}

/** Until when what is decided on the present prices may be sent: Unix ms, our clock (MKT1). */
export function freshUntil(core: Core, symbol: string): number {
  const { ageMs } = marketOf(core, symbol)
  return Number.isFinite(ageMs) ? core.now + core.settings.limits.dataAgeMaxMs - ageMs : 0
}

/** What a record keeps of it: numbers only, 0 where there is none. */
export function sightOf(core: Core, symbol: string): MarketSight {
  const { bid, ask, ageMs } = marketOf(core, symbol)
  const orZero = (value: number): number => (Number.isFinite(value) ? value : 0)
  return { bid: orZero(bid), ask: orZero(ask), ageMs: orZero(ageMs) }
}
