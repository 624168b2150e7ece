// How much of each documented limit can be used, and how often the exchange would say 429, under three ways of
// counting: our limiter beside Bottleneck as it comes. `npm run bench:limiter [seconds]`, default 20.
//
// Two numbers say what was used. "in 20 s": calls that reached the exchange in the 20 s from the first of them,
// of all that the document allows in so long. No limiter can have more than 100 %, but a burst at the start
// hides what each later window loses. "after": the rate from 5 s on, when bursts and beginnings are over,
// between two calls that lie whole windows apart, so that nothing hides it. That is the stricter one, and at
// 1 call a second it is made of 20 delays and so scatters by 0.13 %.
//
// Ends with 1 when this limiter had a 429, used less than 98 % in the time, or less than 98 % afterwards over
// all rates together.

import Bottleneck from 'bottleneck'
import { PRIORITY, type LimiterPriority } from '../src/exchange/limiter/grant.ts'
import { Limiter } from '../src/exchange/limiter/limiter.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createRandom, type Random } from '../src/lib/random.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { endpointNamed, type EndpointName } from '../src/protocol/endpoints.ts'
import { ExactCounters } from '../test/exchange/limiter-fixture.ts'

const ENDPOINTS = ['cancelAllOrders', 'batchPlaceOrder', 'orderFills', 'tickers'] as const
const USED_MIN = 0.98
const BEGINNING_MS = 5000
/** The exchange's clock less our monotonic one. */
const EXCHANGE_AHEAD_MS = 1_700_000_000_000.25

/** One call, from the grant to the answer: tells when the exchange took it. */
type Call = () => Promise<{ readonly requestTime: number }>

/** Keeps one endpoint busy until it is stopped. */
interface Contender {
  saturate(endpoint: EndpointName, call: Call): void
  stop(): Promise<unknown>
}

interface Measured {
  readonly endpoint: EndpointName
  readonly calls: number
  readonly usedInTime: number
  readonly usedAfter: number
  readonly rejected: { readonly sliding: number; readonly fixed: number; readonly bucket: number }
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => systemTimers.after(ms, resolve))

/** 5 to 25 ms each way. */
const wayMs = (random: Random): number => 5 + 20 * random.next()

/** As in the daemon: one limiter for all endpoints. */
function createOurs(): Contender {
  const limiter = new Limiter({ clock: systemClock, timers: systemTimers })
  const saturate: Contender['saturate'] = (endpoint, call) => {
    limiter.request(endpoint, 1, (grant) => {
      const sentAt = systemClock.now()
      void call().then(({ requestTime }) =>
        grant.release({ requestTime, roundTripMs: systemClock.now() - sentAt }),
      )
      saturate(endpoint, call)
    })
  }
  return { saturate, stop: () => limiter.stop() }
}

/** Bottleneck by itself, with jobs always waiting. */
function createBottleneck(settings: (calls: number) => Bottleneck.ConstructorOptions): Contender {
  const limiters: Bottleneck[] = []
  let isStopped = false
  return {
    saturate(endpoint, call) {
      const limiter = new Bottleneck(settings(endpointNamed(endpoint).limit.calls))
      limiters.push(limiter)
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
    },
    async stop() {
      isStopped = true
      await Promise.all(limiters.map((limiter) => limiter.stop({ dropWaitingJobs: true })))
      await Promise.all(limiters.map((limiter) => limiter.disconnect()))
    },
  }
}

const CONTENDERS: ReadonlyArray<readonly [string, () => Contender]> = [
  ['this limiter', createOurs],
  [
    'Bottleneck, minTime at the limit',
    () => createBottleneck((calls) => ({ minTime: Math.ceil(1000 / calls) })),
  ],
  [
    'Bottleneck, minTime at 105 %',
    () => createBottleneck((calls) => ({ minTime: Math.ceil(1050 / calls) })),
  ],
  [
    'Bottleneck, reservoir refreshed',
    () =>
      createBottleneck((calls) => ({
        reservoir: calls,
        reservoirRefreshInterval: 1000,
        reservoirRefreshAmount: calls,
      })),
  ],
]

/** All four endpoints at once, for the time asked for and the beginning that is left out of "after". */
async function measure(contender: Contender, seconds: number): Promise<Measured[]> {
  const arrivals = new Map(ENDPOINTS.map((endpoint) => [endpoint, [] as number[]]))
  for (const [endpoint, times] of arrivals) {
    const random = createRandom(endpoint)
    contender.saturate(endpoint, async () => {
      // The exchange is another machine: it takes the call after exactly the way that was drawn, however busy
      // this process is, and only the answer waits for a timer.
      const thereMs = wayMs(random)
      const takenAt = systemClock.monotonic() + thereMs
      times.push(takenAt)
      await sleep(thereMs + wayMs(random))
      return { requestTime: Math.floor(EXCHANGE_AHEAD_MS + takenAt) }
    })
  }
  await sleep(seconds * 1000 + BEGINNING_MS)
  await contender.stop()
  return [...arrivals].map(([endpoint, times]) => judge(endpoint, times, seconds))
}

function judge(endpoint: EndpointName, times: number[], seconds: number): Measured {
  const { calls, perMs } = endpointNamed(endpoint).limit
  times.sort((one, other) => one - other)
  const counters = new ExactCounters(calls, perMs)
  for (const at of times) counters.count(at)
  const startedAt = times[0] ?? 0
  const inTime = times.filter((at) => at < startedAt + seconds * 1000).length
  const after = times.filter((at) => at >= startedAt + BEGINNING_MS)
  const counted = Math.floor((after.length - 1) / calls) * calls
  const elapsedMs = (after[counted] ?? 0) - (after[0] ?? 0)
  return {
    endpoint,
    calls,
    usedInTime: inTime / ((seconds * 1000 * calls) / perMs),
    usedAfter: counted / ((elapsedMs * calls) / perMs),
    rejected: counters.rejected,
  }
}

function format({ calls, usedInTime, usedAfter, rejected }: Measured): string {
  const { sliding, fixed, bucket } = rejected
  const used = [usedInTime, usedAfter].map((share) => `${(100 * share).toFixed(1)} %`.padStart(9))
  return [
    `${calls}/s`.padStart(5),
    ...used,
    ...[sliding, fixed, bucket].map((count) => pad(count)),
  ].join(' ')
}

const pad = (cell: string | number): string => String(cell).padStart(8)

/** What is wrong with a run of this limiter; empty for nothing. */
function findFaults(rows: readonly Measured[]): string[] {
  const rejected = rows.reduce(
    (sum, row) => sum + Object.values(row.rejected).reduce((a, b) => a + b, 0),
    0,
  )
  const calls = rows.reduce((sum, row) => sum + row.calls, 0)
  const after = rows.reduce((sum, row) => sum + row.usedAfter * row.calls, 0) / calls
  return [
    ...(rejected > 0 ? [`${rejected} calls would have been refused`] : []),
    ...rows
      .filter((row) => row.usedInTime < USED_MIN)
      .map((row) => `${row.calls}/s used too little`),
    ...(after < USED_MIN ? [`${(100 * after).toFixed(2)} % used afterwards`] : []),
  ]
}

/** In a loop that is blocked for so long in each turn: of the reads that were asked for, how many were granted, and the longest wait in ms. */
async function measureSlowLoop(turnMs: number, forMs: number): Promise<string> {
  const first = new Limiter({ clock: systemClock, timers: systemTimers })
  const limiters = [first]
  while (limiters.length < 10) {
    limiters.push(new Limiter({ clock: systemClock, timers: systemTimers, address: first }))
  }
  let asked = 0
  const waitedMs: number[] = []
  const ask = (limiter: Limiter, endpoint: EndpointName, priority: LimiterPriority): void => {
    const askedAt = performance.now()
    if (priority === PRIORITY.reads) asked++
    limiter.request(endpoint, priority, (grant) => {
      if (priority === PRIORITY.reads) waitedMs.push(performance.now() - askedAt)
      systemTimers.after(5, () => grant.release({ roundTripMs: 5 }))
    })
  }
  const endsAt = performance.now() + forMs
  for (let next = performance.now(); next < endsAt;) {
    const startedAt = performance.now()
    while (performance.now() - startedAt < turnMs) Math.random()
    for (; next <= performance.now(); next += 500) {
      for (const limiter of limiters) {
        ask(limiter, 'orderFills', PRIORITY.reads)
        ask(limiter, 'batchPlaceOrder', PRIORITY.addsRisk)
        if (next % 1000 < 500) ask(limiter, 'singlePosition', PRIORITY.reads)
      }
    }
    await sleep(0)
  }
  await sleep(3 * turnMs)
  await Promise.all(limiters.map((limiter) => limiter.stop()))
  return `${pad(`${turnMs} ms`)} ${pad(waitedMs.length)} of ${asked}, longest ${Math.max(0, ...waitedMs).toFixed(0)} ms`
}

const seconds = Number(process.argv[2] ?? 20)
const heads = [
  `in ${seconds} s`.padStart(9),
  'after'.padStart(9),
  pad('sliding'),
  pad('fixed'),
  pad('bucket'),
]
console.log(`${'limiter'.padEnd(34)} limit ${heads.join(' ')}  (429s)`)
const faults: string[] = []
for (const [name, createContender] of CONTENDERS) {
  const rows = await measure(createContender(), seconds)
  for (const row of rows) console.log(`${name.padEnd(34)} ${format(row)}`)
  if (createContender === createOurs) faults.push(...findFaults(rows))
}
console.log(faults.length === 0 ? 'ok: no 429, at least 98 % used' : `failed: ${faults.join('; ')}`)
process.exitCode = faults.length === 0 ? 0 : 1

console.log('\nreads granted in a loop whose turns take so long')
for (const turnMs of [1, 30, 60, 200]) console.log(await measureSlowLoop(turnMs, 10_000))
