/**
 * What a move of the market takes from an account with one margin coin, whatever rests in it (`risk.survives`).
 *
 *     used = (loss + fees + funding + maintenance) / equity        the account survives while it is 1 at most
 *
 * The scenarios: each instrument moves alone by its `move`, down and up; and all move at once by their joint moves, each in
 * the direction that takes more. Instruments that stand still take what they need as margin, and the fees of their orders.
 *
 * On the way down every buy that rests is filled, and no sell; on the way up every sell. That a buy opens a long or closes
 * a short makes no difference, since a short that is closed is a hedge less. A close frees no maintenance here.
 *
 *     loss         what is held, from the price now to the price there, and what was filled, from its fill price to there;
 *                  in the coin of an inverse contract, whose profit is size - cost / price
 *     fees         taker: of every fill, and of closing all that is held then
 *     funding      the next payment, where the side that is larger then pays it
 *     maintenance  of each side, by the tier of its largest value on the way, since a fall into a lower tier comes too late
 *                  for what was liquidated just before it; in one-way mode of the larger of both before and after
 *
 * Example: 0.5 BTC long at 100,000 and a buy of 0.3 BTC, with an equity of 20,000, a move of 12 %, rates of 0.4 and 0.06 %:
 * the loss is 0.8 × 12,000 = 9,600, the fees 0.3 × 100,000 × 0.0006 + 0.8 × 88,000 × 0.0006 = 60.24, the maintenance
 * 0.8 × 88,000 × 0.004 = 281.6: 9,941.84 of 20,000 is 49.7 %.
 */
import type { MaintenanceRules } from '../domain/liquidation.ts'
import type { HoldSide } from '../domain/position.ts'
import type { MoveDirection, WorstCase } from '../domain/worst-case.ts'
import { tierRateOf } from './liquidation.ts'
import { fillLadder, type FilledRungs, type RestingLadder, type Rung } from './resting-ladder.ts'

/** What is held on one side. */
export interface HeldSide {
  /** Base coin. */
  readonly size: number
  /** Average price at which it was opened, quote coin; only inverse contracts need it. */
  readonly entryPrice: number
}

/** The orders of one side: in sum, or each at its own price. */
export interface RestingSide {
  /** Base coin, of all of them. */
  readonly opening: number
  readonly closing: number
  /** Where they count at their own prices. */
  readonly ladder?: RestingLadder
  /** In that case those that came since the ladder was built. */
  readonly more?: readonly Rung[]
}

/** What the account has at stake in one instrument. */
export interface Stake {
  readonly symbol: string
  readonly isInverse: boolean
  /** One-way mode: only one side is held. */
  readonly isNet: boolean
  readonly rules: MaintenanceRules
  readonly move: number
  readonly jointMove: number
  /** Quote coin. */
  readonly price: number
  /** What longs pay next, as a share of the value; below zero shorts pay. */
  readonly fundingRate: number
  readonly long: HeldSide
  readonly short: HeldSide
  readonly buys: RestingSide
  readonly sells: RestingSide
}

/** What an instrument takes by scenario, in the margin coin. */
export interface StakeNeeds {
  readonly symbol: string
  readonly move: number
  /** Another instrument moves. */
  readonly standing: number
  readonly down: number
  readonly up: number
  readonly joint: number
}

export function needsOf(stake: Stake): StakeNeeds {
  const { symbol, move, jointMove } = stake
  const down = needAt(stake, 'down', move)
  const up = needAt(stake, 'up', move)
  const joint =
    jointMove === move
      ? Math.max(down, up)
      : Math.max(needAt(stake, 'down', jointMove), needAt(stake, 'up', jointMove))
  const standing = Math.max(needAt(stake, 'down', 0), needAt(stake, 'up', 0))
  return { symbol, move, standing, down, up, joint }
}

/** What an instrument takes when it moves by a share of its price. */
export function needAt(stake: Stake, direction: MoveDirection, move: number): number {
  const { price, isInverse, isNet, rules, fundingRate } = stake
  const isDown = direction === 'down'
  const to = price * (isDown ? 1 - move : 1 + move)
  const [grownSide, shrunkSide]: readonly HoldSide[] = isDown ? SIDES : SIDES_OF_SELLS
  const [growing, shrinking] = isDown ? [stake.long, stake.short] : [stake.short, stake.long]
  const filled = fillOf(isDown ? stake.buys : stake.sells, { from: price, to })
  const all = filled.opening + filled.closing
  const closed = Math.min(isNet ? all : filled.closing, shrinking.size)
  const opened = isNet ? all - closed : filled.opening
  const grown = growing.size + opened
  const kept = shrinking.size - closed
  const gain = (side: HoldSide | undefined, held: HeldSide, at: { from: number; to: number }): number =>
    gainBetween({ ...held, isLong: side === 'long', isInverse }, at)
  const gained =
    gain(grownSide, growing, { from: price, to }) +
    gain(shrunkSide, { ...shrinking, size: kept }, { from: price, to }) +
    gain(shrunkSide, { ...shrinking, size: closed }, { from: price, to: filled.price }) +
    gain(grownSide, { size: opened, entryPrice: filled.price }, { from: filled.price, to })
  const valueOf = (size: number, at: number): number => (isInverse ? size : size * at)
  const traded = valueOf(all, filled.price) + valueOf(grown + kept, to)
  const paying = (isDown ? fundingRate : -fundingRate) * (grown - kept)
  const maintenance = (size: number): number =>
    valueOf(size, to) * tierRateOf(rules, size * Math.max(price, to))
  const [ofGrown, ofShrunk] = [maintenance(grown), maintenance(shrinking.size)]
  return (
    rules.takerFeeRate * traded -
    gained +
    Math.max(0, valueOf(paying, Math.max(price, to))) +
    (isNet ? Math.max(ofGrown, ofShrunk) : ofGrown + ofShrunk)
  )
}

const SIDES = ['long', 'short'] as const
const SIDES_OF_SELLS = ['short', 'long'] as const

interface Gaining extends HeldSide {
  readonly isLong: boolean
  readonly isInverse: boolean
}

function gainBetween(
  { size, entryPrice, isLong, isInverse }: Gaining,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  if (size === 0) return 0
  const gained = isInverse ? size * entryPrice * (1 / from - 1 / to) : size * (to - from)
  return isLong ? gained : -gained
}

function fillOf(
  { opening, closing, ladder, more = NO_RUNGS }: RestingSide,
  way: { readonly from: number; readonly to: number },
): FilledRungs {
  return ladder ? fillLadder(ladder, way, more) : { opening, closing, price: way.from }
}

const NO_RUNGS: readonly Rung[] = []

/** What the other instruments take, for scenarios of one of them. */
export interface OtherNeeds {
  readonly standing: number
  readonly joint: number
  /** The one of them that takes most beyond its standing still when it moves alone; undefined: there is none. */
  readonly single: { readonly needs: StakeNeeds; readonly beyond: number } | undefined
}

export function sumNeeds(all: Iterable<StakeNeeds>): OtherNeeds {
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

/** The scenario that takes most; undefined where nothing is at stake. NaN where a part is not known. */
export function findWorstCase(all: Iterable<StakeNeeds>, equity: number): WorstCase | undefined {
  const { standing, joint, single } = sumNeeds(all)
  if (single === undefined) return undefined
  const { needs, beyond } = single
  const alone = standing + beyond
  // What moves with all others is named only where that takes more.
  if (joint > alone) return { scenario: { kind: 'joint' }, need: joint, ...usedOf(joint, equity) }
  const direction = needs.down >= needs.up ? 'down' : 'up'
  const scenario = { kind: 'single', symbol: needs.symbol, direction, move: needs.move } as const
  return { scenario, need: alone, ...usedOf(alone, equity) }
}

export function usedOf(need: number, equity: number): Pick<WorstCase, 'equity' | 'used'> {
  if (Number.isNaN(need) || Number.isNaN(equity)) return { equity, used: Number.NaN }
  return { equity, used: equity > 0 ? need / equity : need > 0 ? Number.POSITIVE_INFINITY : 0 }
}

/** For people: `BTCUSDT down 12 %`. */
export function describeScenario(scenario: WorstCase['scenario']): string {
  if (scenario.kind === 'joint') return 'all instruments against us at once'
  return `${scenario.symbol} ${scenario.direction} ${Number((scenario.move * 100).toFixed(2))} %`
}
