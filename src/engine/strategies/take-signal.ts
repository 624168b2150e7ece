import type { FeedId } from '../../domain/feed.ts'
import { pairKey } from '../book/book.ts'
import { type Core, announce, record } from '../state/core.ts'
import { type Signal, nameOfSignal } from '../../domain/signal.ts'
import { askToDecide } from './ask-to-decide.ts'

/**
 * The sender is answered when one of the three lines is announced, after the record is durable. So
 * an answered signal survives a restart, and is not taken twice.
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
  // A retry may arrive after the next signal.
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
  askAfterSignal(core, feed)
}

function askAfterSignal(core: Core, feed: FeedId): void {
  const reading = [...core.settings.strategies.values()].filter(({ feeds }) =>
    [...feeds.values()].includes(feed),
  )
  if (reading.length > 0) askToDecide(core, 'signal', reading)
}
