import type { ClientOid } from '../domain/ids.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { OrderIntent } from '../domain/intent.ts'
import type { Order } from '../domain/order.ts'
import type { Approved } from '../domain/proofs.ts'
import { attributionKeys } from './attribution.ts'

/** An approved order: a new one, or one that waits to be sent again, unchanged. */
export interface ApprovedItem {
  readonly intent: Approved<OrderIntent>
  readonly again?: ClientOid
}

export interface PackingRules {
  readonly max: number
  readonly mode: PositionMode
  /** Orders that may be at the exchange and whose orderId is unknown: their fills must not be confused with others. */
  readonly nameless: readonly Order[]
}

/**
 * Fills a batch with items in the given order, at most `max`. No two of them may have fills that look alike, nor may any
 * be like a nameless order: if the answer is lost, each order can then still be identified by its fills. What does not
 * fit waits for a later batch.
 */
export function packBatch(
  items: readonly ApprovedItem[],
  { max, mode, nameless }: PackingRules,
): readonly ApprovedItem[] {
  const owners = new Map<string, ClientOid | undefined>()
  for (const { terms } of nameless) {
    for (const key of attributionKeys(mode, terms)) owners.set(key, terms.clientOid)
  }
  const packed: ApprovedItem[] = []
  const taken = new Set<string>()
  for (const item of items) {
    const keys = attributionKeys(mode, item.intent)
    const isFree = (key: string): boolean =>
      !taken.has(key) &&
      (!owners.has(key) || (item.again !== undefined && owners.get(key) === item.again))
    if (packed.length >= max || !keys.every(isFree)) continue
    for (const key of keys) taken.add(key)
    packed.push(item)
  }
  return packed
}
