import { canRest } from '../../domain/order.ts'
import { openOrdersOf } from '../book/book.ts'
import { isUnderCancel } from '../state/open-calls.ts'
import type { Core, InstrumentState } from '../state/core.ts'

/**
 * Whether the unwanted orders of an instrument are worth a cancel-all. It also cancels the wanted orders, and those are
 * missing until the fills are readable. So it is due once the unwanted orders have rested, added up, for as long as the
 * wanted ones (at least one is counted) would be missing, or once one has rested for `unwantedMsMax`.
 *
 * Order-seconds unwanted + missing, and cancel-alls, of ladders on recorded prices (`npm run bench:cancels`, sums
 * over 2 and 10 instruments, candles and ticks, account shared). It does as well as a model that weighed notional,
 * distance from the market and places in the queue. One tolerance of 2 s for all is better for ladders that are built
 * anew, and a third worse, at twice the calls, for one of which a single rung at a time is unwanted:
 *
 *                        that model      this rule       2 s for all     10 s for all
 *     recentre          11,266  223     10,552  228      9,763  233     16,721  190
 *     shared            23,950  195     24,670  194     20,885  232     25,801  190
 *     follow            23,907  303     23,431  308     32,007  632     25,209  387
 */
export function isCancelDue(core: Core, { symbol, unwantedSince }: InstrumentState): boolean {
  const { unwantedMsMax, fillVisibilityMs } = core.settings.execution
  const [oldest] = unwantedSince.values()
  if (oldest === undefined) return false
  let wanted = 0
  for (const { state, terms } of openOrdersOf(core.book, symbol)) {
    if (state === 'live' && canRest(terms) && !unwantedSince.has(terms.clientOid)) wanted += 1
  }
  let restedMs = 0
  for (const since of unwantedSince.values()) restedMs += core.now - since
  return core.now - oldest >= unwantedMsMax || restedMs >= Math.max(1, wanted) * fillVisibilityMs
}

/**
 * The instruments that wait for a cancel-all, in the order in which they get one: first those that a stop or a kill
 * clears, then those that have waited longest. So none waits for more calls than there are instruments.
 */
export function instrumentsAwaitingCancel(core: Core): readonly InstrumentState[] {
  return [...core.instruments.values()]
    .filter((instrument) => isWaiting(instrument) && !isUnderCancel(core, instrument.symbol))
    .sort(
      (left, right) =>
        Number(isCommanded(right)) - Number(isCommanded(left)) ||
        waitingSince(core, left) - waitingSince(core, right),
    )
}

function isWaiting(instrument: InstrumentState): boolean {
  return (
    instrument.resolution?.stage === 'cancelling' ||
    (instrument.wantsCancel && instrument.phase === 'idle')
  )
}

function isCommanded({ resolution }: InstrumentState): boolean {
  return resolution?.cause === 'command'
}

/** Unix ms, our clock. */
function waitingSince(core: Core, instrument: InstrumentState): number {
  const [oldest = core.now] = instrument.unwantedSince.values()
  return instrument.resolution?.notBefore ?? oldest
}
