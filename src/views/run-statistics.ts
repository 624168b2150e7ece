import type { Fill } from '../domain/fill.ts'
import { addFill, NO_MONEY } from '../domain/fill-money.ts'
import type { ClientOid, StrategyId } from '../domain/ids.ts'
import type { Intent } from '../domain/intent.ts'
import { isTerminal, type OrderState } from '../domain/order.ts'
import type {
  ItemOutcomeKind,
  JournalRecord,
  SendRecord,
  UniverseRecord,
} from '../domain/record.ts'
import type { Book } from '../engine/book/book.ts'
import { decimal, ZERO } from '../lib/decimal.ts'
import { Percentiles } from '../lib/percentiles.ts'
import { unreachable } from '../lib/unreachable.ts'

export class RunStatistics {
  snapshots = 0
  decisions = 0
  batches = 0
  batchesLargest = 0
  ordersSent = 0
  ordersSentAgain = 0
  cancelAlls = 0
  restrictions = 0
  money = NO_MONEY
  funding = ZERO
  readonly intents = new Map<Intent['kind'], number>()
  readonly outcomes = new Map<ItemOutcomeKind, number>()
  readonly ended = new Map<OrderState, number>()
  /** From the last byte of a ticker answer to the write of its batch. */
  readonly decisionLatency = new Percentiles()
  readonly universes = new Map<StrategyId, { readonly joined: number; readonly left: number }>()
  readonly #open = new Set<ClientOid>()

  countIntents(intents: readonly Intent[]): void {
    this.decisions += 1
    for (const { kind } of intents) increment(this.intents, kind)
  }

  adopt(book: Book): void {
    for (const orders of book.open.values())
      for (const clientOid of orders.keys()) this.#open.add(clientOid)
  }

  observe(record: JournalRecord, book: Book): void {
    switch (record.kind) {
      case 'send':
        return this.#countBatch(record)
      case 'outcome':
        for (const { clientOid, outcome } of record.items) {
          increment(this.outcomes, outcome)
          this.#look(clientOid, book)
        }
        return
      case 'fills':
        for (const fill of record.fills) this.#countFill(fill, book)
        return
      case 'funding':
        this.funding = this.funding.plus(decimal(record.change))
        return
      case 'cancel':
        this.cancelAlls += 1
        return
      case 'settle':
      case 'expire':
        for (const { clientOid } of record.orders) this.#look(clientOid, book)
        return
      case 'cancelAnswered':
        // Fills that waited for the orderId may end an order that the cancel-all lists.
        for (const { clientOid } of record.listed) this.#look(clientOid, book)
        return
      case 'prune':
        for (const clientOid of this.#open)
          if (!book.orders.has(clientOid)) this.#open.delete(clientOid)
        return
      case 'archived':
      case 'candles':
      case 'watermark':
      case 'exits':
      case 'exitsListed':
      case 'departed':
      case 'signal':
      case 'deposit':
      case 'reload':
      case 'boot':
      case 'decision':
      case 'adopt':
      case 'assigned':
      case 'entry':
      case 'unseenFunding':
      case 'call':
      case 'callEnded':
      case 'foreign':
      case 'denial':
      case 'released':
      case 'repaired':
        return
      case 'restricted':
        this.restrictions += 1
        return
      case 'universe':
        return this.#countChoice(record)
      default:
        return unreachable(record)
    }
  }

  ordersByState(book: Book): Record<string, number> {
    const states = new Map<string, number>(this.ended)
    for (const clientOid of this.#open) {
      const order = book.orders.get(clientOid)
      if (order) increment(states, order.state)
    }
    return Object.fromEntries([...states].toSorted(byName))
  }

  #countBatch({ orders, again }: SendRecord): void {
    this.batches += 1
    this.batchesLargest = Math.max(this.batchesLargest, orders.length + again.length)
    this.ordersSent += orders.length
    this.ordersSentAgain += again.length
    for (const { clientOid } of orders) this.#open.add(clientOid)
  }

  #countChoice({ strategyId, joined, left }: UniverseRecord): void {
    const known = this.universes.get(strategyId) ?? { joined: 0, left: 0 }
    this.universes.set(strategyId, {
      joined: known.joined + joined.length,
      left: known.left + left.length,
    })
  }

  #countFill(fill: Fill, book: Book): void {
    this.money = addFill(this.money, fill)
    const clientOid = book.byOrderId.get(fill.orderId)
    if (clientOid !== undefined) this.#look(clientOid, book)
  }

  #look(clientOid: ClientOid, book: Book): void {
    const order = book.orders.get(clientOid)
    if (!order || !isTerminal(order) || !this.#open.delete(clientOid)) return
    increment(this.ended, order.state)
  }
}

/** The order of code units is the same on every machine. */
export function byName(
  [left]: readonly [string, number],
  [right]: readonly [string, number],
): number {
  return left < right ? -1 : 1
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
