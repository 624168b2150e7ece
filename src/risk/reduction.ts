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

/** An instrument of which a part may be closed. */
export interface ReducibleRisk extends InstrumentRisk {
  /** Base coin. */
  readonly lotSize: number
  /** In lots. */
  readonly lotsMin: number
  /** Half of the distance between bid and ask, as a share of the price. */
  readonly halfSpread: number
}

/** A part of an instrument's position that is to be closed. */
export interface PlannedReduction {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly lots: number
}

/**
 * Plans what is closed so that the worst case takes no more than a share of the equity, as little as possible: of the
 * scenario that takes most, first the instrument where a lot frees most for what closing it costs. Only what one side has
 * more than the other is closed. Empty where the account is within that share.
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
    if (next === undefined) break
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

/** An instrument may be named by its own scenario and by that of all at once. */
const ROUNDS_PER_INSTRUMENT = 3

/** The need of one scenario, whether or not another takes more. */
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

/** The lots that one side has more than the other. */
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

/** The instrument whose close frees most of a scenario for its cost; undefined where none frees anything. */
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

/** At least the smallest order; all that one side has more where even that is not enough. */
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
