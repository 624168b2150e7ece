import { holdingOf, pairKey, type Book } from '../../../src/engine/book/book.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { lotsMax, ticksMax } from '../../../src/domain/instrument.ts'
import {
  type Intent,
  type PlaceIntent,
  type QuoteIntent,
  type TargetIntent,
} from '../../../src/domain/intent.ts'
import { canRest } from '../../../src/domain/order.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'
import { StrategyMemory } from './strategy-memory.ts'

type Decided = Extract<EngineEvent, { kind: 'decided' }>

/** A decision is in the book at once: all that is not refused, and nothing of other strategies. */
export function watchDecisions(world: World): WorldWatcher {
  let mode: string | undefined
  let isStopAsked = false
  const memory = new StrategyMemory()
  return {
    onBirth: () => {
      memory.clear()
      mode = undefined
      isStopAsked = false
    },
    afterStep(event, effects, now) {
      const before = mode
      const { engine } = world.process
      mode = engine?.phase
      if (event.kind === 'commanded' && event.command.kind === 'stop') isStopAsked = true
      const isStopping = mode === 'stopping' && before !== 'stopping'
      if (engine && (isStopping || event.kind === 'timePassed')) {
        const late = memory.findLate(engine.book, now, isStopping ? 0 : undefined)
        if (late !== undefined)
          violate(world, 'WISH', `what ${late} remembers is not recorded in time`)
      }
      if (
        isStopAsked ||
        event.kind !== 'decided' ||
        before !== 'running' ||
        mode !== 'running' ||
        !engine
      )
        return
      const missed =
        memory.hear(engine.book, { event, effects, now }) ??
        missedOf(world, engine.book, event, effects) ??
        droppedOf(event, effects)
      if (missed !== undefined) violate(world, 'WISH', `${event.strategyId} decided, and ${missed}`)
    },
  }
}

function missedOf(
  world: World,
  book: Book,
  { strategyId, intents }: Decided,
  effects: readonly Effect[],
): string | undefined {
  const bound = boundOf(world, book, strategyId)
  const own = intents.filter(({ symbol }) => bound.includes(symbol))
  for (const symbol of new Set(intents.map((intent) => intent.symbol))) {
    const pair = pairKey(strategyId, symbol)
    if (!bound.includes(symbol)) {
      const places = [...book.places.values()].filter((place) => place.strategyId === strategyId)
      const isStray = places.some((place) => place.symbol === symbol)
      if (isStray || book.quotes.has(pair) || book.targets.has(pair))
        return `${symbol} is none of its own`
      continue
    }
    const of = own.filter((intent) => intent.symbol === symbol)
    const levels = lastLevels(world, of)
    if (levels !== undefined && levels !== textOf(book.quotes.get(pair) ?? []))
      return `no ladder of ${symbol}`
    const target = lastTarget(world, of)
    if (target && book.targets.get(pair) !== target.lots) return `no target of ${symbol}`
    const place = lastingPlaces(world, of).find(
      ({ key }) => !isPlaced(world, pairKey(strategyId, key), effects),
    )
    if (place && !isPaced(world)) return `${place.key} is not placed`
    const kept = keptOf(book, strategyId, of, effects)
    if (kept !== undefined) return `${kept} of ${symbol} is not withdrawn`
  }
  return undefined
}

/** A strategy has no say about a member that is closed or handed back as it leaves. */
function boundOf(world: World, book: Book, id: Decided['strategyId']): readonly string[] {
  const { settings, process, plan } = world
  const all = settings.strategies.get(id)?.symbols ?? []
  if (!plan.universe) return all
  const now = process.engine?.settings.strategies.get(id)?.symbols ?? []
  const isHeard = (symbol: string): boolean =>
    (book.leavings.get(pairKey(id, symbol))?.policy ?? 'keep') === 'keep'
  return now.filter(isHeard)
}

/** An order that a cancel-all should have taken back: it may rest, or wait by its name. */
function keptOf(
  book: Book,
  strategyId: Decided['strategyId'],
  intents: readonly Intent[],
  effects: readonly Effect[],
): string | undefined {
  const last = intents.findLastIndex(({ kind }) => kind === 'cancelAll')
  const { symbol } = intents[last] ?? {}
  if (symbol === undefined) return undefined
  const later = new Set(
    intents.slice(last).flatMap((intent) => (intent.kind === 'place' ? [intent.key] : [])),
  )
  for (const place of book.places.values()) {
    if (place.strategyId === strategyId && place.symbol === symbol && !later.has(place.key))
      return place.key
  }
  const leaving = new Set(
    effects.flatMap((one) => (one.kind === 'sendBatch' ? one.batch.clientOids : [])),
  )
  for (const { terms } of book.open.get(symbol)?.values() ?? []) {
    const { clientOid } = terms
    const isOld = terms.strategyId === strategyId && canRest(terms) && !leaving.has(clientOid)
    if (isOld && !book.withdrawn.has(clientOid)) return clientOid
  }
  return undefined
}

/** Its cancel-all takes back nothing of another strategy. */
function droppedOf({ strategyId }: Decided, effects: readonly Effect[]): string | undefined {
  for (const effect of effects) {
    if (effect.kind !== 'record' || effect.record.kind !== 'expire') continue
    if (!effect.record.reason.startsWith('withdrawn')) continue
    const other = effect.record.places.find((place) => place.strategyId !== strategyId)
    if (other) return `dropped ${other.key} of ${other.strategyId}`
  }
  return undefined
}

/** The last one that its instrument can count. */
function lastTarget({ settings }: World, intents: readonly Intent[]): TargetIntent | undefined {
  return intents
    .filter((intent) => intent.kind === 'target')
    .findLast(({ symbol, lots }) => {
      const instrument = settings.instruments.get(symbol)
      return instrument && Number.isSafeInteger(lots) && Math.abs(lots) <= lotsMax(instrument)
    })
}

/** The ladder after the last intent, as text; undefined with two rungs in one place. */
function lastLevels(world: World, intents: readonly Intent[]): string | undefined {
  const last = intents.findLast(
    (intent) =>
      intent.kind === 'cancelAll' ||
      (intent.kind === 'quote' &&
        hasOwnRungs(intent) &&
        isCountable(world, intent.symbol, intent.levels)),
  )
  if (last?.kind === 'quote') return textOf(last.levels)
  return last && '[]'
}

function hasOwnRungs({ levels }: QuoteIntent): boolean {
  return new Set(levels.map(({ side, ticks }) => `${side} ${ticks}`)).size === levels.length
}

function textOf(levels: QuoteIntent['levels']): string {
  return JSON.stringify(levels.map(({ side, ticks, lots }) => [side, ticks, lots]))
}

/** Places that no later cancel-all of the decision took back. */
function lastingPlaces(world: World, intents: readonly Intent[]): readonly PlaceIntent[] {
  const cancelled = intents.findLastIndex(({ kind }) => kind === 'cancelAll')
  return intents
    .slice(cancelled + 1)
    .filter((intent) => intent.kind === 'place')
    .filter(({ key }) => isNamed(key))
    .filter(({ symbol, lots, ticks, takeProfitTicks, stopLossTicks, ttlMs = 0 }) => {
      const prices = [ticks, takeProfitTicks, stopLossTicks].map((price) => ({
        lots,
        ticks: price,
      }))
      return ttlMs <= TTL_MS_MAX && isCountable(world, symbol, prices)
    })
}

/** Longer than this nothing waits: seven days. */
const TTL_MS_MAX = 7 * 86_400_000

/** Other intents are refused. */
function isCountable(
  { settings }: World,
  symbol: string,
  sizes: readonly { readonly lots: number; readonly ticks?: number | undefined }[],
): boolean {
  const instrument = settings.instruments.get(symbol)
  if (!instrument) return false
  return sizes.every(
    ({ lots, ticks = 1 }) => lots <= lotsMax(instrument) && ticks <= ticksMax(instrument),
  )
}

function isNamed(key: string): boolean {
  return key !== '' && !key.includes('|')
}

/** It waits, was placed at any time, or expired at once. */
function isPlaced({ process, facts }: World, pair: string, effects: readonly Effect[]): boolean {
  if (facts.placed.has(pair)) return true
  const { book } = process.engine ?? {}
  if (book?.places.has(pair) || book?.keys.has(pair)) return true
  return effects.some(
    (effect) =>
      effect.kind === 'record' &&
      effect.record.kind === 'expire' &&
      effect.record.places.some(({ strategyId, key }) => pairKey(strategyId, key) === pair),
  )
}

/** Each grant is used or returned at once: a kept one is a call that never leaves. */
export function watchGrants(world: World): WorldWatcher {
  return {
    afterStep(event, effects) {
      if (event.kind !== 'granted') return
      const used = event.endpoint === 'batchPlaceOrder' ? 'sendBatch' : 'sendCancelAll'
      const count = effects.filter(
        (effect) =>
          effect.kind === used ||
          (effect.kind === 'returnGrant' && effect.endpoint === event.endpoint),
      ).length
      if (count !== 1)
        violate(world, 'LIM1', `a grant of ${event.endpoint} is spent ${count} times`)
    },
  }
}

/** An order that its batch's answer calls accepted is known as accepted. */
export function watchAnswers(world: World): WorldWatcher {
  const sent = new Set<number>()
  return {
    onBirth: () => sent.clear(),
    afterStep(event, effects) {
      for (const effect of effects) if (effect.kind === 'sendBatch') sent.add(effect.batch.batchId)
      if (event.kind !== 'batchAnswered' || !sent.delete(event.batchId)) return
      if (event.answer.kind !== 'accepted') return
      const accepted = new Set(
        effects.flatMap((effect) =>
          effect.kind === 'record' && effect.record.kind === 'outcome'
            ? effect.record.items
                .filter(({ outcome }) => outcome === 'accepted')
                .map(({ clientOid }) => clientOid)
            : [],
        ),
      )
      for (const { clientOid } of event.answer.data.successList) {
        const order = world.process.engine?.book.orders.get(clientOid as never)
        if (order && !accepted.has(order.terms.clientOid))
          violate(world, 'ORD3', `${clientOid} was accepted, and is ${order.state}`)
      }
    },
  }
}

/** Identical intents were too many; {@link watchIdentical} checks which are denied. */
function isPaced({ process }: World): boolean {
  return (process.engine?.denied.get('IDENTICAL_PACE') ?? 0) > 0
}

/**
 * Intents with equal terms, of a strategy that can only add by them, are placed no more often than
 * allowed.
 */
export function watchIdentical(world: World): WorldWatcher {
  const placedAt = new Map<string, readonly number[]>()
  return {
    onBirth: () => placedAt.clear(),
    afterStep(event, effects, now) {
      const { book } = world.process.engine ?? {}
      if (event.kind !== 'decided' || !book) return
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'decision') continue
        const { strategyId, places = [] } = effect.record
        for (const { key: _key, deadlineAt: _deadlineAt, ...terms } of places) {
          const max = world.settings.strategies
            .get(strategyId)
            ?.limits.get(terms.symbol)?.identicalPerMinute
          const { longLots, shortLots } = holdingOf(book, strategyId, terms.symbol)
          if (max === undefined || !terms.action.startsWith('open') || longLots + shortLots > 0)
            continue
          const kind = JSON.stringify([strategyId, terms])
          const times = [...(placedAt.get(kind) ?? []), now].filter((at) => at > now - 60_000)
          placedAt.set(kind, times)
          if (times.length > max)
            violate(world, 'RSK1', `${times.length} alike within a minute, limit ${max}`)
        }
      }
    },
  }
}
