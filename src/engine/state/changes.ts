import type { Order } from '../../domain/order.ts'
import type { ExpireRecord, JournalRecord } from '../../domain/record.ts'
import { own } from '../../lib/own.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type Book, pairKey } from '../book/book.ts'

/**
 * Which instruments have to be looked at, that is resolved further or planned (BND2). An instrument is looked at again
 *
 * - when something of it has changed: there was a record that concerns it, a resolution has begun, a decision has ended
 *   a wait, or the price is beyond one of its orders;
 * - in each new moment, while it is not settled: an order is missing, unwanted, waiting or displaced, or it is being
 *   resolved. Then time, prices and other instruments matter too. Within a moment only decisions change something, and
 *   their records name their instruments. Where all missing orders were denied, and would be denied again on the same
 *   prices, once a snapshot is enough (`orders/lasting-denials.ts`);
 * - always, while the account does not trade: it starts, stops or is killed.
 *
 * Changed by `changes.ts`.
 */
export interface ChangeState {
  /** The instruments of which something has changed since they were last looked at. */
  readonly changed: ReadonlySet<string>
  /** Those that are not settled, with the moment in which they were last looked at. */
  readonly unsettled: ReadonlyMap<string, number>
  /** Those of which all missing orders were denied when they were last looked at. */
  readonly denied: ReadonlyMap<string, DenialBasis>
  /** The number of the present moment. */
  readonly moment: number
}

/** What the denial of an instrument's orders was based on: the same basis gives the same denial. */
export interface DenialBasis {
  readonly snapshot: number
  /** Whether prices, and readings of the account, were younger than their limits. */
  readonly isFresh: boolean
  readonly isAccountFresh: boolean
}

/** Something may have changed that matters to all instruments: time, prices, clocks, readings, the account's exposure. */
export function beginMoment(changes: ChangeState): void {
  own(changes).moment += 1
}

export function noteChanged(changes: ChangeState, symbol: string): void {
  own(changes.changed).add(symbol)
}

/** Whether an instrument has to be looked at now. */
export function needsLook({ changed, unsettled, moment }: ChangeState, symbol: string): boolean {
  if (changed.has(symbol)) return true
  const lookedAt = unsettled.get(symbol)
  return lookedAt !== undefined && lookedAt !== moment
}

/** False: no instrument has to be looked at. True: some may have to. */
export function mayAnyNeedLook({ changed, unsettled }: ChangeState): boolean {
  return changed.size > 0 || unsettled.size > 0
}

/** Whether the passing of time alone may give something to do on an instrument. */
export function mayDependOnTime({ changed, unsettled, denied }: ChangeState): boolean {
  return changed.size > 0 || unsettled.size > denied.size
}

/** To be called before an instrument is looked at: whatever changes from then on makes it due again. */
export function beginLook(changes: ChangeState, symbol: string): void {
  const { changed, unsettled, denied } = own(changes)
  changed.delete(symbol)
  denied.delete(symbol)
  unsettled.set(symbol, changes.moment)
}

/** All missing orders of the instrument are denied, and nothing else is to be done. */
export function noteDenied(changes: ChangeState, symbol: string, look: DenialBasis): void {
  own(changes.denied).set(symbol, look)
}

/** What is wanted stands and nothing else does: time, prices and other instruments do not matter. */
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
    case 'assigned':
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
    case 'entry':
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

function symbolsOfOrders(
  { orders }: Book,
  clientOids: readonly ClientOid[] = [],
): readonly string[] {
  return clientOids.flatMap((clientOid) => orders.get(clientOid)?.terms.symbol ?? [])
}

/** An orderId that becomes known may be that of fills which wait for their order. */
function symbolsOfOrphans({ orphans }: Book): readonly string[] {
  return [...orphans.values()].flatMap(symbolsOf)
}

function symbolsOfPlaces({ places }: Book, record: ExpireRecord): readonly string[] {
  return record.places.flatMap(
    ({ strategyId, key }) => places.get(pairKey(strategyId, key))?.symbol ?? [],
  )
}
