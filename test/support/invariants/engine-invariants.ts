import { toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { createEngine, resumeEngine } from '../../../src/engine/engine.ts'
import { noteChanged } from '../../../src/engine/state/changes.ts'
import { countTotals, sumSettled, laddersOf } from '../../../src/engine/state/totals.ts'
import { needsNow } from '../../../src/engine/state/worst-case.ts'
import { sumUpTo } from '../../../src/risk/resting-ladder.ts'
import { type Core } from '../../../src/engine/state/core.ts'
import { createCore } from '../../../src/engine/state/create-core.ts'
import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { isSameData } from '../../../src/lib/plain-data.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import {
  keepEvent,
  parseEvent,
  writeEffect,
  writeEvent,
} from '../../../src/engine/replay/event-text.ts'
import { accountHoldingOf, holdingOf, pairKey, ownMoneyOf } from '../../../src/engine/book/book.ts'
import { findDifference } from '../../../src/engine/book/recount.ts'
import { orderNamed } from './wire-invariants.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** Every so many steps the twin is replaced by one resumed from its text. */
const STEPS_A_TWIN = 1000

/**
 * A second core with the events as recorded gives the same effects to the byte, and one resumed
 * from text continues equally.
 */
export function watchTwin(world: World): WorldWatcher {
  if (!world.plan.hasTwin) return {}
  const { process, settings } = world
  const symbols = [...settings.instruments.keys()]
  const birth = () =>
    createEngine(process.settings, rebuildBook(process.found, settings.positionMode))
  let twin = birth()
  let steps = 0
  return {
    onBirth: () => {
      twin = birth()
    },
    afterStep(event, effects, now) {
      const said = effects.map(writeEffect).join('\n')
      const heard = parseEvent(writeEvent(keepEvent(event, symbols)))
      if (twin.step(heard, now).map(writeEffect).join('\n') !== said)
        violate(world, 'DET1', `another answer to ${event.kind}: ${said}`)
      steps += 1
      if (steps % STEPS_A_TWIN !== 0) return
      const core = twin.write()
      if (core !== process.engine?.write())
        violate(world, 'DET1', `another core after ${event.kind}`)
      twin = resumeEngine(parseCore(core))
    },
  }
}

/**
 * A core that plans every instrument whenever possible gives the same effects, so nothing was
 * overlooked; and kept values equal a recount.
 */
export function watchOverlooked(world: World): WorldWatcher {
  if (!world.plan.hasOverseer) return {}
  const { process, settings } = world
  const birth = () =>
    createCore(process.settings, rebuildBook(process.found, settings.positionMode))
  let core = birth()
  return {
    onBirth: () => {
      core = birth()
    },
    afterStep(event, effects, now) {
      for (const symbol of core.instruments.keys()) noteChanged(core.changes, symbol)
      const wasRunning = core.run.phase === 'running'
      const said = resumeEngine(core).step(event, now)
      const differs =
        said.length !== effects.length || effects.some((one, place) => !isSame(one, said[place]))
      if (differs) {
        const texts = [effects, said].map((one) => one.map(writeEffect).join('\n'))
        violate(
          world,
          'BND2',
          `who looks at everything answers ${event.kind} with ${texts[1]}, not ${texts[0]}`,
        )
      }
      if (effects.some(({ kind }) => kind === 'record')) recount(world, core)
      const isCompared = core.recount.comparedMinute === Math.floor(now / 60_000)
      if (event.kind === 'timePassed' && wasRunning && core.run.phase === 'running' && !isCompared)
        violate(world, 'RSK2', 'the book was not compared with its second count in this minute')
    },
  }
}

function isSame(one: Effect, other: Effect | undefined): boolean {
  // Other checkers compare what is shown.
  if (one.kind === 'decide')
    return other?.kind === 'decide' && one.snapshot.sequence === other.snapshot.sequence
  return isSameData(one, other)
}

function recount(world: World, core: Core): void {
  const { book, totals, settled, recount: counted } = core
  recountWorstCase(world, core)
  const difference = findDifference(counted, book)
  if (difference !== undefined)
    violate(world, 'RSK2', `the book says ${difference.ours}, its fills ${difference.theirs}`)
  for (const [symbol, net] of settled.bySymbol) {
    if (!Object.is(net, sumSettled(book, symbol)))
      violate(world, 'BND2', `kept of ${symbol}: ${net} settled, now ${sumSettled(book, symbol)}`)
  }
  for (const [symbol, known] of totals) {
    const { orders, shown, ownWorst: _ownWorst, needs: _needs, ...kept } = known
    const {
      orders: countedOrders,
      shown: _,
      ownWorst: __,
      needs: ___,
      ...anew
    } = countTotals(book, symbol)
    const isShown = [...shown].every(
      ([id, moment]) =>
        isSameData(moment.holding, holdingOf(book, id, symbol)) &&
        isSameData(moment.accountHolding, accountHoldingOf(book, symbol)) &&
        isSameData(moment.orders, countedOrders.get(id) ?? []) &&
        moment.trades === book.ownTrades.get(pairKey(id, symbol)) &&
        JSON.stringify(moment.money) === JSON.stringify(ownMoneyOf(book, pairKey(id, symbol))),
    )
    if (isShown && isSameData(kept, anew) && isSameData([...orders], [...countedOrders])) continue
    violate(
      world,
      'BND2',
      `kept of ${symbol}: ${JSON.stringify(kept)}, counted: ${JSON.stringify(anew)}`,
    )
  }
}

/** Kept needs and ladders must be equal, to the last bit, to those of all orders counted anew. */
function recountWorstCase(world: World, core: Core): void {
  if (core.settings.survives === undefined) return
  for (const instrument of core.settings.instruments.values()) {
    const { symbol } = instrument
    const anew: Core = { ...core, totals: new Map(), ladders: new Map() }
    // As texts, in which unknown figures are equal too.
    const [kept, counted] = [core, anew].map((one) => JSON.stringify(needsNow(one, instrument)))
    if (kept !== counted)
      violate(world, 'RSK1', `needs kept of ${symbol}: ${kept}, counted: ${counted}`)
    if (core.settings.survives.isGap) continue
    const [ladders, built] = [core, anew].map((one) => {
      const { buys, sells } = laddersOf(one, instrument)
      for (const ladder of [buys, sells]) sumUpTo(ladder, ladder.prices.ticks.length)
      return [buys, sells].map(({ prices, atOnce, sums }) => ({
        prices,
        atOnce,
        sums: [sums.opening, sums.closing, sums.cost].map((column) => column.slice(0, sums.upTo)),
      }))
    })
    if (!isSameData(ladders, built))
      violate(world, 'RSK1', `the orders of ${symbol} by price are not those of the book`)
  }
}

const DEEDS: ReadonlySet<Effect['kind']> = new Set([
  'record',
  'sendBatch',
  'sendCancelAll',
  'decide',
])

/** Repeated denials change nothing. */
function isDeed(effect: Effect): boolean {
  return DEEDS.has(effect.kind) && !(effect.kind === 'record' && effect.record.kind === 'denial')
}

interface LastStep {
  readonly event: EngineEvent
  readonly now: number
  readonly goesOn: boolean
  /** Instruments that wait for a decision that it asked for. */
  readonly waiting: ReadonlySet<string>
}

/**
 * An event that is handled twice changes nothing the second time. A grant has no name: if the core
 * has asked for another meanwhile, the sender makes the send wait for one. And a core that just
 * began to trade or to stop looks at its instruments at any event. The repetition of a snapshot asks
 * no strategy, so what waited for a decision is planned at once, and may drop an order. Where a
 * strategy took lots over to reduce them, the next reading says how many it gives, also the same one.
 */
export function watchRepeats(world: World): WorldWatcher {
  let last: LastStep | undefined
  let mode: string | undefined
  return {
    afterStep(event, effects, now) {
      const isRepeat = last?.event === event && last.now === now && !last.goesOn
      const hasAsked = event.kind === 'granted' && effects.some(({ kind }) => kind === 'askGrant')
      const before = mode
      mode = world.process.engine?.phase
      const waiting = last?.waiting ?? new Set()
      last = {
        event,
        now,
        goesOn: hasAsked || mode !== before || effects.some((one) => isTakeOver(world, one)),
        waiting: new Set(effects.flatMap((effect) => symbolsAsked(world, effect))),
      }
      const deed = isRepeat
        ? effects.find(
            (effect) =>
              isDeed(effect) &&
              !isNewPeak(event, effect) &&
              !isWithdrawn(event, effect) &&
              !isDropped(world, effect, waiting),
          )
        : undefined
      if (deed) violate(world, 'REPEAT', `${event.kind}, heard again, makes the core ${deed.kind}`)
    },
  }
}

/** For a reduction: a flatten takes what no strategy holds wholly, and needs no further reading. */
function isTakeOver({ process }: World, effect: Effect): boolean {
  if (effect.kind !== 'record' || effect.record.kind !== 'assigned') return false
  const { symbol, by } = effect.record
  const held = (process.engine?.restrictions ?? []).filter(
    ({ scope }) => scope === ACCOUNT || scope === symbol,
  )
  const isReduced = held.some(({ code }) => code === 'worstCase' || code === 'liquidationNear')
  return by === 'intentd' && isReduced && !held.some(({ code }) => code === 'flatten')
}

function symbolsAsked({ process }: World, effect: Effect): readonly string[] {
  if (effect.kind !== 'decide') return []
  return process.engine?.settings.strategies.get(effect.strategyId)?.symbols ?? []
}

/** A peak that is taken twice at one moment is the same one. */
function isNewPeak(event: EngineEvent, effect: Effect): boolean {
  if (event.kind !== 'commanded' || event.command.kind !== 'release') return false
  if (effect.kind !== 'record' || effect.record.kind !== 'released') return false
  return event.command.newPeak === true && effect.record.peak === 'new'
}

/** The driver says which keys were used; without that, orders that are withdrawn twice are so once. */
function isWithdrawn(event: EngineEvent, effect: Effect): boolean {
  if (event.kind !== 'commanded' || event.command.kind !== 'cancel') return false
  return effect.kind === 'record' && effect.record.kind === 'decision' && !effect.record.places
}

function isDropped(world: World, effect: Effect, waiting: ReadonlySet<string>): boolean {
  if (effect.kind !== 'record' || effect.record.kind !== 'expire') return false
  const { orders, places } = effect.record
  return (
    places.length === 0 &&
    orders.every(({ clientOid }) => waiting.has(orderNamed(world, clientOid)?.terms.symbol ?? ''))
  )
}

/** The book rebuilt from the journal equals the one that wrote it. */
export function watchFold(world: World): WorldWatcher {
  let steps = 0
  const compare = () => {
    const { engine, journal } = world.process
    if (!engine) return
    const rebuilt = JSON.stringify(toBookRows(rebuildBook(journal.load(), world.plan.positionMode)))
    if (rebuilt !== JSON.stringify(toBookRows(engine.book)))
      violate(world, 'DET2', 'the rebuilt book differs')
  }
  return {
    onBirth: compare,
    afterStep(_, effects) {
      steps += 1
      // Before its effects are performed the journal lacks their records.
      if (steps % 2000 === 0 && !effects.some((effect) => effect.kind === 'record')) compare()
    },
    onStopped: compare,
  }
}
