import type { SignalResult } from '../../control/signals/signal-guard.ts'
import type { StatusView } from '../../control/views.ts'
import { nameOfSignal } from '../../domain/signal.ts'
import type { ShownAccount } from '../../views/shown-account.ts'

/** Keyed by signal and result; '' for senders that have not shown a secret. */
export type SignalCounts = ReadonlyMap<string, ReadonlyMap<SignalResult, number>>

export function viewSignals(
  counts: SignalCounts,
  accounts: readonly Pick<ShownAccount, 'settings' | 'book'>[],
  now: number,
): NonNullable<StatusView['signals']> {
  const answeredOf = (name: string) => Object.fromEntries(counts.get(name) ?? [])
  const accepted = accounts.flatMap(({ settings, book }) =>
    [...(settings.signals?.keys() ?? [])].map((feed) => {
      const name = nameOfSignal(feed) ?? ''
      const { readAt, untilAt = 0 } = book.signals.get(feed) ?? {}
      return { name, at: readAt ?? null, isShown: now < untilAt, answered: answeredOf(name) }
    }),
  )
  return { accepted, unproved: answeredOf('') }
}
