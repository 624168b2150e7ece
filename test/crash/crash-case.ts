import { messageOf } from '../../src/lib/failure.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { CrashScene } from './crash-scene.ts'
import { CrashRuns } from './crash-runs.ts'
import { type CrashPoint, POINTS } from './points.ts'
import {
  type Mode,
  MODES,
  type Reading,
  READINGS,
  type ScenarioName,
  SCENARIOS,
} from './scenario.ts'

export interface CrashCase {
  readonly point: CrashPoint
  /** Killed when the point is reached for the n-th time. */
  readonly times: number
  readonly scenario: ScenarioName
  readonly reading: Reading
  readonly mode: Mode
  readonly onRestart: 'cancel' | 'adopt'
  readonly seed: number
}

export interface CrashReport {
  readonly case: CrashCase
  readonly kills: number
  /** Of these, at the point itself: two for a recovery, one for anything else. */
  readonly hits: number
  /** Orders whose fate was not known for a while, and that were cleared up. */
  readonly unknowns: number
  readonly orders: number
  readonly fills: number
  /** Empty when all is well. A point that was not reached is named here: such a case proves nothing. */
  readonly differences: Differences
}

/** Every point in every scenario, reading and mode that it can be met in, in an order that a seed decides. */
export function listCases(seed: number): readonly CrashCase[] {
  const random = createRandom(`crash cases ${seed}`)
  const cases = POINTS.flatMap((point) =>
    point.scenarios.flatMap((scenario) =>
      READINGS.flatMap((reading) =>
        MODES.map((mode): CrashCase => ({
          point,
          times: 1 + random.integer(point.timesMax),
          scenario,
          reading,
          mode,
          onRestart: random.integer(2) === 0 ? 'cancel' : 'adopt',
          seed: random.integer(1_000_000),
        })),
      ),
    ),
  )
  return spreadOverPoints(cases.toSorted((one, other) => one.seed - other.seed))
}

/** Each point once before any comes again. */
function spreadOverPoints(cases: readonly CrashCase[]): readonly CrashCase[] {
  const byPoint = [...Map.groupBy(cases, ({ point }) => point).values()]
  const rounds = Math.max(...byPoint.map((each) => each.length))
  return Array.from({ length: rounds }, (_, round) =>
    byPoint.flatMap((each) => each[round] ?? []),
  ).flat()
}

export function nameCase({ point, times, scenario, reading, mode, onRestart }: CrashCase): string {
  const where = `${point.phase} ${point.name}:${times}`
  return `${where} (${scenario}, ${reading}, ${mode === 'hedge_mode' ? 'hedge' : 'one-way'}, ${onRestart})`
}

/** Runs that are killed as the case says, and one that ends in good order; then the books are compared. */
export async function runCase(crash: CrashCase): Promise<CrashReport> {
  const { mode, reading, seed, onRestart } = crash
  const scene = await CrashScene.open({
    seed,
    mode,
    reading,
    onRestart,
    scenario: SCENARIOS[crash.scenario],
  })
  const runs = new CrashRuns(scene)
  const report = (differences: Differences): CrashReport => ({
    case: crash,
    kills: runs.kills,
    hits: runs.hits,
    unknowns: scene.unknowns,
    orders: scene.exchange.truth.orders.size,
    fills: scene.exchange.truth.fills.size,
    differences,
  })
  try {
    await killRuns(crash, runs)
    return report(await runs.endInOrder())
  } catch (error) {
    return report([messageOf(error)])
  } finally {
    await scene.close()
  }
}

async function killRuns({ point, times }: CrashCase, runs: CrashRuns): Promise<void> {
  const at = `${point.name}:${times}`
  switch (point.phase) {
    case 'trading':
      return runs.killTrading(at)
    case 'stopping':
      return runs.killStopping(at, 'cancel')
    case 'leaving':
      return runs.killStopping(at, 'leave')
    case 'flattening':
      return runs.killStopping(at, 'flatten')
    case 'killing':
      return runs.killSwitched(at)
    case 'releasing':
      return runs.killReleased(at)
    case 'recovering':
      await runs.leaveInFlight()
      await runs.killRecovering(at)
      return runs.killRecovering(at)
  }
}
