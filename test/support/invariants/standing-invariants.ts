import { fillKeyOf, type TrueOrder } from '../virtual/exchange-truth.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { canRest, type Order } from '../../../src/domain/order.ts'
import { tradesAs } from '../../../src/domain/order-action.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { KnownPrices } from './known-prices.ts'
import { isKnownFill, type World, type WorldWatcher, violate } from '../world/world.ts'

const LOOK_EVERY = 5
/** How long an order that a cancel-all took may be called live on a free instrument. */
const GHOST_MS = 1500

export class ResolvingInstruments {
  readonly #symbols = new Set<string>()

  clear(): void {
    this.#symbols.clear()
  }

  note(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'announce') continue
      if (effect.event === 'instrument.resolving')
        this.#symbols.add(String(effect.fields['symbol']))
      else if (effect.event === 'instrument.resolved')
        this.#symbols.delete(String(effect.fields['symbol']))
    }
  }

  /** After a close by the exchange resting orders are resolved. */
  noteDistrust(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'announce' || effect.event !== 'orders.unconfirmed') continue
      for (const symbol of effect.fields['symbols'] as readonly string[]) this.#symbols.add(symbol)
    }
  }

  /**
   * A cancel-all of the whole product may require resolving each instrument once its batch is
   * answered.
   */
  noteCancelAlls(effects: readonly Effect[], symbols: readonly string[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'sendCancelAll') continue
      const { symbol } = JSON.parse(effect.body) as { readonly symbol?: string }
      if (symbol === undefined) for (const one of symbols) this.#symbols.add(one)
    }
  }

  has(symbol: string): boolean {
    return this.#symbols.has(symbol)
  }
}

/**
 * An order that a cancel-all took is not called live for long: it is resolved or known to be gone.
 */
export function watchGhosts(world: World): WorldWatcher {
  const resolving = new ResolvingInstruments()
  const since = new Map<string, number>()
  let looks = 0
  return {
    onBirth: () => {
      resolving.clear()
      since.clear()
    },
    afterStep(event, effects) {
      resolving.note(effects)
      const { engine } = world.process
      if (world.quiet.isOn) return since.clear()
      if (event.kind !== 'timePassed' || ++looks % LOOK_EVERY !== 0 || engine?.isTrading !== true)
        return
      for (const [symbol, orders] of engine.book.open) {
        // Instruments with a batch in flight are resolved after its answer, unproved ones of a
        // start after their reading.
        const isBusy =
          engine.unproved.includes(symbol) ||
          [...orders.values()].some(({ state }) => state === 'sent')
        const isFree = !resolving.has(symbol) && !isBusy
        for (const [clientOid, { state, terms }] of orders) {
          // An order that cannot rest ends with its fills, which a refused limiter reads late.
          if (!canRest(terms)) continue
          const there = world.exchange.truth.orderOf(clientOid)
          const isTaken = there?.cancelReason === 'user' || (there && isLiquidated(world, there))
          const isGhost = state === 'live' && isTaken && isFree
          if (!isGhost) since.delete(clientOid)
          else if (!since.has(clientOid)) since.set(clientOid, world.time.now)
          if (!isGhost || world.time.now - (since.get(clientOid) ?? 0) < GHOST_MS) continue
          violate(
            world,
            'ORD8',
            `${clientOid} was cancelled, and is called live on a free instrument`,
          )
        }
      }
    },
  }
}

/** Cancelled by a liquidation with known fills. */
function isLiquidated(world: World, { cancelReason }: TrueOrder): boolean {
  if (cancelReason !== 'liquidation') return false
  const fills = world.exchange.truth.fillsInOrder.filter(({ source }) => source === 'SYS')
  return fills.every((fill) => isKnownFill(world, fillKeyOf(fill)))
}

/** How long an order beyond the market may be lost without a resolution. */
const LOST_MS = 1500
const STOOD_STILL_MS = 500

/** An order lost by the exchange is resolved once the market was beyond it for long enough. */
export function watchLost(world: World): WorldWatcher {
  if (!world.plan.faults.orderVanishes) return {}
  const { crossedToleranceMs } = world.settings.execution
  const known = new KnownPrices()
  const resolving = new ResolvingInstruments()
  const since = new Map<string, number>()
  let lookedAt = 0
  return {
    onBirth: () => {
      known.forget()
      resolving.clear()
      since.clear()
    },
    afterStep(event, effects, now) {
      known.note(event, now)
      resolving.note(effects)
      const { engine } = world.process
      if (event.kind !== 'snapshotTaken' && event.kind !== 'timePassed') return
      // A process that stood still looks anew: its knowledge of the market is old.
      if (world.time.now - lookedAt > STOOD_STILL_MS) since.clear()
      lookedAt = world.time.now
      for (const [symbol, orders] of engine?.book.open ?? []) {
        const isSeen =
          engine?.isTrading === true &&
          !resolving.has(symbol) &&
          known.ageOf(symbol, now) <= world.settings.limits.dataAgeMaxMs
        for (const [clientOid, order] of orders) {
          const isLost = isSeen && isBeyond(world, known, order) && isLostThere(world, clientOid)
          if (!isLost) since.delete(clientOid)
          else if (!since.has(clientOid)) since.set(clientOid, world.time.now)
          const lostMs = world.time.now - (since.get(clientOid) ?? world.time.now)
          if (lostMs > crossedToleranceMs + LOST_MS)
            violate(world, 'ORD5', `${clientOid} was lost by the exchange, and is called live`)
        }
      }
    },
  }
}

function isLostThere(world: World, clientOid: string): boolean {
  return world.exchange.truth.orderOf(clientOid)?.cancelReason === 'self_trade'
}

/** It must have been filled at the prices that the core knows. */
function isBeyond({ settings }: World, { tickers }: KnownPrices, { state, terms }: Order): boolean {
  const { symbol, ticks } = terms
  const tick = settings.instruments.get(symbol)?.tick
  if (state !== 'live' || ticks === undefined || !canRest(terms) || !tickers || !tick) return false
  const price = floatOnGrid(tick, ticks)
  const [bid, ask] = [tickers.read(symbol, 'bidPr'), tickers.read(symbol, 'askPr')]
  if (!(bid > 0 && ask > 0)) return false
  return tradesAs(terms.action) === 'buy' ? price > ask : price < bid
}
