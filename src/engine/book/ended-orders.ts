import type { ClientOid } from '../../domain/ids.ts'

/** An order that has ended. It may be open again later: the order itself says when it ended last. */
export interface EndedOrder {
  readonly clientOid: ClientOid
  /** Unix ms, our clock. */
  readonly endedAt: number
}

/** Inserts an order by its time: at the end, unless the clock was set back. */
export function addEnded(ended: EndedOrder[], order: EndedOrder): void {
  let place = ended.length
  while (place > 0 && (ended[place - 1] as EndedOrder).endedAt > order.endedAt) place--
  ended.splice(place, 0, order)
}

/** Whether more than so many ended before. */
export function haveEndedBefore(ended: readonly EndedOrder[], at: number, more = 0): boolean {
  const order = ended[more]
  return order !== undefined && order.endedAt < at
}

/**
 * Removes and returns those that ended before, the oldest first and so many at most. The cost depends on how many those
 * are, not on how many stay. Orders that ended at one moment go by their names: a book that was rebuilt may hold them in
 * another order, and must forget the same ones (DET2).
 */
export function takeEndedBefore(
  ended: EndedOrder[],
  at: number,
  max = Number.POSITIVE_INFINITY,
): readonly EndedOrder[] {
  let count = 0
  const isDue = (place: number) => place < ended.length && (ended[place] as EndedOrder).endedAt < at
  while (count < max && isDue(count)) count++
  if (count < max) return ended.splice(0, count)
  const last = ended[count - 1]?.endedAt
  let tied = count
  while (tied < ended.length && ended[tied]?.endedAt === last) tied++
  const due = ended.splice(0, tied).toSorted(byTimeAndName)
  ended.unshift(...due.slice(count))
  return due.slice(0, count)
}

function byTimeAndName(one: EndedOrder, other: EndedOrder): number {
  if (one.endedAt !== other.endedAt) return one.endedAt - other.endedAt
  return one.clientOid < other.clientOid ? -1 : 1
}
