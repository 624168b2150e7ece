import { decimal, ZERO } from '../../lib/decimal.ts'
import type { Holding, HoldSide } from '../../domain/position.ts'
import { pairKey } from '../book/book.ts'
import { exchangeNow } from '../state/clock-state.ts'
import { announce, type Core, record, type InstrumentState, type PendingReading } from '../state/core.ts'

const HOLD_SIDES = ['long', 'short'] as const

/**
 * Records what the funding counter of a position says. A position's counter begins at zero with the position. So it
 * counts only where the reading agrees with the book, and the position was not closed between the reading and now.
 * @param wentThrough Everything that the account held from the moment of the reading until now, by its fills.
 */
export function noteFunding(
  core: Core,
  { symbol }: InstrumentState,
  { holding, counters }: PendingReading,
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
    record(core, { kind: 'funding', at: core.now, symbol, holdSide, counter, change })
    if (counter === '') continue
    announce(core, 'info', 'funding.paid', { symbol, holdSide, change, at: exchangeNow(core) })
  }
}

function lotsOf({ longLots, shortLots }: Holding, holdSide: HoldSide): number {
  return holdSide === 'long' ? longLots : shortLots
}
