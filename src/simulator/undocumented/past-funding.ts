import type { CoreState, SymbolState } from '../futures/core-state.ts'
import { listedSymbol } from '../futures/instruments/asked-symbols.ts'
import { toMarketInstrument } from '../futures/instruments/instruments.ts'
import { pastFundingRate } from '../market/fair-price.ts'
import { accept } from '../shared/reply.ts'

interface FundingQuery {
  readonly symbol: string
  readonly productType: string
  readonly pageSize?: string | undefined
  readonly pageNo?: string | undefined
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const PAGE_DEFAULT = 20
/** A part of a rate of eight hours (six digits) has ten at most. */
const RATE_DECIMALS = 10

/** Newest first; a delivery contract has none. */
export function answerFundingHistory(state: CoreState, query: FundingQuery) {
  const listed = listedSymbol(state, query)
  if (!listed.ok) return listed
  const size = Number(query.pageSize ?? PAGE_DEFAULT)
  const skipped = size * (Number(query.pageNo ?? 1) - 1)
  const payments =
    listed.data.instrument.delivery === undefined ? paymentsOf(state, listed.data) : []
  const page = [...payments].slice(skipped, skipped + size)
  return accept(
    page.map(({ at, rate }) => ({
      symbol: query.symbol,
      fundingRate: shortest(rate),
      fundingTime: String(at),
    })),
  )
}

interface Payment {
  /** Unix ms. */
  readonly at: number
  readonly rate: number
}

/** Recorded or settled here, and before them those of a seeded past. */
function paymentsOf(state: CoreState, symbol: SymbolState): readonly Payment[] {
  const { clock, seed } = state
  const { funding, statistics, past, instrument } = symbol
  if (funding !== undefined) {
    return Array.from(funding.at, (at, index) => ({
      at: at + clock.pausedMs,
      rate: funding.rate[index] ?? 0,
    }))
      .filter(({ at }) => at <= clock.now)
      .toReversed()
  }
  statistics.read(clock.now)
  const lived = statistics
    .settlements()
    .map(({ minute, rate }) => ({ at: minute * MINUTE_MS, rate }))
    .toReversed()
  if (past === undefined) return lived
  // The day before the market opened was settled as its statistics were built.
  const settledFromAt = past.untilAt - DAY_MS + MINUTE_MS
  const drawn: Payment[] = []
  const row = toMarketInstrument(instrument)
  for (let day = Math.floor(past.untilAt / DAY_MS); day * DAY_MS > past.fromAt; day--) {
    for (const minuteOfDay of instrument.fundingMinutes.toReversed()) {
      const minute = (day * DAY_MS) / MINUTE_MS + minuteOfDay
      const at = minute * MINUTE_MS
      if (at >= settledFromAt || at < past.fromAt) continue
      drawn.push({ at, rate: pastFundingRate(row, { seed, minute }) })
    }
  }
  return [...lived, ...drawn]
}

/** Without needless zeros, as the exchange writes rates. */
function shortest(rate: number): string {
  return rate.toFixed(RATE_DECIMALS).replace(/\.?0+$/, '')
}
