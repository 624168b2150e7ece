import { ACCOUNT } from '../../domain/trading-mode.ts'
import { beginMinute, findDifference, noteCompared } from '../book/recount.ts'
import { restrictionOf } from '../book/book.ts'
import type { EngineEvent } from '../event.ts'
import { announce, type Core } from '../state/core.ts'
import { halt } from '../state/trading-mode.ts'

/** A difference is believed when the next comparison finds one too. */
const DIFFERENCES_TO_BELIEVE = 2

/**
 * Once in each minute of our clock, and so at each change of day, compares the book with a second, independent count of
 * its fills. Where they differ it is not known what the account holds, so no risk may be added.
 */
export function judgeRecount(core: Core, event: EngineEvent): void {
  const { recount, book, run } = core
  if (event.kind !== 'timePassed' || run.phase !== 'running' || !beginMinute(recount, core.now)) return
  const reason = findDifference(recount, book)
  const inRow = noteCompared(recount, reason !== undefined)
  if (reason === undefined || restrictionOf(book, ACCOUNT, 'recount')) return
  announce(core, 'warn', 'recount.differs', { reason, inRow })
  if (inRow >= DIFFERENCES_TO_BELIEVE) halt(core, ACCOUNT, 'recount', reason)
}
