import { NO_EXITS } from '../../../src/domain/exits.ts'
import {
  pairKey,
  holdingOf,
  restrictionsOn,
  type Book,
  isHaltedItself,
} from '../../../src/engine/book/book.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import type { Order } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Effect, type OutgoingBatch } from '../../../src/engine/effect.ts'
import { KnownPrices } from './known-prices.ts'
import { isOpenThere, type TrueOrder } from '../virtual/exchange-truth.ts'
import { isKeptFromReturn } from './restricted-invariants.ts'
import { isFixed } from './universe-invariants.ts'
import { orderNamed } from './wire-invariants.ts'
import { bodyOf, type World, type WorldWatcher, violate } from '../world/world.ts'

/** Every order's exact request is durable before its first byte leaves. */
export function watchDurableSends(world: World): WorldWatcher {
  const durable = new Map<number, string>()
  const waiting: JournalRecord[] = []
  return {
    afterStep: (_, effects) => checkOrder(world, effects),
    onRecord(record, isDurable) {
      waiting.push(record)
      if (!isDurable) return
      for (const entry of waiting.splice(0))
        if (entry.kind === 'send') durable.set(entry.batchId, entry.body)
    },
    onDeath: () => void waiting.splice(0),
    onWrite(batch) {
      if (durable.get(batch.batchId) !== batch.body)
        violate(world, 'ORD1', `batch ${batch.batchId}`)
    },
  }
}

/** Effects are performed in order: a call after its record, and after what makes that durable. */
function checkOrder(world: World, effects: readonly Effect[]): void {
  const [recorded, durable] = [new Set<number>(), new Set<number>()]
  let [isCancelRecorded, isCancelDurable] = [false, false]
  for (const effect of effects) {
    if (effect.kind === 'sendCancelAll') {
      if (!isCancelDurable)
        violate(world, 'ORD1', `cancel-all ${effect.cancelId} stands before its durable record`)
      isCancelRecorded = isCancelDurable = false
    }
    if (effect.kind === 'sendBatch' && !durable.has(effect.batch.batchId)) {
      violate(world, 'ORD1', `batch ${effect.batch.batchId} stands before its durable record`)
    }
    if (effect.kind !== 'record') continue
    if (effect.record.kind === 'send') recorded.add(effect.record.batchId)
    isCancelRecorded ||= effect.record.kind === 'cancel'
    isCancelDurable ||= isCancelRecorded && effect.durable
    if (effect.durable) for (const batchId of recorded) durable.add(batchId)
  }
}

const WINDOW_MS = 15 * 60_000
/** Maximum error of the daemon's estimate of the exchange's time. */
const CLOCK_ERROR_MS = 2000

/**
 * A clientOid names one order for ever; a copy is the same item, sent while the exchange remembers
 * the first.
 */
export function watchIdentity(world: World): WorldWatcher {
  /** Keyed by clientOid: item and time of leaving, oldest first. */
  const sent = new Map<string, { readonly item: string; readonly times: number[] }>()
  const written = new Set<number>()
  return {
    onRecord(record) {
      // A batch that failed the last check was never written.
      if (record.kind !== 'outcome' || !written.has(record.batchId)) return
      // A copy that surely never left does not count.
      for (const { clientOid, outcome } of record.items)
        if (outcome === 'notSent') sent.get(clientOid)?.times.pop()
    },
    onWrite(batch) {
      written.add(batch.batchId)
      for (const item of bodyOf(batch).orderList) {
        const text = JSON.stringify(item)
        const known = sent.get(item.clientOid ?? '') ?? { item: text, times: [] }
        sent.set(item.clientOid ?? '', known)
        known.times.push(world.time.now)
        const [first = 0] = known.times
        if (known.item !== text)
          violate(world, 'ORD2', `another order as ${item.clientOid}: ${text}`)
        else if (world.time.now - first > WINDOW_MS)
          violate(world, 'ORD2', `${item.clientOid} too late`)
        const order = orderNamed(world, item.clientOid)
        // A run that ended after recording and before sending counts too.
        if (order?.state !== 'sent' || order.attempts < known.times.length)
          violate(
            world,
            'ORD1',
            `copy ${known.times.length} of ${item.clientOid} leaves as ${order?.state}`,
          )
        else if (
          order.firstSentAt > first + CLOCK_ERROR_MS &&
          world.plan.faults.timeWrong === undefined
        )
          violate(
            world,
            'ORD2',
            `${item.clientOid} left at ${first}, and counts from ${order.firstSentAt}`,
          )
      }
    },
  }
}

const WRONG_STATES: readonly string[] = ['rejected', 'absent', 'expired', 'queued']

/**
 * A timed-out order is unknown, and one called rejected, expired or absent never is at the
 * exchange.
 */
export function watchUnknown(world: World): WorldWatcher {
  const batches = new Map<number, OutgoingBatch>()
  return {
    afterStep(event, effects) {
      for (const effect of effects)
        if (effect.kind === 'sendBatch') batches.set(effect.batch.batchId, effect.batch)
      if (event.kind !== 'batchAnswered' || event.answer.kind !== 'unknown') return
      const batch = batches.get(event.batchId)
      batches.delete(event.batchId)
      for (const clientOid of batch?.clientOids ?? []) {
        const state = world.process.engine?.book.orders.get(clientOid)?.state
        if (state !== undefined && WRONG_STATES.includes(state)) {
          violate(world, 'ORD3', `${clientOid} is ${state} after an unknown answer`)
        }
      }
    },
    onDeath: () => batches.clear(),
    atEnd() {
      const there = [...world.exchange.truth.orders.values()]
      const made = new Set(there.map(({ clientOid }) => clientOid))
      // An order that rested unfilled and was silently cancelled leaves no trace, and may be called
      // absent.
      const traced = new Set(there.filter(hasTrace).map(({ clientOid }) => clientOid))
      for (const { state, terms, reason } of world.process.engine?.book.orders.values() ?? []) {
        const isWrong =
          state === 'absent'
            ? traced.has(terms.clientOid)
            : (state === 'rejected' || state === 'expired') && made.has(terms.clientOid)
        if (isWrong)
          violate(
            world,
            'ORD3',
            `${terms.clientOid} is ${state} (${reason}) and was at the exchange`,
          )
        // An outcome of another item, or none, was taken for its own.
        if ((state === 'done' || state === 'filled') && !made.has(terms.clientOid))
          violate(
            world,
            'ORD6',
            `${terms.clientOid} is ${state} (${reason}) and never was at the exchange`,
          )
      }
    },
  }
}

function hasTrace(order: TrueOrder): boolean {
  return order.filledLots > 0 || isOpenThere(order)
}

/** Longer than any other pause. */
const SLEPT_MS = 4000

/**
 * Every unknown order ends in bounded time once the exchange answers, or its instrument is halted
 * with a reason.
 */
export function watchPatience(world: World): WorldWatcher {
  /** Less the time of outages. */
  const answeredMs = (): number => world.time.now - world.network.outages.lastedMs
  const since = new Map<string, number>()
  const patienceMs = world.settings.execution.acceptanceWindowMs + 60_000
  let lastAt = 0
  return {
    onBirth: () => since.clear(),
    afterStep(event) {
      if (event.kind !== 'timePassed') return
      // A process that stands still does not wait.
      const sleptMs = world.time.now - lastAt > SLEPT_MS ? world.time.now - lastAt : 0
      for (const [clientOid, at] of since) since.set(clientOid, at + sleptMs)
      lastAt = world.time.now
      const { book } = world.process.engine ?? {}
      const unknown = new Set<string>()
      for (const [symbol, orders] of book?.open ?? []) {
        for (const { state, terms } of orders.values()) {
          if (state !== 'unknown' && state !== 'sent') continue
          unknown.add(terms.clientOid)
          const at = since.get(terms.clientOid) ?? answeredMs()
          since.set(terms.clientOid, at)
          if (answeredMs() - at > patienceMs && !(book && isHaltedItself(book, symbol))) {
            violate(world, 'ORD4', `${terms.clientOid} is ${state} since ${answeredMs() - at} ms`)
          }
        }
      }
      for (const clientOid of since.keys()) if (!unknown.has(clientOid)) since.delete(clientOid)
    },
  }
}

/**
 * A batch has at most as many orders of one symbol as the exchange takes (fewer in some worlds),
 * and no two whose fills look equal.
 */
export function watchBatches(world: World): WorldWatcher {
  return {
    onWrite(batch) {
      const { orderList } = bodyOf(batch)
      if (orderList.length === 0 || orderList.length > world.settings.execution.batchOrdersMax)
        violate(world, 'ORD6', `${orderList.length} orders`)
      const keys = orderList.map(({ side, tradeSide, force, price }) =>
        [side, tradeSide, force === 'post_only' ? price : 'taker'].join(),
      )
      if (new Set(keys).size < keys.length)
        violate(world, 'ORD6', `alike in one batch: ${keys.join(' ')}`)
    },
    afterStep(_, effects) {
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        const { clientOids, symbol } = effect.batch
        const open = [...(book.open.get(symbol)?.values() ?? [])]
        const isOurs = ({ terms }: Order): boolean => clientOids.includes(terms.clientOid)
        const nameless = open
          .filter((order) => !isOurs(order) && isNameless(order))
          .flatMap((order) => looksOf(book.positionMode, order))
        const alike = open.find(
          (order) =>
            isOurs(order) &&
            looksOf(book.positionMode, order).some((look) => nameless.includes(look)),
        )
        if (alike)
          violate(world, 'ORD6', `${alike.terms.clientOid} looks like one that nobody can name`)
      }
    },
  }
}

/** Possible states of an order after a record, and later in the same step. */
const OUTCOMES: Readonly<Record<string, readonly Order['state'][]>> = {
  queued: ['queued', 'sent'],
  done: ['done', 'filled'],
  absent: ['absent'],
  released: ['done', 'filled'],
  quarantined: ['quarantined'],
  expired: ['expired'],
  unknown: ['unknown'],
}

/** The book agrees with the last record of a step about an order. */
export function watchSettled(world: World): WorldWatcher {
  return {
    afterStep(_, effects) {
      const answered = new Set<string>()
      for (const effect of effects.toReversed()) {
        if (effect.kind !== 'record') continue
        const { record } = effect
        if (record.kind === 'outcome')
          for (const { clientOid } of record.items) answered.add(clientOid)
        if (record.kind !== 'settle' && record.kind !== 'expire') continue
        for (const { clientOid, state } of record.orders) {
          const order = world.process.engine?.book.orders.get(clientOid)
          if (!answered.has(clientOid) && order && OUTCOMES[state]?.includes(order.state) === false)
            violate(world, 'ORD3', `${clientOid} is settled as ${state}, and is ${order.state}`)
          answered.add(clientOid)
        }
      }
    },
  }
}

/** An order called matched or dead without a resolution is over, with all its fills known. */
export function watchTakers(world: World): WorldWatcher {
  return {
    afterStep(_, effects) {
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'settle' || effect.record.isResolved)
          continue
        for (const { clientOid } of effect.record.orders) {
          const there = world.exchange.truth.orderOf(clientOid)
          const known = book?.orders.get(clientOid)?.filledLots ?? 0
          if (!there || (!isOpenThere(there) && there.filledLots <= known)) continue
          violate(
            world,
            'ORD5',
            `${clientOid} is called over with ${known} of ${there.filledLots} filled`,
          )
        }
      }
    },
  }
}

/**
 * It may be at the exchange under an unknown orderId, so its fills are recognised by their values.
 */
function isNameless({ orderId, attempts }: Order): boolean {
  return orderId === undefined && attempts > 0
}

/** Visible values of an order's fill: the direction as taker, the price too as maker. */
function looksOf(
  mode: PositionMode,
  { terms: { action, force, ticks } }: Order,
): readonly string[] {
  const way = mode === 'one_way_mode' ? tradesAs(action) : action
  const looks: string[] = force === 'post_only' ? [] : [way]
  return force === 'post_only' || force === 'gtc' ? [...looks, `${way} ${ticks}`] : looks
}

/** Nothing leaves after its time, or on prices older than their limit. */
export function watchStaleness(world: World): WorldWatcher {
  const { dataAgeMaxMs } = world.settings.limits
  const known = new KnownPrices()
  /** Keyed by batch: age of its prices when formed, and that time. */
  const formed = new Map<number, { readonly ageMs: number; readonly at: number }>()
  return {
    onBirth: () => {
      known.forget()
      formed.clear()
    },
    afterStep(event, effects, now) {
      known.note(event, now)
      for (const effect of effects) {
        if (effect.kind === 'sendBatch') {
          const { batchId, symbol } = effect.batch
          formed.set(batchId, { ageMs: known.ageOf(symbol, now), at: now })
        }
        if (effect.kind !== 'decide') continue
        const ages = effect.snapshot.instruments.map(({ instrument }) =>
          known.ageOf(instrument.symbol, now),
        )
        // A universe may be empty.
        if (ages.length > 0 && Math.min(...ages) > dataAgeMaxMs)
          violate(world, 'MKT1', 'decided on stale data')
      }
    },
    onWrite(batch, now) {
      if (now > batch.validUntilAt) violate(world, 'ORD7', `batch ${batch.batchId} is late`)
      const { ageMs, at } = formed.get(batch.batchId) ?? {
        ageMs: Number.POSITIVE_INFINITY,
        at: now,
      }
      const age = ageMs + now - at
      if (age > dataAgeMaxMs) violate(world, 'MKT1', `sent on data ${age} ms old`)
    },
  }
}

/** Our clock may drift from the exchange's while a reading ages. */
const CLOCK_SLACK_MS = 100

/** Nothing that adds risk leaves on fills or positions requested too long ago. */
export function watchBlindness(world: World): WorldWatcher {
  const { accountAgeMaxMs } = world.settings.limits
  let fillsAt = 0
  const positionsAt = new Map<string, number>()
  /** Orders that could add when their batch was formed. */
  const adding = new Set<string>()
  return {
    onBirth: () => {
      fillsAt = 0
      positionsAt.clear()
      adding.clear()
    },
    afterStep(event, effects) {
      if (event.kind === 'fillsRead') fillsAt = Math.max(fillsAt, event.reading.requestedAt)
      if (event.kind === 'positionRead')
        positionsAt.set(event.reading.symbol, event.reading.requestedAt)
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        for (const clientOid of effect.batch.clientOids) {
          const terms = book.orders.get(clientOid)?.terms
          if (terms && mayAdd(book, terms)) adding.add(clientOid)
          else adding.delete(clientOid)
        }
      }
    },
    onWrite(batch, now) {
      const blind = batch.clientOids.find((clientOid) => adding.has(clientOid))
      if (blind === undefined) return
      const ageMs = now - Math.min(fillsAt, positionsAt.get(batch.symbol) ?? 0)
      if (ageMs > accountAgeMaxMs)
        violate(world, 'MKT3', `${blind} leaves on readings ${ageMs} ms old`)
      // From the exchange's log of answers, whatever the process and its clock say.
      const servedAt = ['orderFills', 'singlePosition'].map(
        (site) => world.network.servedAt.get(site) ?? 0,
      )
      const unservedMs = world.time.now - Math.min(...servedAt)
      if (unservedMs > accountAgeMaxMs + CLOCK_SLACK_MS)
        violate(
          world,
          'MKT3',
          `${blind} leaves ${unservedMs} ms after the exchange answered a read`,
        )
    },
  }
}

/** The strategy holds too little on the other side for the order only to reduce. */
function mayAdd(book: Book, { strategyId, symbol, action, lots }: Order['terms']): boolean {
  if (isClosing(action)) return false
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  return (tradesAs(action) === 'buy' ? shortLots : longLots) < lots
}

function isEnding({ facts }: World): boolean {
  return facts.isStopping || facts.killedAt !== undefined
}

/** Orders of a flatten are not placed again. */
function isFlattened(book: Book | undefined, { symbol, strategyId }: Order['terms']): boolean {
  return (
    book !== undefined &&
    restrictionsOn(book, symbol, strategyId).some(
      ({ code }) => code === 'flatten' || code === 'close',
    )
  )
}

/** It leaves the universe of its strategy, or has left since: its orders end with that. */
function hasLeft(world: World, { terms: { strategyId, symbol }, firstSentAt }: Order): boolean {
  const { book } = world.process.engine ?? {}
  if (!world.plan.universe || !book || isFixed(world, symbol)) return false
  const member = book.universes.get(strategyId)?.members[symbol]
  return member === undefined || member.leavingSince !== undefined || member.since >= firstSentAt
}

/** While an exit is due, and in a pause after one, an order by name that was cancelled has ended. */
function isHeldByExits(book: Book | undefined, { symbol, strategyId }: Order['terms']): boolean {
  const { long, short, pause } = book?.exitStates.get(pairKey(strategyId, symbol)) ?? NO_EXITS
  return pause !== null || [long, short].some((trade) => (trade?.due ?? null) !== null)
}

/** An order by name that another's cancel-all removed is placed again or unwanted. */
export function watchDisplaced(world: World): WorldWatcher {
  const withdrawn = new Set<string>()
  return {
    onBirth() {
      withdrawn.clear()
      for (const clientOid of world.process.engine?.book.withdrawn ?? []) withdrawn.add(clientOid)
    },
    onRecord(record) {
      if (record.kind === 'decision')
        for (const clientOid of record.withdrawn ?? []) withdrawn.add(clientOid)
      if (record.kind !== 'settle' || isEnding(world)) return
      const { book } = world.process.engine ?? {}
      for (const settled of record.orders) {
        const order = book?.orders.get(settled.clientOid)
        if (!order || order.terms.purpose !== 'place') continue
        const { replacement } = settled
        if (replacement && replacement.lots + order.filledLots > order.terms.lots) {
          violate(world, 'ORD8', `${settled.clientOid} is replaced by more than was left`)
        }
        const wasWithdrawn = withdrawn.has(settled.clientOid)
        if (replacement && wasWithdrawn) {
          violate(world, 'ORD8', `${settled.clientOid} was withdrawn, and is placed again`)
        }
        if (replacement) continue
        const rests =
          order.terms.ticks !== undefined && ['gtc', 'post_only'].includes(order.terms.force)
        const left = order.terms.lots - order.filledLots
        // Proved to be absent within its time.
        const isAbsent = settled.state === 'absent' && record.at <= order.terms.deadlineAt
        const beside = record.orders.flatMap(({ clientOid }) => book?.orders.get(clientOid) ?? [])
        const isOwed =
          (isAbsent ||
            (rests && settled.state === 'done' && !isKeptFromReturn(book, order, beside))) &&
          !isFlattened(book, order.terms) &&
          !hasLeft(world, order) &&
          !isHeldByExits(book, order.terms)
        if (isOwed && left > 0 && !wasWithdrawn) {
          violate(world, 'ORD8', `${settled.clientOid} is forgotten with ${left} lots`)
        }
      }
    },
  }
}
