import { type PositionMode } from '../domain/instrument.ts'
import { type OrderIntent } from '../domain/intent.ts'
import { type OrderTerms } from '../domain/order.ts'
import { type Approved } from '../domain/tickets.ts'
import { type ClientOid } from '../domain/ids.ts'
import { attributionKey } from './attribution.ts'

/** An approved order with the id that it will carry for ever. */
export interface BatchItem {
  readonly intent: Approved<OrderIntent>
  readonly terms: OrderTerms
  /** It was sent before: the terms are the old ones. */
  readonly again: boolean
}

/** What goes into one call, and what has to wait for the next. */
export interface PackedBatch {
  readonly items: readonly BatchItem[]
  readonly left: number
}

/**
 * Fills a batch in the given order: at most `max` items, and no two that a fill could not tell apart, so
 * that every order of a lost answer can still be found by its evidence. What does not fit waits.
 */
export function packBatch(
  items: readonly BatchItem[],
  options: { readonly max: number; readonly mode: PositionMode },
): PackedBatch {
  const packed: BatchItem[] = []
  const keys = new Set<string>()
  const ids = new Set<ClientOid>()
  for (const item of items) {
    const key = attributionKey(options.mode, item.terms)
    if (packed.length >= options.max || keys.has(key) || ids.has(item.terms.clientOid)) continue
    keys.add(key)
    ids.add(item.terms.clientOid)
    packed.push(item)
  }
  return { items: packed, left: items.length - packed.length }
}
