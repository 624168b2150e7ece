import { type Signal, nameOfSignal } from '../../domain/signal.ts'
import { pairKey } from '../book/book.ts'
import { announce, type Core, record } from '../state/core.ts'
import { showSignal } from './take-snapshot.ts'

/**
 * The sender is answered when one of the three lines is announced, after the record is durable: an
 * answered signal survives a restart, and is not taken twice.
 */
export function takeSignal(core: Core, { feed, id, value, sentAt }: Signal): void {
  const terms = core.settings.signals?.get(feed)
  if (terms === undefined) return
  const named = { signal: nameOfSignal(feed), signalId: id }
  const takenAt = core.book.signalIds.get(pairKey(feed, id))
  const idsBefore = core.now - terms.idsKeptMs
  if (takenAt !== undefined && takenAt >= idsBefore) {
    announce(core, 'info', 'signal.repeated', named)
    return
  }
  // A retry may arrive after the next signal, also after one that has expired.
  const shownSentAt = core.book.signals.get(feed)?.sentAt
  if (sentAt !== undefined && shownSentAt !== undefined && sentAt < shownSentAt) {
    announce(core, 'info', 'signal.outdated', named)
    return
  }
  const { maxAgeMs } = terms
  const untilAt = core.now + maxAgeMs
  const sent = sentAt === undefined ? {} : { sentAt }
  const taken = { feed, id, value, untilAt, ...sent, idsBefore } as const
  record(core, { kind: 'signal', at: core.now, ...taken }, true)
  announce(core, 'info', 'signal.taken', { ...named, maxAgeMs })
  showSignal(core, feed)
}
