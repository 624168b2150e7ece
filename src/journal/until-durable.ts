import { messageOf } from '../lib/failure.ts'
import { type Journal } from './journal.ts'

/** Resolves when everything is durable that was appended. @throws what the commit failed with */
export function untilDurable(journal: Pick<Journal, 'commit'>): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.commit((failure) => {
      if (failure === undefined) resolve()
      else reject(failure instanceof Error ? failure : new Error(messageOf(failure)))
    })
  })
}
