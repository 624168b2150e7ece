import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HeldLease } from '../../../src/journal/postgres/lease.ts'
import { ManualTime } from '../../support/manual-time.ts'

/** A server that gives the answer that a test has set, at once. */
class Server {
  answer: () => Promise<readonly Readonly<Record<string, unknown>>[]> = () =>
    Promise.resolve([{ wanted: false }])
  asked = 0

  /** The values of each question. */
  readonly values: (readonly unknown[])[] = []

  query(
    _sql: string,
    values: readonly unknown[] = [],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    this.asked += 1
    this.values.push(values)
    return this.answer()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

describe('[RSK1] a lease that is held', () => {
  let time: ManualTime
  let server: Server
  let lease: HeldLease
  let lost: string[]

  beforeEach(() => {
    time = new ManualTime(1_000_000)
    server = new Server()
    lost = []
    const asked = { monotonic: time.monotonic(), now: time.now() }
    lease = new HeldLease({
      connection: server,
      schema: 's',
      holder: 'h',
      clock: time,
      timers: time,
      lastingMs: 1e4,
      taken: {
        kind: 'taken',
        token: 7,
        feedPlace: 0,
        isAbandoned: false,
        asked,
        commitMs: 1,
      },
    })
    lease.onLost((failure) => lost.push(failure.message))
  })

  afterEach(() => lease.close())

  test('lasts as long as it is renewed, four times in its time', async () => {
    await time.pass(100_000)

    expect([lease.objection(), server.asked, lost]).toEqual([undefined, 40, []])
  })

  test('is asked for again soon after a failure, in case the server comes back in time', async () => {
    server.answer = () => Promise.reject(new Error('no route'))
    await time.pass(2500 + 5 * 500)
    const failed = server.asked
    server.answer = () => Promise.resolve([{ wanted: false }])
    await time.pass(500 + 2500)

    expect([failed, server.asked]).toEqual([6, 8])
  })

  test('counts from before the question, and is over here before it is over at the server', async () => {
    server.answer = () => Promise.reject(new Error('no route'))
    await time.pass(8999)
    const before = lease.objection()
    await time.pass(1)

    expect([before, lease.objection()]).toEqual([undefined, expect.stringContaining('over')])
    expect(lost).toEqual([expect.stringMatching(/JOURNAL_LEASE_LOST[^]*no route/)])
  })

  test('counts from before the question also if its answer comes late', async () => {
    let answer = (): void => undefined
    server.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve([{ wanted: false }])
      })
    await time.pass(2500 + 2000)
    server.answer = () => Promise.reject(new Error('no route'))
    answer()
    await time.pass(0)
    await time.pass(9000 - 2000 - 1)
    const before = lease.objection()
    await time.pass(1)

    expect([before, lease.objection()]).toEqual([undefined, expect.stringContaining('over')])
  })

  test('is not brought back by an answer that comes when it is over', async () => {
    let answer = (): void => undefined
    server.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve([{ wanted: false }])
      })
    await time.pass(9000)
    answer()
    await time.pass(0)

    expect([lease.objection() === undefined, lost.length]).toEqual([false, 1])
  })

  test('given back, it writes an alert that is on its way once', async () => {
    const waiting = ['stopped']
    let taken = 0
    lease.show({
      news: () => {
        taken = waiting.length
        const alerts = waiting.map(
          (title) => ({ urgency: 'info', event: 'e', title, lines: [] }) as const,
        )
        return { state: { version: '1' }, alerts }
      },
      onShown: () => void waiting.splice(0, taken),
    })
    await Promise.all([time.pass(2500), lease.giveBack()])

    const written = server.values.filter(([, alerts]) => String(alerts).includes('stopped'))
    expect([written.length, waiting]).toEqual([1, []])
  })

  test('is over after the process stood still for longer, whatever is called first afterwards', () => {
    const held = lease.objection()
    void time.block(9000)

    expect([held, lease.objection(), server.asked]).toEqual([undefined, expect.any(String), 0])
  })

  test('is over after the machine slept, also if its clock is set back then', async () => {
    time.setClock(time.now() + 9000)
    const asleep = lease.objection()
    time.setClock(time.now() - 9_000_000)

    expect([asleep, lease.objection()]).toEqual([expect.any(String), asleep])
    expect(lost).toHaveLength(1)
  })

  test('does not last longer if the clock is set back', async () => {
    server.answer = () => Promise.reject(new Error('no route'))
    time.setClock(time.now() - 60_000)
    await time.pass(9000)

    expect(lease.objection()).toEqual(expect.any(String))
  })

  test('is over at once if another has taken it', async () => {
    server.answer = () => Promise.resolve([])
    await time.pass(2500)

    expect([lease.objection(), lost]).toEqual([
      expect.any(String),
      [expect.stringContaining('another has taken it')],
    ])
  })

  test('says once that it is wanted elsewhere', async () => {
    let wanted = 0
    lease.onHandover(() => {
      wanted += 1
    })
    server.answer = () => Promise.resolve([{ wanted: true }])
    await time.pass(20_000)

    expect([wanted, lease.objection()]).toEqual([1, undefined])
  })

  test('given back, it lets nothing be signed any more, and nothing was lost', async () => {
    await lease.giveBack()

    expect([lease.objection(), lost, time.timersWaiting]).toEqual([expect.any(String), [], 0])
  })
})
