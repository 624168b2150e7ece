import { isFlat } from '../../domain/position.ts'
import { allOpenOrders, type Book } from '../../engine/book/book.ts'
import type { StopPolicy } from '../../engine/event.ts'
import { describeSides } from '../../engine/lifecycle/flatten.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

/** A stop of a run that has not begun. The book is as the last run left it. */
export interface EarlyStop {
  readonly book: Book
  readonly policy: StopPolicy
  readonly isKilled: boolean
}

/** True where a stop has something to cancel or close, which only a run that has begun can do. */
export function needsBegin({ book, policy, isKilled }: EarlyStop): boolean {
  if (policy === 'flatten' && Object.keys(describeHeld(book)).length > 0) return true
  return (policy !== 'leave' || isKilled) && allOpenOrders(book).length > 0
}

/** @returns whether the end is clean */
export function logEarlyEnd(stop: EarlyStop, logger: Pick<DaemonLogger, 'log'>): boolean {
  const { book, policy } = stop
  const open = allOpenOrders(book)
  const unknownOrders = open.filter(({ state }) => state === 'unknown' || state === 'sent').length
  const isUndone = needsBegin(stop)
  const stillHeld = policy === 'flatten' ? describeHeld(book) : {}
  const undone = policy === 'flatten' ? 'cancelled or closed' : 'cancelled'
  const reason = isUndone
    ? `the run had not begun, so nothing was ${undone}`
    : 'the run had not begun: what became of orders of the last run is not known'
  const clean = !isUndone && unknownOrders === 0
  logger.log(clean ? 'info' : 'error', 'daemon.stopped', {
    clean,
    policy,
    openOrders: open.length,
    unknownOrders,
    ...(!clean && { reason }),
    ...(Object.keys(stillHeld).length > 0 && { stillHeld }),
  })
  return clean
}

function describeHeld(book: Book): Readonly<Record<string, string>> {
  const held = [...book.account].filter(([, holding]) => !isFlat(holding))
  return Object.fromEntries(
    held.map(([symbol, holding]) => [symbol, describeSides(book, symbol, holding)]),
  )
}
