import type { DenialCode } from '../domain/denial.ts'
import type { ClientOid } from '../domain/ids.ts'
import { isTerminal, type Order, type OrderState, type OrderTerms } from '../domain/order.ts'
import { tradesAs } from '../domain/order-action.ts'
import type { JournalRecord, SendRecord } from '../domain/record.ts'
import type { Book } from '../engine/book/book.ts'
import type { RunFill } from '../report/run-facts.ts'
import type { FillOrigin, RunOrder } from '../report/run-collector.ts'

interface LoggedOrder {
  readonly terms: OrderTerms
  readonly sentAt: number
  readonly middle: number
  filledLots: number
  filledTickLots: number
}

export interface OrderLogOptions {
  readonly book: () => Book
  readonly onEnded: (order: RunOrder) => void
  readonly onDenied: (strategyId: string, symbol: string, count: number) => void
}

/** The words of other programs, which read these files. */
const STATUS: Readonly<Record<OrderState, string>> = {
  queued: 'INITIALIZED',
  sent: 'SUBMITTED',
  live: 'ACCEPTED',
  unknown: 'SUBMITTED',
  quarantined: 'SUBMITTED',
  filled: 'FILLED',
  done: 'CANCELED',
  rejected: 'REJECTED',
  expired: 'EXPIRED',
  absent: 'EXPIRED',
}

export class OrderLog {
  readonly denials = new Map<DenialCode, number>()
  readonly strategies = new Set<string>()
  readonly denialsByStrategy = new Map<string, Map<DenialCode, number>>()
  readonly rejections = new Map<string, { readonly message: string; count: number }>()
  readonly #options: OrderLogOptions
  readonly #open = new Map<ClientOid, LoggedOrder>()

  constructor(options: OrderLogOptions) {
    this.#options = options
  }

  observe(record: JournalRecord): void {
    if (record.kind === 'send') this.#send(record)
    else if (record.kind === 'outcome') {
      for (const { clientOid, outcome, code, message } of record.items) {
        if (outcome === 'rejected') this.#reject(code ?? 'none', message ?? '')
        this.#look(clientOid)
      }
    } else if (record.kind === 'settle' || record.kind === 'expire') {
      for (const { clientOid } of record.orders) this.#look(clientOid)
    } else if (record.kind === 'cancelAnswered') {
      for (const { clientOid } of record.listed) this.#look(clientOid)
    } else if (record.kind === 'fills') {
      for (const { orderId } of record.fills) {
        const clientOid = this.#options.book().byOrderId.get(orderId)
        if (clientOid !== undefined) this.#look(clientOid)
      }
    } else if (record.kind === 'denial') {
      this.#deny(record.strategyId, record.code, record.orders + record.unlogged)
      this.#options.onDenied(record.strategyId, record.symbol, record.orders + record.unlogged)
    }
  }

  fill({
    clientOid,
    ticks,
    lots,
  }: Pick<RunFill, 'clientOid' | 'ticks' | 'lots'>): FillOrigin | undefined {
    const open = this.#open.get(clientOid as ClientOid)
    const terms = open?.terms ?? this.#options.book().orders.get(clientOid as ClientOid)?.terms
    if (terms === undefined) return undefined
    if (open) {
      open.filledLots += lots
      open.filledTickLots += ticks * lots
    }
    return { strategyId: terms.strategyId, middle: open?.middle ?? 0 }
  }

  close(): void {
    for (const clientOid of this.#open.keys()) {
      const order = this.#options.book().orders.get(clientOid)
      if (order) this.#end(clientOid, order)
    }
  }

  #send({ orders, at, seen: { market } }: SendRecord): void {
    const middle = (market.bid + market.ask) / 2
    for (const terms of orders) {
      this.strategies.add(terms.strategyId)
      this.#open.set(terms.clientOid, {
        terms,
        sentAt: at,
        middle,
        filledLots: 0,
        filledTickLots: 0,
      })
    }
  }

  #deny(strategyId: string, code: DenialCode, count: number): void {
    this.strategies.add(strategyId)
    const ofStrategy = this.denialsByStrategy.get(strategyId) ?? new Map<DenialCode, number>()
    this.denialsByStrategy.set(strategyId, ofStrategy)
    for (const counts of [this.denials, ofStrategy])
      counts.set(code, (counts.get(code) ?? 0) + count)
  }

  #reject(code: string, message: string): void {
    const known = this.rejections.get(code) ?? { message, count: 0 }
    known.count += 1
    this.rejections.set(code, known)
  }

  #look(clientOid: ClientOid): void {
    const order = this.#options.book().orders.get(clientOid)
    if (order && isTerminal(order)) this.#end(clientOid, order)
  }

  #end(clientOid: ClientOid, { terms, state, orderId, reason, endedAt }: Order): void {
    const open = this.#open.get(clientOid)
    if (!this.#open.delete(clientOid) || open === undefined) return
    const { strategyId, symbol, ticks, force, lots, action } = terms
    const { filledLots, filledTickLots, sentAt } = open
    this.#options.onEnded({
      clientOid,
      strategyId,
      symbol,
      ticks,
      force,
      lots,
      filledLots,
      filledTickLots,
      reason,
      sentAt,
      orderId: orderId ?? '',
      side: tradesAs(action),
      status: STATUS[state],
      endedAt: endedAt || this.#options.book().recordedAt,
    })
  }
}
