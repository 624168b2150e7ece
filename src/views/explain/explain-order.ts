import { ACCOUNT, strategyScope } from '../../domain/trading-mode.ts'
import type { ClientOid, OrderId } from '../../domain/ids.ts'
import type { PositionMode } from '../../domain/instrument.ts'
import { applyRecord, levelsNamedBy } from '../../engine/book/apply-record.ts'
import type { Order, OrderTerms } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import type { DecisionRecord, ItemOutcome, JournalRecord } from '../../domain/record.ts'
import { createBook } from '../../engine/book/book.ts'
import { unreachable } from '../../lib/unreachable.ts'
import type { JournalReader, NumberedRecord } from '../../journal/journal-reader.ts'
import {
  type StepsBySymbol,
  type Moment,
  sizeOf,
  type Explanation,
  wordsOfDecision,
  wordsOfWithdrawal,
  wordsOfFill,
  wordsOfOutcome,
  wordsOfSend,
  wordsOfSettled,
  wordsOfTerms,
} from './explain-words.ts'

export interface ExplainContext {
  readonly reader: JournalReader
  readonly instruments: StepsBySymbol
  readonly positionMode: PositionMode
}

export function explainOrder(context: ExplainContext, clientOid: string): Explanation | undefined {
  const own = [...context.reader.records({ containing: clientOid })]
  const terms = findTerms(own, clientOid)
  if (terms === undefined) return undefined
  const fills = orderIdsIn(own, clientOid).flatMap((orderId) => [
    ...context.reader.records({ containing: orderId, kinds: ['fills'] }),
  ])
  const records = inOrder([
    ...own,
    ...fills,
    ...decisionBefore(context, terms, own[0]),
    ...around(context, own, terms),
  ])
  const order = foldOrder(context, records, terms.clientOid)
  return {
    title: `${clientOid}: ${wordsOfTerms(context.instruments, terms)}, ${terms.strategyId}, key ${terms.key}`,
    moments: records.flatMap(({ sequence, record }) =>
      describeRecord(context, record, terms, order?.orderId).map(([what, text]): Moment => ({
        sequence,
        at: record.at,
        what,
        text,
      })),
    ),
    verdict: verdictOf(context, terms, order),
  }
}

function findTerms(records: readonly NumberedRecord[], clientOid: string): OrderTerms | undefined {
  return records
    .flatMap(({ record }) => (record.kind === 'send' ? record.orders : []))
    .find((order) => order.clientOid === clientOid)
}

function orderIdsIn(records: readonly NumberedRecord[], clientOid: string): readonly OrderId[] {
  const ids = records
    .flatMap(({ record }) => answeredItems(record))
    .flatMap((item) => (item.clientOid === clientOid ? (item.orderId ?? []) : []))
  return [...new Set(ids)]
}

function answeredItems(
  record: JournalRecord,
): readonly Pick<ItemOutcome, 'clientOid' | 'orderId'>[] {
  if (record.kind === 'outcome') return record.items
  if (record.kind === 'cancelAnswered') return record.listed
  return record.kind === 'settle' ? record.orders : []
}

function decisionBefore(
  { reader }: ExplainContext,
  terms: OrderTerms,
  first: NumberedRecord | undefined,
): readonly NumberedRecord[] {
  if (first === undefined) return []
  const earlier = reader.records({
    kinds: ['decision'],
    until: first.record.at + 1,
    containing: terms.symbol,
    newestFirst: true,
  })
  for (const numbered of earlier) {
    const { record } = numbered
    if (record.kind !== 'decision' || record.strategyId !== terms.strategyId) continue
    if (numbered.sequence < first.sequence && asksFor(record, terms)) return [numbered]
  }
  return []
}

function asksFor(record: DecisionRecord, terms: OrderTerms): boolean {
  const { symbol, purpose } = terms
  if (purpose === 'place') return record.places?.some(({ key }) => key === terms.key) ?? false
  if (purpose !== 'quote')
    return record.targets?.some((target) => target.symbol === symbol) ?? false
  const side = tradesAs(terms.action)
  const ladder = record.quotes?.find((quote) => quote.symbol === symbol)
  if (ladder === undefined) return false
  return levelsNamedBy(ladder).some((level) => level.side === side && level.ticks === terms.ticks)
}

function around(
  { reader }: ExplainContext,
  own: readonly NumberedRecord[],
  { symbol, strategyId }: OrderTerms,
): readonly NumberedRecord[] {
  const [first, last] = [own[0], own.at(-1)]
  if (first === undefined || last === undefined) return []
  const kinds = ['boot', 'reload', 'restricted', 'released', 'repaired', 'cancel'] as const
  const found = reader.records({ kinds, since: first.record.at, until: last.record.at + 1 })
  return [...found].filter(({ sequence, record }) => {
    if (sequence < first.sequence || sequence > last.sequence) return false
    if (record.kind === 'cancel') return record.symbols.includes(symbol)
    return (
      !('scope' in record) || [ACCOUNT, symbol, strategyScope(strategyId)].includes(record.scope)
    )
  })
}

function inOrder(records: readonly NumberedRecord[]): readonly NumberedRecord[] {
  const bySequence = new Map(records.map((numbered) => [numbered.sequence, numbered]))
  return [...bySequence.values()].toSorted((left, right) => left.sequence - right.sequence)
}

function foldOrder(
  { positionMode }: ExplainContext,
  records: readonly NumberedRecord[],
  clientOid: ClientOid,
): Order | undefined {
  const book = createBook(positionMode)
  for (const { record } of records) applyRecord(book, record)
  return book.orders.get(clientOid)
}

export type Entries = readonly (readonly [what: string, text: string])[]

function describeRecord(
  { instruments }: ExplainContext,
  record: JournalRecord,
  terms: OrderTerms,
  orderId: OrderId | undefined,
): Entries {
  const { clientOid, symbol } = terms
  const isOurs = (item: { readonly clientOid: string }): boolean => item.clientOid === clientOid
  switch (record.kind) {
    case 'decision':
      if (record.withdrawn?.includes(clientOid)) return [['withdrawn', wordsOfWithdrawal(record)]]
      return [['decided', wordsOfDecision(instruments, record, symbol)]]
    case 'send':
      return [
        [
          record.again.includes(clientOid) ? 'sent again' : 'sent',
          `approved by risk, ${wordsOfSend(record, clientOid)}`,
        ],
      ]
    case 'outcome':
      return record.items.filter(isOurs).map((item) => [item.outcome, wordsOfOutcome(item, record)])
    case 'fills':
      return record.fills
        .filter((fill) => fill.orderId === orderId)
        .map((fill) => ['filled', wordsOfFill(instruments, fill)])
    case 'cancelAnswered':
      return record.listed.filter(isOurs).map(() => ['listed', 'a cancel-all found it resting'])
    case 'settle':
      return record.orders
        .filter(isOurs)
        .map((item) => [item.state, wordsOfSettled(instruments, item)])
    case 'expire':
      return record.orders.filter(isOurs).map((item) => [item.state, record.reason])
    case 'cancel':
      return [['cancel-all', `of ${record.symbols.join(', ')}, for ${record.cause}`]]
    case 'boot':
    case 'reload':
    case 'restricted':
    case 'released':
    case 'repaired':
      return describeAround(record)
    case 'adopt':
    case 'assigned':
    case 'entry':
    case 'archived':
    case 'deposit':
    case 'candles':
    case 'watermark':
    case 'exits':
    case 'exitsListed':
    case 'universe':
    case 'departed':
    case 'signal':
    case 'call':
    case 'callEnded':
    case 'denial':
    case 'foreign':
    case 'funding':
    case 'unseenFunding':
    case 'prune':
      return []
    default:
      return unreachable(record)
  }
}

type AroundRecord = Extract<
  JournalRecord,
  { kind: 'boot' | 'reload' | 'restricted' | 'released' | 'repaired' }
>

export function describeAround(record: AroundRecord): Entries {
  switch (record.kind) {
    case 'boot':
      return [['started', `run ${record.epoch} of the daemon, version ${record.version}`]]
    case 'reload':
      return [['reload', `${record.changes.join('; ')}: ${record.reason}, by ${record.by}`]]
    case 'restricted':
      return [[record.mode, `${record.scope}, ${record.code}: ${record.reason}, by ${record.by}`]]
    case 'released':
      return [['released', `${record.scope}: ${record.reason}, by ${record.by}`]]
    case 'repaired':
      return [
        ['repaired', 'the journal was cut back to what is readable; what was open is unknown'],
      ]
    default:
      return unreachable(record)
  }
}

const VERDICTS: Readonly<Record<Order['state'], string>> = {
  queued: 'not at the exchange; waits to be sent',
  sent: 'on the wire, or was when the daemon ended',
  live: 'accepted; rests or is being matched',
  unknown: 'may or may not exist; the evidence is being gathered',
  quarantined: 'the evidence contradicts itself: an operator must look',
  filled: 'filled whole',
  done: 'over; what was not filled is cancelled',
  rejected: 'refused by the exchange',
  expired: 'never sent: its time was over',
  absent: 'proved never to have existed',
}

function verdictOf(
  { instruments }: ExplainContext,
  terms: OrderTerms,
  order: Order | undefined,
): string {
  if (order === undefined) return 'no longer in the journal'
  const filled = sizeOf(instruments, terms.symbol, order.filledLots)
  const size = sizeOf(instruments, terms.symbol, terms.lots)
  const reason = order.reason === '' ? '' : ` (${order.reason})`
  return `${order.state}: ${VERDICTS[order.state]}${reason}; filled ${filled} of ${size}`
}
