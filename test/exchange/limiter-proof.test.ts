import { describe, expect, it } from 'vitest'
import { type Grant, type GrantedCall } from '../../src/exchange/limiter/grant.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { endpointNamed, type EndpointName } from '../../src/protocol/endpoints.ts'
import { createHandLimiter, ExactCounters, type HandTime } from './limiter-fixture.ts'

const ENDPOINTS = ['cancelAllOrders', 'batchPlaceOrder', 'orderFills', 'tickers'] as const
const NONE_REJECTED = { sliding: 0, fixed: 0, bucket: 0 }

/** A network and an exchange, as a seed draws them. */
interface Surroundings {
  readonly random: Random
  /** One way of a call, ms. */
  readonly thereMs: () => number
  readonly backMs: () => number
  /** The exchange's clock, with fractions of a ms, when our monotonic one says so. */
  readonly exchangeAt: (monotonic: number) => number
  readonly lostShare: number
  readonly timelessShare: number
  /** Between a grant and the next request for one, ms. */
  readonly pauseMs: () => number
}

/** 5 to 25 ms each way, and calls wanted all the time. */
function drawOrdinary(seed: string): Surroundings {
  const random = createRandom(seed)
  const aheadMs = 1_700_000_000_000 + 3000 * random.next()
  const wayMs = () => 5 + 20 * random.next()
  return {
    random,
    thereMs: wayMs,
    backMs: wayMs,
    exchangeAt: (monotonic) => aheadMs + monotonic,
    lostShare: 0,
    timelessShare: 0,
    pauseMs: () => 0,
  }
}

/**
 * Anything: ways of a fraction of a millisecond or many, each with its own jitter and tail; a clock that runs
 * too fast or too slow; answers lost, and answers without a time; calls in bursts with pauses between.
 */
function drawAny(seed: string): Surroundings {
  const random = createRandom(seed)
  const drawWay = () => {
    const least = 0.2 + 60 * random.next() ** 3
    const spread = least * 20 * random.next() ** 2
    const tail = random.integer(3) === 0 ? 50 * random.next() : 0
    return () => least + spread * random.next() - tail * Math.log(1 - random.next())
  }
  const aheadMs = 1_700_000_000_000 + 3000 * random.next()
  const rate = 1 + 1e-3 * (random.next() - 0.5)
  const pauseShare = random.integer(2) === 0 ? 0 : random.next()
  return {
    random,
    thereMs: drawWay(),
    backMs: drawWay(),
    exchangeAt: (monotonic) => aheadMs + rate * monotonic,
    lostShare: random.integer(2) === 0 ? 0 : 0.1 * random.next(),
    timelessShare: random.integer(2) === 0 ? 0 : 0.2 * random.next(),
    pauseMs: () => (random.next() < pauseShare ? 700 * random.next() : 0),
  }
}

/** Keeps endpoints as busy as the limiter lets them, and tells when the exchange took each call, by its clock. */
class Traffic {
  readonly time: HandTime
  readonly limiter: Limiter
  readonly arrivals = new Map<EndpointName, number[]>()
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    const { time, limiter } = createHandLimiter()
    this.time = time
    this.limiter = limiter
    this.#around = around
  }

  saturate(endpoint: EndpointName): void {
    this.limiter.request(endpoint, 1, (grant) => {
      this.#carry(endpoint, (call) => grant.release(call))
      const pauseMs = this.#around.pauseMs()
      if (pauseMs === 0) this.saturate(endpoint)
      else this.time.after(pauseMs, () => this.saturate(endpoint))
    })
  }

  #carry(endpoint: EndpointName, release: (call?: GrantedCall) => void): void {
    const { random, thereMs, backMs, exchangeAt, lostShare, timelessShare } = this.#around
    const sentAt = this.time.monotonic()
    this.time.after(thereMs(), () => {
      const takenAt = exchangeAt(this.time.monotonic())
      this.#arrivalsOf(endpoint).push(takenAt)
      if (random.next() < lostShare) return this.time.after(2000, () => release())
      return this.time.after(backMs(), () => {
        if (random.next() < timelessShare) return release()
        const roundTripMs = Math.round(this.time.monotonic() - sentAt)
        release({ requestTime: Math.floor(takenAt), roundTripMs })
      })
    })
  }

  judge(endpoint: EndpointName) {
    const { calls, perMs } = endpointNamed(endpoint).limit
    const counters = new ExactCounters(calls, perMs)
    const arrivals = this.#arrivalsOf(endpoint).sort((one, other) => one - other)
    for (const at of arrivals) counters.count(at)
    const after = arrivals.slice(10 * calls)
    const counted = Math.floor((after.length - 1) / calls) * calls
    const elapsedMs = (after[counted] ?? 0) - (after[0] ?? 0)
    return { rejected: counters.rejected, used: counted / ((elapsedMs * calls) / perMs) }
  }

  #arrivalsOf(endpoint: EndpointName): number[] {
    const known = this.arrivals.get(endpoint) ?? []
    this.arrivals.set(endpoint, known)
    return known
  }
}

describe('against an exact model of the exchange', () => {
  it('[LIM1] with 5 to 25 ms each way no call is too many, and 98 % of each limit is used', () => {
    const used = new Map<EndpointName, number[]>(ENDPOINTS.map((endpoint) => [endpoint, []]))
    for (let seed = 0; seed < 10; seed++) {
      const traffic = new Traffic(drawOrdinary(`ordinary ${seed}`))
      for (const endpoint of ENDPOINTS) traffic.saturate(endpoint)
      traffic.time.advance(60_000)
      for (const endpoint of ENDPOINTS) {
        const judged = traffic.judge(endpoint)
        expect(judged.rejected, `${endpoint}, seed ${seed}`).toEqual(NONE_REJECTED)
        used.get(endpoint)?.push(judged.used)
      }
    }
    for (const [endpoint, shares] of used) {
      expect(shares.reduce((sum, share) => sum + share) / shares.length, endpoint).toBeGreaterThan(
        0.98,
      )
    }
  })

  it('[LIM1] on any network and clock, with answers lost and at any pace, no call is too many', () => {
    for (let seed = 0; seed < 60; seed++) {
      const traffic = new Traffic(drawAny(`any ${seed}`))
      for (const endpoint of ENDPOINTS) traffic.saturate(endpoint)
      traffic.time.advance(30_000)
      for (const endpoint of ENDPOINTS) {
        expect(traffic.judge(endpoint).rejected, `${endpoint}, seed ${seed}`).toEqual(NONE_REJECTED)
      }
    }
  })

  it('[LIM2] on a busy endpoint what reduces risk goes within a second, whenever it comes', () => {
    const traffic = new Traffic(drawOrdinary('busy'))
    for (let asker = 0; asker < 20; asker++) traffic.saturate('batchPlaceOrder')
    let longest = 0
    const random = createRandom('when')
    for (let wish = 0; wish < 200; wish++) {
      traffic.time.advance(1000 * random.next())
      const askedAt = traffic.time.monotonic()
      traffic.limiter.request('batchPlaceOrder', 0, (grant) => {
        longest = Math.max(longest, traffic.time.monotonic() - askedAt)
        grant.release()
      })
      traffic.time.advance(1200)
    }
    expect(longest).toBeGreaterThan(0)
    expect(longest).toBeLessThan(1000)
  })
})

describe('through Bottleneck, in real time', () => {
  it('[LIM1] in real time, through Bottleneck, nobody is turned away', async () => {
    const limiter = new Limiter({ clock: systemClock, timers: systemTimers })
    const random = createRandom('real time')
    const arrivals = new Map<EndpointName, number[]>(ENDPOINTS.map((endpoint) => [endpoint, []]))
    const { promise: enough, resolve: isEnough } = Promise.withResolvers<void>()
    const timers = new Set<() => void>()
    const later = (ms: number, callback: () => void) => {
      const cancel = systemTimers.after(ms, () => {
        timers.delete(cancel)
        callback()
      })
      timers.add(cancel)
    }
    const ask = (endpoint: EndpointName) => {
      limiter.request(endpoint, 1, (grant) => {
        const sentAt = systemClock.now()
        later(5 + 20 * random.next(), () => {
          const requestTime = systemClock.now()
          arrivals.get(endpoint)?.push(systemClock.monotonic())
          // Each endpoint has been through its window twice when the last of them has.
          if (
            [...arrivals].every(
              ([name, times]) => times.length > 2 * endpointNamed(name).limit.calls,
            )
          )
            isEnough()
          later(5 + 20 * random.next(), () => {
            grant.release({ requestTime, roundTripMs: systemClock.now() - sentAt })
          })
        })
        ask(endpoint)
      })
    }
    for (const endpoint of ENDPOINTS) ask(endpoint)
    await enough
    await limiter.stop()
    for (const cancel of timers) cancel()

    for (const endpoint of ENDPOINTS) {
      const { calls, perMs } = endpointNamed(endpoint).limit
      const counters = new ExactCounters(calls, perMs)
      const times = arrivals.get(endpoint) ?? []
      for (const at of times) counters.count(at)
      expect(counters.rejected, endpoint).toEqual(NONE_REJECTED)
    }
  })

  it('has a grant ready before it is asked for, and none once it is stopped', async () => {
    const limiter = new Limiter({ clock: systemClock, timers: systemTimers })
    const ask = (onGranted: (grant: Grant) => void) =>
      limiter.request('batchPlaceOrder', 0, onGranted)
    const firsts = await Promise.all(Array.from({ length: 4 }, () => new Promise<Grant>(ask)))
    for (const grant of firsts) grant.unused()
    let granted = 0
    for (let call = 0; call < 4; call++) ask(() => granted++)
    expect(granted).toBe(4)

    await limiter.stop()

    expect(limiter.request('tickers', 0, () => granted++)).toBeDefined()
    expect(granted).toBe(4)
  })
})
