import { expect, test } from 'vitest'
import { type Answer } from '../../src/domain/answer.ts'
import type { Feed } from '../../src/assembly/strategies/strategies.ts'
import { Feeds } from '../../src/daemon/market-data/feeds.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

const RATIO: Feed = {
  id: 'longShortRatio?symbol=BTCUSDT',
  endpoint: 'longShortRatio',
  request: { endpoint: 'longShortRatio', body: '', query: 'symbol=BTCUSDT' },
  everyMs: 10_000,
}
const WHAT = `feed ${RATIO.id}`

const TIMEOUT: Answer<never> = {
  kind: 'unknown',
  cause: 'timeout',
  code: '',
  message: '',
  status: undefined,
  receivedAt: 0,
}
const REFUSED: Answer<never> = {
  kind: 'refused',
  class: 'definite',
  code: '40034',
  topic: '',
  message: 'Parameter does not exist',
  status: 400,
  receivedAt: 0,
}

/** Feeds against an exchange that answers as scripted; three and a half seconds after a slot. */
function openFeeds(reply: (call: number, time: ManualTime) => Promise<Answer<unknown>>) {
  const time = new ManualTime(MOMENT_AT + 3500)
  const events: EngineEvent[] = []
  const failures: string[] = []
  let calls = 0
  const feeds = new Feeds({
    feeds: [RATIO],
    client: { send: () => reply((calls += 1), time) as Promise<Answer<never>> },
    clock: time,
    timers: time,
    dispatch: (event) => events.push(event),
    onError: (what, reason) => failures.push(`broken ${what}: ${reason}`),
  })
  return { feeds, time, events, failures, calls: () => calls }
}

const accepted = (data: unknown, { now }: { now: () => number }): Promise<Answer<unknown>> =>
  Promise.resolve({ kind: 'accepted', data, receivedAt: now() })

test('a feed is read at the start, and then on its grid', async () => {
  const { feeds, time, events, calls } = openFeeds((call, at) =>
    accepted({ call }, { now: () => at.now() }),
  )
  feeds.start()
  await time.pass(0)
  expect(calls()).toBe(1)
  await time.pass(6499)
  expect(calls()).toBe(1)
  await time.pass(1)
  await time.pass(10_000)
  await feeds.stop()
  await time.pass(60_000)

  expect(events).toEqual(
    [3500, 10_000, 20_000].map((at, index) => ({
      kind: 'feedRead',
      feed: RATIO.id,
      reading: { data: { call: index + 1 }, readAt: MOMENT_AT + at },
    })),
  )
  expect(time.timersWaiting).toBe(0)
})

test('what was read is frozen to its last part', async () => {
  const { feeds, time, events } = openFeeds((_, at) =>
    accepted([{ ts: '1', deep: { rows: [1] } }], { now: () => at.now() }),
  )
  feeds.start()
  await time.pass(0)
  await feeds.stop()

  const [event] = events
  const data =
    event?.kind === 'feedRead' ? (event.reading.data as { deep: { rows: number[] } }[]) : []
  expect(Object.isFrozen(data)).toBe(true)
  expect(() => data[0]?.deep.rows.push(2)).toThrow(TypeError)
})

test('a read that fails says why, harms nothing, and is read again', async () => {
  const { feeds, time, events, failures } = openFeeds((call, at) => {
    if (call === 1) return Promise.resolve(TIMEOUT)
    if (call === 2) return Promise.resolve(REFUSED)
    if (call === 3) return Promise.reject(new Error('a defect'))
    return accepted('at last', { now: () => at.now() })
  })
  feeds.start()
  await time.pass(17_000)
  expect(failures).toEqual([`broken ${WHAT}: a defect`])
  await time.pass(10_000)
  await feeds.stop()

  expect(events.slice(0, 2)).toEqual([
    { kind: 'readFailed', what: WHAT, reason: 'unknown (timeout)' },
    {
      kind: 'readFailed',
      what: WHAT,
      reason: 'refused 40034: Parameter does not exist',
      status: 400,
    },
  ])
  expect(events.slice(2)).toMatchObject([{ kind: 'feedRead', reading: { data: 'at last' } }])
  expect(failures).toHaveLength(1)
})

test('a stop waits for the read that is under way', async () => {
  const hold = Promise.withResolvers<Answer<unknown>>()
  const { feeds, time } = openFeeds(() => hold.promise)
  feeds.start()
  let stopped = false
  const stop = feeds.stop().then(() => (stopped = true))
  await time.pass(0)
  expect(stopped).toBe(false)

  hold.resolve(TIMEOUT)
  await stop
  expect(time.timersWaiting).toBe(0)
})
