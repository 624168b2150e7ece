import { type Clock } from '../lib/clock.ts'
import { type Timers } from '../lib/timers.ts'
import { type EndpointName, endpointNamed, endpointNames } from '../protocol/endpoints.ts'
import { type ClockOffset } from './clock-offset.ts'
import { DueQueue } from './due-queue.ts'
import { EndpointLane } from './endpoint-lane.ts'
import { type Grant, type GrantSource, MARGIN_MS, PRIORITIES, type Priority, type Waiting } from './grant.ts'
import { type EndpointStatistics } from './limiter-statistics.ts'
import { BottleneckPool, type TokenPool, type TokenPoolOptions } from './token-pool.ts'

export interface LimiterOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly offset: ClockOffset
  /** Copy-trading traders have lower limits where the document says so. Default `normal`. */
  readonly tier?: 'normal' | 'copyTrader'
  /** Share of each documented limit that we allow ourselves, 0 to 1; at least one call a window. Default 1. */
  readonly use?: number
  /** Requests that may wait, an endpoint. Default 256. */
  readonly waitingMax?: number
  /** Where tokens are counted. Default: Bottleneck. */
  readonly createPool?: (options: TokenPoolOptions) => TokenPool
}

/** Beyond the specification: 6000 calls a minute and address, all endpoints together. */
const OVERALL_CALLS = 6000
const OVERALL_PER_MS = 60_000
/** In stock ahead of need; more than are taken in the few ms that it takes to fetch one. */
const OVERALL_STOCK = 16

const WAITING_MAX = 256

/**
 * Hands out grants, one a call, so that no window of the exchange sees more calls than the document allows,
 * however the exchange counts (fixed, sliding, bucket).
 *
 * An endpoint has as many tokens as calls a window. A token pays for one call and comes back one window (and
 * a margin) after the moment at which the exchange took that call, by the exchange's own time. So any window
 * sees at most that many calls, and next to none of the limit is lost. Tokens are fetched ahead of need:
 * a call that is decided now leaves now.
 */
export class Limiter implements GrantSource {
  readonly #lanes: ReadonlyMap<EndpointName, EndpointLane>
  readonly #overall: TokenPool
  readonly #overallDue: DueQueue
  readonly #clock: Clock

  constructor(options: LimiterOptions) {
    const { clock, timers, use = 1, waitingMax = WAITING_MAX } = options
    const createPool = options.createPool ?? ((pool: TokenPoolOptions) => new BottleneckPool(pool))
    this.#clock = clock
    const allowed = (calls: number) => Math.max(1, Math.floor(calls * use))
    this.#overall = createPool({
      tokens: allowed(OVERALL_CALLS),
      stockMin: OVERALL_STOCK,
      onStock: () => this.#serveAll(),
    })
    this.#overallDue = new DueQueue({ clock, timers, onDue: (count) => this.#overall.giveBack(count) })
    const overall = {
      pool: this.#overall,
      payBack: () => this.#overallDue.add(OVERALL_PER_MS + MARGIN_MS),
    }
    this.#lanes = new Map(
      endpointNames.map((endpoint) => {
        const { limit } = endpointNamed(endpoint)
        const documented =
          options.tier === 'copyTrader' ? (limit.copyTraderCalls ?? limit.calls) : limit.calls
        const calls = allowed(documented)
        const lane = { endpoint, calls, perMs: limit.perMs, waitingMax, overall, createPool }
        return [endpoint, new EndpointLane({ ...lane, clock, timers, offset: options.offset })] as const
      }),
    )
  }

  /**
   * Asks for one call. When a grant is ready and nobody waits, `onGranted` is called before this returns;
   * else the request waits: lower numbers first, then first come, first served.
   * Undefined when too many wait already: then `onGranted` is never called.
   */
  request(
    endpoint: EndpointName,
    priority: Priority,
    onGranted: (grant: Grant) => void,
  ): Waiting | undefined {
    return this.#lane(endpoint).request(priority, onGranted)
  }

  /** How many calls could be granted at this instant without waiting. */
  ready(endpoint: EndpointName): number {
    return this.#lane(endpoint).ready
  }

  /** The exchange said 429: the endpoint rests for a full window and a back-off that grows with each time. */
  penalise(endpoint: EndpointName): void {
    this.#lane(endpoint).penalise()
  }

  /** For the closing summary, in the document's order. */
  statistics(): readonly EndpointStatistics[] {
    const now = this.#clock.monotonic()
    return [...this.#lanes.values()].map((lane) => lane.statistics(now))
  }

  /** Grants nothing any more, and leaves no timer. Requests that wait are dropped. */
  async stop(): Promise<void> {
    this.#overallDue.stop()
    await Promise.all([this.#overall.stop(), ...[...this.#lanes.values()].map((lane) => lane.stop())])
  }

  #lane(endpoint: EndpointName): EndpointLane {
    const lane = this.#lanes.get(endpoint)
    if (lane === undefined) throw new Error(`no such endpoint: ${endpoint}`)
    return lane
  }

  /** A token of the overall limit came in: whoever is most urgent, on whichever endpoint, goes first. */
  #serveAll(): void {
    for (const priority of PRIORITIES) for (const lane of this.#lanes.values()) lane.serve(priority)
  }
}
