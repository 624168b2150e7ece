import type { Fill } from '../../domain/fill.ts'
import { isInverse } from '../../domain/instrument.ts'
import { applyToHolding, type Holding, type HoldSide, isFlat } from '../../domain/position.ts'
import {
  type DatedChange,
  estimatePayment,
  fundingInstantAfter,
  type FundingWatch,
  holdingSince,
} from '../../domain/unseen-funding.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import { accountHoldingOf } from '../book/book.ts'
import { type Core, specOf } from './core.ts'
import { exchangeNow } from './market-state.ts'
import { ownPriceOf } from './own-figure.ts'

/** Rates are noted from so long before a payment, which gives two answers at the usual pace. */
const NOTED_MS = 120_000
/** If the counter has not moved so long after the instant, nothing was paid then. */
const SETTLED_MS = 60_000

/** Called for a reading that agrees with the book. `at`: exchange clock. */
export function noteFundingShown(
  core: Core,
  symbol: string,
  { at, isChanged }: { readonly at: number; readonly isChanged: boolean },
): void {
  const watch = core.funding.get(symbol)
  if (watch === undefined) return beginWatch(core, symbol, at)
  if (at < watch.nextAt - NOTED_MS) return
  if (at < watch.nextAt) return noteAnswer(core, symbol, watch)
  const isSettled = at >= watch.nextAt + SETTLED_MS
  if (isChanged || isSettled || isFlat(accountHoldingOf(core.book, symbol)))
    beginWatch(core, symbol, at)
}

function beginWatch({ settings, funding }: Core, symbol: string, at: number): void {
  // Without a capital, no equity is known that a payment could lower.
  if (settings.capital === undefined) return
  const { fundingMinutes: ofInstrument } = settings.instruments.get(symbol) ?? {}
  mutable(funding).set(symbol, {
    nextAt: fundingInstantAfter(ofInstrument ?? settings.fundingMinutes ?? [], at),
    rates: [Number.NaN, Number.NaN],
    markPrice: Number.NaN,
    answeredAt: 0,
    ended: [],
  })
}

function noteAnswer({ market, losses }: Core, symbol: string, watch: FundingWatch): void {
  const { tickers } = market
  // A later answer has the rate of the next payment.
  if (tickers === undefined || tickers.requestTime >= watch.nextAt) return
  if (tickers.requestTime === watch.answeredAt) return
  const noted = mutable(watch)
  noted.rates = [watch.rates[1], tickers.read(symbol, 'fundingRate')]
  noted.markPrice = losses.statements.get(symbol)?.markPrice ?? Number.NaN
  noted.answeredAt = tickers.requestTime
}

export function forgetFunding({ funding }: Core, symbol: string): void {
  mutable(funding).delete(symbol)
}

/** Payments of positions that ended before a reading showed them, margin coin. */
export function unseenFundingOf({ book }: Core): number {
  let sum = 0
  for (const { amount } of book.unseenFunding.values()) sum -= Number(amount)
  return sum
}

/** Payments that the next reading of a position will show are included. */
export function unreadFundingOf(core: Core): number {
  let sum = unseenFundingOf(core)
  const now = exchangeNow(core)
  for (const [symbol, watch] of core.funding) {
    if (now < watch.nextAt) continue
    const { holding } = heldSince(core, symbol, watch, [])
    for (const { change, holdSide } of paymentsOf(core, symbol, watch, holding))
      if (!watch.ended.includes(holdSide)) sum += change
  }
  return sum
}

export interface EstimatedPayment {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly paidAt: number
  /** Margin coin, positive. */
  readonly change: number
}

/**
 * Payments of positions that these fills end before a reading has shown them; each is found once.
 * Called before the fills are recorded.
 */
export function takeEndedPayments(core: Core, fills: readonly Fill[]): readonly EstimatedPayment[] {
  const now = exchangeNow(core)
  return [...new Set(fills.map(({ symbol }) => symbol))].flatMap((symbol) => {
    const watch = core.funding.get(symbol)
    if (watch === undefined || now < watch.nextAt) return []
    const news = fills
      .filter((fill) => fill.symbol === symbol)
      .map(({ side, tradeSide, lots, filledAt }) => ({
        change: { side, tradeSide, lots },
        filledAt,
      }))
    const { holding, ended } = heldSince(core, symbol, watch, news)
    const found = paymentsOf(core, symbol, watch, holding).filter(
      ({ holdSide }) => ended.includes(holdSide) && !watch.ended.includes(holdSide),
    )
    if (found.length > 0)
      mutable(watch).ended = [...watch.ended, ...found.map(({ holdSide }) => holdSide)]
    return found
  })
}

/** @param news fills that the book does not know yet */
function heldSince(
  { settings, book, instruments }: Core,
  symbol: string,
  { nextAt }: FundingWatch,
  news: readonly DatedChange[],
): ReturnType<typeof holdingSince> {
  const { positionMode } = settings
  const known = instruments.get(symbol)?.position.recentFills ?? []
  const since = known.filter(({ filledAt }) => filledAt >= nextAt)
  const before = since.reduceRight(
    (held, { change }) => applyToHolding(positionMode, held, { ...change, lots: -change.lots }),
    accountHoldingOf(book, symbol),
  )
  const changes = [...since, ...news].toSorted((one, other) => one.filledAt - other.filledAt)
  return holdingSince(positionMode, before, nextAt, changes)
}

function paymentsOf(
  core: Core,
  symbol: string,
  { nextAt, rates, markPrice }: FundingWatch,
  { longLots, shortLots }: Holding,
): readonly EstimatedPayment[] {
  const spec = specOf(core, symbol)
  const { price: ours, isInBand } = ownPriceOf(core, symbol)
  const known = isInBand ? ours : 0
  // The smaller of two witnesses counts: one wrong price is no loss (MON1).
  const price =
    markPrice > 0 && known > 0 ? Math.min(markPrice, known) : Math.max(markPrice || 0, known)
  const paymentOf = (holdSide: HoldSide, lots: number): EstimatedPayment => {
    const size = floatOnGrid(spec.lot, lots)
    const held = { holdSide, size, price, isInverse: isInverse(spec), rates }
    return { symbol, holdSide, paidAt: nextAt, change: estimatePayment(held) }
  }
  return [paymentOf('long', longLots), paymentOf('short', shortLots)].filter(
    ({ change }) => change > 0,
  )
}
