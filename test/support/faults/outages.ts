import { z } from 'zod'
import { toAnswer } from '../../../src/backtest/virtual-wire.ts'
import type { Answer } from '../../../src/domain/answer.ts'
import type { CallableName } from '../../../src/protocol/endpoints.ts'
import type { Random } from '../../../src/lib/random.ts'
import { unreachable } from '../../../src/lib/unreachable.ts'
import { readPage } from './garbled-answer.ts'

const SCOPES = ['all', 'private', 'orders', 'cancels', 'reads'] as const
/**
 * Instead of an answer: nothing, no connection, a page that says so or refuses, a server error, or
 * too many calls.
 */
const WAYS = ['silent', 'refused', 'page', 'forbidden', 'serverError', 'busy'] as const

export const outagePlan = z.strictObject({
  forMs: z.int().positive(),
  scope: z.enum(SCOPES),
  way: z.enum(WAYS),
})

export type OutagePlan = z.infer<typeof outagePlan>

/** Longer than the 60 s after which a resolution halts its instrument. */
const FOR_MS = [62_000, 160_000] as const

/**
 * A maintenance window, in which the exchange forgets names (20 minutes), and funding may be paid.
 */
const LONG_MS = [1_200_000, 10_800_000] as const

/** The limiter's longest rest. */
const REST_MS_MAX = 300_000
const CANCEL_MS_MAX = 60_000

export function drawOutage(random: Random, isLong: boolean): OutagePlan {
  const [from, to] = isLong ? LONG_MS : FOR_MS
  const forMs = from + random.integer(to - from)
  const scope = SCOPES[random.integer(SCOPES.length)] ?? 'all'
  return { forMs, scope, way: WAYS[random.integer(WAYS.length)] ?? 'silent' }
}

const SITES: Readonly<Record<OutagePlan['scope'], (site: string) => boolean>> = {
  all: () => true,
  private: (site) => site !== 'tickers',
  orders: (site) => site === 'batchPlaceOrder',
  cancels: (site) => site === 'cancelAllOrders',
  reads: (site) => site === 'orderFills' || site === 'singlePosition',
}

/** Present and past outages. Unix ms, exchange clock. */
export class Outages {
  #plan: OutagePlan | undefined
  #from = 0
  #until = 0
  readonly #now: () => number
  #earlierMs = 0

  constructor(now: () => number) {
    this.#now = now
  }

  begin(plan: OutagePlan): void {
    this.#earlierMs = this.lastedMs
    this.#plan = plan
    this.#from = this.#now()
    this.#until = this.#from + plan.forMs
  }

  get isOn(): boolean {
    return this.#now() < this.#until
  }

  get lastedMs(): number {
    return this.#earlierMs + Math.min(this.#now(), this.#until) - this.#from
  }

  /** 0 without one. */
  get until(): number {
    return this.#until
  }

  /**
   * How long refused calls may pause after the last outage: reads as long as it lasted after many
   * 429s, a cancel-all after a page at most a minute.
   */
  get restsMs(): number {
    const plan = this.#plan
    if (plan?.way === 'busy' && SITES[plan.scope]('orderFills'))
      return Math.min(REST_MS_MAX, plan.forMs)
    return plan?.way === 'forbidden' && SITES[plan.scope]('cancelAllOrders') ? CANCEL_MS_MAX : 0
  }

  /** Undefined if the exchange answers. */
  wayOf(site: string): OutagePlan['way'] | undefined {
    const plan = this.isOn ? this.#plan : undefined
    return plan && SITES[plan.scope](site) ? plan.way : undefined
  }
}

export function answerOfOutage(
  way: OutagePlan['way'],
  site: CallableName,
): ((receivedAt: number) => Answer<never>) | undefined {
  switch (way) {
    case 'silent':
    case 'refused':
      return undefined
    case 'page':
      return (receivedAt) => readPage(site, 200, receivedAt)
    case 'forbidden':
      return (receivedAt) => readPage(site, 403, receivedAt)
    case 'serverError':
      return (receivedAt) => readPage(site, 503, receivedAt)
    case 'busy':
      return (receivedAt) =>
        toAnswer({ ok: false, code: '429', message: 'Too Many Requests' }, { receivedAt })
    default:
      return unreachable(way)
  }
}
