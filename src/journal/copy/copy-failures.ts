import { Failure, messageOf } from '../../lib/failure.ts'
import type { Mark } from '../durable-mark.ts'
import type { KillRequest } from '../journal.ts'
import { foundOf } from '../postgres/postgres-failures.ts'

export function nothingToCopy(where: string): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_NOTHING',
    sentence: 'there is no journal to copy',
    facts: { where },
    hint: 'name the configuration with --config, and give --market and --speed as for the run',
  })
}

export function copyTaken(where: string, found: string): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_TAKEN',
    sentence: 'there is already a journal at the target of the copy',
    facts: { where, found },
    hint: 'name another place (journal.schema, state.directory), or move away by hand what is there, if it is not needed',
  })
}

export function copyBehind(where: string, there: Mark, here: Mark): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_BEHIND',
    sentence:
      'the journal to be copied ends before the one at the target, so it is not the newer one',
    facts: { where, there: there.sequence, here: here.sequence },
    hint: 'find out which of the two traded last, and set journal.url accordingly',
  })
}

/** After the copy no daemon would learn of the pending kill, which is read on the server only. */
export function copyKilled(
  where: string,
  { by, reason }: Pick<KillRequest, 'by' | 'reason'>,
): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_KILLED',
    sentence: 'a kill of this account was ordered on the server, and is not released',
    facts: { where, by, reason },
    hint: 'start the account there, so that it obeys the kill, release it, and copy then',
  })
}

/** Until one side is marked, a failure leaves both as they were. */
export function copyFailed(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure({
    code: 'JOURNAL_COPY_FAILED',
    sentence: 'the journal could not be copied: nothing has changed, and it continues where it was',
    facts: { found: foundOf(error) },
    hint: 'check the server, the connection, and the free space on both sides, then copy again',
    cause: error,
  })
}

export function copyUnknown(error: unknown): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_UNKNOWN',
    sentence:
      'the server did not answer the last step of the copy, so it is not known whether it was done',
    facts: { found: messageOf(error) },
    hint: 'repeat the command, which finds out; until then no start uses either side',
    cause: error,
  })
}
