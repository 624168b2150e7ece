import { messageOf } from '../lib/failure.ts'
import type { Journal } from './journal.ts'

/** @throws the reason of a failed commit */
export function untilDurable(journal: Pick<Journal, 'commit'>): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.commit((failure) => {
      if (failure === undefined) resolve()
      else reject(failure instanceof Error ? failure : new Error(messageOf(failure)))
    })
  })
}
