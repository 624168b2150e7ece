import { describe, expect, test } from 'vitest'
import { cutFolds } from '../../src/sweep/folds.ts'
import { buildHeatMap, isIsolated, type ScoredSet } from '../../src/sweep/landscape.ts'
import { type ParamSet } from '../../src/sweep/param-sets.ts'
import {
  countTrials,
  cutRounds,
  nextTrials,
  rankSets,
  type SweepPlan,
  wholeOf,
} from '../../src/sweep/schedule.ts'
import { type Trial, type TrialOutcome } from '../../src/sweep/trial.ts'

const PERIODS = 90
const FIGURES = {
  final: '1',
  return: 0,
  drawdown: 0,
  sharpe: 0,
  positions: 0,
  winners: 0,
  fills: 0,
  fees: '0',
  funding: '0',
  liquidations: 0,
  restrictions: [],
}

/** Combination 0 is the worst, the last the best; each earns the same in every period. */
const outcomeOf = ({ params, fromAt, toAt }: Trial): TrialOutcome => ({
  figures: FIGURES,
  returns: Array.from({ length: toAt - fromAt }, () => Number(params['s.a']) / 1000),
})

function createPlan(
  count: number,
  rounds: readonly number[],
  folds: SweepPlan['folds'],
): SweepPlan {
  const sets = Array.from({ length: count }, (_, index): ParamSet => ({ 's.a': String(index) }))
  return { sets, objective: 'return', fromAt: 0, rounds, folds, periodAt: (period) => period }
}

/** Plays a plan to its end. @returns what was asked for, step by step. */
function play(plan: SweepPlan, outcome = outcomeOf) {
  const known = new Map<string, TrialOutcome>()
  const find = (trial: Trial) => known.get(JSON.stringify(trial))
  const steps: (readonly Trial[])[] = []
  for (let trials = nextTrials(plan, find); trials.length > 0; trials = nextTrials(plan, find)) {
    steps.push(trials)
    for (const trial of trials) known.set(JSON.stringify(trial), outcome(trial))
  }
  return { steps, find }
}

describe('the order of the trials', () => {
  test('a grid is run whole, then each window with what was best before it', () => {
    const plan = createPlan(4, [PERIODS], cutFolds(PERIODS, 3, 0))

    const { steps } = play(plan)

    expect(steps.map((trials) => trials.length)).toEqual([4, 3])
    expect(steps.flat()).toHaveLength(countTrials(plan))
    expect(steps[1]?.map(({ params, fromAt, toAt }) => [params['s.a'], fromAt, toAt])).toEqual([
      ['3', 23, 45],
      ['3', 45, 67],
      ['3', 67, 90],
    ])
  })

  test('halving plays short stretches first, and the better third goes on', () => {
    const plan = createPlan(27, cutRounds(0, PERIODS, 27), [])

    const { steps, find } = play(plan)

    expect(steps.map((trials) => [trials.length, trials[0]?.toAt])).toEqual([
      [27, 10],
      [9, 30],
      [3, 90],
    ])
    expect(steps.flat()).toHaveLength(countTrials(plan))
    expect(wholeOf(plan, rankSets(plan, find)).map(({ params }) => params['s.a'])).toEqual([
      '24',
      '25',
      '26',
    ])
  })

  test('what failed is the worst of all, and does not end anything', () => {
    const plan = createPlan(9, cutRounds(0, PERIODS, 9), cutFolds(PERIODS, 2, 1 / 3))

    const { steps } = play(plan, (trial) =>
      trial.params['s.a'] === '8' ? { failed: 'threw' } : outcomeOf(trial),
    )

    expect(steps.at(-2)?.map(({ params }) => params['s.a'])).toEqual(['7'])
    expect(steps.at(-1)?.map(({ params }) => params['s.a'])).toEqual(['7', '7'])
  })

  test('no window begins in what the choice of halving has seen', () => {
    const folds = cutFolds(PERIODS, 5, 1 / 3)

    expect(folds).toHaveLength(5)
    expect(Math.min(...folds.map(({ outOfSample }) => outOfSample.from))).toBeGreaterThanOrEqual(
      PERIODS / 3,
    )
    expect(folds.every(({ inSample, outOfSample }) => inSample.to === outOfSample.from)).toBe(true)
    expect(folds.at(-1)?.outOfSample.to).toBe(PERIODS)
    expect(cutFolds(10, 5, 0)).toEqual([])
  })
})

describe('a peak', () => {
  const land = (scoreOf: (x: number, y: number) => number): readonly ScoredSet[] =>
    Array.from({ length: 25 }, (_, index) => {
      const [x, y] = [index % 5, Math.floor(index / 5)]
      return {
        params: { 's.x': String(x), 's.y': JSON.stringify(String(y)) },
        score: scoreOf(x, y),
      }
    })
  const at = (all: readonly ScoredSet[], x: number, y: number) => all[y * 5 + x] as ScoredSet

  test('whose neighbours are as bad as all others is isolated; one on a hill is not', () => {
    const needle = land((x, y) => (x === 2 && y === 2 ? 1 : 0))
    const hill = land((x, y) => 1 - ((x - 2) ** 2 + (y - 2) ** 2) / 8)

    expect(isIsolated(at(needle, 2, 2), needle)).toBe(true)
    expect(isIsolated(at(needle, 0, 0), needle)).toBe(false)
    expect(isIsolated(at(hill, 2, 2), hill)).toBe(false)
  })

  test('stands in a heat map at its two values', () => {
    const map = buildHeatMap(land((x, y) => x * 10 + y))

    expect(map?.rows).toEqual(['0', '1', '2', '3', '4'])
    expect(map?.cells[3]?.[1]).toBe(31)
    expect(buildHeatMap(land(() => 0).slice(0, 1))).toBeUndefined()
  })
})
