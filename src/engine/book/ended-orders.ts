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

export function hasEndedBefore([first]: readonly EndedOrder[], at: number): boolean {
  return first !== undefined && first.endedAt < at
}

/** Removes and returns those that ended before. The cost depends on how many those are, not on how many stay. */
export function takeEndedBefore(ended: EndedOrder[], at: number): readonly EndedOrder[] {
  let count = 0
  while (count < ended.length && (ended[count] as EndedOrder).endedAt < at) count++
  return ended.splice(0, count)
}
