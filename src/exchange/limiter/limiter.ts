import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'
import { type EndpointName, endpointNamed, endpointNames } from '../../protocol/endpoints.ts'
import { ArrivalBounds } from './arrival-bounds.ts'
import { CallWindow, type CallWindowOptions } from './call-window.ts'
import { EndpointQueue } from './endpoint-queue.ts'
import { type Grant, type GrantSource, PRIORITIES, type Priority, type WaitingRequest } from './grant.ts'
import { type EndpointStatistics } from './limiter-statistics.ts'
import { OverallLimit } from './overall-limit.ts'
import type { SharedLimits } from './shared/shared-limits.ts'
import { BottleneckPool, type TokenPool, type TokenPoolOptions } from './token-pool.ts'

/** Who trades: copy-trading traders have lower limits where the document says so. */
export type AccountTier = 'ordinary' | 'copyTrader'

export interface LimiterOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** Of the same address, for another account or for none: what counts per address is counted there. */
  readonly address?: Limiter | undefined
  /** Default `ordinary`. */
  readonly tier?: AccountTier
  /** Share of each documented limit that we allow ourselves, 0 to 1; at least one call a window. Default 1. */
  readonly use?: number
  /** Monotonic ms: a process before this one may have called until then. Absent: there was none. */
  readonly previousRunEndedAt?: number | undefined
  /** With other daemons of the address; of the first limiter of an address alone. It is stopped with it. */
  readonly shared?: SharedLimits | undefined
  /** Where tokens are counted. Default: Bottleneck. */
  readonly createPool?: (options: TokenPoolOptions) => TokenPool
  /** All reads rest for so many ms: the exchange refuses the whole address. */
  readonly onCoolDown?: (restMs: number) => void
}

/** What all limiters of one address have in common. */
interface AddressParts {
  readonly overall: OverallLimit
  /** The gateway of scheme B may have a clock of its own. */
  readonly bounds: Readonly<Record<'api' | 'gateway', ArrivalBounds>>
  /** Of the endpoints that are counted per address. */
  readonly queues: Map<EndpointName, EndpointQueue>
  /** Of all of them: whom the limit over all endpoints serves. */
  readonly served: Set<EndpointQueue>
}

/** Beyond the specification: 6000 calls a minute and address, all endpoints together. */
const OVERALL_CALLS = 6000
const OVERALL_PER_MS = 60_000
/** In stock ahead of need; more than are taken in the few ms that it takes to fetch one. */
const OVERALL_STOCK = 16
/**
 * What the first minute after a restart goes without. It respects a run before this one that made fewer calls
 * than these in its last minute: 50 a second, far beyond what a daemon polls.
 */
const OVERALL_SPENT_BEFORE = 1 / 2

/** Until its calls are out of every endpoint's window: a second, and the last may have been on its way still. */
const PREVIOUS_RUN_MS = 1200

/** The endpoints that keep a call for what reduces risk. Of cancel-all there is but one a window. */
const KEEPING: ReadonlySet<EndpointName> = new Set(['batchPlaceOrder', 'isolatedBatchCancelOrders'])

/**
 * Hands out grants, one a call, so that no window of the exchange sees more calls than the document allows,
 * however the exchange counts (fixed, sliding, bucket).
 *
 * An endpoint has as many tokens as calls a window. A token pays for one call and comes back a window and a
 * small margin after the exchange took that call: at `requestTime` of its answer, by our clock
 * ({@link ArrivalBounds}); where there is none, a window after the answer. So any window sees at most that many calls. Tokens are fetched ahead of need: a call
 * that is decided now leaves now.
 *
 * Limits count per UID or per address. A limiter is for one account; those of several accounts share the one of
 * their `address`: its queues of what counts per address, its limit over all endpoints, and what it knows of the
 * exchange's clock. Other daemons there share them (`shared`) or, as whatever else calls from there, are left room
 * by `use`.
 */
export class Limiter implements GrantSource {
  readonly #options: LimiterOptions
  readonly #address: AddressParts
  readonly #queues: ReadonlyMap<EndpointName, EndpointQueue>
  /** Those that no other limiter had before. */
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
   * Asks for one call. When a grant is ready and nobody as urgent waits, `onGranted` is called before this
   * returns; else the request waits: lower numbers first, then first come, first served.
   * Undefined when too many wait already: then `onGranted` is never called.
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
    // Where it is shared, what a run before this one made is held by that one, or half of an even share is left to it.
    const hasSpent = previousRunEndedAt !== undefined && this.#options.shared === undefined
    const spentBefore = hasSpent ? OVERALL_SPENT_BEFORE : 0
    const shareOf = this.#options.shared?.add({
      ...{ name: 'all endpoints', calls, perMs: OVERALL_PER_MS },
      readUse: () => ({ inside: overall.inside, waiting: this.#countWaiting() }),
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
    const calls = this.#allowed(tier === 'copyTrader' ? (limit.copyTraderCalls ?? limit.calls) : limit.calls)
    const shareOf =
      limit.scope === 'ip'
        ? this.#options.shared?.add({
            ...{ name: endpoint, calls, perMs: limit.perMs },
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
      // All of them ahead of need: one process, so nobody else could use a token that lies in stock.
      createWindow: (onFree) => this.#createWindow({ calls, shareOf, stockMin: calls, onFree }),
    })
    return queue
  }

  #createWindow(limit: Pick<CallWindowOptions, 'calls' | 'shareOf' | 'stockMin' | 'onFree'>): CallWindow {
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
   * All endpoints together have a call more: whoever is most urgent, of whichever account, goes first, and who got one
   * is the last to be asked again.
   */
  #serveAll(): void {
    const { served } = this.#address
    for (const priority of PRIORITIES) {
      for (const queue of [...served]) {
        if (!queue.serve(priority)) continue
        served.delete(queue)
        served.add(queue)
      }
    }
  }
}
