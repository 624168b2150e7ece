import { orderIdText, tradeIdText } from '../../../src/simulator/futures/orders/order.ts'
import { type RowStore, type StoredRow } from '../../../src/simulator/store/row-store.ts'

/** An order as the exchange itself knows it. */
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
  /** What its counter says; undefined until the first funding. */
  readonly funding?: { toString(): string } | undefined
}

export interface TrueFill {
  readonly sequence: number
  /** Of the fill with which it shares its id. */
  readonly idSequence?: number
  readonly symbol: string
  readonly orderSequence: number
  readonly priceTicks: number
  readonly lots: number
  readonly source: 'API' | 'SYS'
  readonly tradeSide: string
  /** Decimal strings in the margin coin, exactly as booked. */
  readonly fee: string
  readonly profit: string
}

/** What the exchange's double-entry ledger says of an account in one coin: decimal strings. */
export interface TrueMoney {
  readonly realisedProfit: string
  readonly fees: string
  readonly funding: string
}

/**
 * Looks over the exchange's shoulder: as its store it hears of every order and position the moment it
 * changes, and keeps what the exchange itself forgets.
 */
export class ExchangeTruth implements RowStore {
  /** By sequence, every one that ever was. */
  readonly orders = new Map<string, TrueOrder>()
  /** By sequence, every one that ever was. */
  readonly fills = new Map<string, TrueFill>()
  /** The same, oldest first. */
  readonly fillsInOrder: TrueFill[] = []
  /** By account and coin. */
  readonly money = new Map<string, TrueMoney>()
  /** The newest order of each name. */
  readonly #byClientOid = new Map<string, TrueOrder>()
  readonly #open = new Map<string, TrueOrder>()
  readonly #positions = new Map<string, TruePosition>()
  /** Called after every change of an order or a position. */
  onChange: () => void = () => undefined
  /** Called for every order that is new or has changed. */
  onOrder: (order: TrueOrder, before: TrueOrder | undefined) => void = () => undefined

  /** Called for every position that is new, has changed, or is gone. */
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

/** As it is now: the exchange goes on changing its own. Of the plain fields that are looked at, not of its decimals. */
function copyOf<Row>({ entity, json }: StoredRow): Row | undefined {
  if (entity !== undefined) return { ...entity } as Row
  return json === undefined ? undefined : (JSON.parse(json) as Row)
}

interface StoredAccount {
  readonly uid: string
  readonly coins: Readonly<Record<string, TrueMoney>>
}

/** How orders are named that are not ours: by hand, or by the exchange where nobody names them. */
export const HAND_NAME = 'hand-'
/** And by another program that uses the account's keys. */
export const API_NAME = 'bot-'
/** And by one of which the fills do not say where they come from. */
export const ODD_NAME = 'odd-'
const FOREIGN_NAME = /^(hand-|bot-|odd-|SIM-)/

/** Made by a person's hand or by the system, on our account. */
export function isForeign({ source, clientOid }: TrueOrder): boolean {
  return source === 'SYS' || FOREIGN_NAME.test(clientOid)
}

/** Made by another program: its fills look like ours. */
export function isByApi({ clientOid }: Pick<TrueOrder, 'clientOid'>): boolean {
  return clientOid.startsWith(API_NAME) || isOdd({ clientOid })
}

/** Its fills have a source that means nothing, or none. */
export function isOdd({ clientOid }: Pick<TrueOrder, 'clientOid'>): boolean {
  return clientOid.startsWith(ODD_NAME)
}

/** The id of a fill on the wire: the two sides of a self-trade share it. */
export function tradeIdOf({ sequence, idSequence = sequence }: TrueFill): string {
  return tradeIdText(idSequence)
}

/** A fill as it is named among ours, by trade and order. */
export function fillKeyOf(fill: TrueFill): string {
  return `${tradeIdOf(fill)}|${orderIdText(fill.orderSequence)}`
}

/** Whether it can still be filled. */
export function isOpenThere({ status }: TrueOrder): boolean {
  return status !== 'filled' && status !== 'cancelled'
}
