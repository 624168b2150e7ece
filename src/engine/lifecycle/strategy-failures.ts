import type { StrategyId } from '../../domain/ids.ts'
import { strategyScope } from '../../domain/trading-mode.ts'
import type { CommandSource, EngineCommand, EventOf } from '../event.ts'
import type { FailurePolicy } from '../settings.ts'
import { announce, type Core } from '../state/core.ts'
import { noteFailure } from '../state/decision-state.ts'
import { exitRulesOf } from '../state/exits.ts'
import { hasFailed, restrict } from '../state/trading-mode.ts'
import { withdrawWishes } from '../strategies/take-decision.ts'
import { startFlatten } from './flatten.ts'

type HaltCommand = Extract<EngineCommand, { kind: 'haltStrategy' }>

const FAILURES_MAX = 10

/** STR1: too many failed decisions in a row halt the strategy until a release. */
export function takeDecisionFailure(
  core: Core,
  { strategyId, reason, isPaused = false }: EventOf<'decisionFailed'>,
): void {
  announce(core, 'error', 'strategy.failed', { strategy: strategyId, reason })
  const inRow = noteFailure(core, strategyId)
  if (hasFailed(core, strategyId)) return
  if (inRow >= FAILURES_MAX) {
    const why = `${inRow} decisions failed in a row: ${reason}`
    hold(core, strategyId, { reason: why, by: 'intentd' })
    endOrders(core, strategyId, reason)
  } else if (isPaused) {
    const policy = policyOf(core, strategyId)
    if (policy === 'cancel' || policy === 'flatten') withdrawWishes(core, strategyId)
  }
}

/** STR1: a strategy that fails outside of a decision is halted until a release. */
export function haltStrategy(core: Core, { strategyId, reason, by }: HaltCommand): void {
  if (!core.settings.strategies.has(strategyId) || hasFailed(core, strategyId)) return
  hold(core, strategyId, { reason, by })
  endOrders(core, strategyId, reason)
}

/** A strategy with exits of its own only reduces, so that they can close. */
function hold(core: Core, strategyId: StrategyId, { reason, by }: CommandSource): void {
  const mode = exitRulesOf(core, strategyId) === undefined ? 'halted' : 'reducing'
  restrict(core, { scope: strategyScope(strategyId), mode, code: 'strategyFailed', reason, by })
}

function policyOf({ settings }: Core, strategyId: StrategyId): FailurePolicy | undefined {
  return settings.strategies.get(strategyId)?.onFailure
}

/** A release ends the flatten of `onFailure` too. */
function endOrders(core: Core, strategyId: StrategyId, reason: string): void {
  const policy = policyOf(core, strategyId)
  if (policy === 'leave') return
  withdrawWishes(core, strategyId)
  if (policy !== 'flatten') return
  startFlatten(core, {
    scope: strategyScope(strategyId),
    by: 'onFailure',
    reason: `onFailure: flatten, after ${reason}`,
  })
}
