import { beforeEach, expect, test } from 'vitest'
import { JournalPace } from '../../src/views/journal-pace.ts'
import { ManualTime } from '../support/manual-time.ts'

let time: ManualTime
let logged: readonly unknown[]
let pace: JournalPace

beforeEach(() => {
  time = new ManualTime(1_000_000)
  logged = []
  pace = new JournalPace({
    clock: time,
    logger: { log: (level, event, fields) => (logged = [...logged, [level, event, fields]]) },
  })
})

/** A batch whose record took so long, of 3500 ms at most. */
async function commit(waitedMs: number, mostMs = 3500): Promise<void> {
  await time.pass(waitedMs)
  pace.hear({ waitedMs, mostMs })
  pace.look()
}

test('[ORD7] batches that are durable too late are said once, and that they leave again', async () => {
  for (const ms of [3500, 4000.4, 6000.2, 5000]) await commit(ms)
  const { late } = pace
  await commit(1000)

  expect(late).toMatchObject({ batches: 3, since: 1_007_500, wait: { waitedMs: 5000 } })
  expect(pace.late).toBeUndefined()
  expect(logged).toEqual([
    ['warn', 'journal.late', { waitedMs: 4000, mostMs: 3500 }],
    ['info', 'journal.inTime', { batches: 3, forMs: 12_000 }],
  ])
  expect([pace.batchesLate, pace.waits.summary().count]).toEqual([3, 5])
})

test('prices that were too old already when it was recorded leave nothing to wait for', async () => {
  await commit(4, -20)

  expect(logged).toEqual([['warn', 'journal.late', { waitedMs: 4, mostMs: 0 }]])
})

test('nothing is late any more when no batch was for half a minute: nobody wants one', async () => {
  await commit(4000)
  await time.pass(29_999)
  pace.look()
  const before = pace.late
  await time.pass(1)
  pace.look()

  expect(before).toBeDefined()
  expect(pace.late).toBeUndefined()
  expect(logged).toHaveLength(2)
})
