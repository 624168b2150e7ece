import type { HoldSide } from '../domain/position.ts'
import { type Scenario, WORST_CASE_WARN } from '../domain/worst-case.ts'
import { findWorstCase, needsOf, type Stake, type StakeNeeds, sumNeeds, usedOf } from './worst-case.ts'

/** An instrument of which a part may be closed. */
export interface ReducibleStake extends Stake {
  /** Base coin. */
  readonly lotSize: number
  /** In lots. */
  readonly lotsMin: number
  /** Half of the distance between bid and ask, as a share of the price. */
  readonly halfSpread: number
}

/** What is to be closed of an instrument. */
export interface PlannedReduction {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly lots: number
}

/**
 * What has to be closed so that the worst case takes no more than a share of the equity, as little as possible: of the
 * scenario that takes most, first the instrument where a lot frees most for what closing it costs. Only what one side has
 * more than the other is closed. Empty where the account is within that share.
 */
export function planReduction(
  stakes: readonly ReducibleStake[],
  equity: number,
  share = WORST_CASE_WARN,
): readonly PlannedReduction[] {
  const left = new Map(stakes.map((stake) => [stake.symbol, stake]))
  const closed = new Map<string, number>()
  let worth = equity
  for (let round = 0; round < stakes.length * ROUNDS_PER_STAKE; round++) {
    const worst = findWorstCase(needsOfAll(left.values()), worth)
    if (worst === undefined || !(worst.used > share)) break
    const next = cheapestOf([...left.values()], worst.scenario)
    if (next === undefined) break
    const lots = fewestLots(next, (tried) => {
      const stakesThen = [...left.values()].map((one) => (one === next ? closeOf(next, tried) : one))
      const { used } = usedOf(needIn(stakesThen, worst.scenario), worth - costOf(next, tried))
      return used <= share
    })
    closed.set(next.symbol, (closed.get(next.symbol) ?? 0) + lots)
    left.set(next.symbol, closeOf(next, lots))
    worth -= costOf(next, lots)
  }
  return stakes.flatMap((stake) => {
    const lots = closed.get(stake.symbol)
    return lots === undefined ? [] : [{ symbol: stake.symbol, holdSide: sideOf(stake), lots }]
  })
}

/** An instrument may be named by its own scenario and by that of all at once. */
const ROUNDS_PER_STAKE = 3

/** What one scenario takes, whether or not another takes more. */
function needIn(stakes: readonly Stake[], scenario: Scenario): number {
  const all = needsOfAll(stakes)
  const { standing, joint } = sumNeeds(all)
  if (scenario.kind === 'joint') return joint
  const own = all.find(({ symbol }) => symbol === scenario.symbol)
  return own ? standing - own.standing + own[scenario.direction] : standing
}

function needsOfAll(stakes: Iterable<Stake>): readonly StakeNeeds[] {
  return [...stakes].map(needsOf)
}

function sideOf({ long, short }: Stake): HoldSide {
  return long.size >= short.size ? 'long' : 'short'
}

/** What one side has more than the other, in lots. */
function excessOf({ long, short, lotSize }: ReducibleStake): number {
  return Math.round(Math.abs(long.size - short.size) / lotSize)
}

function closeOf(stake: ReducibleStake, lots: number): ReducibleStake {
  const side = sideOf(stake)
  const held = stake[side]
  return { ...stake, [side]: { ...held, size: held.size - lots * stake.lotSize } }
}

function costOf({ price, isInverse, rules, halfSpread, lotSize }: ReducibleStake, lots: number): number {
  return lots * lotSize * (isInverse ? 1 : price) * (rules.takerFeeRate + halfSpread)
}

/** The instrument whose close frees most of a scenario for its cost; undefined where none frees anything. */
function cheapestOf(stakes: readonly ReducibleStake[], scenario: Scenario): ReducibleStake | undefined {
  const before = needIn(stakes, scenario)
  let best: { readonly stake: ReducibleStake; readonly ratio: number } | undefined
  for (const stake of stakes) {
    const lots = excessOf(stake)
    if (lots < stake.lotsMin) continue
    const then = stakes.map((one) => (one === stake ? closeOf(stake, lots) : one))
    const freed = before - needIn(then, scenario)
    const ratio = freed / costOf(stake, lots)
    if (freed > 0 && (best === undefined || ratio > best.ratio)) best = { stake, ratio }
  }
  return best?.stake
}

/** At least the smallest order; all that one side has more where even that is not enough. */
function fewestLots(stake: ReducibleStake, isEnough: (lots: number) => boolean): number {
  const most = excessOf(stake)
  let [tooFew, enough] = [0, most]
  while (enough - tooFew > 1) {
    const lots = Math.floor((tooFew + enough) / 2)
    if (isEnough(lots)) enough = lots
    else tooFew = lots
  }
  return Math.min(most, Math.max(enough, stake.lotsMin))
}
