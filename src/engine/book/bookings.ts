import type { Fill } from '../../domain/fill.ts'
import { toFeesText } from '../../domain/fill-money.ts'
import type { ExitKind } from '../../domain/exits.ts'
import type { OrderTerms } from '../../domain/order.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { FundingRecord, JournalRecord } from '../../domain/record.ts'
import type { BookedFill, BookedFunding, BookedOwner, Booking } from '../../journal/booking.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { showOnGrid } from '../../lib/grid.ts'
import type { Book } from './book.ts'

interface BookedBy {
  readonly book: Book
  readonly instruments: ReadonlyMap<string, Instrument>
  /** {@link waitingFillsOf}, before the record was applied. */
  readonly waiting: readonly Fill[]
}

/** Called before the record is applied. */
export function waitingFillsOf({ orphans }: Book, record: JournalRecord): readonly Fill[] {
  if (orphans.size === 0) return []
  return [...new Set(orderIdsIn(record))].flatMap((orderId) => orphans.get(orderId) ?? [])
}

export function buildBookings(record: JournalRecord, by: BookedBy): readonly Booking[] {
  const { book, instruments, waiting } = by
  const owners = waiting
    .filter(({ orderId }) => !book.orphans.has(orderId))
    .map((fill): BookedOwner => {
      const { tradeId, orderId } = fill
      return { kind: 'owner', tradeId, orderId, ...ownerOf(book, fill) }
    })
  if (record.kind === 'fills')
    return record.fills.flatMap((fill) => toBookedFill(fill, { book, instruments }))
  if (record.kind === 'funding') return toBookedFunding(record, instruments)
  return owners
}

function orderIdsIn(record: JournalRecord): readonly OrderId[] {
  if (record.kind === 'foreign') return record.orderIds
  return itemsIn(record).flatMap(({ orderId }) => orderId ?? [])
}

function itemsIn(record: JournalRecord): readonly { readonly orderId?: OrderId }[] {
  if (record.kind === 'outcome') return record.items
  if (record.kind === 'cancelAnswered') return record.listed
  return record.kind === 'settle' ? record.orders : []
}

export type ClosePurpose = 'flatten' | ExitKind

/** Undefined: the order closes nothing. */
export function closePurposeOf({
  purpose,
  exit,
}: Pick<OrderTerms, 'purpose' | 'exit'>): ClosePurpose | undefined {
  return purpose === 'flatten' ? 'flatten' : exit
}

function ownerOf(
  { byOrderId, orders, orphans }: Book,
  { orderId }: Fill,
): Pick<BookedFill, 'owner' | 'clientOid' | 'strategyId' | 'reason' | 'tag'> {
  const clientOid = byOrderId.get(orderId)
  const order = clientOid === undefined ? undefined : orders.get(clientOid)
  if (order) {
    const { terms } = order
    const { clientOid: name, strategyId } = terms
    const reason = closePurposeOf(terms) ?? ''
    return { owner: 'strategy', clientOid: name, strategyId, reason, tag: terms.tag ?? '' }
  }
  const owner = orphans.has(orderId) ? 'waiting' : 'nobody'
  return { owner, clientOid: '', strategyId: '', reason: '', tag: '' }
}

function toBookedFill(
  fill: Fill,
  { book, instruments }: Pick<BookedBy, 'book' | 'instruments'>,
): readonly BookedFill[] {
  const { tradeId, orderId, symbol, side, tradeSide, profit, fee, scope, source } = fill
  const instrument = instruments.get(symbol)
  if (!instrument) return []
  return [
    {
      kind: 'fill',
      tradeId,
      at: Math.round(fill.filledAt),
      orderId,
      ...ownerOf(book, fill),
      symbol,
      side,
      tradeSide,
      price: showOnGrid(instrument.tick, fill.ticks),
      size: showOnGrid(instrument.lot, fill.lots),
      profit: profit ?? '',
      fee: fee ?? '',
      coin: instrument.marginCoin,
      scope,
      source,
      fillKind: fill.fillKind ?? '',
      otherFees: toFeesText(fill.otherFees),
    },
  ]
}

function toBookedFunding(
  { at, symbol, holdSide, counter, change }: FundingRecord,
  instruments: ReadonlyMap<string, Instrument>,
): readonly BookedFunding[] {
  // The counter begins at zero with each position, which is no payment.
  if (decimal(change).eq(ZERO)) return []
  const coin = instruments.get(symbol)?.marginCoin ?? ''
  const id = `${symbol} ${holdSide} ${Math.round(at)} ${counter}`
  return [{ kind: 'funding', id, at: Math.round(at), symbol, side: holdSide, amount: change, coin }]
}
