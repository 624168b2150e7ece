import type { Redis } from 'ioredis'
import { DirectPool } from '../../../src/backtest/backtest.ts'
import { Limiter } from '../../../src/exchange/limiter/limiter.ts'
import type { ShareStore } from '../../../src/exchange/limiter/shared/redis-store.ts'
import {
  SHARE_SCRIPT,
  type ShareAnswer,
} from '../../../src/exchange/limiter/shared/share-script.ts'
import { SharedLimits } from '../../../src/exchange/limiter/shared/shared-limits.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { Random } from '../../../src/lib/random.ts'
import type { EndpointName } from '../../../src/protocol/endpoints.ts'
import { HandTime } from '../limiter-fixture.ts'

const LATE_MS = 2000
const STEP_MS = 5
const EPOCH = 1_700_000_000_000

/** Questions reach the server one after the other, and time stands still meanwhile. */
type Question = () => Promise<void>

/**
 * Daemons on one address, in time that is moved by hand. The real script carries out their reports
 * on a real server, whose time is moved too. `time` is the exchange's clock.
 */
export class SharedWorld {
  readonly time = new HandTime(EPOCH)
  readonly random: Random
  /** When the exchange took the calls, of all daemons. */
  readonly arrivals: number[] = []
  /** Each daemon calls these as often as it may. */
  readonly endpoints: readonly EndpointName[]
  readonly daemons: SharedDaemon[] = []
  readonly redis: Redis
  readonly key: string
  isServerUp = true
  /** Until then the server is paused and carries nothing out. */
  pausedUntil = 0
  run = 1
  readonly members: number
  #questions: Question[] = []

  constructor(options: {
    random: Random
    redis: Redis
    key: string
    members: number
    endpoints?: readonly EndpointName[] | undefined
  }) {
    this.endpoints = options.endpoints ?? ['tickers']
    this.random = options.random
    this.redis = options.redis
    this.key = options.key
    this.members = options.members
  }

  /** @param isAgain an earlier run may have called just now */
  start(rate = 1, isAgain = false): SharedDaemon {
    const daemon = new SharedDaemon(this, { rate, isAgain })
    this.daemons.push(daemon)
    return daemon
  }

  ask(question: Question): void {
    this.#questions.push(question)
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.time.advance(STEP_MS)
      while (this.#questions.length > 0) {
        const questions = this.#questions
        this.#questions = []
        for (const question of questions) await question()
      }
      await Promise.resolve()
    }
  }

  /** Most calls in any window. */
  most(perMs = 1000): number {
    let first = 0
    let most = 0
    const sorted = this.arrivals.toSorted((one, other) => one - other)
    for (const [place, at] of sorted.entries()) {
      while ((sorted[first] ?? at) <= at - perMs) first++
      most = Math.max(most, place - first + 1)
    }
    return most
  }

  countSince(at: number): number {
    return this.arrivals.filter((arrival) => arrival > at).length
  }
}

export class SharedDaemon implements ShareStore {
  readonly limiter: Limiter
  readonly shared: SharedLimits
  readonly said: string[] = []
  /** It makes no call of these limits on its own. */
  without: readonly string[] = []
  isReached = true
  wants = true
  made = 0
  readonly #world: SharedWorld
  #isStopped = false
  readonly #waiting = new Map<EndpointName, number>()

  constructor(
    world: SharedWorld,
    { rate, isAgain }: { readonly rate: number; readonly isAgain: boolean },
  ) {
    this.#world = world
    const { time } = world
    const offset = 1000 * world.random.next()
    const clock: Clock = {
      now: () => Math.floor(EPOCH + offset + rate * time.monotonic()),
      monotonic: () => rate * time.monotonic(),
    }
    const timers = {
      after: (ms: number, run: () => void) => time.after(ms / rate, () => this.#awake(run)),
    }
    this.shared = new SharedLimits({
      store: this,
      id: `d${world.daemons.length}`,
      members: world.members,
      lateMs: LATE_MS,
      clock,
      timers,
      onLost: (reason, without) => {
        this.said.push(reason)
        this.without = without
      },
      onRefused: (reason) => this.said.push(`refused: ${reason}`),
      onJoined: () => this.said.push('joined'),
    })
    this.limiter = new Limiter({
      clock,
      timers,
      shared: this.shared,
      previousRunEndedAt: isAgain ? clock.monotonic() : undefined,
      createPool: (pool) => new DirectPool(pool),
    })
    time.after(0, () => this.work())
  }

  #asleep: (() => void)[] | undefined

  #awake(run: () => void): void {
    if (this.#asleep) this.#asleep.push(run)
    else run()
  }

  /** Acts as SIGSTOP. */
  sleep(): void {
    this.#asleep ??= []
  }

  wake(): void {
    const due = this.#asleep ?? []
    this.#asleep = undefined
    for (const run of due) run()
  }

  /** Acts as SIGKILL. */
  kill(): void {
    this.#isStopped = true
    this.sleep()
  }

  /** Ends in good order, and resolves while time passes. */
  async stop(): Promise<void> {
    this.wants = false
    await this.limiter.stop()
  }

  /** Asks for as many tickers as it gets, unless `wants` is false. */
  work(): void {
    const { time } = this.#world
    if (this.#isStopped) return
    if (this.wants && this.#asleep === undefined)
      for (const endpoint of this.#world.endpoints)
        while ((this.#waiting.get(endpoint) ?? 0) < 3) this.#call(endpoint)
    time.after(20, () => this.work())
  }

  #call(endpoint: EndpointName): void {
    const { time, random, arrivals } = this.#world
    const wait = (more: number): void =>
      void this.#waiting.set(endpoint, (this.#waiting.get(endpoint) ?? 0) + more)
    wait(1)
    this.limiter.request(endpoint, 2, (grant) => {
      wait(-1)
      if (this.#isStopped) return
      this.made++
      const sentAt = time.monotonic()
      const isLate = random.integer(50) === 0
      const isLost = random.integer(50) === 0
      time.after(1 + (isLate ? 1800 : 30) * random.next(), () => {
        const requestTime = time.now()
        arrivals.push(time.monotonic())
        const backMs = isLost
          ? Math.max(1, LATE_MS - (time.monotonic() - sentAt))
          : 1 + 30 * random.next()
        time.after(backMs, () =>
          this.#awake(() =>
            grant.release(isLost ? {} : { requestTime, roundTripMs: time.monotonic() - sentAt }),
          ),
        )
      })
    })
  }

  readTime(): Promise<number> {
    return this.#carry(() => Promise.resolve(this.#world.time.now()))
  }

  report(report: unknown): Promise<ShareAnswer> {
    return this.#carry(async () => {
      const { redis, key, time, run } = this.#world
      const args = [JSON.stringify(report), String(time.now()), `run${run}`]
      return JSON.parse(String(await redis.eval(SHARE_SCRIPT, 1, key, ...args))) as ShareAnswer
    })
  }

  close(): void {
    this.#isStopped = true
  }

  /** A question goes there, is carried out, and its answer comes back; or none comes in a second. */
  #carry<T>(ask: () => Promise<T>): Promise<T> {
    const { time, random } = this.#world
    const wayMs = () => 1 + (random.integer(20) === 0 ? 900 : 20) * random.next()
    return new Promise((resolve, reject) => {
      time.after(1000, () => this.#awake(() => reject(new Error('no answer'))))
      const carryOut = () => {
        if (time.monotonic() < this.#world.pausedUntil) return void time.after(100, carryOut)
        this.#world.ask(async () => {
          if (!this.isReached || !this.#world.isServerUp) return
          const answer = await ask()
          time.after(wayMs(), () => this.#awake(() => resolve(answer)))
        })
      }
      time.after(wayMs(), carryOut)
    })
  }
}
