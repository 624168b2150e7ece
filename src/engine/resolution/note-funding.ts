import { decimal, ZERO } from '../../lib/decimal.ts'
import type { Holding, HoldSide } from '../../domain/position.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { accountHoldingOf, pairKey } from '../book/book.ts'
import { exchangeNow } from '../state/clock-state.ts'
import {
  announce,
  type Core,
  record,
  type InstrumentState,
  type PendingReading,
  specOf,
} from '../state/core.ts'
import { askForPositionAgain, noteStatedCounter } from '../state/losses.ts'
import { notionalAt } from '../state/own-figure.ts'

/** Funding of one interval is at most some thousandths of what a position is worth. */
const FUNDING_SHARE_MAX = 0.01

const HOLD_SIDES = ['long', 'short'] as const

/**
 * Records what the funding counter of a position says. A position's counter begins at zero with the position. So it
 * counts only where the reading agrees with the book, and the position was not closed between the reading and now.
 * @param wentThrough Everything that the account held from the moment of the reading until now, by its fills.
 */
export function noteFunding(
  core: Core,
  { symbol }: InstrumentState,
  { holding, counters, requestedAt }: PendingReading,
  wentThrough: readonly Holding[],
): void {
  for (const holdSide of HOLD_SIDES) {
    const counter = lotsOf(holding, holdSide) > 0 ? counters[holdSide] : ''
    const before = core.book.fundingCounters.get(pairKey(symbol, holdSide)) ?? ''
    if (counter === before) continue
    // A position that stands and has no counter was paid nothing yet, or the row does not say what: never a new zero.
    if (counter === '' && lotsOf(holding, holdSide) > 0) continue
    if (counter !== '' && wentThrough.some((held) => lotsOf(held, holdSide) === 0)) continue
    const change =
      counter === ''
        ? '0'
        : decimal(counter)
            .minus(decimal(before || '0'))
            .toString()
    // Nothing was paid: a counter that begins at zero, or the same amount written otherwise. The next payment counts from
    // what is known, so that there is nothing to keep either.
    if (counter !== '' && decimal(change).eq(ZERO)) continue
    if (counter !== '' && !isCredible(core, { symbol, holdSide, counter, change, requestedAt }))
      continue
    record(core, { kind: 'funding', at: core.now, symbol, holdSide, counter, change })
    if (counter === '') continue
    announce(core, 'info', 'funding.paid', { symbol, holdSide, change, at: exchangeNow(core) })
  }
}

interface StatedFunding {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly counter: string
  readonly change: string
  readonly requestedAt: number
}

/**
 * One wrong counter must not become a loss or a peak (MON1): a payment larger than exchanges make counts once two
 * readings have stated the same.
 */
function isCredible(
  core: Core,
  { symbol, holdSide, counter, change, requestedAt }: StatedFunding,
): boolean {
  const key = pairKey(symbol, holdSide)
  const held = accountHoldingOf(core.book, symbol)
  const notional = notionalAt(core, symbol, { held, price: entryPriceOf(core, symbol, holdSide) })
  const before = core.losses.statedCounters.get(key)
  if (
    Math.abs(Number(change)) <= FUNDING_SHARE_MAX * notional ||
    isOfOtherReading(before, counter, requestedAt)
  ) {
    noteStatedCounter(core, key, undefined)
    return true
  }
  if (before?.counter !== counter) noteStatedCounter(core, key, { counter, requestedAt })
  askForPositionAgain(core, symbol)
  return false
}

/** By our own fills; 0 where they do not tell. */
function entryPriceOf(core: Core, symbol: string, holdSide: HoldSide): number {
  const ticks = core.book.entries.get(symbol)?.[`${holdSide}Ticks`] ?? 0
  return floatOnGrid(specOf(core, symbol).tick, ticks)
}

function isOfOtherReading(
  before: { readonly counter: string; readonly requestedAt: number } | undefined,
  counter: string,
  requestedAt: number,
): boolean {
  return before?.counter === counter && before.requestedAt !== requestedAt
}

function lotsOf({ longLots, shortLots }: Holding, holdSide: HoldSide): number {
  return holdSide === 'long' ? longLots : shortLots
}
