import { loadSweepPassword } from '../../config/secrets.ts'
import { systemClock } from '../../lib/clock.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { systemTimers, type Timers } from '../../lib/timers.ts'
import { nameTrial, type Trial, type TrialOutcome } from '../../sweep/trial.ts'
import type { TrialRound, TrialRunner } from '../trial-pool.ts'
import { QueueOutage, pause } from './outage.ts'
import {
  nameQueue,
  type QueuedState,
  TrialQueue,
  type TrialRequest,
  TRIES_MAX,
} from './trial-queue.ts'
import { writeAside } from '../../lib/write-out.ts'

/** Each look at the queue asks for all of these trials. */
const QUEUED_MAX = 2000
const LOOK_MS = 250
const COUNT_MS = 1000
/** After this silence the number of workers is printed. */
const SILENCE_MS = 30_000

export interface QueuedSweep {
  readonly name: string
  readonly recipe: string
  readonly periodMs: number
  /** `--param` of the sweep. */
  readonly param: readonly string[]
  readonly limitMs: number
}

export type QueueOfSweep = Pick<
  TrialQueue,
  'openQueue' | 'dropOldQueues' | 'put' | 'look' | 'remove' | 'withdraw' | 'countWorkers' | 'close'
>

/** Workers anywhere compute a server's queue. */
export async function openQueuedTrials(url: string, sweep: QueuedSweep): Promise<TrialRunner> {
  const queue = await TrialQueue.open(url, loadSweepPassword({ cwd: process.cwd() }), 'sweep')
  const say = (text: string): void => writeAside(`${text}\n`)
  return new QueuedTrials(queue, sweep, { say, timers: systemTimers })
}

/** Looks for the sweep's trials in the queue and adds missing ones, so a killed sweep continues. */
export class QueuedTrials implements TrialRunner {
  readonly #queue: QueueOfSweep
  readonly #sweep: QueuedSweep
  readonly #say: (text: string) => void
  readonly #timers: Timers
  readonly #outage: QueueOutage
  readonly #name: string
  #workers = 0
  #countedAt = Number.NEGATIVE_INFINITY
  #heardAt = systemClock.monotonic()

  constructor(
    queue: QueueOfSweep,
    sweep: QueuedSweep,
    { say, timers }: { readonly say: (text: string) => void; readonly timers: Timers },
  ) {
    this.#queue = queue
    this.#sweep = sweep
    this.#say = say
    this.#timers = timers
    this.#outage = new QueueOutage(say, timers)
    this.#name = nameQueue(sha256Hex([sweep.recipe, String(sweep.periodMs)]))
  }

  describe(): string {
    return this.#workers === 1 ? ', 1 worker' : `, ${this.#workers} workers`
  }

  close(): Promise<void> {
    return this.#queue.close()
  }

  async run(round: TrialRound): Promise<void> {
    const { trials, hear, stop } = round
    const left = new Map(trials.map((trial) => [this.#idOf(trial), trial]))
    const asked = new Map<string, Trial>()
    await this.#outage.persist(stop, async () => {
      await this.#queue.dropOldQueues()
      await this.#queue.openQueue(this.#name)
    })
    while (!stop.aborted && left.size > 0) {
      const states = await this.#outage.persist(stop, async () => {
        const fresh = [...left].filter(([id]) => !asked.has(id)).slice(0, QUEUED_MAX - asked.size)
        await this.#forgetFailed(fresh.map(([id]) => id))
        for (const [id, trial] of fresh) asked.set(id, trial)
        return await this.#lookAndPut(round, asked)
      })
      for (const [id, state] of states ?? []) {
        const trial = asked.get(id)
        const outcome = outcomeOf(state)
        if (trial === undefined || outcome === undefined) continue
        this.#heardAt = systemClock.monotonic()
        for (const open of [left, asked]) open.delete(id)
        hear(trial, outcome)
      }
      if (left.size === 0) return
      await this.#count(stop, left.size)
      await pause(this.#timers, LOOK_MS, stop)
    }
    if (asked.size > 0) await this.#withdraw()
  }

  /** Trials that timed out or were lost in an earlier run are tried again. */
  async #forgetFailed(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const states = await this.#queue.look(this.#name, ids)
    const failed = [...states].flatMap(([id, state]) => {
      const outcome = outcomeOf(state)
      return outcome !== undefined && 'failed' in outcome && outcome.isTimeOut === true ? [id] : []
    })
    if (failed.length > 0) await this.#queue.remove(this.#name, failed)
  }

  async #lookAndPut(round: TrialRound, asked: ReadonlyMap<string, Trial>) {
    const states = await this.#queue.look(this.#name, [...asked.keys()])
    const missing = [...asked].filter(([id]) => !states.has(id))
    await this.#queue.put(
      this.#name,
      new Map(missing.map(([id, trial]) => [id, this.#requestOf(round, trial)] as const)),
    )
    return states
  }

  async #count(stop: AbortSignal, left: number): Promise<void> {
    const now = systemClock.monotonic()
    if (now - this.#countedAt < COUNT_MS) return
    this.#countedAt = now
    const workers = await this.#outage.persist(stop, () => this.#queue.countWorkers())
    this.#workers = workers ?? this.#workers
    if (now - this.#heardAt < SILENCE_MS) return
    this.#heardAt = now
    this.#say(
      this.#workers === 0
        ? `${left} trials wait, and no worker is connected: intentd sweep worker --queue …`
        : `${left} trials wait${this.describe()} connected; one that refuses them says why`,
    )
  }

  /**
   * A sweep that waits for the same trials queues them again. Active ones stay for the next run.
   */
  async #withdraw(): Promise<void> {
    try {
      await this.#queue.withdraw(this.#name)
    } catch {
      this.#say(
        'the queue does not answer: workers compute what is left in it, and the same command collects it',
      )
    }
  }

  #requestOf({ orderOf }: TrialRound, trial: Trial): TrialRequest {
    const { config, options, periodMs } = orderOf(trial)
    const { name, recipe, param, limitMs } = this.#sweep
    const { market, feed, set, model, ...rest } = options
    const given = Object.fromEntries(
      Object.entries(rest).filter(([, value]) => value !== undefined),
    )
    return {
      format: 1,
      name,
      recipe,
      periodMs,
      limitMs,
      param: [...param],
      ...(config === undefined ? {} : { config }),
      options: {
        ...given,
        ...(model === undefined || model === 'all' ? {} : { model }),
        ...(feed && { feed: [...feed] }),
        market: [...market],
        set: [...set],
        param: [...options.param],
      },
    }
  }

  #idOf(trial: Trial): string {
    const hash = sha256Hex([this.#name, nameTrial(this.#sweep.recipe, trial).id])
    return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
  }
}

function outcomeOf(state: QueuedState): TrialOutcome | undefined {
  if (state === 'waiting') return undefined
  if (state !== 'lost') return state.outcome
  // A lost trial counts as timed out, so that the next run tries it again.
  return { failed: `its worker was lost while it ran, ${TRIES_MAX} times`, isTimeOut: true }
}
