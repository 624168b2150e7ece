import { type OrderTerms } from '../../../src/domain/order.ts'
import { hasUnownedFills, pairKey } from '../../../src/engine/book/book.ts'
import { fillKeyOf, isForeign, type TrueFill, type TrueOrder } from '../virtual/exchange-truth.ts'
import { isKnownFill, type World, type WorldWatcher, violate } from '../world/world.ts'

type HoldSide = 'long' | 'short'
const SIDES: readonly HoldSide[] = ['long', 'short']

interface Levels {
  readonly stopLossTicks?: number | undefined
  readonly takeProfitTicks?: number | undefined
}

/** A fill is read, and what it changed is said, within this time. */
const SAID_MS = 3000
/** Without readings of fills for so long nothing is judged. */
const UNREAD_MS = 1500

/**
 * STOP: whoever counts on a take-profit or stop-loss of an order is told when the exchange does not
 * keep it, and only then. What an order asked for is in its record; which part of it is held, and
 * what the exchange keeps, is in the ledger.
 */
export function watchOrderedExits(world: World): WorldWatcher {
  const { exchange, process, settings } = world
  const count = new OrderedLevels(world)
  /** Keyed by owner, instrument and side: what was said, and since when it is not so. */
  const alarms = new Set<string>()
  const since = new Map<string, number>()
  let readAt = 0
  const isJudged = ({ owner, symbol }: Counted): boolean => {
    const { book } = process.engine ?? {}
    // Exits of a strategy's own act below these, and move them.
    const hasRules = [...settings.strategies.values()].some(
      ({ id, exits }) => id === owner && exits !== undefined,
    )
    return (
      book !== undefined && !hasRules && count.isKnown(symbol) && !hasUnownedFills(book, symbol)
    )
  }
  return {
    onBirth() {
      alarms.clear()
      since.clear()
      readAt = 0
    },
    onRecord(record) {
      if (record.kind === 'send') for (const terms of record.orders) count.note(terms)
    },
    afterStep(event, effects, now) {
      for (const effect of effects) {
        if (effect.kind !== 'announce') continue
        const { strategy, symbol, side } = effect.fields
        const key = [strategy, symbol, side].join('|')
        if (effect.event === 'exit.notKept') alarms.add(key)
        if (effect.event === 'exit.notKeptEnded') alarms.delete(key)
      }
      if (event.kind === 'fillsRead') {
        if (now - readAt > UNREAD_MS) since.clear()
        readAt = now
      }
      if (event.kind !== 'timePassed' || !count.hasAny) return
      if (now - readAt > UNREAD_MS || process.engine?.phase !== 'running') return since.clear()
      for (const one of count.list()) {
        const { owner, symbol, side, levels } = one
        const key = [owner, symbol, side].join('|')
        const isKept =
          levels === undefined ||
          SIDES.every(
            (held) =>
              held !== side ||
              (stands(levels.stopLossTicks, exchange.truth.stopOf(symbol, side)) &&
                stands(levels.takeProfitTicks, exchange.truth.takeProfitOf(symbol, side))),
          )
        if (isKept !== alarms.has(key) || !isJudged(one)) {
          since.delete(key)
          continue
        }
        const from = since.get(key) ?? now
        since.set(key, from)
        if (now - from <= SAID_MS) continue
        const wanted = JSON.stringify(levels)
        const what = isKept
          ? 'said not to be kept, and is'
          : 'not what the exchange keeps, and nobody is told'
        violate(world, 'STOP', `${wanted} of ${owner} on ${symbol} ${side} is ${what}`)
      }
    },
  }
}

function stands(wanted: number | undefined, kept: number | undefined): boolean {
  return wanted === undefined || wanted === kept
}

interface Counted {
  readonly owner: string
  readonly symbol: string
  readonly side: HoldSide
  /** Undefined: nothing is held there, or nothing was asked for. */
  readonly levels: Levels | undefined
}

interface Holder {
  readonly owner: string
  readonly symbol: string
  readonly lots: Record<HoldSide, number>
  readonly levels: Map<HoldSide, Levels>
}

/** The levels that the orders of each owner asked for, for what it holds by the ledger. */
class OrderedLevels {
  readonly #world: World
  readonly #terms = new Map<string, OrderTerms>()
  readonly #holders = new Map<string, Holder>()
  /** Others have traded these, so whose a part is cannot be counted here. */
  readonly #foreign = new Set<string>()
  readonly #unread: TrueFill[] = []
  #counted = 0
  hasAny = false

  constructor(world: World) {
    this.#world = world
  }

  note(terms: OrderTerms): void {
    this.#terms.set(terms.clientOid, terms)
    this.hasAny ||= terms.stopLossTicks !== undefined || terms.takeProfitTicks !== undefined
  }

  /** The daemon has read every fill of the instrument. */
  isKnown(symbol: string): boolean {
    const unread = this.#unread.filter((fill) => !isKnownFill(this.#world, fillKeyOf(fill)))
    this.#unread.splice(0, this.#unread.length, ...unread)
    return !unread.some((fill) => fill.symbol === symbol)
  }

  list(): readonly Counted[] {
    this.#catchUp()
    return [...this.#holders.values()].flatMap(({ owner, symbol, levels }) =>
      this.#foreign.has(symbol)
        ? []
        : SIDES.map((side) => ({ owner, symbol, side, levels: levels.get(side) })),
    )
  }

  #catchUp(): void {
    const { fillsInOrder, orders } = this.#world.exchange.truth
    for (; this.#counted < fillsInOrder.length; this.#counted++) {
      const fill = fillsInOrder[this.#counted]
      const order = orders.get(String(fill?.orderSequence))
      if (fill && order) this.#take(fill, order)
    }
  }

  #take(fill: TrueFill, order: TrueOrder): void {
    this.#unread.push(fill)
    const terms = this.#terms.get(order.clientOid)
    if (isForeign(order) || terms === undefined) return void this.#foreign.add(order.symbol)
    const holder = this.#holderOf(terms)
    const { lots, levels } = holder
    if (order.slot === 'net') {
      const net = lots.long - lots.short + (order.direction === 'buy' ? fill.lots : -fill.lots)
      lots.long = Math.max(0, net)
      lots.short = Math.max(0, -net)
    } else {
      const change = order.action === 'open' ? fill.lots : -fill.lots
      lots[order.slot] = Math.max(0, lots[order.slot] + change)
    }
    const opened = OPENED[terms.action]
    if (opened && lots[opened] > 0) this.#merge(holder, opened, terms)
    for (const side of SIDES) if (lots[side] === 0) levels.delete(side)
  }

  #merge({ levels }: Holder, side: HoldSide, { stopLossTicks, takeProfitTicks }: Levels): void {
    if (stopLossTicks === undefined && takeProfitTicks === undefined) return
    const before = levels.get(side)
    levels.set(side, {
      stopLossTicks: stopLossTicks ?? before?.stopLossTicks,
      takeProfitTicks: takeProfitTicks ?? before?.takeProfitTicks,
    })
  }

  #holderOf({ strategyId, symbol }: OrderTerms): Holder {
    const key = pairKey(strategyId, symbol)
    const known = this.#holders.get(key)
    if (known) return known
    const holder = { owner: strategyId, symbol, lots: { long: 0, short: 0 }, levels: new Map() }
    this.#holders.set(key, holder)
    return holder
  }
}

const OPENED: Readonly<Record<OrderTerms['action'], HoldSide | undefined>> = {
  openLong: 'long',
  openShort: 'short',
  closeLong: undefined,
  closeShort: undefined,
}
