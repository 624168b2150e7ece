import { type IntentdProcess, type LogLine } from '../daemon/intentd-process.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { WAIT_MS_MAX } from './crash-config.ts'
import { type CrashScene } from './crash-scene.ts'
import { type Policies } from './scenario.ts'

/** What dies with a batch on the wire leaves a recovery the most to do. */
const LEFT_IN_FLIGHT = 'wire.batch-place-order.sent:2'

/** What the first kill has settled for ever the next run does not meet again: it must be left anew. */
const RECOVERIES_MAX = 8

const PRELOAD = new URL('./watch-points.ts', import.meta.url).href

interface Killing {
  /** `name:n` of a point. */
  readonly at: string
  /** Counted from the moment that this point was reached. */
  readonly after?: string
  /** Kills instead when the recovery does not come to it. */
  readonly otherwise?: string
}

/** One daemon after the other on the same state and the same exchange. */
export class CrashRuns {
  readonly #scene: CrashScene
  kills = 0
  /** Those at the point itself. */
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
    const after = flattens ? 'log.daemon.stopping.before' : 'log.daemon.stopRequested.before'
    await this.#killAt({ at, after }, async (run) => {
      await run.untilEvent(flattens ? 'order.fill' : 'order.accepted')
      run.kill('SIGTERM')
    })
    this.hits += 1
    this.#scene.stopLike('cancel')
  }

  async leaveInFlight(): Promise<void> {
    await this.#killAt({ at: LEFT_IN_FLIGHT })
  }

  /** A recovery that had nothing to do there trades, and dies as the run before it did. */
  async killRecovering(at: string): Promise<void> {
    for (let recoveries = 0; recoveries < RECOVERIES_MAX; recoveries++) {
      const run = await this.#killAt({ at, otherwise: LEFT_IN_FLIGHT })
      if (run.events('daemon.running').length > 0) continue
      this.hits += 1
      return
    }
    throw new Error(`${at} was not reached in ${RECOVERIES_MAX} recoveries`)
  }

  /** While it cancels everything and proves that nothing rests. */
  async killSwitched(at: string): Promise<void> {
    const run = await this.#killAt({ at, after: 'journal.record.kill.before' }, (daemon) =>
      this.#throwSwitch(daemon),
    )
    this.hits += 1
    assertNothingSent(run.log, 'trading.killed')
    await this.#release()
  }

  /** While the switch is taken back. */
  async killReleased(at: string): Promise<void> {
    await this.#killAt({ at, after: 'log.kill.clean.before' }, async (daemon) => {
      await this.#throwSwitch(daemon)
      await daemon.untilEvent('kill.clean')
      this.#scene.releaseSwitch()
    })
    this.hits += 1
    await this.#release()
  }

  /** A last run recovers, trades again, and stops in good order: then nothing may differ. */
  async endInOrder(): Promise<Differences> {
    const run = this.#scene.start()
    await run.untilEvent('daemon.running')
    await run.untilEvent('order.accepted')
    const { code } = await run.stop()
    return code === 0 ? this.#scene.compare(run) : [`the last run ended with ${code}${tail(run)}`]
  }

  /** @throws when the point is not reached: the case would prove nothing. */
  async #killAt(
    { at, after, otherwise }: Killing,
    meanwhile?: (run: IntentdProcess) => Promise<void>,
  ): Promise<IntentdProcess> {
    const armed = {
      INTENTD_CRASH_AT: at,
      ...(after === undefined ? {} : { INTENTD_CRASH_AFTER: after }),
      ...(otherwise === undefined ? {} : { INTENTD_CRASH_ELSE: otherwise }),
    }
    const run = this.#scene.start(armed, PRELOAD)
    await meanwhile?.(run)
    const timer = setTimeout(() => run.kill('SIGTERM'), WAIT_MS_MAX)
    const { code, signal } = await run.ended
    clearTimeout(timer)
    if (signal !== 'SIGKILL')
      throw new Error(`${at} was not reached (exit ${code ?? signal})${tail(run)}`)
    this.kills += 1
    return run
  }

  async #throwSwitch(run: IntentdProcess): Promise<void> {
    await run.untilEvent('order.accepted')
    this.#scene.throwSwitch()
  }

  /**
   * A run that finds the switch thrown creates nothing before it is released (RSK2), and trades again after;
   * one that dies in a release may have taken it back.
   */
  async #release(): Promise<void> {
    const { truth } = this.#scene.exchange
    const ordersBefore = truth.orders.size
    const run = this.#scene.start()
    const has = (event: string) => run.events(event).length > 0
    await run.until('clean, released or running', () =>
      ['kill.clean', 'kill.released', 'daemon.running'].some(has),
    )
    if (has('kill.clean') && !has('kill.released')) {
      if (truth.orders.size > ordersBefore)
        throw new Error('an order came while the switch was thrown')
      assertNothingSent(run.log, 'recovery.started')
      this.#scene.releaseSwitch()
      await run.untilEvent('kill.released')
    }
    await run.untilEvent('order.accepted')
    const { code } = await run.stop()
    if (code !== 0) throw new Error(`the released run ended with ${code}${tail(run)}`)
  }
}

/** @throws when an order left after that event. */
function assertNothingSent(log: readonly LogLine[], since: string): void {
  const from = log.findIndex(({ event }) => event === since)
  const sent = log.slice(from).find(({ event }) => event === 'order.sent')
  if (from >= 0 && sent) throw new Error(`sent after ${since}: ${JSON.stringify(sent)}`)
}

function tail(run: IntentdProcess): string {
  return `\n${[...run.stdout, ...run.stderr].slice(-10).join('\n')}`
}
