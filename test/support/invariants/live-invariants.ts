import { type DenialCode } from '../../../src/domain/denial.ts'
import { type StrategyId } from '../../../src/domain/ids.ts'
import { type Book, pairKey, restrictionsOn } from '../../../src/engine/book/book.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Engine } from '../../../src/engine/engine.ts'
import {
  type Debt,
  debtsOf,
  isSameDebt,
  isToCancel,
  isUnexplained,
  nameDebt,
  paidBy,
} from './debts.ts'
import { KnownPrices } from './known-prices.ts'
import { PausedReads } from './reading-invariants.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

const LOOK_EVERY = 5
/** How long something may be owed without a reason. */
const OWED_MS = 8000
/** Extra time if an order of unknown fate held its instrument up. */
const RESOLVED_MS = 3000
/** Resolutions of expired orders follow one another, a cancel-all a second. */
const CANCEL_SLOT_MS = 1100
/** After this many consecutive refusals a wish waits longer than the world lasts. */
const REFUSALS_MAX = 6
/** After this many unanswered batches, the instrument's next one waits longer than is owed. */
const SILENT_MAX = 4
/** The limiter may rest for longer than the calm after the faults. */
function mayRest({ plan }: World): boolean {
  return (plan.faults.rateStorm ?? 0) > 0
}

/**
 * After the faults strategies get what they want, or a reason: reads that were refused may wait on.
 */
export function watchDebts(world: World): WorldWatcher {
  if (mayRest(world)) return {}
  const owed = new Map<
    string,
    { readonly debt: Debt; readonly since: number; readonly wasHeldUp: boolean }
  >()
  const refusals = new Map<string, number>()
  const silent = new Map<string, number>()
  const strategyIds = world.plan.strategies.map(({ id }) => id)
  const slotsMs = (1 + world.plan.symbols.length) * CANCEL_SLOT_MS
  const cancelledMs = world.settings.execution.unwantedMsMax + slotsMs
  const known = new KnownPrices()
  const paused = new PausedReads()
  let [looks, denied] = [0, 0]
  const countSilent = ({ items }: Extract<JournalRecord, { kind: 'outcome' }>): void => {
    const [first] = items
    const symbol = first && world.process.engine?.book.orders.get(first.clientOid)?.terms.symbol
    if (symbol === undefined) return
    const isSilent = items.every(({ outcome }) => outcome === 'unknown')
    silent.set(symbol, isSilent ? (silent.get(symbol) ?? 0) + 1 : 0)
  }
  return {
    onBirth() {
      owed.clear()
      silent.clear()
      known.forget()
      paused.restart()
    },
    onRecord(record) {
      const paid = paidBy(record, strategyIds)
      for (const [name, { debt }] of owed) {
        if (paid.some((one) => isSameDebt(one, debt))) owed.delete(name)
      }
      if (record.kind !== 'outcome') return
      countSilent(record)
      for (const { clientOid, outcome } of record.items) {
        const terms = world.process.engine?.book.orders.get(clientOid)?.terms
        if (!terms) continue
        const pair = pairKey(terms.strategyId, terms.symbol)
        refusals.set(pair, outcome === 'rejected' ? (refusals.get(pair) ?? 0) + 1 : 0)
      }
    },
    afterStep(event, _, now) {
      const { engine } = world.process
      known.note(event, now)
      paused.note(event)
      if (event.kind !== 'timePassed' || ++looks % LOOK_EVERY !== 0) return
      if (!world.facts.isCalm || world.facts.isStopping || engine?.isTrading !== true) {
        return owed.clear()
      }
      const deniedNow = denialsOf(engine.denied)
      const isDenied = deniedNow !== denied
      denied = deniedNow
      const isExcused = (debt: Debt): boolean => {
        const { strategyId, symbol } = debt
        return (
          (refusals.get(pairKey(strategyId, symbol)) ?? 0) >= REFUSALS_MAX ||
          (silent.get(symbol) ?? 0) >= SILENT_MAX ||
          (isWaitingForReads(debt, engine.book) && paused.holdUp(symbol)) ||
          restrictionsOn(engine.book, symbol, strategyId).length > 0 ||
          engine.restrictions.some(({ code }) => code === 'rateLimited' || code === 'unknownOrders')
        )
      }
      const open = debtsOf({ book: engine.book, settings: world.settings }, known.tickers).filter(
        (debt) => !isExcused(debt),
      )
      const debts = new Map(open.map((debt) => [nameDebt(debt), debt]))
      for (const name of owed.keys()) if (!debts.has(name)) owed.delete(name)
      for (const [name, debt] of debts) {
        // A denial explains a lack of room. It may itself be caused by an unwanted resting order.
        if (isDenied && !isUnexplained(debt)) owed.delete(name)
        const earlier = owed.get(name)
        const since = earlier?.since ?? world.time.now
        const wasHeldUp = earlier?.wasHeldUp === true || isHeldUp(engine.book, debt.symbol)
        owed.set(name, { debt, since, wasHeldUp })
        const owedMs = wasHeldUp ? OWED_MS + RESOLVED_MS : OWED_MS
        if (world.time.now - since > (isToCancel(debt) ? cancelledMs : owedMs))
          violate(world, 'LIVE', `${name} is owed since ${since}`)
      }
    },
  }
}

/**
 * Refused reads are repeated ever more rarely (MKT3 holds how rarely). Nothing that adds risk leaves
 * meanwhile, and only readings show that a cancel-all has ended an order. The cancel-all itself
 * waits for none.
 */
function isWaitingForReads(debt: Debt, { cancels }: Book): boolean {
  return !isToCancel(debt) || cancels.has(debt.symbol)
}

/** Orders that were not sent in time explain nothing. */
export function denialsOf(denied: ReadonlyMap<DenialCode, number>): number {
  let sum = 0
  for (const [code, count] of denied) if (code !== 'INTENT_EXPIRED') sum += count
  return sum
}

/**
 * Without faults and unknown orders a start ends within this time: pages of readings, a cancel-all
 * a second, and readings again.
 */
const STARTING_MS = 15_000
const STOOD_STILL_MS = 20_000

/** Without faults a start ends: a daemon that only starts is idle (LIVE). */
export function watchStarting(world: World): WorldWatcher {
  if (mayRest(world)) return {}
  let since: number | undefined
  let lookedAt = 0
  return {
    onBirth: () => {
      since = undefined
    },
    afterStep(event) {
      if (event.kind !== 'timePassed') return
      // A process that stands still goes on when it moves.
      if (world.time.now - lookedAt > STOOD_STILL_MS) since = undefined
      lookedAt = world.time.now
      const { engine } = world.process
      const isEasy = world.facts.isCalm || Object.keys(world.plan.faults).length === 0
      if (world.quiet.isOn || !isEasy || !engine || isStartOver(engine) || hasUnknown(engine.book))
        since = undefined
      else since ??= world.time.now
      if (since !== undefined && world.time.now - since > STARTING_MS)
        violate(world, 'LIVE', `it is starting since ${since}`)
    },
  }
}

/** Every instrument is proved; a stop or a kill has its own end. */
function isStartOver({ phase, unproved, kill }: Engine): boolean {
  return (
    unproved.length === 0 || (phase !== 'starting' && phase !== 'running') || kill !== undefined
  )
}

function hasUnknown({ open }: Book): boolean {
  return [...open.keys()].some((symbol) => hasUnknownOf(open, symbol))
}

function isHeldUp({ open, cancels }: Book, symbol: string): boolean {
  return cancels.has(symbol) || hasUnknownOf(open, symbol)
}

function hasUnknownOf(open: Book['open'], symbol: string): boolean {
  return [...(open.get(symbol)?.values() ?? [])].some(({ state }) => state === 'unknown')
}

/** Prices this much newer than the last decision were shown to no strategy. */
const UNDECIDED_MS = 2000

/**
 * After the faults every strategy is asked again and again: a running daemon is not idle (LIVE).
 */
export function watchDeciding(world: World): WorldWatcher {
  const askedAt = new Map<string, number>()
  return {
    onBirth: () => askedAt.clear(),
    afterStep(event, effects) {
      if (event.kind !== 'snapshotTaken') return
      if (
        !world.facts.isCalm ||
        world.facts.isStopping ||
        world.process.engine?.isTrading !== true
      ) {
        return askedAt.clear()
      }
      for (const effect of effects) {
        if (effect.kind === 'decide') askedAt.set(effect.strategyId, world.time.now)
      }
      for (const { id } of world.plan.strategies) {
        const { symbols } = world.settings.strategies.get(id as StrategyId) ?? { symbols: [] }
        if (symbols.every((symbol) => world.process.engine?.unproved.includes(symbol))) continue
        const at = askedAt.get(id) ?? world.time.now
        askedAt.set(id, at)
        if (world.time.now - at > UNDECIDED_MS)
          violate(world, 'LIVE', `${id} is not asked since ${at}`)
      }
    },
  }
}
