import type { Fold } from './folds.ts'
import type { ParamSet } from './param-sets.ts'
import type { Objective } from './sweep-file.ts'
import { scoreOf, type Trial, type TrialOutcome } from './trial.ts'

export interface SweepPlan {
  readonly sets: readonly ParamSet[]
  readonly objective: Objective
  /** Unix ms. */
  readonly fromAt: number
  /** Unix ms; the last is the end of the range. */
  readonly rounds: readonly number[]
  readonly folds: readonly Fold[]
  /** Unix ms. */
  readonly periodAt: (period: number) => number
}

export type FindOutcome = (trial: Trial) => TrialOutcome | undefined

/** The best third of the trials goes on. */
const KEPT_SHARE = 1 / 3

export interface RankedSet {
  readonly params: ParamSet
  readonly trial: Trial
  readonly outcome: TrialOutcome | undefined
}

export function cutRounds(fromAt: number, toAt: number, sets: number): readonly number[] {
  const rounds = sets >= 9 ? [1 / 9, 1 / 3, 1] : sets >= 3 ? [1 / 3, 1] : [1]
  return rounds.map((share) => (share === 1 ? toAt : fromAt + Math.round((toAt - fromAt) * share)))
}

export function countTrials({ sets, rounds, folds }: SweepPlan): number {
  let [alive, sum] = [sets.length, folds.length]
  for (let round = 0; round < rounds.length; round++) {
    sum += alive
    alive = keptOf(alive)
  }
  return sum
}

function keptOf(count: number): number {
  return Math.max(1, Math.ceil(count * KEPT_SHARE))
}

/** Each step needs the outcomes of the step before. */
export function nextTrials(plan: SweepPlan, find: FindOutcome): readonly Trial[] {
  const { alive, missing } = playRounds(plan, find)
  if (missing.length > 0) return missing
  return listFolds(plan, alive).flatMap(({ trial }) => (find(trial) === undefined ? [trial] : []))
}

export function rankSets(plan: SweepPlan, find: FindOutcome): readonly RankedSet[] {
  return playRounds(plan, find).sets
}

export function listFolds(plan: SweepPlan, alive: readonly RankedSet[]) {
  const { folds, objective, periodAt } = plan
  return folds.flatMap((fold) => {
    const { inSample, outOfSample } = fold
    const scored = alive.flatMap(({ params, outcome }) =>
      outcome === undefined || 'failed' in outcome
        ? []
        : [
            {
              params,
              score: scoreOf(outcome.returns.slice(inSample.from, inSample.to), objective),
            },
          ],
    )
    const best = scored.toSorted((one, other) => other.score - one.score)[0]
    if (best === undefined) return []
    const trial = {
      params: best.params,
      fromAt: periodAt(outOfSample.from),
      toAt: periodAt(outOfSample.to),
    }
    return [{ fold, score: best.score, trial }]
  })
}

export function wholeOf(plan: SweepPlan, sets: readonly RankedSet[]): readonly RankedSet[] {
  return sets.filter(({ trial }) => trial.toAt === plan.rounds.at(-1))
}

function playRounds({ sets, rounds, fromAt, objective }: SweepPlan, find: FindOutcome) {
  const ranked = new Map<ParamSet, RankedSet>()
  let alive: readonly ParamSet[] = sets
  let played: RankedSet[] = []
  for (const [round, toAt] of rounds.entries()) {
    played = alive.map((params) => {
      const trial = { params, fromAt, toAt }
      return { params, trial, outcome: find(trial) }
    })
    for (const one of played) ranked.set(one.params, one)
    const missing = played.flatMap(({ trial, outcome }) => (outcome === undefined ? [trial] : []))
    if (missing.length > 0) return { alive: [], missing, sets: [...ranked.values()] }
    if (round === rounds.length - 1) break
    alive = played
      .map((one) => ({ ...one, score: scoreOfOutcome(one.outcome, objective) }))
      .toSorted((one, other) => other.score - one.score)
      .slice(0, keptOf(played.length))
      .map(({ params }) => params)
  }
  return { alive: played, missing: [], sets: [...ranked.values()] }
}

function scoreOfOutcome(outcome: TrialOutcome | undefined, objective: Objective): number {
  if (outcome === undefined || 'failed' in outcome) return Number.NEGATIVE_INFINITY
  return scoreOf(outcome.returns, objective)
}
