import { decimal, ZERO } from '../../../lib/decimal.ts'
import { larger, negated } from '../../wallet/rounding.ts'
import { accountOf, type CoreState, type SymbolState } from '../core-state.ts'
import { bookFor, coverDebt } from './settle-trade.ts'
import { marginValue, updateFloats, type Position } from './position.ts'
import { POSITIONS } from '../stored-entities.ts'

/** Every 8 hours of the exchange's clock: 00, 08 and 16 UTC. */
const FUNDING_EVERY_MS = 8 * 3_600_000

/** The rate is settled with this many decimals: a hundred-millionth of the value. */
const RATE_DECIMALS = 8

export function nextFundingAfter(now: number): number {
  return (Math.floor(now / FUNDING_EVERY_MS) + 1) * FUNDING_EVERY_MS
}

/**
 * Settles funding of every perpetual position at the mark price: longs pay shorts when the rate is positive.
 * The other side is the funding pool, since the other positions are not ours to see. A market at another speed than
 * the clock's pays none.
 */
export function settleFunding(state: CoreState): void {
  // Eight hours of the exchange's clock are days of a quicker market.
  if (state.matching.speed !== 1) return
  for (const symbol of state.symbols.values()) {
    if (symbol.positions.length === 0 || symbol.instrument.delivery !== undefined) continue
    const figures = symbol.statistics.read(state.clock.now)
    const rate = (figures?.settledFundingRate ?? figures?.fundingRate ?? 0).toFixed(RATE_DECIMALS)
    for (const position of symbol.positions.slice()) payFunding(state, symbol, position, rate)
  }
}

function payFunding(state: CoreState, symbol: SymbolState, position: Position, rate: string): void {
  const { instrument, markTicks } = symbol
  const account = accountOf(state, position.uid)
  const owed = marginValue(instrument, markTicks, position.lots).times(decimal(rate))
  const received = position.holdSide === 'long' ? negated(owed) : owed
  const coin = instrument.marginCoin
  bookFor(state, account, { coin, booking: 'funding', amount: received })
  position.funding = (position.funding ?? ZERO).plus(received)
  if (position.marginMode === 'isolated') {
    position.margin = larger(ZERO, position.margin.plus(received))
    updateFloats(position)
  }
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
  coverDebt(state, account, coin)
}
