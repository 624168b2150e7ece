import { orderIdText, tradeIdText } from '../../../src/simulator/futures/orders/order.ts'
import { type RowStore, type StoredRow } from '../../../src/simulator/store/stored-rows.ts'

export interface TrueOrder {
  readonly sequence: number
  readonly clientOid: string
  readonly symbol: string
  readonly direction: 'buy' | 'sell'
  readonly slot: 'long' | 'short' | 'net'
  readonly action: 'open' | 'close' | 'net'
  readonly reduceOnly: boolean
  readonly source: 'API' | 'SYS'
  /** Its limit; 0: any price. */
  readonly priceTicks: number
  readonly lots: number
  readonly filledLots: number
  readonly status: 'pending' | 'live' | 'partially_filled' | 'filled' | 'cancelled'
  readonly cancelReason?: string
  /** Unix ms. */
  readonly createdAt: number
}

export interface TruePosition {
  readonly symbol: string
  readonly holdSide: 'long' | 'short'
  readonly lots: number
  /** Unix ms. */
  readonly openedAt: number
  /** The exit that the exchange keeps, at its trigger price. */
  readonly stopLoss?: { readonly triggerTicks: number } | undefined
  readonly takeProfit?: { readonly triggerTicks: number } | undefined
  /** Undefined until the first funding. */
  readonly funding?: { toString(): string } | undefined
}

export interface TrueFill {
  readonly sequence: number
  /** Sequence of the fill whose id it shares. */
  readonly idSequence?: number
  readonly symbol: string
  readonly orderSequence: number
  readonly priceTicks: number
  readonly lots: number
  readonly source: 'API' | 'SYS'
  readonly tradeSide: string
  /** Decimal strings in the margin coin, as booked. */
  readonly fee: string
  readonly profit: string
}

/** An account's ledger at the exchange in one coin: decimal strings. */
export interface TrueMoney {
  readonly realisedProfit: string
  readonly fees: string
  readonly funding: string
}

/**
 * As the exchange's store it sees every change of orders and positions, and keeps what the exchange
 * forgets.
 */
export class ExchangeTruth implements RowStore {
  readonly orders = new Map<string, TrueOrder>()
  readonly fills = new Map<string, TrueFill>()
  /** Oldest first. */
  readonly fillsInOrder: TrueFill[] = []
  /** Keyed by account and coin. */
  readonly money = new Map<string, TrueMoney>()
  readonly #byClientOid = new Map<string, TrueOrder>()
  readonly #open = new Map<string, TrueOrder>()
  readonly #positions = new Map<string, TruePosition>()
  /** Called after every change of an order or a position. */
  onChange: () => void = () => undefined
  onOrder: (order: TrueOrder, before: TrueOrder | undefined) => void = () => undefined

  onPosition: (id: string, position: TruePosition | undefined) => void = () => undefined

  load(): undefined {
    return undefined
  }

  save(changes: readonly StoredRow[]): void {
    let hasChanged = false
    for (const row of changes) hasChanged = this.#take(row) || hasChanged
    if (hasChanged) this.onChange()
  }

  hasOrder(clientOid: string | undefined): boolean {
    return clientOid !== undefined && this.#byClientOid.has(clientOid)
  }

  orderOf(clientOid: string): TrueOrder | undefined {
    return this.#byClientOid.get(clientOid)
  }

  get open(): Iterable<TrueOrder> {
    return this.#open.values()
  }

  get positions(): Iterable<TruePosition> {
    return this.#positions.values()
  }

  /** In ticks; undefined without a position or a stop. */
  stopOf(symbol: string, holdSide: 'long' | 'short'): number | undefined {
    return this.#positionOf(symbol, holdSide)?.stopLoss?.triggerTicks
  }

  takeProfitOf(symbol: string, holdSide: 'long' | 'short'): number | undefined {
    return this.#positionOf(symbol, holdSide)?.takeProfit?.triggerTicks
  }

  #positionOf(symbol: string, holdSide: 'long' | 'short'): TruePosition | undefined {
    for (const position of this.#positions.values())
      if (position.symbol === symbol && position.holdSide === holdSide && position.lots > 0)
        return position
    return undefined
  }

  lotsOf(symbol: string, holdSide: 'long' | 'short'): number {
    for (const position of this.#positions.values()) {
      if (position.symbol === symbol && position.holdSide === holdSide) return position.lots
    }
    return 0
  }

  #take(row: StoredRow): boolean {
    const { table, id } = row
    if (table === 'orders') {
      const order = copyOf<TrueOrder>(row)
      if (!order) return false
      this.onOrder(order, this.orders.get(id))
      this.orders.set(id, order)
      this.#byClientOid.set(order.clientOid, order)
      if (order.status === 'filled' || order.status === 'cancelled') this.#open.delete(id)
      else this.#open.set(id, order)
      return true
    }
    if (table === 'positions') {
      const position = copyOf<TruePosition>(row)
      this.onPosition(id, position)
      if (position) this.#positions.set(id, position)
      else this.#positions.delete(id)
      return true
    }
    if (table === 'fills' && row.json !== undefined)
      this.#takeFill(id, JSON.parse(row.json) as TrueFill)
    if (table === 'accounts' && row.json !== undefined) {
      this.#takeAccount(JSON.parse(row.json) as StoredAccount)
    }
    return false
  }

  #takeFill(id: string, fill: TrueFill): void {
    this.fills.set(id, fill)
    this.fillsInOrder.push(fill)
  }

  #takeAccount({ uid, coins }: StoredAccount): void {
    for (const [coin, money] of Object.entries(coins)) this.money.set(`${uid} ${coin}`, money)
  }
}

/** A copy of the plain fields, since the exchange changes its object; decimals are not copied. */
function copyOf<Row>({ entity, json }: StoredRow): Row | undefined {
  if (entity !== undefined) return { ...entity } as Row
  return json === undefined ? undefined : (JSON.parse(json) as Row)
}

interface StoredAccount {
  readonly uid: string
  readonly coins: Readonly<Record<string, TrueMoney>>
}

/** Name prefix of orders by hand, or by the exchange. */
export const HAND_NAME = 'hand-'
/** Name prefix of another program with the account's keys. */
export const API_NAME = 'bot-'
/** Name prefix of one whose fills have no meaningful source. */
export const ODD_NAME = 'odd-'
const FOREIGN_NAME = /^(hand-|bot-|odd-|SIM-)/

export function isForeign({ source, clientOid }: TrueOrder): boolean {
  return source === 'SYS' || FOREIGN_NAME.test(clientOid)
}

/** Made by another program: its fills look like ours. */
export function isByApi({ clientOid }: Pick<TrueOrder, 'clientOid'>): boolean {
  return clientOid.startsWith(API_NAME) || isOdd({ clientOid })
}

/** Its fills have no meaningful source. */
export function isOdd({ clientOid }: Pick<TrueOrder, 'clientOid'>): boolean {
  return clientOid.startsWith(ODD_NAME)
}

/** Id of a fill on the wire: both sides of a self-trade share it. */
export function tradeIdOf({ sequence, idSequence = sequence }: TrueFill): string {
  return tradeIdText(idSequence)
}

/** Key of a fill by trade and order. */
export function fillKeyOf(fill: TrueFill): string {
  return `${tradeIdOf(fill)}|${orderIdText(fill.orderSequence)}`
}

export function isOpenThere({ status }: TrueOrder): boolean {
  return status !== 'filled' && status !== 'cancelled'
}
