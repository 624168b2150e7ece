import { type Fill, fillKey } from '../../../src/domain/fill.ts'
import { toClientOid } from '../../../src/domain/ids.ts'
import { isTerminal } from '../../../src/domain/order.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { accountHoldingOf, type Book } from '../../../src/engine/book/book.ts'
import { decimal, sumDecimals } from '../../../src/lib/decimal.ts'
import { orderIdText } from '../../../src/simulator/futures/orders/order.ts'
import {
  type ExchangeTruth,
  fillKeyOf,
  isForeign,
  isOpenThere,
  type TrueFill,
  type TrueMoney,
  type TrueOrder,
} from '../virtual/exchange-truth.ts'

export type Differences = readonly string[]

/**
 * At rest each order has the same fate at the exchange and in the book, a clientOid had at most one
 * effect, and no fate is open (ORD4, ORD5).
 * @param rememberedSince Unix ms: the exchange may have forgotten earlier ones
 */
export function compareFates(
  book: Book,
  orders: Iterable<TrueOrder>,
  rememberedSince = 0,
): Differences {
  const ours = [...orders].filter((order) => !isForeign(order))
  const there = Map.groupBy(ours, ({ clientOid }) => clientOid)
  return [
    ...[...there].flatMap(([clientOid, copies]) => compareFate(book, clientOid, copies)),
    ...[...book.orders.values()].flatMap((order) => {
      const { clientOid } = order.terms
      const copies = there.get(clientOid) ?? []
      if (!isTerminal(order)) return [`${clientOid} is ${order.state} in the end`]
      // An order that rested unfilled and was silently cancelled leaves no trace, and may be called
      // absent.
      const seen = order.state === 'absent' ? copies.filter(hadEffect) : copies
      const wasNever = ['absent', 'rejected', 'expired'].includes(order.state)
      if (wasNever && seen.length > 0)
        return [`${clientOid} is ${order.state} and was at the exchange`]
      const isRemembered = order.firstSentAt >= rememberedSince
      if (!wasNever && copies.length === 0 && isRemembered)
        return [`${clientOid} is ${order.state} and never was there`]
      return []
    }),
  ]
}

function compareFate(book: Book, clientOid: string, copies: readonly TrueOrder[]): Differences {
  if (copies.filter(hadEffect).length > 1) return [`${clientOid} is doubled`]
  const known = book.orders.get(toClientOid(clientOid))
  if (!known) return [`${clientOid} is not known`]
  const filledLots = copies.reduce((sum, order) => sum + order.filledLots, 0)
  if (known.filledLots !== filledLots)
    return [`${clientOid} filled ${filledLots}, the book says ${known.filledLots} (${known.state})`]
  return copies.some(isOpenThere) ? [`${clientOid} is ${known.state} here and rests there`] : []
}

function hadEffect(order: TrueOrder): boolean {
  return order.filledLots > 0 || isOpenThere(order)
}

/** Each fill is in the journal once, under its order, with equal numbers. */
export function compareFills(records: readonly JournalRecord[], truth: ExchangeTruth): Differences {
  const recorded = records.flatMap((record) => (record.kind === 'fills' ? record.fills : []))
  const byKey = Map.groupBy(recorded, fillKey)
  const differences = [...truth.fills.values()].flatMap((fill) => {
    const key = fillKeyOf(fill)
    const [found, second] = byKey.get(key) ?? []
    byKey.delete(key)
    if (!found) return [`fill ${key} is lost`]
    return [...(second ? [`fill ${key} is counted twice`] : []), ...compareFill(found, fill)]
  })
  return [...differences, ...[...byKey.keys()].map((key) => `fill ${key} never happened`)]
}

function compareFill(ours: Fill, theirs: TrueFill): Differences {
  const pairs = [
    ['order', ours.orderId, orderIdText(theirs.orderSequence)],
    ['symbol', ours.symbol, theirs.symbol],
    ['ticks', ours.ticks, theirs.priceTicks],
    ['lots', ours.lots, theirs.lots],
    ['fee', ours.fee, decimal(theirs.fee).toString()],
    ['profit', ours.profit, decimal(theirs.profit).toString()],
  ] as const
  return pairs.flatMap(([what, our, their]) =>
    String(our) === String(their) ? [] : [`fill ${ours.tradeId}: ${what} ${our}, there ${their}`],
  )
}

export function comparePositions(
  book: Book,
  truth: ExchangeTruth,
  symbols: Iterable<string>,
): Differences {
  return [...symbols].flatMap((symbol) => {
    const there = {
      longLots: truth.lotsOf(symbol, 'long'),
      shortLots: truth.lotsOf(symbol, 'short'),
    }
    const { longLots, shortLots } = accountHoldingOf(book, symbol)
    if (longLots === there.longLots && shortLots === there.shortLots) return []
    return [
      `${symbol} holds ${JSON.stringify(there)}, the book says ${JSON.stringify({ longLots, shortLots })}`,
    ]
  })
}

/** Fees, profit and funding equal the exchange's ledger to the last digit. */
export function compareMoney(book: Book, theirs: TrueMoney): Differences {
  const money = [...book.money.values()]
  const ours: TrueMoney = {
    fees: sumDecimals(money.map(({ fees }) => fees)).toString(),
    realisedProfit: sumDecimals(money.map(({ profit }) => profit)).toString(),
    funding: sumDecimals(book.funding.values()).toString(),
  }
  return (['fees', 'realisedProfit', 'funding'] as const).flatMap((what) =>
    decimal(ours[what]).eq(decimal(theirs[what]))
      ? []
      : [`${what}: ours ${ours[what]}, there ${theirs[what]}`],
  )
}

/** A journal must never contain an adopted position, foreign fills or a needless halt. */
export function findDisgraces(records: readonly JournalRecord[]): Differences {
  return records.flatMap((record) =>
    record.kind === 'adopt' ||
    record.kind === 'foreign' ||
    (record.kind === 'restricted' && record.code !== 'kill')
      ? [`the journal says ${JSON.stringify(record)}`]
      : [],
  )
}

/**
 * Each order at the exchange was recorded before it left, and never sent with other content (ORD1,
 * ORD2).
 */
export function compareSends(
  records: readonly JournalRecord[],
  orders: Iterable<TrueOrder>,
): Differences {
  const items = new Map<string, string>()
  const differences: string[] = []
  for (const record of records) {
    if (record.kind !== 'send') continue
    const { orderList } = JSON.parse(record.body) as {
      readonly orderList: readonly { readonly clientOid: string }[]
    }
    for (const item of orderList) {
      const text = JSON.stringify(item)
      const first = items.get(item.clientOid) ?? text
      items.set(item.clientOid, first)
      if (first !== text) differences.push(`another order as ${item.clientOid}: ${text}`)
    }
  }
  for (const { clientOid, source } of orders) {
    if (source === 'API' && !items.has(clientOid))
      differences.push(`${clientOid} left without a record`)
  }
  return differences
}
