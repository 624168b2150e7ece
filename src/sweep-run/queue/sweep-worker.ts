import { hostname } from 'node:os'
import { loadSweepPassword } from '../../config/secrets.ts'
import { FleetMember } from '../../journal/postgres/fleet-member.ts'
import { messageOf } from '../../lib/failure.ts'
import { systemTimers, type Timers } from '../../lib/timers.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import type { TrialAnswer, TrialOrder } from '../play-trial.ts'
import { TrialPool } from '../trial-pool.ts'
import { QueueOutage, pause } from './outage.ts'
import { type TakenTrial, TrialQueue, TRY_ALONE } from './trial-queue.ts'
import { writeAside } from '../../lib/write-out.ts'

const IDLE_MS = 500
/** Well below pg-boss's ten seconds for a lost worker. */
const BEAT_MS = 2500
/** `fleet status` takes a worker for gone after 30 s. */
const SHOW_MS = 10_000

export type QueueOfWorker = Pick<TrialQueue, 'take' | 'beat' | 'settle' | 'giveBack' | 'close'>

export interface WorkerOptions {
  readonly queue: string
  /** So many trials run at a time. */
  readonly threads: number
}

/** Computes trials of any sweep, until a signal. */
export async function runWorker(
  { queue: url, threads }: WorkerOptions,
  version: string,
): Promise<void> {
  const say = (text: string): void => writeAside(`${text}\n`)
  const holder = `${hostname()}:${process.pid}`
  const id = `worker ${holder}`
  const queue = await TrialQueue.open(url, loadSweepPassword({ cwd: process.cwd() }), 'worker')
  const stop = new AbortController()
  const forget = onStopSignals(() => stop.abort())
  const pool = new TrialPool()
  const member = new FleetMember({
    connection: queue,
    id,
    kind: 'worker',
    holder,
    schema: '',
  })
  try {
    say(`worker ${holder}: ${threads === 1 ? '1 trial' : `${threads} trials`} at a time`)
    const worker = new SweepWorker({
      queue,
      threads,
      version,
      say,
      compute: (order, limitMs, aborted) => pool.run(order, limitMs, aborted),
      timers: systemTimers,
      show: (state) => member.show(state),
    })
    await worker.run(stop.signal)
    say(`ended; ${worker.done === 1 ? '1 trial was' : `${worker.done} trials were`} computed`)
  } finally {
    forget()
    await pool.close()
    await member.leave().catch(() => undefined)
    await queue.close()
  }
}

/** `fleet status` shows this. */
export interface WorkerState {
  readonly [part: string]: string | number
}

interface SweepWorkerOptions {
  readonly queue: QueueOfWorker
  readonly threads: number
  readonly version: string
  readonly say: (text: string) => void
  readonly timers: Timers
  readonly show: (state: WorkerState) => Promise<void>
  readonly compute: (
    order: TrialOrder,
    limitMs: number,
    stop: AbortSignal,
  ) => Promise<TrialAnswer | undefined>
}

/** Trials run in threads, so that the process can always send heartbeats. */
export class SweepWorker {
  readonly #options: SweepWorkerOptions
  readonly #outage: QueueOutage
  readonly #running = new Map<TakenTrial, AbortController>()
  readonly #refused = new Set<string>()
  readonly #greeted = new Set<string>()
  #freed = new AbortController()
  #isShown = true
  done = 0

  constructor(options: SweepWorkerOptions) {
    this.#options = options
    this.#outage = new QueueOutage(options.say, options.timers)
  }

  async run(stop: AbortSignal): Promise<void> {
    const endAll = (): void => {
      for (const end of this.#running.values()) end.abort()
    }
    stop.addEventListener('abort', endAll)
    const tasks = new Set<Promise<void>>()
    const care = [
      this.#repeat(BEAT_MS, stop, () => this.#beat()),
      this.#repeat(SHOW_MS, stop, () => this.#show()),
    ]
    while (!stop.aborted) {
      this.#freed = new AbortController()
      const taken = await this.#takeNext(stop)
      if (taken === undefined) {
        await pause(this.#options.timers, IDLE_MS, stop, this.#freed.signal)
        continue
      }
      const task = this.#work(taken, stop).finally(() => {
        tasks.delete(task)
        this.#freed.abort()
      })
      tasks.add(task)
      // A trial that lost its workers may kill this one too, so it runs alone.
      if (isSuspect(taken)) await task
    }
    await Promise.all([...tasks, ...care])
    stop.removeEventListener('abort', endAll)
  }

  async #takeNext(stop: AbortSignal): Promise<TakenTrial | undefined> {
    const { queue, threads } = this.#options
    if (this.#running.size >= threads) return undefined
    return await this.#outage.persist(stop, () => queue.take([...this.#refused]))
  }

  async #work(taken: TakenTrial, stop: AbortSignal): Promise<void> {
    const end = new AbortController()
    const others = [...this.#running.keys()]
    this.#running.set(taken, end)
    if (stop.aborted) end.abort()
    try {
      if (isSuspect(taken)) await this.#waitFor(others, end.signal)
      const answer = end.signal.aborted ? undefined : await this.#compute(taken, end.signal)
      if (answer !== undefined && !('refused' in answer)) {
        await this.#settle(taken, answer, end.signal)
        return
      }
      if (answer !== undefined) this.#refuse(taken, answer.refused)
      await this.#giveBack(taken)
    } finally {
      this.#running.delete(taken)
    }
  }

  async #waitFor(others: readonly TakenTrial[], stop: AbortSignal): Promise<void> {
    while (!stop.aborted && others.some((one) => this.#running.has(one)))
      await pause(this.#options.timers, IDLE_MS, stop)
  }

  #compute({ queue, request }: TakenTrial, stop: AbortSignal): Promise<TrialAnswer | undefined> {
    if ('unreadable' in request) return Promise.resolve({ refused: request.unreadable })
    const { version, say, compute } = this.#options
    const { name, config, options, periodMs, limitMs, recipe, param } = request
    if (!this.#greeted.has(queue) && !this.#refused.has(queue))
      say(`${name} (${queue}): takes its trials`)
    this.#greeted.add(queue)
    return compute({ config, options, version, periodMs, sweep: { recipe, param } }, limitMs, stop)
  }

  /** Retries until the server accepts it. */
  async #settle(
    taken: TakenTrial,
    outcome: Exclude<TrialAnswer, { refused: string }>,
    stop: AbortSignal,
  ) {
    const isSettled = await this.#outage.persist(stop, async () => {
      await this.#options.queue.settle(taken, outcome)
      return true
    })
    if (isSettled === true) this.done += 1
    else await this.#giveBack(taken)
  }

  #refuse({ queue, request }: TakenTrial, why: string): void {
    if (this.#refused.has(queue)) return
    this.#refused.add(queue)
    const name = 'name' in request ? `${request.name} (${queue})` : queue
    this.#options.say(
      `${name}: its trials are left to others, until this worker is started again: ${why}`,
    )
  }

  /** If this fails, the end of the heartbeats tells the same. */
  async #giveBack(taken: TakenTrial): Promise<void> {
    await this.#options.queue.giveBack(taken).catch(() => undefined)
  }

  async #beat(): Promise<void> {
    for (const lost of await this.#options.queue.beat([...this.#running.keys()]))
      this.#running.get(lost)?.abort()
  }

  /** Failures are reported once; nothing waits. */
  async #show(): Promise<void> {
    const names = [...this.#running.keys()].map(({ request }) =>
      'name' in request ? request.name : '?',
    )
    const sweep = [...new Set(names)].join(', ')
    const computes = `${names.length} of ${this.#options.threads}`
    try {
      await this.#options.show({ ...(sweep !== '' && { sweep }), computes, computed: this.done })
      this.#isShown = true
    } catch (error) {
      if (this.#isShown)
        this.#options.say(`fleet status does not show this worker: ${messageOf(error)}`)
      this.#isShown = false
    }
  }

  /** Retried at the next interval; taking trials reports the outage. */
  async #repeat(everyMs: number, stop: AbortSignal, work: () => Promise<void>): Promise<void> {
    for (;;) {
      await pause(this.#options.timers, everyMs, stop)
      if (stop.aborted) return
      await work().catch(() => undefined)
    }
  }
}

const isSuspect = ({ retryCount }: TakenTrial): boolean => retryCount >= TRY_ALONE
