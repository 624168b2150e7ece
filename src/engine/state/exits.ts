import { showUtc } from '../../lib/text/show-utc.ts'
import { candleKey } from '../../domain/candles.ts'
import {
  type BelievedTicks,
  type DueExit,
  dueExitOf,
  EXIT_KINDS,
  type ExitRules,
  type ExitState,
  type ExitWatch,
  NO_EXITS,
  PAUSE_CAUSES,
} from '../../domain/exits.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { HoldSide } from '../../domain/position.ts'
import { nearestStep, stepAbove } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import { isSameData } from '../../lib/plain-data.ts'
import { indicatorValue } from '../../strategy/indicators/indicator-values.ts'
import { atr } from '../../strategy/indicators/specs.ts'
import { pausesOf } from '../../risk/exit-machine.ts'
import { pairOf, splitPair, leavingOf } from '../book/book.ts'
import type { EngineSettings, StrategySettings } from '../settings.ts'
import { type Core, record, specOf } from './core.ts'
import { disputeOf, figureSettingsOf } from './disputes.ts'
import { ownPriceOf } from './own-figure.ts'
import { exchangeNow } from './market-state.ts'

/**
 * A better best price alone is recorded after so long. A crash sets a trailing stop back by as
 * much.
 */
const BEST_UNRECORDED_MS_MAX = 10_000

export function createExitWatch({ strategies }: EngineSettings): { readonly exits?: ExitWatch } {
  const hasExits = [...strategies.values()].some(({ exits }) => exits !== undefined)
  return hasExits ? { exits: { states: new Map(), prices: new Map() } } : {}
}

export function exitRulesOf(
  { settings }: Pick<Core, 'settings'>,
  id: string,
): ExitRules | undefined {
  return settings.strategies.get(id as StrategyId)?.exits
}

/** The recorded state: a better best price may wait. */
export function exitStateOf(
  core: Pick<Core, 'settings' | 'book'>,
  id: string,
  symbol: string,
): ExitState | undefined {
  if (core.book.exitStates.size === 0 || exitRulesOf(core, id) === undefined) return undefined
  return core.book.exitStates.get(pairOf(id, symbol))
}

export function exitDueOn(
  core: Pick<Core, 'settings' | 'book'>,
  id: string,
  symbol: string,
): (DueExit & { readonly holdSide: HoldSide }) | undefined {
  if (core.book.exitStates.size === 0) return undefined
  return dueExitOf(exitStateOf(core, id, symbol))
}

/** Why nothing that adds risk may leave. */
export function entryPauseOn(
  core: Pick<Core, 'settings' | 'book'>,
  id: string,
  symbol: string,
): string | undefined {
  const leaving = leavingOf(core.book, id, symbol)
  if (leaving) return 'it leaves the universe of its strategy'
  const state = exitStateOf(core, id, symbol)
  const due = dueExitOf(state)
  if (due) return `${EXIT_KINDS[due.kind]} is due`
  if (!state?.pause) return undefined
  const { cause, untilAt } = state.pause
  return `${PAUSE_CAUSES[cause]}, until ${showUtc(untilAt)}`
}

/** Best prices that are not recorded yet are included. */
export function watchedExitsOf(core: Core, id: string, symbol: string): ExitState | undefined {
  const pair = pairOf(id, symbol)
  return core.exits?.states.get(pair)?.state ?? core.book.exitStates.get(pair)
}

/** Records at once what changes plans. */
export function noteExits(
  core: Core,
  {
    id,
    symbol,
    state,
  }: { readonly id: StrategyId; readonly symbol: string; readonly state: ExitState },
): void {
  if (core.exits === undefined) return
  const pair = pairOf(id, symbol)
  const watched = core.exits.states.get(pair)
  const recorded = core.book.exitStates.get(pair) ?? NO_EXITS
  const isDue =
    !differsInBest(recorded, state) ||
    core.now - (watched?.recordedAt ?? 0) >= BEST_UNRECORDED_MS_MAX
  mutable(core.exits.states).set(pair, {
    state,
    recordedAt: isDue ? core.now : (watched?.recordedAt ?? core.now),
  })
  if (isDue) recordExits(core, id, symbol, state)
}

/** Records best prices that wait, at an orderly end of the run. */
export function recordAllExits(core: Core): void {
  for (const { id, symbols } of core.settings.strategies.values()) {
    for (const symbol of symbols) {
      const pair = pairOf(id, symbol)
      const state = core.exits?.states.get(pair)?.state
      if (state && differsInBest(core.book.exitStates.get(pair) ?? NO_EXITS, state))
        recordExits(core, id, symbol, state)
    }
  }
}

/**
 * When the instrument leaves its strategy, its pause and what protections count stay.
 * @param state before it has left
 */
export function leaveExits(
  core: Core,
  {
    id,
    symbol,
    state,
  }: { readonly id: StrategyId; readonly symbol: string; readonly state: ExitState | undefined },
): void {
  if (core.exits) mutable(core.exits.states).delete(pairOf(id, symbol))
  const rules = exitRulesOf(core, id)
  const kept = rules && state && pausesOf(rules, state, exchangeNow(core))
  if (kept) recordExits(core, id, symbol, kept)
}

/** Drops pauses that are over, of instruments that have left. */
export function forgetSpentPauses(core: Core, { id, symbols }: StrategySettings): void {
  const rules = exitRulesOf(core, id)
  for (const [pair, state] of rules ? Array.from(core.book.exitStates) : []) {
    const [strategyId, symbol] = splitPair(pair)
    if (strategyId !== id || symbols.includes(symbol)) continue
    if (rules && pausesOf(rules, state, exchangeNow(core)) === undefined)
      recordExits(core, id, symbol, null)
  }
}

export function forgetExitPrice(core: Core, symbol: string): void {
  if (core.exits) mutable(core.exits.prices).delete(symbol)
}

/** Called at the beginning of a run. */
export function dropUnconfiguredExits(core: Core): void {
  for (const [pair, state] of Array.from(core.book.exitStates)) {
    const [strategyId, symbol] = splitPair(pair)
    const { exits, universe, symbols } =
      core.settings.strategies.get(strategyId as StrategyId) ?? {}
    if (exits && symbols?.includes(symbol)) continue
    const kept = exits && universe && pausesOf(exits, state, exchangeNow(core))
    if (!isSameData(kept, state)) recordExits(core, strategyId as StrategyId, symbol, kept ?? null)
  }
}

function recordExits(
  core: Core,
  strategyId: StrategyId,
  symbol: string,
  state: ExitState | null,
): void {
  record(core, { kind: 'exits', at: core.now, strategyId, symbol, state })
}

/** The states differ in best prices alone. */
function differsInBest(one: ExitState, other: ExitState): boolean {
  return !isSameData(one, other) && isSameData(withoutBest(one), withoutBest(other))
}

function withoutBest({ long, short, ...rest }: ExitState): ExitState {
  return {
    ...rest,
    long: long && { ...long, bestTicks: null },
    short: short && { ...short, bestTicks: null },
  }
}

export function noteExitPrice(core: Core, symbol: string): void {
  if (core.exits === undefined) return
  const known = core.exits.prices.get(symbol)
  const { price, answeredAt, isInBand } = ownPriceOf(core, symbol)
  if (known?.answeredAt === answeredAt) return
  const isContradicted = !isInBand && !Number.isNaN(price)
  const contradictedSince = isContradicted ? (known?.contradictedSince ?? core.now) : undefined
  // An index that stands still contradicts the price for long, which must not keep exits away.
  const hasLasted =
    contradictedSince !== undefined &&
    core.now - contradictedSince >= figureSettingsOf(core).disputeMsMax
  const isBelieved = isInBand || hasLasted
  mutable(core.exits.prices).set(symbol, {
    answeredAt,
    last: isBelieved ? witnessed(core, symbol, price) : undefined,
    before: known?.last,
    contradictedSince,
  })
}

/**
 * While our profit and the exchange's differ, its mark price is the second witness: both must have
 * met a level (MON1), until ours counts alone.
 */
function witnessed(core: Core, symbol: string, price: number): BelievedTicks {
  const { tick } = specOf(core, symbol)
  const ticks = nearestStep(tick, price)
  const dispute = disputeOf(core, 'unrealised', symbol)
  const isAlone =
    dispute !== undefined && core.now - dispute.countedFrom >= figureSettingsOf(core).disputeMsMax
  const mark = core.market.marks.get(symbol)?.markPrice ?? Number.NaN
  if (dispute === undefined || isAlone || !(mark > 0)) return { low: ticks, high: ticks }
  const marked = nearestStep(tick, mark)
  return { low: Math.min(ticks, marked), high: Math.max(ticks, marked) }
}

/** Prices that two answers in a row have shown; undefined while one is not believed. */
export function believedTicksOf(core: Core, symbol: string): BelievedTicks | undefined {
  const { last, before } = core.exits?.prices.get(symbol) ?? {}
  if (!last || !before || Number.isNaN(ownPriceOf(core, symbol).price)) return undefined
  return { low: Math.min(last.low, before.low), high: Math.max(last.high, before.high) }
}

/** Undefined with too few closed candles. */
export function atrTicksOf(core: Core, symbol: string, rules: ExitRules): number | undefined {
  if (rules.atr === undefined) return undefined
  const { intervalMs, period } = rules.atr
  const series = core.book.candles.get(candleKey(symbol, intervalMs))
  const value = series && indicatorValue(atr({ interval: `${intervalMs}ms`, period }), series)
  if (typeof value !== 'number' || !(value > 0)) return undefined
  return Math.max(1, stepAbove(specOf(core, symbol).tick, value))
}
