import { expect, test } from 'vitest'
import { exitOf } from '../../src/cli/process/exit-codes.ts'
import { type Account } from '../../src/daemon/account/account.ts'
import { Daemon } from '../../src/daemon/daemon.ts'
import { type MarketData } from '../../src/daemon/market-data/market-data.ts'
import { LoopDeadlines, Watchdog } from '../../src/daemon/watchdog/watchdog.ts'
import { Pollers, type WatchedLoop } from '../../src/lib/poller.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

const LIMITS = { hungAfterMs: 10_000, requestTimeoutMs: 5000, stepMs: 250 }

/** When the first loop is found to hang, ms after it began to; undefined where none does within ten minutes. */
async function findHung(time: ManualTime, loops: readonly WatchedLoop[]) {
  const deadlines = new LoopDeadlines({ ...LIMITS, loops })
  for (let passedMs = 0; passedMs < 600_000; passedMs += LIMITS.stepMs) {
    const hung = deadlines.check()
    if (hung !== undefined) return { ...hung, passedMs }
    await time.pass(LIMITS.stepMs)
  }
  return undefined
}

/** A poll every second, whose turns take as long as `poll` does. */
function openGrid(time: ManualTime, poll: () => Promise<unknown>, isCalling: boolean) {
  const pollers = new Pollers({ clock: time, timers: time, onError: () => undefined })
  pollers.add('prices', 1000, poll)
  pollers.start()
  return { pollers, loops: pollers.loops.map((loop) => ({ ...loop, isCalling })) }
}

test('a loop that does not come back is found once its deadline has passed, and before twice that', async () => {
  for (const [isCalling, deadlineMs] of [
    [false, 11_000],
    [true, 21_000],
  ] as const) {
    const time = new ManualTime(MOMENT_AT)
    const { loops } = openGrid(time, () => new Promise(() => undefined), isCalling)
    await time.pass(1000)
    const hung = await findHung(time, loops)
    expect(hung).toMatchObject({ loop: 'prices', hungMs: deadlineMs })
    expect(hung?.passedMs).toBeLessThan(deadlineMs * 2)
  }
})

test('a slow loop, one that fails each time, and one that was stopped do not hang', async () => {
  const time = new ManualTime(MOMENT_AT)
  const slow = openGrid(time, () => new Promise<void>((resolve) => time.after(9900, resolve)), true)
  const failing = openGrid(time, () => Promise.reject(new Error('no answer')), false)
  const stopped = openGrid(time, () => Promise.resolve(), false)
  await stopped.pollers.stop()
  expect(await findHung(time, [...slow.loops, ...failing.loops, ...stopped.loops])).toBeUndefined()
})

test('of calls in flight the oldest has the deadline, whatever others are answered meanwhile', async () => {
  const time = new ManualTime(MOMENT_AT)
  const inFlight = new Set([1])
  let calls = 1
  const answerOthers = (): void => {
    inFlight.delete(calls === 1 ? 0 : calls)
    calls += 1
    inFlight.add(calls)
    time.after(500, answerOthers)
  }
  answerOthers()
  const turn = (): number | undefined => inFlight.values().next().value
  const calling = { name: 'calls', intervalMs: 0, isCalling: true, turn }
  expect(await findHung(time, [calling])).toMatchObject({ loop: 'calls', hungMs: 20_000 })
  inFlight.delete(1)
  expect(await findHung(time, [calling])).toBeUndefined()
})

test('a machine that slept costs no loop its deadline', async () => {
  const time = new ManualTime(MOMENT_AT)
  let turn = 1
  const deadlines = new LoopDeadlines({
    ...LIMITS,
    loops: [{ name: 'time', intervalMs: 50, isCalling: false, turn: () => turn }],
  })
  for (let round = 0; round < 100; round++) {
    await time.block(3_600_000)
    expect(deadlines.check()).toBeUndefined()
    expect(deadlines.check()).toBeUndefined()
    turn += 1
  }
})

test('a daemon whose prices are never answered ends as broken with 79, though its end waits for them', async () => {
  const time = new ManualTime(MOMENT_AT)
  const { loops } = openGrid(time, () => new Promise(() => undefined), true)
  const lines: object[] = []
  const broken: unknown[] = []
  const never = new Promise<never>(() => undefined)
  const market = { loops, synchronise: () => never, stop: () => never } as unknown as MarketData
  const account = {
    loops: [],
    atRest: never,
    ended: () => never,
    listen: () => undefined,
    get fatal() {
      return broken[0]
    },
    fail: (error: unknown) => broken.push(error),
  } as unknown as Account
  const watchdog = new Watchdog({
    strategies: [],
    logName: 'paper',
    noteFile: 'unused',
    timers: time,
    hungAfterMs: 6e5,
    requestTimeoutMs: 5e3,
    stopTimeoutMs: 3e4,
    logger: {
      descriptor: 2,
      log: (level, event, fields) =>
        lines.push({
          level,
          event,
          ...fields,
        }),
    },
  })
  const daemon = new Daemon({ market, accounts: [account], embedded: undefined, watchdog })
  const started = daemon.start()
  const ended = daemon.ended().catch((error: unknown) => exitOf(error))

  await time.pass(610_500)
  expect([lines, broken]).toEqual([[], []])
  await time.pass(2000)
  expect(lines).toEqual([{ level: 'fatal', event: 'loop.hung', loop: 'prices', hungMs: 611_000 }])
  expect(broken).toMatchObject([{ code: 'LOOP_HUNG' }])
  await time.pass(32_000)
  expect([await started, await ended]).toEqual([false, 79])
  await watchdog.stop()
})
