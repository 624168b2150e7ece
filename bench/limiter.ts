// How much of each documented limit can be used, and how often the exchange would say 429, under three ways
// of counting: our limiter beside Bottleneck as it comes. `node bench/limiter.ts [seconds]`, default 20.

import Bottleneck from 'bottleneck'
import { ClockOffset } from '../src/exchange/clock-offset.ts'
import { Limiter } from '../src/exchange/limiter.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createRandom, type Random } from '../src/lib/random.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { endpointNamed, type EndpointName } from '../src/protocol/endpoints.ts'
import { ExactCounters } from '../test/exchange/limiter-fixture.ts'

const ENDPOINTS = ['cancelAllOrders', 'batchPlaceOrder', 'orderFills', 'tickers'] as const

/** One call, from the grant to the answer: tells when the exchange took it. */
type Call = () => Promise<{ readonly requestTime: number }>

/** Keeps one endpoint busy until it is stopped. */
type Contender = (endpoint: EndpointName, call: Call) => () => Promise<unknown>

const sleep = (ms: number): Promise<void> => new Promise((resolve) => systemTimers.after(ms, resolve))

/** 5 to 25 ms each way. */
const wayMs = (random: Random): number => 5 + 20 * random.next()

const ours: Contender = (endpoint, call) => {
  const offset = new ClockOffset()
  const limiter = new Limiter({ clock: systemClock, timers: systemTimers, offset })
  const ask = (): void => {
    limiter.request(endpoint, 1, (grant) => {
      const sentAt = systemClock.now()
      void call().then(({ requestTime }) => {
        offset.observe({ requestTime, sentAt, receivedAt: systemClock.now() })
        grant.release({ requestTime })
      })
      ask()
    })
  }
  ask()
  return () => limiter.stop()
}

/** Bottleneck by itself, with jobs always waiting. */
const bottleneck =
  (settings: (calls: number) => Bottleneck.ConstructorOptions): Contender =>
  (endpoint, call) => {
    const limiter = new Bottleneck(settings(endpointNamed(endpoint).limit.calls))
    let isStopped = false
    const ask = (): void => {
      if (isStopped) return
      void limiter
        .schedule(() => {
          void call()
          ask()
          return Promise.resolve()
        })
        .catch(() => undefined)
    }
    for (let job = 0; job < 3; job++) ask()
    return async () => {
      isStopped = true
      await limiter.stop({ dropWaitingJobs: true })
      await limiter.disconnect()
    }
  }

const CONTENDERS: ReadonlyArray<readonly [string, Contender]> = [
  ['this limiter', ours],
  ['Bottleneck, minTime at the limit', bottleneck((calls) => ({ minTime: Math.ceil(1000 / calls) }))],
  ['Bottleneck, minTime at 105 %', bottleneck((calls) => ({ minTime: Math.ceil(1050 / calls) }))],
  [
    'Bottleneck, reservoir refreshed',
    bottleneck((calls) => ({
      reservoir: calls,
      reservoirRefreshInterval: 1000,
      reservoirRefreshAmount: calls,
    })),
  ],
]

async function measure(endpoint: EndpointName, contender: Contender, seconds: number): Promise<string> {
  const { calls, perMs } = endpointNamed(endpoint).limit
  const random = createRandom(endpoint)
  const arrivals: number[] = []
  const stop = contender(endpoint, async () => {
    await sleep(wayMs(random))
    const requestTime = systemClock.now()
    arrivals.push(systemClock.monotonic())
    await sleep(wayMs(random))
    return { requestTime }
  })
  await sleep(seconds * 1000)
  await stop()
  arrivals.sort((one, other) => one - other)
  const counters = new ExactCounters(calls, perMs)
  for (const at of arrivals) counters.count(at)
  // The first window's burst is everybody's: the rate counts from its last call to the very last.
  const elapsedMs = (arrivals.at(-1) ?? 0) - (arrivals[calls - 1] ?? 0)
  const used = `${((100 * (arrivals.length - calls)) / (elapsedMs / perMs) / calls).toFixed(1)} %`
  const { sliding, fixed, bucket } = counters.rejected
  const cells = [`${calls}/s`.padStart(5), used.padStart(8)]
  return [...cells, ...[sliding, fixed, bucket].map((count) => String(count).padStart(8))].join(' ')
}

const seconds = Number(process.argv[2] ?? 20)
console.log(`${'limiter'.padEnd(34)} limit     used  sliding    fixed   bucket  (429s in ${seconds} s)`)
for (const [name, contender] of CONTENDERS) {
  const rows = await Promise.all(ENDPOINTS.map((endpoint) => measure(endpoint, contender, seconds)))
  for (const row of rows) console.log(`${name.padEnd(34)} ${row}`)
}
