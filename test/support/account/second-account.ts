import { type Fill } from '../../../src/domain/fill.ts'
import {
  type AssignedRecord,
  type JournalRecord,
  type ReleasedRecord,
  type WatermarkRecord,
} from '../../../src/domain/record.ts'

/** Lots of one side, and their cost in ticks times lots. */
export interface Leg {
  readonly lots: number
  readonly cost: number
  /** At most so many of the lots were taken over at an unknown price. */
  readonly unpriced: number
}

export interface OwnerFigures {
  readonly long: Leg
  readonly short: Leg
  readonly profit: number
  readonly fees: number
  /** Consecutive losing trades, from flat to flat. */
  readonly lostInRow: number
}

export interface InstrumentFigures {
  readonly longLots: number
  readonly shortLots: number
  /** As booked, for all fills, minus fees, plus funding. */
  readonly settled: number
  readonly owners: ReadonlyMap<string, OwnerFigures>
  /** A position was adopted, so its price is unknown. */
  readonly isUncertain: boolean
  readonly isWaiting: boolean
}

interface Owner {
  long: Leg
  short: Leg
  profit: number
  fees: number
  trade: number
  lostInRow: number
}

type Side = 'long' | 'short'

type Happening =
  | { readonly kind: 'fill'; readonly fill: Fill; readonly waits: boolean }
  | { readonly kind: 'adopted'; readonly longLots: number; readonly shortLots: number }
  | { readonly kind: 'released'; readonly strategyId: string }
  | { readonly kind: 'assigned'; readonly record: AssignedRecord }

const NONE: Leg = { lots: 0, cost: 0, unpriced: 0 }
const NOBODY = ''

export interface SecondAccountOptions {
  readonly isOneWay: boolean
  /** Keyed by symbol: value of a tick of a lot in the margin coin. */
  readonly unitOf: (symbol: string) => number
}

/**
 * A second account of each strategy and instrument, from the journal's records. It shares no code
 * with the product on purpose: it keeps costs instead of average prices, and recomputes from the
 * first fill when an owner becomes known.
 */
export class SecondAccount {
  readonly #options: SecondAccountOptions
  #strategyOf = new Map<string, string>()
  #nameOf = new Map<string, string>()
  #disowned = new Set<string>()
  #seen = new Set<string>()
  #happened = new Map<string, Happening[]>()
  #funding = new Map<string, number>()
  #held = new Set<string>()
  #folded = new Map<string, InstrumentFigures>()
  watermarks = new Map<string, WatermarkRecord['watermarks'][number]>()
  /** Keyed by scope: highest recorded peak since a release took a new one for every step. */
  tops = new Map<string, number>()

  constructor(options: SecondAccountOptions) {
    this.#options = options
  }

  restart(records: readonly JournalRecord[]): void {
    this.#strategyOf = new Map()
    this.#nameOf = new Map()
    this.#disowned = new Set()
    this.#seen = new Set()
    this.#happened = new Map()
    this.#funding = new Map()
    this.#held = new Set()
    this.#folded = new Map()
    this.watermarks = new Map()
    this.tops = new Map()
    for (const record of records) this.add(record)
  }

  get symbols(): Iterable<string> {
    return new Set([...this.#happened.keys(), ...this.#funding.keys()])
  }

  add(record: JournalRecord): void {
    switch (record.kind) {
      case 'send':
        for (const { clientOid, strategyId } of record.orders)
          this.#strategyOf.set(clientOid, strategyId)
        return
      case 'outcome':
        for (const { clientOid, orderId, outcome } of record.items)
          if (outcome === 'accepted' || outcome === 'exists') this.#name(orderId, clientOid)
        return
      case 'cancelAnswered':
        for (const { clientOid, orderId } of record.listed) this.#name(orderId, clientOid)
        return
      case 'settle':
        for (const { clientOid, orderId } of record.orders) this.#name(orderId, clientOid)
        return
      case 'foreign':
        for (const orderId of record.orderIds) this.#disowned.add(orderId)
        return this.#folded.clear()
      case 'fills':
        for (const fill of record.fills)
          this.#addFill(fill, record.waiting?.includes(fill.orderId) ?? false)
        return
      case 'adopt':
        return this.#note(record.symbol, { kind: 'adopted', ...record.holding })
      case 'assigned':
        return this.#note(record.symbol, { kind: 'assigned', record })
      case 'funding':
        this.#funding.set(
          record.symbol,
          (this.#funding.get(record.symbol) ?? 0) + Number(record.change),
        )
        return void this.#folded.delete(record.symbol)
      case 'restricted':
        return void this.#held.add(`${record.scope}|${record.code}`)
      case 'released':
        return this.#release(record)
      case 'watermark':
        for (const watermark of record.watermarks) this.#noteWatermark(watermark)
        return
      case 'boot':
      case 'reload':
      case 'deposit':
      case 'exits':
      case 'exitsListed':
      case 'universe':
      case 'departed':
      case 'signal':
      case 'decision':
      case 'cancel':
      case 'expire':
      case 'entry':
      case 'unseenFunding':
      case 'call':
      case 'callEnded':
      case 'denial':
      case 'prune':
      case 'repaired':
      case 'archived':
      case 'candles':
        return
    }
  }

  of(symbol: string): InstrumentFigures {
    const known = this.#folded.get(symbol)
    if (known) return known
    const figures = this.#fold(symbol)
    this.#folded.set(symbol, figures)
    return figures
  }

  #name(orderId: string | undefined, clientOid: string): void {
    if (orderId === undefined || this.#nameOf.has(orderId)) return
    this.#nameOf.set(orderId, clientOid)
    this.#folded.clear()
  }

  #addFill(fill: Fill, waits: boolean): void {
    const key = `${fill.tradeId}/${fill.orderId}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    // A fill of others from the start, unless it is known or may be ours.
    const isOurs = this.#nameOf.has(fill.orderId) || fill.source === 'API' || waits
    this.#note(fill.symbol, { kind: 'fill', fill, waits: isOurs })
  }

  #note(symbol: string, happening: Happening): void {
    this.#happened.set(symbol, [...(this.#happened.get(symbol) ?? []), happening])
    this.#folded.delete(symbol)
  }

  #noteWatermark(watermark: WatermarkRecord['watermarks'][number]): void {
    const { scope, peak } = watermark
    this.watermarks.set(scope, watermark)
    if (peak !== null) this.tops.set(scope, Math.max(peak, this.tops.get(scope) ?? peak))
  }

  #release({ scope, code, peak }: ReleasedRecord): void {
    if (peak === 'new') {
      this.tops.delete(scope)
      const watermark = this.watermarks.get(scope)
      if (watermark) this.watermarks.set(scope, { ...watermark, peak: null })
    }
    for (const key of Array.from(this.#held)) {
      const [held = '', reason = ''] = key.split('|')
      if (held !== scope || (code === undefined ? reason === 'kill' : reason !== code)) continue
      this.#held.delete(key)
      const watermark = this.watermarks.get(scope)
      if (reason === 'dailyLoss' && watermark)
        this.watermarks.set(scope, { ...watermark, dayNet: null })
      if (reason.startsWith('drawdown') && watermark)
        this.watermarks.set(scope, { ...watermark, peak: null })
      if (reason.startsWith('drawdown') && peak !== 'kept') this.tops.delete(scope)
      if (reason !== 'losingStreak') continue
      const strategyId = scope.slice(scope.indexOf(':') + 1)
      for (const symbol of this.#happened.keys())
        this.#note(symbol, { kind: 'released', strategyId })
    }
  }

  /** Undefined while a fill waits for its order. */
  #ownerOf(fill: Fill, waits: boolean): string | undefined {
    if (!waits) return NOBODY
    const name = this.#nameOf.get(fill.orderId)
    if (name !== undefined) return this.#strategyOf.get(name) ?? NOBODY
    return this.#disowned.has(fill.orderId) ? NOBODY : undefined
  }

  #fold(symbol: string): InstrumentFigures {
    const state = new Position(this.#options.isOneWay, this.#options.unitOf(symbol))
    let settled = this.#funding.get(symbol) ?? 0
    let isWaiting = false
    for (const happening of this.#happened.get(symbol) ?? []) {
      if (happening.kind === 'adopted') state.adopt(happening)
      else if (happening.kind === 'released') state.forgetStreak(happening.strategyId)
      else if (happening.kind === 'assigned') state.assign(happening.record)
      else {
        const { fill, waits } = happening
        const owner = this.#ownerOf(fill, waits)
        isWaiting ||= owner === undefined
        settled += Number(fill.profit || 0) - feeOf(fill)
        state.trade(fill, owner ?? `~${fill.orderId}`)
      }
    }
    const { long, short } = state.account
    return {
      longLots: long.lots,
      shortLots: short.lots,
      settled,
      owners: state.owners,
      isUncertain: state.isUncertain,
      isWaiting,
    }
  }
}

function feeOf({ fee, otherFees = [] }: Fill): number {
  return otherFees.reduce(
    (sum, { amount, price = '0' }) => sum + Number(amount) * Number(price),
    Number(fee || 0),
  )
}

class Position {
  readonly #isOneWay: boolean
  readonly #unit: number
  readonly account: Owner = createOwner()
  readonly owners = new Map<string, Owner>()
  isUncertain = false

  constructor(isOneWay: boolean, unit: number) {
    this.#isOneWay = isOneWay
    this.#unit = unit
  }

  trade(fill: Fill, name: string): void {
    const { lots, profit } = fill
    const before = { long: this.account.long.lots, short: this.account.short.lots }
    const brought = this.#move(this.account, fill, lots) * this.#unit
    // The booked difference from the price goes with each lot.
    const beyond = profit ? (Number(profit) - brought) / lots : 0
    const paid = feeOf(fill) / lots
    const count = (owner: Owner, part: number, lotsPaid = part): void => {
      const was = directionOf(owner)
      const gained = this.#move(owner, fill, part) * this.#unit + beyond * lotsPaid
      owner.profit += gained
      owner.fees += paid * lotsPaid
      owner.trade += gained - paid * lotsPaid
      const hasTurned = this.#isOneWay && was !== 0 && directionOf(owner) !== was
      if (!isFlat(owner) && !hasTurned) return
      owner.lostInRow = owner.trade < -1e-9 ? owner.lostInRow + 1 : 0
      owner.trade = 0
    }
    if (name === NOBODY) return this.#takeFromAll(fill, before, count)
    const owner = this.#ownerNamed(name)
    if (name.startsWith('~')) return void this.#move(owner, fill, lots, true)
    const side = this.#isOneWay ? undefined : this.#sideClosed(fill)
    const own = side === undefined ? lots : Math.min(lots, owner[side].lots)
    // Lots beyond its own closed those of others; fee and surcharge belong to the order.
    count(owner, own, lots)
    if (own < lots) this.#take(fill, lots - own, count)
  }

  /** Missing lots were closed at an unknown price. */
  adopt({ longLots, shortLots }: { readonly longLots: number; readonly shortLots: number }): void {
    this.isUncertain = true
    const before = { long: this.account.long.lots, short: this.account.short.lots }
    const lose = (side: Side, lots: number): void => {
      const direction = this.#isOneWay === (side === 'short') ? 'buy' : 'sell'
      const change = { side: direction, tradeSide: 'close', ticks: 0, lots } as const
      this.#takeFromAll(change, before, (owner, part) => {
        const leg = owner[side]
        owner[side] = without(leg, part)
        if (isFlat(owner)) owner.trade = 0
      })
    }
    if (this.#isOneWay) {
      const change = longLots - shortLots - (before.long - before.short)
      if (change !== 0) lose(change > 0 ? 'short' : 'long', Math.abs(change))
    } else {
      if (longLots < before.long) lose('long', before.long - longLots)
      if (shortLots < before.short) lose('short', before.short - shortLots)
    }
    this.account.long = { lots: longLots, cost: 0, unpriced: longLots }
    this.account.short = { lots: shortLots, cost: 0, unpriced: shortLots }
  }

  /** Lots that are taken over cost what the account paid, so nothing is made. */
  assign({ strategyId, holding, longTicks, shortTicks }: AssignedRecord): void {
    const owner = this.#ownerNamed(strategyId)
    const parts = [
      { side: 'buy', lots: holding.longLots, ticks: longTicks },
      { side: 'sell', lots: holding.shortLots, ticks: shortTicks },
    ] as const
    for (const { side, lots, ticks } of parts) {
      if (lots === 0) continue
      this.isUncertain ||= ticks === undefined
      const held = side === 'buy' ? 'long' : 'short'
      const before = owner[held].lots
      this.#move(owner, { side, tradeSide: 'open', ticks: ticks ?? 0 }, lots)
      const opened = owner[held].lots - before
      if (ticks === undefined)
        owner[held] = { ...owner[held], unpriced: owner[held].unpriced + opened }
      if (isFlat(owner)) owner.trade = 0
    }
  }

  forgetStreak(strategyId: string): void {
    const owner = this.owners.get(strategyId)
    if (owner) owner.lostInRow = 0
  }

  #ownerNamed(name: string): Owner {
    const owner = this.owners.get(name) ?? createOwner()
    this.owners.set(name, owner)
    return owner
  }

  /** The side that a fill closes, if it is held. */
  #sideClosed({ side, tradeSide }: Pick<Fill, 'side' | 'tradeSide'>): Side | undefined {
    if (this.#isOneWay) return side === 'buy' ? 'short' : 'long'
    if (tradeSide === 'open') return undefined
    return side === 'buy' ? 'long' : 'short'
  }

  /**
   * Closes the other side, opens the rest, and returns the result of closing in ticks times lots.
   */
  #move(
    owner: Owner,
    fill: Pick<Fill, 'side' | 'tradeSide' | 'ticks'>,
    lots: number,
    mayOwe = false,
  ): number {
    const closing = this.#sideClosed(fill)
    const opening =
      this.#isOneWay || fill.tradeSide === 'open'
        ? fill.side === 'buy'
          ? 'long'
          : 'short'
        : undefined
    let left = lots
    let brought = 0
    if (closing !== undefined) {
      const leg = owner[closing]
      const closed = opening === undefined && mayOwe ? left : Math.min(left, Math.max(0, leg.lots))
      const cost = leg.lots > 0 ? (leg.cost * closed) / leg.lots : 0
      brought = (closed * fill.ticks - cost) * (closing === 'long' ? 1 : -1)
      owner[closing] = without(leg, closed)
      left -= closed
    }
    if (opening !== undefined && left > 0) {
      const leg = owner[opening]
      owner[opening] = { ...leg, lots: leg.lots + left, cost: leg.cost + left * fill.ticks }
    }
    return brought
  }

  /** Trades of others take the unheld part first, then the strategies' lots. */
  #takeFromAll(
    fill: Pick<Fill, 'side' | 'tradeSide' | 'ticks' | 'lots'>,
    before: { readonly long: number; readonly short: number },
    settle: (owner: Owner, part: number) => void,
  ): void {
    const side = this.#sideClosed(fill)
    if (side === undefined) return
    const other = side === 'long' ? 'short' : 'long'
    const net = ({ long, short }: { readonly long: number; readonly short: number }): number =>
      side === 'long' ? long - short : short - long
    const there = this.#isOneWay ? net(before) : before[side]
    let claimed = 0
    for (const owner of this.owners.values())
      claimed += owner[side].lots - (this.#isOneWay ? owner[other].lots : 0)
    const closed = Math.min(fill.lots, Math.max(0, there))
    this.#take(fill, closed - Math.max(0, there - claimed), settle)
  }

  #take(
    fill: Pick<Fill, 'side' | 'tradeSide'>,
    all: number,
    settle: (owner: Owner, part: number) => void,
  ): void {
    const side = this.#sideClosed(fill)
    let left = all
    const names = [...this.owners.keys()].sort((one, other) => (one < other ? -1 : 1))
    for (const name of names) {
      const owner = this.#ownerNamed(name)
      if (side === undefined || left <= 0 || owner[side].lots <= 0) continue
      const part = Math.min(left, owner[side].lots)
      settle(owner, part)
      left -= part
    }
  }
}

function without({ lots, cost, unpriced }: Leg, closed: number): Leg {
  const left = lots - closed
  return {
    lots: left,
    cost: lots > 0 ? cost - (cost * closed) / lots : cost,
    unpriced: Math.min(unpriced, Math.max(0, left)),
  }
}

function createOwner(): Owner {
  return { long: NONE, short: NONE, profit: 0, fees: 0, trade: 0, lostInRow: 0 }
}

function isFlat({ long, short }: Owner): boolean {
  return long.lots <= 0 && short.lots <= 0
}

function directionOf({ long, short }: Owner): number {
  return Math.sign(long.lots - short.lots)
}
