// What our own code adds where it waits: the time from asking the limiter for a call that is free until it is granted,
// and how late a poll begins, beside a bare timer set for the same instants. Rows of `npm run bench`.

import { Limiter } from '../src/exchange/limiter/limiter.ts'
import { systemClock } from '../src/lib/clock.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { Poller } from '../src/lib/poller.ts'
import { percentileOf } from './figures.ts'

const GRANTS = 20
/** An endpoint of 20 calls a second: after so long each call of it is free again. */
const BETWEEN_MS = 120
const POLL_MS = 50
const POLLING_MS = 5000

/** Microseconds from the request of a call that is free to its grant. */
export async function measureGrants(rounds: number): Promise<readonly (readonly number[])[]> {
  const limiter = new Limiter({ clock: systemClock, timers: systemTimers })
  const measured: number[][] = []
  await grants(limiter, GRANTS)
  for (let round = 0; round < rounds; round++) measured.push(await grants(limiter, GRANTS))
  await limiter.stop()
  return measured
}

async function grants(limiter: Limiter, count: number): Promise<number[]> {
  const waitedUs: number[] = []
  for (let done = 0; done < count; done++) {
    await sleep(BETWEEN_MS)
    const askedAt = performance.now()
    await new Promise<void>((resolve) => {
      limiter.request('tickers', 1, (grant) => {
        waitedUs.push((performance.now() - askedAt) * 1000)
        grant.release({ requestTime: systemClock.now(), roundTripMs: 1 })
        resolve()
      })
    })
  }
  return waitedUs
}

/** 99th percentiles of how long after its instant each began, ms. */
export interface LatenessRound {
  readonly pollMs: number
  readonly timerMs: number
}

export async function measureLateness(rounds: number): Promise<readonly LatenessRound[]> {
  const measured: LatenessRound[] = []
  for (let round = 0; round < rounds; round++) measured.push(await lateness())
  return measured
}

async function lateness(): Promise<LatenessRound> {
  const late: { poll: number[]; timer: number[] } = { poll: [], timer: [] }
  const poller = new Poller({
    intervalMs: POLL_MS,
    clock: systemClock,
    timers: systemTimers,
    poll: async (slotAt) => void late.poll.push(exactNow() - slotAt),
    onError: (error) => {
      throw error
    },
  })
  let isOver = false
  // Half an interval apart from the polls.
  const arm = (): void => {
    const dueAt = Math.floor(exactNow() / POLL_MS) * POLL_MS + 1.5 * POLL_MS
    setTimeout(() => {
      late.timer.push(exactNow() - dueAt)
      if (!isOver) arm()
    }, dueAt - exactNow())
  }
  poller.start()
  arm()
  await sleep(POLLING_MS)
  isOver = true
  await poller.stop()
  return { pollMs: percentileOf(late.poll, 0.99), timerMs: percentileOf(late.timer, 0.99) }
}

/** With fractions of a millisecond. */
function exactNow(): number {
  return performance.timeOrigin + performance.now()
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => systemTimers.after(ms, resolve))
}
