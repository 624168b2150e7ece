import { ACCOUNT, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type Answer } from '../../../src/domain/answer.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { toClientOid } from '../../../src/domain/ids.ts'
import { openLots, type Order } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { type Book, holdingOf } from '../../../src/engine/book/book.ts'
import { type OutgoingBatch } from '../../../src/engine/effect.ts'
import { AskedStop } from './asked-stop.ts'
import { believedGross } from './believed-gross.ts'
import { fillKeyOf, isForeign, type TrueFill } from '../virtual/exchange-truth.ts'
import { foreignFills, isAllocationKnown } from '../faults/foreign-fills.ts'
import { createExcuses, unanswered } from './foreign-invariants.ts'
import { KnownPrices } from './known-prices.ts'
import { GROSS_NEVER_REACHED } from './room.ts'
import { ReadingsSince } from './readings-since.ts'
import {
  symbolsNow,
  isKnownFill,
  bodyOf,
  type World,
  type WorldWatcher,
  violate,
} from '../world/world.ts'

/** At every instant the strategies' holdings and resting orders stay within their limits. */
export function watchWorstCase(world: World): WorldWatcher {
  const limits = new Map<string, number>()
  for (const { limits: bySymbol } of world.settings.strategies.values()) {
    for (const [symbol, { positionMax }] of bySymbol) {
      limits.set(symbol, (limits.get(symbol) ?? 0) + positionMax)
    }
  }
  const { truth } = world.exchange
  const excusesOf = createExcuses(world)
  const check = () => {
    for (const [symbol, limit] of limits) {
      if (!isAllocationKnown(world, symbol)) continue
      const { longLots: long, shortLots: short } = world.allocation.ownOf(symbol)
      let [buying, selling] = [0, 0]
      for (const order of truth.open) {
        if (
          order.symbol !== symbol ||
          isForeign(order) ||
          order.reduceOnly ||
          order.action === 'close'
        )
          continue
        if (order.direction === 'buy') buying += order.lots - order.filledLots
        else selling += order.lots - order.filledLots
      }
      const isOneWay = world.plan.positionMode === 'one_way_mode'
      const excused = isOneWay ? excusesOf(symbol) : { buy: 0, sell: 0 }
      const over = beyondLimits(world, symbol, isOneWay)
      const worstLong = long + buying - (isOneWay ? short : 0) - excused.buy - over.buy
      const worstShort = short + selling - (isOneWay ? long : 0) - excused.sell - over.sell
      const worst = Math.max(worstLong, worstShort)
      if (worst > limit)
        violate(
          world,
          'RSK1',
          `${symbol} could reach ${worst} lots, limit ${limit}: holds ${long} long, ${short} short, ${buying} to buy, ${selling} to sell`,
        )
    }
  }
  truth.onChange = check
  return {}
}

/** Lots beyond the limits after others took what orders relied on, or after a takeover. */
function beyondLimits(
  { process, settings, allocation }: World,
  symbol: string,
  isOneWay: boolean,
): { buy: number; sell: number } {
  const beyond = { buy: 0, sell: 0 }
  const { book } = process.engine ?? {}
  const isTaken = isOneWay && allocation.takes.some((take) => take.symbol === symbol)
  if (!book || !(isTaken || allocation.hasAssigned(symbol))) return beyond
  for (const { id, limits } of settings.strategies.values()) {
    const { longLots, shortLots } = holdingOf(book, id, symbol)
    const { positionMax = 0 } = limits.get(symbol) ?? {}
    beyond.buy += Math.max(0, longLots - (isOneWay ? shortLots : 0) - positionMax)
    beyond.sell += Math.max(0, shortLots - (isOneWay ? longLots : 0) - positionMax)
  }
  // Orders open at a takeover, and fills not yet booked, did not count it.
  const isOpen = (clientOid: string): boolean => {
    const order = book.orders.get(toClientOid(clientOid))
    return order !== undefined && order.endedAt === 0
  }
  const beside = allocation.assignedBeside(symbol, isOpen)
  return {
    buy: Math.max(beyond.buy, beside.longLots),
    sell: Math.max(beyond.sell, beside.shortLots),
  }
}

/**
 * The approval may have used slightly other prices. Answers after an approval say nothing about it:
 * they may be wrong.
 */
const PRICE_TOLERANCE = 1.02

/**
 * When an adding order leaves, holdings and resting orders of the strategies at the exchange, and
 * the leaving ones, stay within their limits by value, at the prices shown to the daemon.
 */
export function watchPositionValue(world: World): WorldWatcher {
  const { positionNotionalMax, positionMode, faults } = world.plan
  // Values at absurd prices mean nothing.
  if (positionNotionalMax === undefined || faults.tickerAbsurd) return {}
  const known = new KnownPrices()
  const shown = new Map<number, TickerTable | undefined>()
  /** Keyed by batch: orders that only reduced their strategies' holdings. */
  const reducing = new Map<number, ReadonlySet<string>>()
  const excusesOf = createExcuses(world)
  const byHand = world.plan.hasManual === true ? 1 : 0
  const traders = (symbol: string): number =>
    byHand + world.plan.strategies.filter(({ symbols }) => symbols.includes(symbol)).length
  return {
    onBirth: () => known.forget(),
    afterStep(event, effects, now) {
      known.note(event, now)
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch') continue
        const { batchId, clientOids } = effect.batch
        shown.set(batchId, known.tickers)
        reducing.set(
          batchId,
          new Set(clientOids.filter((clientOid) => isReducing(world, clientOid))),
        )
      }
    },
    onWrite(batch) {
      const { symbol } = batch
      const { truth, unseen } = world.exchange
      // Positions taken by others leave resting orders more room than they asked for.
      const isTaken = world.allocation.takes.some((take) => take.symbol === symbol)
      if (unseen.size > 0 || isTaken || !isAllocationKnown(world, symbol)) return
      const adding = { buy: 0, sell: 0 }
      for (const { side, tradeSide, reduceOnly, size, clientOid = '' } of bodyOf(batch).orderList) {
        if (tradeSide === 'close' || reduceOnly === 'YES' || truth.hasOrder(clientOid)) continue
        if (!(reducing.get(batch.batchId)?.has(clientOid) ?? false)) adding[side] += Number(size)
      }
      const { lot } = world.settings.instruments.get(symbol) ?? {}
      const price = shown.get(batch.batchId)?.read(symbol, 'askPr') || 0
      if (!lot || price === 0) return
      const open = { buy: 0, sell: 0 }
      for (const order of truth.open) {
        const closes = order.reduceOnly || order.action === 'close'
        if (order.symbol === symbol && !isForeign(order) && !closes)
          open[order.direction] += order.lots - order.filledLots
      }
      const held = world.allocation.ownOf(symbol)
      const isOneWay = positionMode === 'one_way_mode'
      const excused = isOneWay ? excusesOf(symbol) : { buy: 0, sell: 0 }
      const net = held.longLots - held.shortLots
      const before = { buy: isOneWay ? net : held.longLots, sell: isOneWay ? -net : held.shortLots }
      const limit = positionNotionalMax * traders(symbol)
      for (const side of ['buy', 'sell'] as const) {
        if (adding[side] === 0) continue
        const resting = floatOnGrid(lot, before[side] + open[side] - excused[side])
        const notional = (resting + adding[side]) * price
        if (notional > limit * PRICE_TOLERANCE)
          violate(
            world,
            'RSK1',
            `${symbol} could be worth ${notional.toFixed(2)}, limit ${limit} by value`,
          )
      }
    },
  }
}

/**
 * When an order leaves, its worst case with everything held and resting at the exchange stays
 * within the account's gross notional, whatever the book knows. Leverage only limits orders that
 * add risk: one that reduces its strategy's holding may leave, even if the account's net position
 * grows.
 */
export function watchGross(world: World): WorldWatcher {
  const { limits } = world.settings
  // At absurd prices the account's value means nothing.
  const { leverageMax = Number.POSITIVE_INFINITY } = limits
  const isReached =
    limits.grossNotionalMax < GROSS_NEVER_REACHED || leverageMax < Number.POSITIVE_INFINITY
  if (!isReached || world.plan.faults.tickerAbsurd) return {}
  const known = new KnownPrices()
  const shown = new Map<number, TickerTable | undefined>()
  /** Keyed by batch: fills of others known when it was formed. */
  const seen = new Map<number, ReadonlySet<TrueFill>>()
  /** Keyed by batch: the gross that the book considered possible without it. */
  const believed = new Map<number, number>()
  /** Keyed by batch: the gross that the equity allowed. */
  const allowed = new Map<number, number>()
  /** Keyed by batch: orders that only reduced their strategies' holdings. */
  const reducing = new Map<number, ReadonlySet<string>>()
  return {
    onBirth: () => known.forget(),
    afterStep(event, effects, now) {
      known.note(event, now)
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch') continue
        const { batchId, clientOids } = effect.batch
        const priceOf = priceIn(known.tickers)
        shown.set(batchId, known.tickers)
        seen.set(batchId, seenFills(world))
        believed.set(batchId, believedGross(world, priceOf, new Set(clientOids)))
        const { engine } = world.process
        const { equity = 0 } = engine?.equity ?? {}
        // While our own figure is unknown, the exchange's limits.
        const isTheirs = engine?.equity === undefined && (engine?.disputes.size ?? 0) > 0
        if (Number.isFinite(leverageMax) && !isTheirs) allowed.set(batchId, leverageMax * equity)
        reducing.set(
          batchId,
          new Set(clientOids.filter((clientOid) => isReducing(world, clientOid))),
        )
      }
    },
    onWrite(batch) {
      const adding = { buy: 0, sell: 0 }
      const addingRisk = { buy: 0, sell: 0 }
      const { truth, unseen } = world.exchange
      // A silent close is known only once adopted.
      if (unseen.size > 0) return
      for (const { side, tradeSide, reduceOnly, size, clientOid } of bodyOf(batch).orderList) {
        // A copy of a resting or filled order adds nothing.
        if (tradeSide === 'close' || reduceOnly === 'YES' || truth.hasOrder(clientOid)) continue
        // A stop's closes are compared with their strategy's holding.
        if (isFlattening(world, clientOid)) continue
        adding[side] += Number(size)
        if (!(reducing.get(batch.batchId)?.has(clientOid ?? '') ?? false))
          addingRisk[side] += Number(size)
      }
      if (adding.buy + adding.sell === 0) return
      const priceOf = priceIn(shown.get(batch.batchId))
      const grossWith = (added: Adding['adding']): number => {
        let gross = 0
        for (const symbol of world.plan.symbols) {
          const own = symbol === batch.symbol ? added : { buy: 0, sell: 0 }
          gross +=
            priceOf(symbol) *
            worstSize(world, symbol, { adding: own, seen: seen.get(batch.batchId) })
        }
        return gross
      }
      // Trades of others may exceed it already: then nothing may increase it.
      const before = Math.max(grossWith({ buy: 0, sell: 0 }), believed.get(batch.batchId) ?? 0)
      const check = (gross: number, max: number, what: string): void => {
        if (gross <= Math.max(max, before) * PRICE_TOLERANCE) return
        violate(
          world,
          'RSK1',
          `the account could reach ${gross.toFixed(2)}, ${what} ${max.toFixed(2)}`,
        )
      }
      check(grossWith(adding), limits.grossNotionalMax, 'limit')
      const byEquity = allowed.get(batch.batchId)
      if (byEquity !== undefined) check(grossWith(addingRisk), byEquity, 'its leverage allows')
    },
  }
}

function priceIn(tickers: TickerTable | undefined): (symbol: string) => number {
  return (symbol) => tickers?.read(symbol, 'askPr') || 0
}

function isFlattening({ process }: World, clientOid: string | undefined): boolean {
  return (
    clientOid !== undefined &&
    process.engine?.book.orders.get(toClientOid(clientOid))?.terms.purpose === 'flatten'
  )
}

interface Adding {
  readonly adding: { readonly buy: number; readonly sell: number }
  readonly seen: ReadonlySet<TrueFill> | undefined
}

/** Base coin: the larger side of a net position, or both legs. */
function worstSize(world: World, symbol: string, { adding, seen }: Adding): number {
  const { exchange, plan, settings } = world
  const lot = settings.instruments.get(symbol)?.lot
  if (!lot) return 0
  const held = heldKnowably(world, symbol, seen)
  const worst = { ...held }
  for (const order of exchange.truth.open) {
    if (order.symbol !== symbol || isForeign(order) || order.reduceOnly || order.action === 'close')
      continue
    worst[order.direction] += order.lots - order.filledLots
  }
  const size = (lots: number): number => (lots * lot.units) / lot.scale
  const [long, short] = [size(worst.buy) + adding.buy, size(worst.sell) + adding.sell]
  if (plan.positionMode === 'hedge_mode') return long + short
  return Math.max(long - size(held.sell), short - size(held.buy))
}

/** Lots without the fills of others that could not be known. */
function heldKnowably(
  world: World,
  symbol: string,
  seen: Adding['seen'],
): { buy: number; sell: number } {
  const { exchange, plan } = world
  const held = {
    buy: exchange.truth.lotsOf(symbol, 'long'),
    sell: exchange.truth.lotsOf(symbol, 'short'),
  }
  for (const fill of foreignFills(world, symbol)) {
    const order = exchange.truth.orders.get(String(fill.orderSequence))
    if (!order || seen?.has(fill)) continue
    if (plan.positionMode === 'one_way_mode') held[order.direction] -= fill.lots
    else
      held[order.slot === 'long' ? 'buy' : 'sell'] +=
        order.action === 'open' ? -fill.lots : fill.lots
  }
  if (plan.positionMode === 'hedge_mode') return held
  const net = held.buy - held.sell
  return { buy: Math.max(0, net), sell: Math.max(0, -net) }
}

function seenFills(world: World): ReadonlySet<TrueFill> {
  const fills = world.plan.symbols.flatMap((symbol) => foreignFills(world, symbol))
  return new Set(fills.filter((fill) => isKnownFill(world, fillKeyOf(fill))))
}

/** The order can only reduce its strategy's holding. */
function isReducing({ process, plan }: World, clientOid: string): boolean {
  const { book } = process.engine ?? {}
  const terms = book?.orders.get(toClientOid(clientOid))?.terms
  if (!book || !terms) return false
  const holding = holdingOf(book, terms.strategyId, terms.symbol)
  const against = terms.action === 'openLong' ? holding.shortLots : holding.longLots
  // Other orders on that side may be filled first.
  let pending = 0
  for (const other of book.open.get(terms.symbol)?.values() ?? []) {
    const isAlike = tradesAs(other.terms.action) === tradesAs(terms.action)
    if (isAlike && other.terms.strategyId === terms.strategyId) pending += openLots(other)
  }
  return (
    terms.action.startsWith('close') || (plan.positionMode === 'one_way_mode' && against >= pending)
  )
}

/** While halted only a flatten's closes leave; with little disk space nothing that adds risk. */
export function watchHalts(world: World): WorldWatcher {
  let isSpaceLow = false
  const check = (
    batch: Pick<OutgoingBatch, 'symbol' | 'clientOids'>,
    why: string,
    mode: 'halted' | 'reducing',
  ): void => {
    const { book } = world.process.engine ?? {}
    for (const clientOid of batch.clientOids) {
      const terms = book?.orders.get(clientOid)?.terms
      if (!book || !terms) continue
      const mayLeave =
        isReducing(world, clientOid) && (mode === 'reducing' || terms.purpose === 'flatten')
      if (!mayLeave)
        violate(
          world,
          'RSK2',
          `${clientOid} ${terms.purpose} ${terms.action} while ${mode}: ${why}`,
        )
    }
  }
  return {
    onBirth: () => {
      isSpaceLow = false
    },
    afterStep(event, effects) {
      if (event.kind === 'spaceMeasured') isSpaceLow = event.isLow
      if (!isSpaceLow) return
      for (const effect of effects)
        if (effect.kind === 'sendBatch') check(effect.batch, 'little room', 'reducing')
    },
    onWrite(batch) {
      if (unanswered(world, batch.symbol).length > 0) {
        check(batch, 'a fill that is not ours, and was not answered', 'halted')
      }
      for (const clientOid of batch.clientOids) {
        const strategyId = world.facts.strategyOf.get(clientOid)
        for (const scope of [ACCOUNT, batch.symbol, strategyScope(strategyId ?? '')]) {
          const held = world.facts.halted.get(scope)
          if (held === undefined) continue
          check(
            { ...batch, clientOids: [clientOid] },
            held.reason,
            held.mode === 'reducing' ? 'reducing' : 'halted',
          )
        }
      }
    },
  }
}

/** Document: No order to cancel. */
const NOTHING_TO_CANCEL = '22001'

/**
 * A cancelling stop is clean only after a second cancel-all of the affected instruments found
 * nothing (RSK3).
 */
export function watchStopConfirmed(world: World): WorldWatcher {
  const bodies = new Map<number, string | undefined>()
  const unconfirmed = new Set<string>()
  const stop = new AskedStop(world)
  return {
    onBirth() {
      stop.forget()
      bodies.clear()
      unconfirmed.clear()
    },
    afterStep(event, effects) {
      stop.note(event)
      const { policy } = stop
      if (policy === undefined || policy === 'leave') return
      for (const effect of effects) {
        if (effect.kind === 'sendCancelAll')
          bodies.set(
            effect.cancelId,
            (JSON.parse(effect.body) as { readonly symbol?: string }).symbol,
          )
      }
      const taken = event.kind === 'cancelAnswered' ? takenBy(event.answer) : undefined
      if (event.kind === 'cancelAnswered' && bodies.has(event.cancelId) && taken) {
        const only = bodies.get(event.cancelId)
        for (const symbol of only === undefined ? symbolsNow(world) : [only])
          unconfirmed.delete(symbol)
        for (const clientOid of taken) {
          const order = world.exchange.truth.orderOf(clientOid)
          if (order && !isForeign(order)) unconfirmed.add(order.symbol)
        }
      }
      const isClean = effects.some((effect) => effect.kind === 'stopped' && effect.clean)
      if (isClean && unconfirmed.size > 0)
        violate(
          world,
          'RSK3',
          `a stop is called clean, and none found ${[...unconfirmed].join(', ')} empty`,
        )
    },
  }
}

/** ClientOids that a cancel-all took; undefined if unknown. */
function takenBy(answer: Answer<BatchResult>): readonly string[] | undefined {
  if (answer.kind === 'accepted')
    return answer.data.successList.map(({ clientOid }) => clientOid ?? '')
  return answer.kind === 'refused' && answer.code === NOTHING_TO_CANCEL ? [] : undefined
}

/** A stop ends clean; flatten ends flat. */
export function watchStop(world: World): WorldWatcher {
  const readings = new ReadingsSince(world.settings.execution.fillVisibilityMs)
  return {
    onBirth: () => readings.begin(0),
    afterStep(event, effects, now) {
      readings.note(event, effects, now)
      const isClean = effects.some((effect) => effect.kind === 'stopped' && effect.clean)
      if (isClean && readings.rounds(symbolsNow(world)) === 0)
        violate(world, 'RSK3', 'a stop is called clean, and the account was not read')
    },
    atEnd() {
      if (world.violations.length > 0) return
      if (world.facts.stoppedClean !== true)
        violate(world, 'RSK3', `stop ended ${world.facts.stoppedClean}`)
      const held = symbolsNow(world).flatMap((symbol) => {
        if (!isAllocationKnown(world, symbol)) return []
        // In a net position unheld lots may offset them; then there is nothing to close.
        const { truth } = world.exchange
        const own = world.allocation.ownOf(symbol)
        const longLots = Math.min(own.longLots, truth.lotsOf(symbol, 'long'))
        const shortLots = Math.min(own.shortLots, truth.lotsOf(symbol, 'short'))
        return longLots + shortLots > 0 ? [{ symbol, longLots, shortLots }] : []
      })
      // What was handed back is nobody's.
      const isOurs = world.plan.universe?.leaving !== 'handBack'
      if (world.plan.stop === 'flatten' && isOurs && held.length > 0)
        violate(world, 'RSK3', `not flat: ${JSON.stringify(held)}`)
    },
  }
}

/** When a close or a flatten leaves, the strategy's closes do not exceed its holding. */
export function watchCloses(world: World): WorldWatcher {
  return {
    afterStep(_, effects) {
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        for (const clientOid of effect.batch.clientOids)
          checkClose(world, book, book.orders.get(clientOid))
      }
    },
  }
}

function checkClose(world: World, book: Book, close: Order | undefined): void {
  if (!close || !(isClosing(close.terms.action) || close.terms.purpose === 'flatten')) return
  const { action, strategyId, symbol } = close.terms
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  const held = tradesAs(action) === 'sell' ? longLots : shortLots
  let closing = 0
  for (const { terms, filledLots } of book.open.get(symbol)?.values() ?? []) {
    if (terms.strategyId === strategyId && terms.action === action)
      closing += terms.lots - filledLots
  }
  if (closing > held)
    violate(world, 'CLOSE', `${strategyId} closes ${closing} of ${held}: ${action} ${symbol}`)
}
