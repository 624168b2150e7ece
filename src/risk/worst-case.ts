/**
 * Computes the need of an account with one margin coin after a market move, with all resting orders
 * filled (`risk.survives`).
 *
 *     used = (loss + fees + funding + maintenance) / equity        the account survives while it is 1 at most
 *
 * The scenarios: each instrument moves alone by its `move`, down and up; and all move at once by
 * their joint moves, each in the direction that takes more. Instruments that stand still take their
 * margin, and the fees of their orders.
 *
 * On the way down every resting buy is filled, and no sell; on the way up every sell. A buy that
 * closes a short counts as one that opens a long, since a closed short is a hedge less. A close
 * frees no maintenance here.
 *
 *     loss         of holdings from the price now, and of fills from their prices, to the price
 *                  there; in the coin of an inverse contract, whose profit is size - cost / price
 *     fees         taker: of every fill, and of closing all that is held then
 *     funding      the next payment, where the larger side then pays it
 *     maintenance  of each side, by the tier of its largest value on the way, since a lower tier
 *                  comes too late for what was liquidated just before it; in one-way mode of the
 *                  larger of both before and after
 *
 * Example: 0.5 BTC long at 100,000 and a buy of 0.3 BTC, with an equity of 20,000, a move of 12 %,
 * rates of 0.4 and 0.06 %: the loss is 0.8 × 12,000 = 9,600, the fees 0.3 × 100,000 × 0.0006 + 0.8
 * × 88,000 × 0.0006 = 60.24, the maintenance 0.8 × 88,000 × 0.004 = 281.6: 9,941.84 of 20,000 is
 * 49.7 %.
 */
import type { MaintenanceRules } from '../domain/liquidation.ts'
import type { MoveDirection, WorstCase } from '../domain/worst-case.ts'
import { tierRateOf } from './liquidation.ts'
import { fillLadder, type FilledRungs, type RestingLadder, type Rung } from './resting-ladder.ts'

export interface HeldSide {
  /** Base coin. */
  readonly size: number
  /** Average, quote coin; only inverse contracts need it. */
  readonly entryPrice: number
}

/** As sums, or each order at its own price. */
export interface RestingSide {
  /** Sums in the base coin. */
  readonly opening: number
  readonly closing: number
  /** Set if orders count at their own prices. */
  readonly ladder?: RestingLadder
  /** Came since that ladder was built. */
  readonly more?: readonly Rung[]
}

export interface InstrumentRisk {
  readonly symbol: string
  readonly isInverse: boolean
  /** One-way mode. */
  readonly isNet: boolean
  readonly rules: MaintenanceRules
  readonly move: number
  readonly jointMove: number
  /** Quote coin. */
  readonly price: number
  /** Share of the value; below zero shorts pay. */
  readonly fundingRate: number
  readonly long: HeldSide
  readonly short: HeldSide
  readonly buys: RestingSide
  readonly sells: RestingSide
}

/** Margin coin. */
export interface RiskNeeds {
  readonly symbol: string
  readonly move: number
  readonly standing: number
  readonly down: number
  readonly up: number
  readonly joint: number
}

export function needsOf(risk: InstrumentRisk): RiskNeeds {
  const { symbol, move, jointMove } = risk
  const down = needAt(risk, 'down', move)
  const up = needAt(risk, 'up', move)
  const joint =
    jointMove === move
      ? Math.max(down, up)
      : Math.max(needAt(risk, 'down', jointMove), needAt(risk, 'up', jointMove))
  const standing = Math.max(needAt(risk, 'down', 0), needAt(risk, 'up', 0))
  return { symbol, move, standing, down, up, joint }
}

/** Called for each order, so it makes no objects. */
export function needAt(risk: InstrumentRisk, direction: MoveDirection, move: number): number {
  const { price, isInverse, isNet, rules } = risk
  const isDown = direction === 'down'
  const to = price * (isDown ? 1 - move : 1 + move)
  // Buys are filled on the way down, sells on the way up.
  const growing = isDown ? risk.long : risk.short
  const shrinking = isDown ? risk.short : risk.long
  const filled = fillOf(isDown ? risk.buys : risk.sells, price, to)
  const all = filled.opening + filled.closing
  const closed = Math.min(isNet ? all : filled.closing, shrinking.size)
  const opened = isNet ? all - closed : filled.opening
  const grown = growing.size + opened
  const kept = shrinking.size - closed
  const lost =
    riseOf(growing, growing.size, isInverse, to, price) +
    riseOf(shrinking, kept, isInverse, price, to) +
    riseOf(shrinking, closed, isInverse, price, filled.price) +
    (opened === 0 ? 0 : opened * riseOfOne(filled.price, isInverse, to, filled.price))
  const valueAtFill = isInverse ? 1 : filled.price
  const valueThere = isInverse ? 1 : to
  const highest = Math.max(price, to)
  const fees = rules.takerFeeRate * (all * valueAtFill + (grown + kept) * valueThere)
  const paying = (isDown ? risk.fundingRate : -risk.fundingRate) * (grown - kept)
  const funding = Math.max(0, paying * (isInverse ? 1 : highest))
  const ofGrown = grown * valueThere * tierRateOf(rules, grown * highest)
  const ofShrunk = shrinking.size * valueThere * tierRateOf(rules, shrinking.size * highest)
  const maintenance = isNet ? Math.max(ofGrown, ofShrunk) : ofGrown + ofShrunk
  return (isDown ? lost : -lost) + fees + funding + maintenance
}

/** The gain of a long of that size, margin coin. */
function riseOf(
  { entryPrice }: HeldSide,
  size: number,
  isInverse: boolean,
  from: number,
  to: number,
): number {
  return size === 0 ? 0 : size * riseOfOne(entryPrice, isInverse, from, to)
}

function riseOfOne(entryPrice: number, isInverse: boolean, from: number, to: number): number {
  return isInverse ? entryPrice * (1 / from - 1 / to) : to - from
}

function fillOf(
  { opening, closing, ladder, more = NO_RUNGS }: RestingSide,
  from: number,
  to: number,
): FilledRungs {
  return ladder ? fillLadder(ladder, { from, to }, more) : { opening, closing, price: from }
}

const NO_RUNGS: readonly Rung[] = []

export interface OtherNeeds {
  readonly standing: number
  readonly joint: number
  /** The instrument whose own move needs most beyond standing still. */
  readonly single: { readonly needs: RiskNeeds; readonly beyond: number } | undefined
}

export function sumNeeds(all: Iterable<RiskNeeds>): OtherNeeds {
  let [standing, joint] = [0, 0]
  let single: OtherNeeds['single']
  for (const needs of all) {
    standing += needs.standing
    joint += needs.joint
    const beyond = Math.max(needs.down, needs.up) - needs.standing
    if (single === undefined || !(beyond <= single.beyond)) single = { needs, beyond }
  }
  return { standing, joint, single }
}

/** Undefined if nothing is at risk; NaN if a part is not known. */
export function findWorstCase(all: Iterable<RiskNeeds>, equity: number): WorstCase | undefined {
  const { standing, joint, single } = sumNeeds(all)
  if (single === undefined) return undefined
  const { needs, beyond } = single
  const alone = standing + beyond
  // The joint scenario is named only if it needs more.
  if (joint > alone) return { scenario: { kind: 'joint' }, need: joint, ...usedOf(joint, equity) }
  const direction = needs.down >= needs.up ? 'down' : 'up'
  const scenario = { kind: 'single', symbol: needs.symbol, direction, move: needs.move } as const
  return { scenario, need: alone, ...usedOf(alone, equity) }
}

export function usedOf(need: number, equity: number): Pick<WorstCase, 'equity' | 'used'> {
  if (Number.isNaN(need) || Number.isNaN(equity)) return { equity, used: Number.NaN }
  return { equity, used: equity > 0 ? need / equity : need > 0 ? Number.POSITIVE_INFINITY : 0 }
}

/** For display: `BTCUSDT down 12 %`. */
export function describeScenario(scenario: WorstCase['scenario']): string {
  if (scenario.kind === 'joint') return 'all instruments against us at once'
  return `${scenario.symbol} ${scenario.direction} ${Number((scenario.move * 100).toFixed(2))} %`
}
