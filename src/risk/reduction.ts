import type { HoldSide } from '../domain/position.ts'
import { type Scenario, WORST_CASE_WARN } from '../domain/worst-case.ts'
import {
  findWorstCase,
  needsOf,
  type InstrumentRisk,
  type RiskNeeds,
  sumNeeds,
  usedOf,
} from './worst-case.ts'

export interface ReducibleRisk extends InstrumentRisk {
  /** Base coin. */
  readonly lotSize: number
  readonly lotsMin: number
  /** Share of the price. */
  readonly halfSpread: number
}

export interface PlannedReduction {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly lots: number
}

/**
 * Finds the smallest closes after which the worst case takes at most a share of the equity. In the
 * worst scenario it closes first where a lot frees most for its cost, and only the excess of one
 * side. Where no excess is left and the margin of a hedge alone is too much, it closes a little of
 * one side; the excess of the other side follows in the next plan.
 */
export function planReduction(
  risks: readonly ReducibleRisk[],
  equity: number,
  share = WORST_CASE_WARN,
): readonly PlannedReduction[] {
  const left = new Map(risks.map((risk) => [risk.symbol, risk]))
  const closed = new Map<string, number>()
  let worth = equity
  for (let round = 0; round < risks.length * ROUNDS_PER_INSTRUMENT; round++) {
    const worst = findWorstCase(needsOfAll(left.values()), worth)
    if (worst === undefined || !(worst.used > share)) break
    const next = cheapestOf([...left.values()], worst.scenario)
    if (next === undefined) {
      const step = stepOfHedge([...left.values()], worth)
      if (step !== undefined) closed.set(step.risk.symbol, step.lots)
      break
    }
    const lots = fewestLots(next, (tried) => {
      const risksThen = [...left.values()].map((one) => (one === next ? closeOf(next, tried) : one))
      const { used } = usedOf(needIn(risksThen, worst.scenario), worth - costOf(next, tried))
      return used <= share
    })
    closed.set(next.symbol, (closed.get(next.symbol) ?? 0) + lots)
    left.set(next.symbol, closeOf(next, lots))
    worth -= costOf(next, lots)
  }
  return risks.flatMap((risk) => {
    const lots = closed.get(risk.symbol)
    return lots === undefined ? [] : [{ symbol: risk.symbol, holdSide: sideOf(risk), lots }]
  })
}

const ROUNDS_PER_INSTRUMENT = 3

/** The worst move may take this share of the equity more until the other side is closed too. */
const HEDGE_STEP = 0.05

function stepOfHedge(
  risks: readonly ReducibleRisk[],
  equity: number,
): { readonly risk: ReducibleRisk; readonly lots: number } | undefined {
  const needWith = (then: InstrumentRisk, risk: ReducibleRisk): number =>
    findWorstCase(needsOfAll(risks.map((one) => (one === risk ? then : one))), equity)?.need ?? 0
  let hedge: { readonly risk: ReducibleRisk; readonly need: number } | undefined
  for (const risk of risks) {
    if (hedgedLots(risk) < risk.lotsMin) continue
    const need = needWith(withoutHedge(risk), risk)
    if (hedge === undefined || need < hedge.need) hedge = { risk, need }
  }
  if (hedge === undefined) return undefined
  const { risk } = hedge
  const needMax = needWith(risk, risk) + HEDGE_STEP * equity
  let [few, tooMany] = [risk.lotsMin, hedgedLots(risk) + 1]
  while (tooMany - few > 1) {
    const lots = Math.floor((few + tooMany) / 2)
    if (needWith(closeOf(risk, lots), risk) <= needMax) few = lots
    else tooMany = lots
  }
  return { risk, lots: few }
}

function hedgedLots({ long, short, lotSize }: ReducibleRisk): number {
  return Math.round(Math.min(long.size, short.size) / lotSize)
}

function withoutHedge(risk: ReducibleRisk): ReducibleRisk {
  const { long, short } = risk
  const hedged = Math.min(long.size, short.size)
  return {
    ...risk,
    long: { ...long, size: long.size - hedged },
    short: { ...short, size: short.size - hedged },
  }
}

function needIn(risks: readonly InstrumentRisk[], scenario: Scenario): number {
  const all = needsOfAll(risks)
  const { standing, joint } = sumNeeds(all)
  if (scenario.kind === 'joint') return joint
  const own = all.find(({ symbol }) => symbol === scenario.symbol)
  return own ? standing - own.standing + own[scenario.direction] : standing
}

function needsOfAll(risks: Iterable<InstrumentRisk>): readonly RiskNeeds[] {
  return [...risks].map(needsOf)
}

function sideOf({ long, short }: InstrumentRisk): HoldSide {
  return long.size >= short.size ? 'long' : 'short'
}

function excessOf({ long, short, lotSize }: ReducibleRisk): number {
  return Math.round(Math.abs(long.size - short.size) / lotSize)
}

function closeOf(risk: ReducibleRisk, lots: number): ReducibleRisk {
  const side = sideOf(risk)
  const held = risk[side]
  return { ...risk, [side]: { ...held, size: held.size - lots * risk.lotSize } }
}

function costOf(
  { price, isInverse, rules, halfSpread, lotSize }: ReducibleRisk,
  lots: number,
): number {
  return lots * lotSize * (isInverse ? 1 : price) * (rules.takerFeeRate + halfSpread)
}

function cheapestOf(
  risks: readonly ReducibleRisk[],
  scenario: Scenario,
): ReducibleRisk | undefined {
  const before = needIn(risks, scenario)
  let best: { readonly risk: ReducibleRisk; readonly ratio: number } | undefined
  for (const risk of risks) {
    const lots = excessOf(risk)
    if (lots < risk.lotsMin) continue
    const then = risks.map((one) => (one === risk ? closeOf(risk, lots) : one))
    const freed = before - needIn(then, scenario)
    const ratio = freed / costOf(risk, lots)
    if (freed > 0 && (best === undefined || ratio > best.ratio)) best = { risk, ratio }
  }
  return best?.risk
}

/** At least the lots of the smallest order; all of the excess if even that is not enough. */
function fewestLots(risk: ReducibleRisk, isEnough: (lots: number) => boolean): number {
  const most = excessOf(risk)
  let [tooFew, enough] = [0, most]
  while (enough - tooFew > 1) {
    const lots = Math.floor((tooFew + enough) / 2)
    if (isEnough(lots)) enough = lots
    else tooFew = lots
  }
  return Math.min(most, Math.max(enough, risk.lotsMin))
}
