import { type Order } from '../../domain/order.ts'
import { type ExpireRecord, type JournalRecord } from '../../domain/record.ts'
import { own } from '../../lib/own.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type Book, pairKey } from '../book/book.ts'

/**
 * Which instruments there is a reason to look at (BND2). One that was looked at is looked at again
 *
 * - when something of it has changed: a record that concerns it, a resolution that has begun, a decision that ends
 *   a wait, a price beyond one of its orders;
 * - at each moment, while something of it is not settled: an order that is missing, unwanted, waiting or displaced, or
 *   a resolution. Time, prices and what happens elsewhere decide there. Nothing changes within a moment but by
 *   decisions, whose records name their instruments. Where all that is missing was denied, and will be again on the
 *   same prices, once a snapshot is enough (`orders/lasting-denials.ts`);
 * - always, while the account does not trade: it starts, stops or is killed.
 *
 * Changed by `changes.ts`.
 */
export interface ChangeState {
  /** The instruments of which something has changed since they were looked at. */
  readonly changed: ReadonlySet<string>
  /** Those that are not settled, and the moment in which they were looked at. */
  readonly unsettled: ReadonlyMap<string, number>
  /** Those of which all that is missing was denied, until they are looked at again. */
  readonly denied: ReadonlyMap<string, DenialBasis>
  /** Counts the moments. */
  readonly moment: number
}

/** On what the orders of an instrument were denied. */
export interface DenialBasis {
  readonly snapshot: number
  /** Whether prices, and readings of the account, were younger than their limits. */
  readonly isFresh: boolean
  readonly isAccountFresh: boolean
}

/** Something may have changed that all instruments depend on: the time, prices, clocks, readings, the account's exposure. */
export function beginMoment(changes: ChangeState): void {
  own(changes).moment += 1
}

export function noteChanged(changes: ChangeState, symbol: string): void {
  own(changes.changed).add(symbol)
}

/** Whether there is a reason to look at an instrument now. */
export function needsLook({ changed, unsettled, moment }: ChangeState, symbol: string): boolean {
  if (changed.has(symbol)) return true
  const lookedAt = unsettled.get(symbol)
  return lookedAt !== undefined && lookedAt !== moment
}

/** Whether there may be a reason to look at any. */
export function mayAnyNeedLook({ changed, unsettled }: ChangeState): boolean {
  return changed.size > 0 || unsettled.size > 0
}

/** Whether what is to be done next, on any of them, may hang on the time alone. */
export function mayDependOnTime({ changed, unsettled, denied }: ChangeState): boolean {
  return changed.size > 0 || unsettled.size > denied.size
}

/** Before an instrument is looked at: what changes from here on is a reason to look once more. */
export function beginLook(changes: ChangeState, symbol: string): void {
  const { changed, unsettled, denied } = own(changes)
  changed.delete(symbol)
  denied.delete(symbol)
  unsettled.set(symbol, changes.moment)
}

/** Nothing but orders that are denied is missing, and nothing else is to be done. */
export function noteDenied(changes: ChangeState, symbol: string, look: DenialBasis): void {
  own(changes.denied).set(symbol, look)
}

/** Nothing of it depends on time, prices, or what happens elsewhere. */
export function noteSettled(changes: ChangeState, symbol: string): void {
  own(changes.unsettled).delete(symbol)
}

/** The instruments that a record concerns, named before it is applied; undefined for all of them. */
export function concernedBy(book: Book, record: JournalRecord): Iterable<string> | undefined {
  switch (record.kind) {
    case 'boot':
    case 'restricted':
    case 'released':
    case 'repaired':
      return undefined
    case 'decision':
      return [
        ...symbolsOf(record.quotes),
        ...symbolsOf(record.targets),
        ...symbolsOf(record.places),
        ...symbolsOfOrders(book, record.withdrawn),
      ]
    case 'send':
    case 'adopt':
      return [record.symbol]
    case 'settle':
    case 'foreign':
      return [record.symbol, ...symbolsOfOrphans(book)]
    case 'outcome':
      return [...symbolsOfOrders(book, record.items.map(nameOf)), ...symbolsOfOrphans(book)]
    case 'cancelAnswered':
      return [...symbolsOfOrders(book, record.listed.map(nameOf)), ...symbolsOfOrphans(book)]
    case 'fills':
      return symbolsOf(record.fills)
    case 'cancel':
      return record.symbols
    case 'expire':
      return [...symbolsOfOrders(book, record.orders.map(nameOf)), ...symbolsOfPlaces(book, record)]
    case 'archived':
    case 'candles':
    case 'watermark':
    case 'call':
    case 'callEnded':
    case 'denial':
    case 'funding':
    case 'prune':
      return NONE
    default:
      return unreachable(record)
  }
}

const NONE: readonly string[] = []

type ClientOid = Order['terms']['clientOid']

function nameOf({ clientOid }: { readonly clientOid: ClientOid }): ClientOid {
  return clientOid
}

function symbolsOf(parts: readonly { readonly symbol: string }[] = []): readonly string[] {
  return parts.map(({ symbol }) => symbol)
}

function symbolsOfOrders({ orders }: Book, clientOids: readonly ClientOid[] = []): readonly string[] {
  return clientOids.flatMap((clientOid) => orders.get(clientOid)?.terms.symbol ?? [])
}

/** An orderId that becomes known may explain fills that wait for it. */
function symbolsOfOrphans({ orphans }: Book): readonly string[] {
  return [...orphans.values()].flatMap(symbolsOf)
}

function symbolsOfPlaces({ places }: Book, record: ExpireRecord): readonly string[] {
  return record.places.flatMap(({ strategyId, key }) => places.get(pairKey(strategyId, key))?.symbol ?? [])
}
