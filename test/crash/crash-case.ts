import { messageOf } from '../../src/lib/failure.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type IntentdProcess } from '../daemon/intentd-process.ts'
import { type Differences } from '../support/book-comparison.ts'
import { WAIT_MS_MAX } from './crash-config.ts'
import { CrashScene } from './crash-scene.ts'
import { type CrashPoint, POINTS, STOP_POLICIES } from './points.ts'
import {
  type Mode,
  MODES,
  type Policies,
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
  readonly onRestart: 'fence' | 'adopt'
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
  /** Empty when all is well. A point that was not reached is told here: such a case proves nothing. */
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
          onRestart: random.integer(2) === 0 ? 'fence' : 'adopt',
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
  return Array.from({ length: rounds }, (_, round) => byPoint.flatMap((each) => each[round] ?? [])).flat()
}

export function nameCase({ point, times, scenario, reading, mode, onRestart }: CrashCase): string {
  const where = `${point.phase} ${point.name}:${times}`
  return `${where} (${scenario}, ${reading}, ${mode === 'hedge_mode' ? 'hedge' : 'one-way'}, ${onRestart})`
}

/** Lives that are killed as the case says, and one that ends in good order; then the books are compared. */
export async function runCase(crash: CrashCase): Promise<CrashReport> {
  const { mode, reading, seed, onRestart } = crash
  const scene = await CrashScene.open({ seed, mode, reading, onRestart, scenario: SCENARIOS[crash.scenario] })
  const lives = new Lives(scene)
  const report = (differences: Differences): CrashReport => ({
    case: crash,
    kills: lives.kills,
    hits: lives.hits,
    unknowns: scene.unknowns,
    orders: scene.exchange.truth.orders.size,
    fills: scene.exchange.truth.fills.size,
    differences,
  })
  try {
    await killLives(crash, lives)
    return report(await lives.endInOrder())
  } catch (error) {
    return report([messageOf(error)])
  } finally {
    await scene.close()
  }
}

/** What dies with a batch on the wire leaves a recovery the most to do. */
const LEFT_IN_FLIGHT = 'wire.batch-place-order.sent:2'

async function killLives({ point, times }: CrashCase, lives: Lives): Promise<void> {
  const at = `${point.name}:${times}`
  const onStop = STOP_POLICIES[point.phase]
  if (onStop !== undefined) return lives.killStopping(at, onStop)
  if (point.phase === 'trading') return lives.killTrading(at)
  await lives.leaveInFlight()
  await lives.killRecovering(at)
  await lives.killRecovering(at)
}

interface Killing {
  /** `name:n` of a point. */
  readonly at: string
  /** Counted from the moment that this point was reached. */
  readonly after?: string
  /** The event of the log after which it is told to stop. */
  readonly stopAfter?: string
  /** Kills instead when the recovery does not come to it. */
  readonly otherwise?: string
}

/** What the first kill has settled for ever the next life does not meet again: it must be left anew. */
const RECOVERIES_MAX = 8

const PRELOAD = new URL('./watch-doors.ts', import.meta.url).href

/** One daemon after the other on the same state and the same exchange. */
class Lives {
  readonly #scene: CrashScene
  kills = 0
  hits = 0

  constructor(scene: CrashScene) {
    this.#scene = scene
  }

  async killTrading(at: string): Promise<void> {
    await this.#killAt({ at })
    this.hits += 1
  }

  /** One that holds something, where a stop is to sell it. */
  async killStopping(at: string, onStop: Policies['onStop']): Promise<void> {
    this.#scene.stopLike(onStop)
    const flattens = onStop === 'flatten'
    await this.#killAt({
      at,
      after: flattens ? 'log.daemon.stopping.before' : 'log.daemon.stopAsked.before',
      stopAfter: flattens ? 'order.fill' : 'order.accepted',
    })
    this.hits += 1
    this.#scene.stopLike('cancel')
  }

  async leaveInFlight(): Promise<void> {
    await this.#killAt({ at: LEFT_IN_FLIGHT })
  }

  /** A recovery that had nothing to do there trades, and dies as the life before it did. */
  async killRecovering(at: string): Promise<void> {
    for (let recoveries = 0; recoveries < RECOVERIES_MAX; recoveries++) {
      const run = await this.#killAt({ at, otherwise: LEFT_IN_FLIGHT })
      if (run.events('daemon.running').length > 0) continue
      this.hits += 1
      return
    }
    throw new Error(`${at} was not reached in ${RECOVERIES_MAX} recoveries`)
  }

  /** @throws when the point is not reached: the case would prove nothing. */
  async #killAt({ at, after, stopAfter, otherwise }: Killing): Promise<IntentdProcess> {
    const armed = {
      INTENTD_CRASH_AT: at,
      ...(after === undefined ? {} : { INTENTD_CRASH_AFTER: after }),
      ...(otherwise === undefined ? {} : { INTENTD_CRASH_ELSE: otherwise }),
    }
    const run = this.#scene.start(armed, PRELOAD)
    if (stopAfter !== undefined) {
      await run.untilEvent(stopAfter)
      run.kill('SIGTERM')
    }
    const timer = setTimeout(() => run.kill('SIGTERM'), WAIT_MS_MAX)
    const { code, signal } = await run.ended
    clearTimeout(timer)
    if (signal !== 'SIGKILL') throw new Error(`${at} was not reached (exit ${code ?? signal})${tail(run)}`)
    this.kills += 1
    return run
  }

  /** A last life recovers, trades again, and stops in good order: then nothing may differ. */
  async endInOrder(): Promise<Differences> {
    const run = this.#scene.start()
    await run.untilEvent('daemon.running')
    await run.untilEvent('order.accepted')
    const { code } = await run.stop()
    return code === 0 ? this.#scene.compare(run) : [`the last life ended with ${code}${tail(run)}`]
  }
}

function tail(run: IntentdProcess): string {
  return `\n${[...run.stdout, ...run.stderr].slice(-10).join('\n')}`
}
