import { type Answer } from '../../../src/domain/answer.ts'
import { type Grant, type Priority } from '../../../src/exchange/limiter/grant.ts'
import { Limiter } from '../../../src/exchange/limiter/limiter.ts'
import { type Clock } from '../../../src/lib/clock.ts'
import { type EndpointName } from '../../../src/protocol/endpoints.ts'
import { DirectPool } from './direct-pool.ts'
import { type VirtualTime } from './virtual-time.ts'

export interface VirtualLimiterOptions {
  readonly time: VirtualTime
  /** As the process knows it. */
  readonly clock: Clock
}

/** The right to one call, and what became of it. */
export interface VirtualGrant {
  /** The call leaves now. */
  sent(): void
  /** The call is over, by its answer. */
  over(answer: Answer<unknown>): void
  unused(): void
}

/**
 * The daemon's own limiter in virtual time, one for each life: its tokens are counted at once instead of by
 * Bottleneck, and it respects what the life before it may have sent.
 */
export class VirtualLimiter {
  readonly #time: VirtualTime
  readonly #limiter: Limiter
  #isOver = false
  readonly #kept = new Map<EndpointName, VirtualGrant>()

  constructor({ time, clock }: VirtualLimiterOptions) {
    this.#time = time
    this.#limiter = new Limiter({
      clock,
      timers: time.timers,
      createPool: (pool) => new DirectPool(pool),
      previousRunEndedAt: clock.monotonic(),
    })
  }

  /** @throws when too many wait: no shell asks for so much. */
  request(endpoint: EndpointName, priority: Priority, onGranted: (grant: VirtualGrant) => void): void {
    const waiting = this.#limiter.request(endpoint, priority, (grant) => {
      if (!this.#isOver) onGranted(this.#wrap(grant))
    })
    if (!waiting) throw new Error(`too many wait for ${endpoint}`)
  }

  /** Its process is dead: nobody is granted anything any more. */
  stop(): void {
    this.#isOver = true
  }

  /** A grant that the core will use when it sends, or give back. */
  keep(endpoint: EndpointName, grant: VirtualGrant): void {
    this.#kept.set(endpoint, grant)
  }

  take(endpoint: EndpointName): VirtualGrant | undefined {
    const grant = this.#kept.get(endpoint)
    this.#kept.delete(endpoint)
    return grant
  }

  #wrap(grant: Grant): VirtualGrant {
    let sentAt = this.#time.now
    return {
      sent: () => {
        sentAt = this.#time.now
      },
      over: (answer) => {
        // What never left us pays for nothing.
        if (answer.kind === 'refused' && answer.class === 'notSent') return grant.unused()
        const isRateLimited = answer.kind === 'refused' && answer.topic === 'rate'
        grant.release({
          requestTime: answer.requestTime,
          roundTripMs: this.#time.now - sentAt,
          isRateLimited,
        })
      },
      unused: () => grant.unused(),
    }
  }
}
