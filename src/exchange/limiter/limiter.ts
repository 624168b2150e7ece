import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import { beyondNames, isPublicBeyond } from '../../protocol/beyond/beyond-endpoints.ts'
import { type CallableName, endpointNamed, endpointNames } from '../../protocol/endpoints.ts'
import { ArrivalBounds } from './arrival-bounds.ts'
import {
  BottleneckPool,
  CallWindow,
  type CallWindowOptions,
  type TokenPool,
  type TokenPoolOptions,
} from './call-window.ts'
import { EndpointQueue, type EndpointStatistics } from './endpoint-queue.ts'
import {
  type Grant,
  type GrantSource,
  PRIORITIES,
  type CallPriority,
  type WaitingRequest,
} from './grant.ts'
import { OverallLimit } from './overall-limit.ts'
import type { SharedLimits } from './shared/shared-limits.ts'

export type AccountTier = 'ordinary' | 'copyTrader'

export interface LimiterOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** The first limiter of the address, which keeps what counts per address. */
  readonly address?: Limiter | undefined
  readonly tier?: AccountTier
  readonly beyondDocument?: boolean
  readonly beyondDocumentPrivate?: boolean
  /** Share of each documented limit, at least one call a window. Default 1. */
  readonly use?: number
  /** Monotonic ms: a previous process may have made calls until then. */
  readonly previousRunEndedAt?: number | undefined
  readonly shared?: SharedLimits | undefined
  readonly createPool?: (options: TokenPoolOptions) => TokenPool
  readonly onCoolDown?: (restMs: number) => void
}

interface AddressParts {
  readonly overall: OverallLimit
  /** The gateway may have its own clock. */
  readonly bounds: Readonly<Record<'api' | 'gateway', ArrivalBounds>>
  readonly queues: Map<CallableName, EndpointQueue>
  readonly served: Set<EndpointQueue>
}

/** Source: the exchange's limit of 6000 calls a minute and address, beyond the specification. */
export const OVERALL_CALLS = 6000
export const OVERALL_PER_MS = 60_000
const OVERALL_STOCK = 128
/**
 * The previous run may have used this part of the first minute's calls; 50 calls a second remain.
 */
const OVERALL_SPENT_BEFORE = 1 / 2

/** A window lasts a second; the rest is for the last call in flight. */
const PREVIOUS_RUN_MS = 1200

/** These keep a call for what reduces risk. Cancel-all has only one in a window. */
const KEEPING: ReadonlySet<CallableName> = new Set(['batchPlaceOrder', 'isolatedBatchCancelOrders'])

/**
 * Grants calls so that no window has more than the document allows, however the exchange counts
 * (LIM1; docs/limits.md, "How it works"). Limiters of one `address`, one an account, share what
 * counts per address and the bounds of the exchange's clock; other daemons share through `shared`.
 */
export class Limiter implements GrantSource {
  readonly #options: LimiterOptions
  readonly #address: AddressParts
  readonly #queues: ReadonlyMap<CallableName, EndpointQueue>
  readonly #own: readonly EndpointQueue[]

  constructor(options: LimiterOptions) {
    const { address, previousRunEndedAt = Number.NEGATIVE_INFINITY } = options
    const opensAt = previousRunEndedAt + PREVIOUS_RUN_MS
    this.#options = options
    this.#address = address ? address.#address : this.#openAddress(opensAt)
    const { queues, served } = this.#address
    const names = listCallable(options)
    this.#queues = new Map(
      names.map((endpoint) => [
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

  request(
    endpoint: CallableName,
    priority: CallPriority,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest | undefined {
    return this.queueOf(endpoint).request(priority, onGranted)
  }

  queueOf(endpoint: CallableName): EndpointQueue {
    const queue = this.#queues.get(endpoint)
    if (queue === undefined) throw new Error(`no such endpoint: ${endpoint}`)
    return queue
  }

  statistics(): readonly EndpointStatistics[] {
    const now = this.#options.clock.monotonic()
    return [...this.#queues.values()].map((queue) => queue.statistics(now))
  }

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
    // A shared limit keeps the previous run's calls in its share.
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

  #createQueue(endpoint: CallableName, opensAt: number): EndpointQueue {
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

function listCallable({
  beyondDocument = false,
  beyondDocumentPrivate = false,
}: LimiterOptions): readonly CallableName[] {
  const beyond = beyondNames.filter((name) =>
    isPublicBeyond(name) ? beyondDocument : beyondDocumentPrivate,
  )
  return [...endpointNames, ...beyond]
}
