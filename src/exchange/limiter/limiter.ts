import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import { type EndpointName, endpointNamed, endpointNames } from '../../protocol/endpoints.ts'
import {
  ArrivalBounds,
  BottleneckPool,
  CallWindow,
  type CallWindowOptions,
  type TokenPool,
  type TokenPoolOptions,
} from './call-window.ts'
import { EndpointQueue } from './endpoint-queue.ts'
import {
  type Grant,
  type GrantSource,
  PRIORITIES,
  type Priority,
  type WaitingRequest,
} from './grant.ts'
import type { EndpointStatistics } from './limiter-statistics.ts'
import { OverallLimit } from './overall-limit.ts'
import type { SharedLimits } from './shared/shared-limits.ts'

/** Who trades: copy-trading traders have lower limits where the document says so. */
export type AccountTier = 'ordinary' | 'copyTrader'

export interface LimiterOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** The first limiter of the same address, for another account or for none: what counts per address is counted there. */
  readonly address?: Limiter | undefined
  /** Default `ordinary`. */
  readonly tier?: AccountTier
  /** Share of each documented limit that we allow ourselves, 0 to 1; at least one call a window. Default 1. */
  readonly use?: number
  /** Monotonic ms: until when a process before this one may have made calls. Absent: there was none. */
  readonly previousRunEndedAt?: number | undefined
  /** The limits shared with other daemons of the address; only for the first limiter of an address, which stops them too. */
  readonly shared?: SharedLimits | undefined
  /** Where tokens are counted. Default: Bottleneck. */
  readonly createPool?: (options: TokenPoolOptions) => TokenPool
  /** Called when the exchange refuses the whole address: all reads rest for so many ms. */
  readonly onCoolDown?: (restMs: number) => void
}

/** What all limiters of one address have in common. */
interface AddressParts {
  readonly overall: OverallLimit
  /** The gateway of scheme B may have a clock of its own. */
  readonly bounds: Readonly<Record<'api' | 'gateway', ArrivalBounds>>
  /** Of the endpoints that are counted per address. */
  readonly queues: Map<EndpointName, EndpointQueue>
  /** All queues of the address: the limit over all endpoints serves them. */
  readonly served: Set<EndpointQueue>
}

/** Beyond the specification: 6000 calls a minute and address, all endpoints together. */
export const OVERALL_CALLS = 6000
export const OVERALL_PER_MS = 60_000
/** Tokens that are fetched ahead of need: more than are taken until others are fetched, also where turns take 200 ms. */
const OVERALL_STOCK = 128
/**
 * The share of the overall limit that a run leaves unused in its first minute, because the run before it may have used it
 * in its last: 50 calls a second, far more than a daemon polls.
 */
const OVERALL_SPENT_BEFORE = 1 / 2

/** How long the calls of a previous run count, in ms: a second, and some time for the last one that was on its way. */
const PREVIOUS_RUN_MS = 1200

/** The endpoints that keep a call for what reduces risk. Cancel-all has only one call in a window. */
const KEEPING: ReadonlySet<EndpointName> = new Set(['batchPlaceOrder', 'isolatedBatchCancelOrders'])

/**
 * Hands out grants, one a call, so that no window of the exchange sees more calls than the document allows,
 * however the exchange counts (fixed, sliding, bucket).
 *
 * An endpoint has as many tokens as it allows calls in a window. A token pays for one call. It comes back one window and a
 * small margin after the exchange took that call, which is at the answer's `requestTime` by our clock
 * ({@link ArrivalBounds}), or at the answer itself where it has no time. So no window sees more calls than that. Tokens
 * are fetched ahead of need, so that a call can leave at once.
 *
 * The exchange counts limits per UID or per address. A limiter is for one account. The limiters of one `address` share
 * the queues that count per address, the limit over all endpoints, and what is known of the exchange's clock. Other
 * daemons at the address share these too (`shared`); for whatever else calls from there, `use` leaves room.
 */
export class Limiter implements GrantSource {
  readonly #options: LimiterOptions
  readonly #address: AddressParts
  readonly #queues: ReadonlyMap<EndpointName, EndpointQueue>
  /** The queues that this limiter has created. */
  readonly #own: readonly EndpointQueue[]

  constructor(options: LimiterOptions) {
    const { address, previousRunEndedAt = Number.NEGATIVE_INFINITY } = options
    const opensAt = previousRunEndedAt + PREVIOUS_RUN_MS
    this.#options = options
    this.#address = address ? address.#address : this.#openAddress(opensAt)
    const { queues, served } = this.#address
    this.#queues = new Map(
      endpointNames.map((endpoint) => [
        endpoint,
        queues.get(endpoint) ?? this.#createQueue(endpoint, opensAt),
      ]),
    )
    this.#own = [...this.#queues.values()].filter((queue) => !served.has(queue))
    for (const queue of this.#own) served.add(queue)
    for (const [endpoint, queue] of this.#queues) {
      if (endpointNamed(endpoint).limit.scope === 'ip') queues.set(endpoint, queue)
    }
  }

  /**
   * Asks for one call. Where a grant is ready and no request of the same or a higher priority waits, `onGranted` is called
   * before this returns. Otherwise the request waits: the more urgent go first, and then the earlier.
   * Returns undefined where too many wait already: then `onGranted` is never called.
   */
  request(
    endpoint: EndpointName,
    priority: Priority,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest | undefined {
    const queue = this.#queues.get(endpoint)
    if (queue === undefined) throw new Error(`no such endpoint: ${endpoint}`)
    return queue.request(priority, onGranted)
  }

  /** For the closing summary, in the document's order. */
  statistics(): readonly EndpointStatistics[] {
    const now = this.#options.clock.monotonic()
    return [...this.#queues.values()].map((queue) => queue.statistics(now))
  }

  /**
   * Grants nothing any more, and leaves no timer. Requests that wait are dropped. What belongs to the address goes
   * on for the others there.
   */
  async stop(): Promise<void> {
    const { overall, served } = this.#address
    for (const queue of this.#own) served.delete(queue)
    await this.#options.shared?.stop()
    const parts = this.#options.address ? this.#own : [overall, ...this.#own]
    await Promise.all(parts.map((part) => part.stop()))
  }

  #openAddress(opensAt: number): AddressParts {
    return {
      overall: this.#createOverall(opensAt),
      bounds: { api: new ArrivalBounds(), gateway: new ArrivalBounds() },
      queues: new Map(),
      served: new Set(),
    }
  }

  #createOverall(opensAt: number): OverallLimit {
    const { clock, previousRunEndedAt, onCoolDown = () => undefined } = this.#options
    const calls = this.#allowed(OVERALL_CALLS)
    const stockMin = Math.min(calls, OVERALL_STOCK)
    // Where daemons share the limit, the calls of a run before this one are held by its own share.
    const hasSpent = previousRunEndedAt !== undefined && this.#options.shared === undefined
    const spentBefore = hasSpent ? OVERALL_SPENT_BEFORE : 0
    const shareOf = this.#options.shared?.add({
      name: 'all endpoints',
      calls,
      perMs: OVERALL_PER_MS,
      readUse: () => ({
        inside: overall.inside,
        waiting: this.#countWaiting(),
      }),
      onMore: () => this.#serveAll(),
    })
    const window = this.#createWindow({ calls, shareOf, stockMin, onFree: () => this.#serveAll() })
    const overall = new OverallLimit({
      calls,
      perMs: OVERALL_PER_MS,
      spentBefore,
      opensAt,
      clock,
      timers: this.#options.timers,
      window,
      onTurn: () => this.#serveAll(),
      onCoolDown,
    })
    return overall
  }

  #createQueue(endpoint: EndpointName, opensAt: number): EndpointQueue {
    const { clock, timers, tier } = this.#options
    const { overall, bounds } = this.#address
    const { limit, auth } = endpointNamed(endpoint)
    const calls = this.#allowed(
      tier === 'copyTrader' ? (limit.copyTraderCalls ?? limit.calls) : limit.calls,
    )
    const shareOf =
      limit.scope === 'ip'
        ? this.#options.shared?.add({
            name: endpoint,
            calls,
            perMs: limit.perMs,
            readUse: () => queue.readUse(),
            onMore: () => queue.serve(),
          })
        : undefined
    const queue: EndpointQueue = new EndpointQueue({
      endpoint,
      calls,
      perMs: limit.perMs,
      keepsLast: KEEPING.has(endpoint),
      opensAt,
      bounds: auth === 'schemeB' ? bounds.gateway : bounds.api,
      clock,
      timers,
      overall,
      // All tokens are fetched ahead of need: no other process could use them.
      createWindow: (onFree) => this.#createWindow({ calls, shareOf, stockMin: calls, onFree }),
    })
    return queue
  }

  #createWindow(
    limit: Pick<CallWindowOptions, 'calls' | 'shareOf' | 'stockMin' | 'onFree'>,
  ): CallWindow {
    const { clock, timers, createPool = (pool) => new BottleneckPool(pool) } = this.#options
    return new CallWindow({ ...limit, clock, timers, createPool })
  }

  #allowed(calls: number): number {
    return Math.max(1, Math.floor(calls * (this.#options.use ?? 1)))
  }

  #countWaiting(): number {
    let waiting = 0
    for (const queue of this.#address.served) waiting += queue.readUse().waiting
    return waiting
  }

  /**
   * The overall limit allows one more call. The most urgent request goes first, of whichever account; a queue that was
   * served goes to the end of the line.
   */
  #serveAll(): void {
    const { served } = this.#address
    for (const priority of PRIORITIES) {
      for (const queue of Array.from(served)) {
        if (!queue.serve(priority)) continue
        served.delete(queue)
        served.add(queue)
      }
    }
  }
}
