// How much of a limit is used, and how many calls too many an exchange would see, in virtual time: three rates, three
// delays each way, three ways of counting. Rows of `npm run bench`; `npm run bench:limiter` does it in real time,
// beside Bottleneck alone.

import { createRandom } from '../src/lib/random.ts'
import { endpointNamed, type EndpointName } from '../src/protocol/endpoints.ts'
import { createHandLimiter, ExactCounters } from '../test/exchange/limiter-fixture.ts'

/** Of 5, 10 and 20 calls a second. */
const ENDPOINTS = [
  'batchPlaceOrder',
  'orderFills',
  'tickers',
] as const satisfies readonly EndpointName[]
/** One way of a call, ms, least and most. */
const WAYS = [
  [0, 0],
  [5, 25],
  [20, 120],
] as const
const LASTS_MS = 120_000

export interface LimitUse {
  readonly wayMs: readonly [number, number]
  readonly calls: number
  /** Share of the calls that the document allows, once the beginning is over. */
  readonly used: number
  /** Calls that an exchange would have refused, by its way of counting. */
  readonly rejected: Readonly<Record<'sliding' | 'fixed' | 'bucket', number>>
}

export function measureLimitUse(seed: number): readonly LimitUse[] {
  return WAYS.flatMap((wayMs) => ENDPOINTS.map((endpoint) => useOf(endpoint, wayMs, seed)))
}

function useOf(endpoint: EndpointName, wayMs: readonly [number, number], seed: number): LimitUse {
  const { time, limiter } = createHandLimiter()
  const random = createRandom(`${endpoint} ${wayMs.join(' ')} ${seed}`)
  const draw = (): number => wayMs[0] + (wayMs[1] - wayMs[0]) * random.next()
  const arrivals: number[] = []
  const saturate = (): void => {
    limiter.request(endpoint, 1, (grant) => {
      const sentAt = time.monotonic()
      time.after(draw(), () => {
        const takenAt = time.epochMs + time.monotonic()
        arrivals.push(takenAt)
        time.after(draw(), () =>
          grant.release({
            requestTime: Math.floor(takenAt),
            roundTripMs: Math.round(time.monotonic() - sentAt),
          }),
        )
      })
      saturate()
    })
  }
  saturate()
  time.advance(LASTS_MS)
  const { calls, perMs } = endpointNamed(endpoint).limit
  const counters = new ExactCounters(calls, perMs)
  arrivals.sort((one, other) => one - other)
  for (const at of arrivals) counters.count(at)
  const after = arrivals.slice(10 * calls)
  const counted = Math.floor((after.length - 1) / calls) * calls
  const elapsedMs = (after[counted] ?? 0) - (after[0] ?? 0)
  return {
    wayMs,
    calls,
    used: counted / ((elapsedMs * calls) / perMs),
    rejected: { ...counters.rejected },
  }
}
