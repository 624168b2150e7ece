import { decimal, ZERO } from '../../../lib/decimal.ts'
import { indexFrom } from '../../../prices/recording.ts'
import { larger, negated } from '../../wallet/rounding.ts'
import { accountOf, recordedAt, type CoreState, type SymbolState } from '../core-state.ts'
import { bookFor, coverDebt } from './settle-trade.ts'
import { marginValue, updateFloats, type Position } from './position.ts'
import { POSITIONS } from '../stored-entities.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const RATE_DECIMALS = 8

export function nextFundingAfter(state: CoreState, now: number): number {
  let next = Number.POSITIVE_INFINITY
  for (const symbol of state.symbols.values())
    next = Math.min(next, nextFundingOf(state, symbol, now))
  return next
}

export function nextFundingOf(state: CoreState, symbol: SymbolState, now: number): number {
  if (symbol.isSettled || symbol.instrument.delivery !== undefined) return Number.POSITIVE_INFINITY
  const { at } = symbol.funding ?? {}
  const [first, last] = [at?.[0], at?.at(-1)]
  const regular = nextInDay(symbol.instrument.fundingMinutes, now)
  if (at === undefined || first === undefined || last === undefined) return regular
  const { pausedAt, pausedMs } = state.clock
  if (pausedAt > 0) return Number.POSITIVE_INFINITY
  const recorded = (at[indexFrom(at, now - pausedMs + 1)] ?? Number.POSITIVE_INFINITY) + pausedMs
  const isWithin = now >= first + pausedMs && now < last + pausedMs
  return isWithin ? recorded : Math.min(recorded, regular)
}

function nextInDay(minutes: readonly number[], now: number): number {
  const day = Math.floor(now / DAY_MS) * DAY_MS
  const later = minutes.find((minute) => day + minute * MINUTE_MS > now)
  if (later !== undefined) return day + later * MINUTE_MS
  return minutes[0] === undefined ? Number.POSITIVE_INFINITY : day + DAY_MS + minutes[0] * MINUTE_MS
}

/** Other traders are not simulated, so a pool pays and receives funding. */
export function settleFunding(state: CoreState, dueAt: number): void {
  if (state.matching.speed !== 1) return
  for (const symbol of state.symbols.values()) {
    if (symbol.positions.length === 0 || nextFundingOf(state, symbol, dueAt - 1) !== dueAt) continue
    const rate = rateAt(state, symbol, dueAt).toFixed(RATE_DECIMALS)
    for (const position of symbol.positions.slice()) payFunding(state, symbol, position, rate)
  }
}

function rateAt(state: CoreState, symbol: SymbolState, dueAt: number): number {
  const { clock } = state
  const { funding, statistics } = symbol
  const recorded = funding && indexFrom(funding.at, dueAt - clock.pausedMs)
  if (recorded !== undefined && funding?.at[recorded] === dueAt - clock.pausedMs)
    return funding.rate[recorded] ?? 0
  const known = recordedAt(state, symbol, { column: 'fundingRate', at: dueAt })
  if (known !== undefined) return known
  const figures = statistics.read(clock.now)
  return figures?.settledFundingRate ?? figures?.fundingRate ?? 0
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
