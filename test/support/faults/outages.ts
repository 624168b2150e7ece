import { z } from 'zod'
import { toAnswer } from '../../../src/backtest/network.ts'
import { type Answer } from '../../../src/domain/answer.ts'
import { type EndpointName } from '../../../src/protocol/endpoints.ts'
import { type Random } from '../../../src/lib/random.ts'
import { unreachable } from '../../../src/lib/unreachable.ts'
import { readPage } from './garbled-answer.ts'

/** Which calls get no answer of the exchange. */
const SCOPES = ['all', 'private', 'orders', 'cancels', 'reads'] as const
/** What comes instead: nothing, no connection, a page that says so or refuses, an error of a server, or too many calls. */
const WAYS = ['silent', 'refused', 'page', 'forbidden', 'serverError', 'busy'] as const

/** Minutes or hours in which calls get no answer, while the process runs at its ordinary pace. */
export const outagePlan = z.strictObject({
  forMs: z.int().positive(),
  scope: z.enum(SCOPES),
  way: z.enum(WAYS),
})

export type OutagePlan = z.infer<typeof outagePlan>

/** Longer than a resolution waits before it halts its instrument; the product's own figure is 60 s. */
const FOR_MS = [62_000, 160_000] as const

/** A maintenance window: within it the exchange forgets the names of orders (20 minutes), and funding may be paid. */
const LONG_MS = [1_200_000, 10_800_000] as const

/** The limiter's longest rest. */
const REST_MS_MAX = 300_000
/** The longest pause between two cancel-alls that are refused. */
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

/** The outage that goes on, and when there were others. Times are Unix ms, exchange clock. */
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

  /** How long outages have lasted so far, ms. */
  get lastedMs(): number {
    return this.#earlierMs + Math.min(this.#now(), this.#until) - this.#from
  }

  /** When the last one ended or will end; 0: there was none. */
  get until(): number {
    return this.#until
  }

  /**
   * How long what was refused may rest after the last one, ms: reads after ever more answers 429 as long as it lasted, a
   * cancel-all that a page refuses for a minute at most.
   */
  get restsMs(): number {
    const plan = this.#plan
    if (plan?.way === 'busy' && SITES[plan.scope]('orderFills'))
      return Math.min(REST_MS_MAX, plan.forMs)
    return plan?.way === 'forbidden' && SITES[plan.scope]('cancelAllOrders') ? CANCEL_MS_MAX : 0
  }

  /** What comes instead of an answer; undefined where the exchange answers. */
  wayOf(site: string): OutagePlan['way'] | undefined {
    const plan = this.isOn ? this.#plan : undefined
    return plan && SITES[plan.scope](site) ? plan.way : undefined
  }
}

/** What comes back from in front of the exchange; undefined: nothing does. */
export function answerOfOutage(
  way: OutagePlan['way'],
  site: EndpointName,
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
