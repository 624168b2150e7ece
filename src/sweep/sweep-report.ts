import { roundNumbers } from '../report/round-numbers.ts'
import type { Fold } from './folds.ts'
import { buildHeatMap, type HeatMap, isIsolated, type ScoredSet } from './landscape.ts'
import type { ParamSet } from './param-sets.ts'
import {
  type FindOutcome,
  listFolds,
  rankSets,
  type RankedSet,
  type SweepPlan,
  wholeOf,
} from './schedule.ts'
import {
  expectedMaxSharpe,
  momentsOf,
  type Overfitting,
  overfittingOf,
  probabilityAbove,
  sharpeOf,
} from './statistics.ts'
import { scoreOf, type Trial, type TrialFigures } from './trial.ts'

/** Times are ISO 8601 in UTC; Sharpe ratios are per period, never annualised. */
export interface SweepReport {
  readonly format: 1
  readonly name: string
  readonly coin: string
  readonly method: string
  readonly objective: string
  readonly from: string
  readonly to: string
  readonly periodMs: number
  readonly trials: readonly SweepRow[]
  readonly folds: readonly FoldRow[]
  /** So many combinations were ever tried on these prices, with any configuration and code. */
  readonly tries: number
  readonly deflated: DeflatedSharpe | null
  readonly overfitting: Overfitting | null
  readonly heatMap: HeatMap | null
  /** Empty for prices of a market. Absent in earlier reports. */
  readonly madeUp?: readonly string[]
  readonly remarks: readonly string[]
}

export interface SweepRow {
  readonly id: string
  readonly params: ParamSet
  readonly isWhole: boolean
  readonly to: string
  readonly figures: TrialFigures | null
  readonly score: number | null
  /** The figures are means over the folds. */
  readonly inSample: number | null
  readonly outOfSample: number | null
  readonly isIsolated: boolean
  readonly failed: string
  readonly command: string
}

export interface FoldRow {
  readonly id: string
  readonly params: ParamSet
  readonly inSample: { readonly from: string; readonly to: string; readonly score: number }
  readonly outOfSample: {
    readonly from: string
    readonly to: string
    readonly score: number | null
  }
  readonly figures: TrialFigures | null
  readonly failed: string
  readonly command: string
}

export interface DeflatedSharpe {
  readonly sharpe: number
  readonly periods: number
  readonly skewness: number
  readonly kurtosis: number
  readonly variance: number
  readonly expectedMax: number
  /** The probability that the true Sharpe ratio exceeds `expectedMax`. */
  readonly probability: number
}

export interface ReportInput {
  readonly plan: SweepPlan
  readonly find: FindOutcome
  readonly name: (trial: Trial) => { readonly id: string; readonly command: string }
  readonly head: Pick<SweepReport, 'name' | 'coin' | 'method' | 'periodMs' | 'madeUp'>
  readonly tries: number
  readonly remarks: readonly string[]
}

const PEAKS_MAX = 20

export const NOT_RUN = 'not run'

/** @returns as many digits as report.json */
export function buildSweepReport({
  plan,
  find,
  name,
  head,
  tries,
  remarks,
}: ReportInput): SweepReport {
  const sets = rankSets(plan, find)
  const whole = wholeOf(plan, sets)
  const scored = whole.flatMap((set): readonly ScoredSet[] => {
    const score = scoreOfSet(set, plan)
    return score === null ? [] : [{ params: set.params, score }]
  })
  const best = scored.toSorted((one, other) => other.score - one.score).slice(0, PEAKS_MAX)
  const peaks = new Set(best.filter((one) => isIsolated(one, scored)).map(({ params }) => params))
  const rows = sets.map((set) => toRow(set, { plan, peaks, name }))
  const returns = whole.flatMap((set) => returnsOf(set) ?? [])
  const overfitting = overfittingOf(returns) ?? null
  const trials = rows.toSorted(byRank)
  const report: SweepReport = {
    format: 1,
    ...head,
    objective: plan.objective,
    from: toTime(plan.fromAt),
    to: toTime(plan.rounds.at(-1) ?? plan.fromAt),
    trials,
    folds: listFolds(plan, whole).map(({ fold, score, trial }) =>
      toFoldRow(
        {
          fold,
          score,
          trial,
        },
        {
          plan,
          find,
          name,
        },
      ),
    ),
    tries,
    deflated:
      deflate(sets, whole, {
        plan,
        tries,
      }) ?? null,
    overfitting,
    heatMap: buildHeatMap(scored) ?? null,
    remarks: [
      ...remarks,
      ...noteEnded(trials),
      ...(overfitting === null ? [] : noteFewTrials(returns)),
    ],
  }
  return JSON.parse(JSON.stringify(report, roundNumbers)) as SweepReport
}

export function isEndedEarly({ figures }: Pick<SweepRow, 'figures'>): boolean {
  return (figures?.restrictions.length ?? 0) > 0
}

/** The figures of these trials do not cover the whole range. */
function noteEnded(trials: readonly SweepRow[]): readonly string[] {
  const ended = trials.filter(isEndedEarly)
  const [best] = ended
  if (best === undefined) return []
  return [
    `Trading ended early in ${ended.length} of ${trials.length} trials. In the best of them, ${best.id}: ${best.figures?.restrictions.join('; ')}.`,
  ]
}

/** With fewer than these, ranks and Sharpe ratios of blocks are mostly chance. */
const RANKED_TRIALS_MIN = 10
const RANKED_PERIODS_MIN = 160

function noteFewTrials(returns: readonly (readonly number[])[]): readonly string[] {
  const [trials, periods] = [returns.length, returns[0]?.length ?? 0]
  if (trials >= RANKED_TRIALS_MIN && periods >= RANKED_PERIODS_MIN) return []
  return [
    `The probability of overfitting rests on ${trials} trials of ${periods} periods: below ${RANKED_TRIALS_MIN} trials or ${RANKED_PERIODS_MIN} periods it says little.`,
  ]
}

function byRank(one: SweepRow, other: SweepRow): number {
  if (one.isWhole !== other.isWhole) return one.isWhole ? -1 : 1
  return (other.score ?? Number.NEGATIVE_INFINITY) > (one.score ?? Number.NEGATIVE_INFINITY)
    ? 1
    : (other.score ?? Number.NEGATIVE_INFINITY) < (one.score ?? Number.NEGATIVE_INFINITY)
      ? -1
      : 0
}

function returnsOf({ outcome }: RankedSet): [readonly number[]] | undefined {
  return outcome === undefined || 'failed' in outcome ? undefined : [outcome.returns]
}

function scoreOfSet(set: RankedSet, { objective }: SweepPlan): number | null {
  const [returns] = returnsOf(set) ?? []
  return returns === undefined ? null : scoreOf(returns, objective)
}

function toRow(
  set: RankedSet,
  {
    plan,
    peaks,
    name,
  }: Pick<ReportInput, 'plan' | 'name'> & { readonly peaks: ReadonlySet<ParamSet> },
): SweepRow {
  const { params, trial, outcome } = set
  const isDone = outcome !== undefined && !('failed' in outcome)
  const isWhole = trial.toAt === plan.rounds.at(-1)
  const mean = (part: keyof Fold): number | null =>
    isDone && isWhole && plan.folds.length > 0
      ? plan.folds.reduce(
          (sum, fold) =>
            sum + scoreOf(outcome.returns.slice(fold[part].from, fold[part].to), plan.objective),
          0,
        ) / plan.folds.length
      : null
  return {
    ...name(trial),
    params,
    isWhole,
    to: toTime(trial.toAt),
    figures: isDone ? outcome.figures : null,
    score: scoreOfSet(set, plan),
    inSample: mean('inSample'),
    outOfSample: mean('outOfSample'),
    isIsolated: peaks.has(params),
    failed: failureOf(set.outcome),
  }
}

function failureOf(outcome: RankedSet['outcome']): string {
  if (outcome === undefined) return NOT_RUN
  return 'failed' in outcome ? outcome.failed : ''
}

function toFoldRow(
  { fold, score, trial }: ReturnType<typeof listFolds>[number],
  { plan, find, name }: Pick<ReportInput, 'plan' | 'find' | 'name'>,
): FoldRow {
  const outcome = find(trial)
  const isDone = outcome !== undefined && !('failed' in outcome)
  return {
    ...name(trial),
    params: trial.params,
    inSample: { from: toTime(plan.fromAt), to: toTime(plan.periodAt(fold.inSample.to)), score },
    outOfSample: {
      from: toTime(trial.fromAt),
      to: toTime(trial.toAt),
      score: isDone ? scoreOf(outcome.returns, plan.objective) : null,
    },
    figures: isDone ? outcome.figures : null,
    failed: failureOf(outcome),
  }
}

/**
 * On the whole range, for any objective. The variance is over all trials on their longest
 * stretches.
 */
function deflate(
  sets: readonly RankedSet[],
  whole: readonly RankedSet[],
  { tries }: { readonly plan: SweepPlan; readonly tries: number },
): DeflatedSharpe | undefined {
  const sharpes = sets.flatMap((set) => returnsOf(set)?.map(sharpeOf) ?? [])
  const best = whole
    .flatMap((set) => returnsOf(set) ?? [])
    .map((returns) => ({ returns, sharpe: sharpeOf(returns) }))
    .toSorted((one, other) => other.sharpe - one.sharpe)[0]
  if (best === undefined || sharpes.length < 2 || best.returns.length < 3) return undefined
  const { skewness, kurtosis, count } = momentsOf(best.returns)
  const variance = momentsOf(sharpes).deviation ** 2
  const expectedMax = expectedMaxSharpe(variance, tries)
  return {
    sharpe: best.sharpe,
    periods: count,
    skewness,
    kurtosis,
    variance,
    expectedMax,
    probability: probabilityAbove(best.sharpe, expectedMax, {
      count,
      skewness,
      kurtosis,
    }),
  }
}

function toTime(at: number): string {
  return new Date(at).toISOString()
}
