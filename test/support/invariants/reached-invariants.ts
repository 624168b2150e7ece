import { type ItemOutcome } from '../../../src/domain/record.ts'
import { type UsedLoss } from '../../../src/domain/loss-limits.ts'
import {
  ACCOUNT,
  type ModeReason,
  type Scope,
  strategyScope,
} from '../../../src/domain/trading-mode.ts'
import { openOrdersOf, splitPair } from '../../../src/engine/book/book.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

const MINUTE_MS = 60_000
/** Margin for float sums. */
const BEYOND = 1 + 1e-6
/** They change results after losses were judged in the same step. */
const LATER: ReadonlySet<string> = new Set(['adopt', 'foreign', 'settle', 'outcome'])

/** A strategy with so many consecutive losses is halted; MON1 judges losses of money. */
export function watchLosses(world: World): WorldWatcher {
  const limits = world.settings.losses?.limits
  if (limits === undefined) return {}
  return {
    afterStep(event, effects) {
      const { engine } = world.process
      if (engine === undefined) return
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'restricted') continue
        if (effect.record.code === 'drawdownFlatten') assertFlattens(world, effect.record.scope)
      }
      if (effects.some((effect) => effect.kind === 'record' && LATER.has(effect.record.kind)))
        return
      for (const [pair, { lostInRow = 0 }] of engine.book.ownTrades) {
        const [id, symbol] = splitPair(pair)
        const streak = limits.get(strategyScope(id))?.streak ?? Number.POSITIVE_INFINITY
        if (lostInRow >= streak && isRead(event, symbol))
          assertHeld(world, strategyScope(id), 'losingStreak')
      }
      for (const [scope, used] of engine.losses) {
        const isTrusted = engine.disputes.size === 0 && isJudged(world, event, scope)
        if (isTrusted) for (const code of reasonsOf(world, used)) assertHeld(world, scope, code)
      }
    },
  }
}

/** The reading is of an instrument of the scope; figures of others are earlier ones. */
function isJudged({ settings }: World, event: EngineEvent, scope: Scope): boolean {
  if (event.kind !== 'positionRead') return false
  const { symbol } = event.reading
  if (scope === ACCOUNT || scope === symbol) return true
  return [...settings.strategies.values()].some(
    ({ id, symbols }) => strategyScope(id) === scope && symbols.includes(symbol),
  )
}

/**
 * Without disputes a reducing step is held at the reading that shows it; a flatten waits for
 * another.
 */
function reasonsOf({ settings }: World, used: UsedLoss): readonly ModeReason[] {
  const { daily = Number.POSITIVE_INFINITY, drawdown } =
    settings.losses?.limits.get(used.scope) ?? {}
  const fallen = used.scope === ACCOUNT ? (used.drawdownShare ?? 0) : used.drawdown
  const reducing = drawdown?.reducing ?? Number.POSITIVE_INFINITY
  return [
    ...(used.dayLoss >= daily * BEYOND ? (['dailyLoss'] as const) : []),
    ...(fallen >= reducing * BEYOND ? (['drawdown'] as const) : []),
  ]
}

/**
 * A step passed in one fall is not held beside the next. A single reading about opposite holdings
 * of strategies is held while it is disputed.
 */
function assertHeld(world: World, scope: Scope, code: ModeReason): void {
  const held = world.process.engine?.restrictions.filter((one) => one.scope === scope) ?? []
  if (held.some((one) => one.code === code)) return
  if (code === 'drawdown' && held.some((one) => one.code === 'drawdownFlatten')) return
  if (code !== 'losingStreak' && held.some((one) => one.code === 'equityDisputed')) return
  violate(world, 'RSK2', `${scope} has reached a limit, and is not held for ${code}`)
}

/** The last step of a drawdown begins a flatten if anything is held. */
function assertFlattens(world: World, scope: Scope): void {
  const { process, plan, allocation } = world
  const isHeld = plan.symbols.some((symbol) => {
    const { longLots, shortLots } = allocation.ownOf(symbol)
    return longLots > 0 || shortLots > 0
  })
  const flattens = process.engine?.restrictions.some(
    (one) => one.code === 'flatten' && (one.scope === scope || one.scope === ACCOUNT),
  )
  if (isHeld && flattens !== true)
    violate(world, 'RSK2', `${scope} is at its last step, and keeps what it holds`)
}

function isRead(event: EngineEvent, symbol: string): boolean {
  if (event.kind === 'positionRead') return event.reading.symbol === symbol
  return event.kind === 'fillsRead' && event.reading.fills.some((fill) => fill.symbol === symbol)
}

/**
 * The account is held exactly while its limit of 429s within a minute, or of unknown orders, is
 * reached; a strategy from when its limit of rejections with one code is.
 */
export function watchPaces(world: World): WorldWatcher {
  const { rateLimitedPerMinute, unknownOrdersMax } = world.settings.limits
  const rejected = new Map<string, number[]>()
  let refusedAt: number[] = []
  let wasUnknown: number | undefined
  return {
    onBirth() {
      rejected.clear()
      refusedAt = []
      wasUnknown = undefined
    },
    afterStep(event, effects, now) {
      const { engine } = world.process
      if (engine === undefined) return
      const isHeld = (code: ModeReason): boolean =>
        engine.restrictions.some((one) => one.code === code)
      if (isRateLimited(event)) refusedAt.push(now)
      refusedAt = refusedAt.filter((at) => at > now - MINUTE_MS)
      const isOften = refusedAt.length >= (rateLimitedPerMinute ?? Number.POSITIVE_INFINITY)
      if (isOften !== isHeld('rateLimited'))
        violate(world, 'RSK2', `${refusedAt.length} answers 429, held: ${!isOften}`)

      // Within a step some become known after they were counted.
      const unknown = countUnknown(world)
      const isBeyond = unknown > (unknownOrdersMax ?? Number.POSITIVE_INFINITY)
      if (unknown === wasUnknown && isBeyond !== isHeld('unknownOrders'))
        violate(world, 'RSK2', `${unknown} orders are unknown, held: ${!isBeyond}`)
      wasUnknown = unknown
      countRejected(world, rejected, { effects, now })
    },
  }
}

function isRateLimited(event: EngineEvent): boolean {
  if (event.kind === 'readFailed') return event.status === 429
  return 'answer' in event && event.answer.kind !== 'accepted' && event.answer.status === 429
}

function countUnknown({ process, settings }: World): number {
  const { book } = process.engine ?? {}
  if (book === undefined) return 0
  return [...settings.instruments.keys()].reduce(
    (sum, symbol) =>
      sum + [...openOrdersOf(book, symbol)].filter(({ state }) => state === 'unknown').length,
    0,
  )
}

interface Step {
  readonly effects: readonly Effect[]
  readonly now: number
}

function countRejected(
  world: World,
  rejected: Map<string, number[]>,
  { effects, now }: Step,
): void {
  const { engine } = world.process
  const items = effects.flatMap((effect) =>
    effect.kind === 'record' &&
    effect.record.kind === 'outcome' &&
    effect.record.answer !== undefined
      ? effect.record.items
      : [],
  )
  for (const { clientOid, code } of items.filter(isRejected)) {
    const terms = engine?.book.orders.get(clientOid)?.terms
    const strategy = [...world.settings.strategies.values()].find(
      ({ id }) => id === terms?.strategyId,
    )
    const max = terms && strategy?.limits.get(terms.symbol)?.rejectionsPerMinute
    if (!strategy || max === undefined) continue
    const scope = strategyScope(strategy.id)
    const kind = `${strategy.id} ${code}`
    const times = [...(rejected.get(kind) ?? []), now].filter((at) => at > now - MINUTE_MS)
    rejected.set(kind, times)
    if (engine?.restrictions.some((one) => one.scope === scope && one.code === 'rejections'))
      rejected.delete(kind)
    else if (times.length >= max)
      violate(world, 'RSK2', `${times.length} orders of ${strategy.id} were rejected with ${code}`)
  }
}

function isRejected({ outcome, code }: ItemOutcome): boolean {
  return outcome === 'rejected' && code !== undefined
}
