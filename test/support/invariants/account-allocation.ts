import { isDeepStrictEqual } from 'node:util'
import { type AssignedRecord } from '../../../src/domain/record.ts'
import {
  type ExchangeTruth,
  isForeign,
  type TrueFill,
  type TrueOrder,
} from '../virtual/exchange-truth.ts'

/** Lots held of one leg: signed for a net position. */
interface Leg {
  account: number
  readonly byStrategy: Map<string, number>
}

export interface Assignment {
  readonly record: AssignedRecord
  readonly open: readonly string[]
  /** Whether the daemon knew a fill then. */
  readonly isKnown: (fill: TrueFill) => boolean
}

/** Fills and takeovers, in the order in which they count. */
type Move =
  | { readonly fill: TrueFill; readonly order: TrueOrder; readonly assignment?: undefined }
  | { readonly assignment: Assignment }

/** In lots, neither negative. */
export interface Lots {
  readonly longLots: number
  readonly shortLots: number
}

export interface Take {
  readonly symbol: string
  readonly fill: TrueFill
  readonly direction: 'buy' | 'sell'
  readonly lots: number
}

export interface AccountAllocationOptions {
  readonly truth: ExchangeTruth
  readonly isOneWay: boolean
  /** Keyed by clientOid. */
  readonly strategyOf: ReadonlyMap<string, string>
}

export class AccountAllocation {
  readonly #options: AccountAllocationOptions
  readonly #legs = new Map<string, Leg>()
  #taken = 0
  #moves: Move[] = []
  /** Lots that others took from strategies, oldest first. */
  #takes: Take[] = []

  constructor(options: AccountAllocationOptions) {
    this.#options = options
  }

  ownOf(symbol: string): Lots {
    this.#catchUp()
    if (!this.#options.isOneWay) {
      return {
        longLots: claimed(this.#leg(symbol, 'long')),
        shortLots: claimed(this.#leg(symbol, 'short')),
      }
    }
    const net = claimed(this.#leg(symbol, 'net'))
    return { longLots: Math.max(0, net), shortLots: Math.max(0, -net) }
  }

  /** Signed net lots of one strategy. */
  netOf(symbol: string, strategyId: string): number {
    this.#catchUp()
    return this.#leg(symbol, 'net').byStrategy.get(strategyId) ?? 0
  }

  get takes(): readonly Take[] {
    return this.#takes
  }

  /**
   * A strategy takes over the unheld part. Only the journal records that; `judgeAssignment` judges
   * its size.
   */
  assign(assignment: Assignment): void {
    this.#catchUp()
    const from = 1 + this.#moves.findLastIndex((move) => move.assignment !== undefined)
    const isLater = (move: Move): boolean =>
      move.assignment === undefined && !assignment.isKnown(move.fill)
    const since = this.#moves.slice(from)
    this.#moves = [
      ...this.#moves.slice(0, from),
      ...since.filter((move) => !isLater(move)),
      { assignment },
      ...since.filter(isLater),
    ]
    this.#recount()
  }

  hasAssigned(symbol: string): boolean {
    return this.#assignments().some(({ record }) => record.symbol === symbol)
  }

  /** Lots taken over while orders were open, of which one still is. */
  assignedBeside(symbol: string, isOpen: (clientOid: string) => boolean): Lots {
    const beside = this.#assignments().filter(
      ({ record, open }) => record.symbol === symbol && open.some(isOpen),
    )
    return {
      longLots: beside.reduce((sum, { record }) => sum + record.holding.longLots, 0),
      shortLots: beside.reduce((sum, { record }) => sum + record.holding.shortLots, 0),
    }
  }

  /** Assignments that a dead process had not made durable never happened. */
  keepOnly(kept: readonly AssignedRecord[]): void {
    const isKept = ({ record }: Assignment): boolean =>
      kept.some((one) => isDeepStrictEqual(one, record))
    const moves = this.#moves.filter(({ assignment }) => !assignment || isKept(assignment))
    if (moves.length === this.#moves.length) return
    this.#moves = moves
    this.#recount()
  }

  #assignments(): readonly Assignment[] {
    return this.#moves.flatMap(({ assignment }) => assignment ?? [])
  }

  /** Counts every move anew; what others took by a fill is the same thing as before. */
  #recount(): void {
    const before = new Map(this.#takes.map((take) => [take.fill, take]))
    this.#legs.clear()
    this.#takes = []
    for (const move of this.#moves) this.#apply(move)
    this.#takes = this.#takes.map((take) => {
      const known = before.get(take.fill)
      return known?.lots === take.lots ? known : take
    })
  }

  #apply(move: Move): void {
    if (move.assignment) this.#assign(move.assignment.record)
    else this.#take(move.fill, move.order)
  }

  #assign({ symbol, strategyId, holding: { longLots, shortLots } }: AssignedRecord): void {
    const moves: readonly (readonly [TrueOrder['slot'], number])[] = this.#options.isOneWay
      ? [['net', longLots - shortLots]]
      : [
          ['long', longLots],
          ['short', shortLots],
        ]
    for (const [slot, lots] of moves) {
      const { byStrategy } = this.#leg(symbol, slot)
      byStrategy.set(strategyId, (byStrategy.get(strategyId) ?? 0) + lots)
    }
  }

  unclaimedOf(symbol: string): readonly number[] {
    this.#catchUp()
    const slots: readonly TrueOrder['slot'][] = this.#options.isOneWay ? ['net'] : ['long', 'short']
    return slots.map((slot) => {
      const leg = this.#leg(symbol, slot)
      return leg.account - claimed(leg)
    })
  }

  #catchUp(): void {
    const { fillsInOrder, orders } = this.#options.truth
    for (; this.#taken < fillsInOrder.length; this.#taken++) {
      const fill = fillsInOrder[this.#taken]
      const order = orders.get(String(fill?.orderSequence))
      if (!fill || !order) continue
      this.#moves.push({ fill, order })
      this.#take(fill, order)
    }
  }

  #take(fill: TrueFill, order: TrueOrder): void {
    const leg = this.#leg(order.symbol, order.slot)
    const adds = order.slot === 'net' ? order.direction === 'buy' : order.action === 'open'
    const change = adds ? fill.lots : -fill.lots
    leg.account += change
    if (isForeign(order)) {
      const lots = takeFromStrategies(leg, change)
      if (lots > 0)
        this.#takes.push({ symbol: order.symbol, fill, direction: order.direction, lots })
      return
    }
    const strategyId = this.#options.strategyOf.get(order.clientOid) ?? ''
    const held = (leg.byStrategy.get(strategyId) ?? 0) + change
    leg.byStrategy.set(strategyId, order.slot === 'net' ? held : Math.max(0, held))
    // A close that outlived its position closed other holders' lots of the leg.
    if (order.slot !== 'net' && held < 0) takeLots(leg, -1, -held)
  }

  #leg(symbol: string, slot: TrueOrder['slot']): Leg {
    const key = `${symbol} ${slot}`
    const known = this.#legs.get(key) ?? { account: 0, byStrategy: new Map<string, number>() }
    this.#legs.set(key, known)
    return known
  }
}

function takeFromStrategies(leg: Leg, change: number): number {
  const way = Math.sign(change)
  const before = -way * (leg.account - change)
  const ofNobody = before + way * claimed(leg)
  const closed = Math.min(Math.abs(change), Math.max(0, before))
  const all = Math.max(0, closed - Math.max(0, ofNobody))
  takeLots(leg, way, all)
  return all
}

function takeLots({ byStrategy }: Leg, way: number, all: number): void {
  let lots = all
  for (const strategyId of [...byStrategy.keys()].sort()) {
    const held = byStrategy.get(strategyId) ?? 0
    const taken = Math.min(lots, Math.max(0, -way * held))
    byStrategy.set(strategyId, held + way * taken)
    lots -= taken
  }
}

function claimed({ byStrategy }: Leg): number {
  let sum = 0
  for (const lots of byStrategy.values()) sum += lots
  return sum
}
