import type { ExitKind } from '../domain/exits.ts'
import type { OrderIntent, OrderPurpose, Tag } from '../domain/intent.ts'
import { isTerminal, type Order } from '../domain/order.ts'
import { type OrderAction, tradesAs } from '../domain/order-action.ts'
import { type Holding, netLots } from '../domain/position.ts'
import { stepAbove, stepBelow } from '../lib/grid.ts'
import type { Candidate, PlanInput } from './candidate.ts'

export interface TargetPlanInput extends PlanInput {
  readonly purpose: OrderPurpose
  /** Absent: no exit asks for it. */
  readonly exit?: ExitKind
  /** The strategy's text about the target; absent: none. */
  readonly tag?: Tag
  /** Signed lots. */
  readonly target: number
  readonly accountHolding: Holding
  /** The part of the strategy's position that account and other strategies account for. */
  readonly backedHolding: Holding
  /** Floats, quote coin. */
  readonly bid: number
  readonly ask: number
  /** Share: 0.001 is 10 basis points. Undefined: any price. */
  readonly takerCollarRatio: number | undefined
  /** A larger difference takes several orders in turn. */
  readonly orderLotsMax: number
}

/**
 * From the position to the target; none while one is open. `ioc` at the collar, so they never rest.
 */
export function planTarget(input: TargetPlanInput): readonly Candidate[] {
  const open = input.orders.filter((order) => !isTerminal(order))
  if (open.length > 0) {
    const stale = staleTargetOrders(input)
    return open
      .filter((order) => order.state === 'queued' && !stale.includes(order))
      .map((order) => ({
        intent: {
          ...toIntent(input, order.terms.action, order.terms.lots, 0),
          key: order.terms.key,
        },
        again: order.terms.clientOid,
      }))
  }
  return stepsOf(input)
    .filter((step) => step.lots >= input.instrument.lotsMin)
    .map(({ action, lots }, index) => ({
      intent: toIntent(input, action, Math.min(lots, Math.max(input.orderLotsMax, 1)), index),
    }))
}

/** No longer lead to the target, or belong to the other of target and flatten: dropped (ORD7). */
export function staleTargetOrders(input: TargetPlanInput): readonly Order[] {
  const steps = stepsOf(input)
  return input.orders.filter(({ state, terms }) => {
    const leads = steps.some((step) => step.action === terms.action && step.lots >= terms.lots)
    return state === 'queued' && (terms.purpose !== input.purpose || !leads)
  })
}

interface TargetStep {
  readonly action: OrderAction
  readonly lots: number
}

function stepsOf(input: TargetPlanInput): readonly TargetStep[] {
  return input.positionMode === 'one_way_mode' ? oneWaySteps(input) : hedgeSteps(input)
}

/**
 * One order, reduce-only if the positions of strategy and account are both as large, so that
 * outdated data cannot turn a close into an opening. Another order closes against other strategies'
 * positions; what those do not cover is denied.
 */
function oneWaySteps(input: TargetPlanInput): readonly TargetStep[] {
  const change = input.target - netLots(input.holding)
  if (change > 0)
    return [oneWayStep(input, { side: 'shortLots', close: 'closeShort', open: 'openLong' }, change)]
  if (change < 0)
    return [oneWayStep(input, { side: 'longLots', close: 'closeLong', open: 'openShort' }, -change)]
  return []
}

interface OneWayDirection {
  readonly side: keyof Holding
  readonly close: OrderAction
  readonly open: OrderAction
}

function oneWayStep(
  input: TargetPlanInput,
  { side, close, open }: OneWayDirection,
  lots: number,
): TargetStep {
  const { holding, accountHolding, backedHolding, instrument } = input
  const inAccount = accountHolding[side]
  if (holding[side] >= lots && inAccount >= lots) return { action: close, lots }
  const reduced = Math.min(lots, holding[side])
  const isDenied = reduced > backedHolding[side]
  if (isDenied && inAccount >= instrument.lotsMin)
    return { action: close, lots: Math.min(reduced, inAccount) }
  return { action: open, lots }
}

/** One order per leg: the excess is closed, the rest opened. */
function hedgeSteps({ target, holding }: TargetPlanInput): readonly TargetStep[] {
  const long = Math.max(0, target) - holding.longLots
  const short = Math.max(0, -target) - holding.shortLots
  const steps: TargetStep[] = []
  if (long < 0) steps.push({ action: 'closeLong', lots: -long })
  if (short < 0) steps.push({ action: 'closeShort', lots: -short })
  if (long > 0) steps.push({ action: 'openLong', lots: long })
  if (short > 0) steps.push({ action: 'openShort', lots: short })
  return steps
}

function toIntent(
  input: TargetPlanInput,
  action: OrderAction,
  lots: number,
  index: number,
): OrderIntent {
  return {
    strategyId: input.strategyId,
    symbol: input.instrument.symbol,
    purpose: input.purpose,
    key: `target:${input.instrument.symbol}:${input.ordinal + index}`,
    action,
    lots,
    ticks: collarTicks(input, tradesAs(action)),
    force: 'ioc',
    takeProfitTicks: undefined,
    stopLossTicks: undefined,
    deadlineAt: input.deadlineAt,
    ...(input.exit && { exit: input.exit }),
    ...(input.tag !== undefined && { tag: input.tag }),
  }
}

/** The worst acceptable price, within the collar; undefined: any. */
function collarTicks(
  { instrument, bid, ask, takerCollarRatio }: TargetPlanInput,
  side: 'buy' | 'sell',
): number | undefined {
  if (takerCollarRatio === undefined) return undefined
  return side === 'buy'
    ? Math.max(
        stepBelow(instrument.tick, ask * (1 + takerCollarRatio)),
        stepAbove(instrument.tick, ask),
      )
    : Math.min(
        stepAbove(instrument.tick, bid * (1 - takerCollarRatio)),
        stepBelow(instrument.tick, bid),
      )
}
