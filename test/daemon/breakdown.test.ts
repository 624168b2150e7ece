import { expect, it } from 'vitest'
import { endOfStart } from '../../src/daemon/account/breakdown.ts'
import { exitOf } from '../../src/cli/process/exit-codes.ts'
import { type WriterLease } from '../../src/journal/journal.ts'
import { HeldLease } from '../../src/journal/postgres/lease.ts'
import { strategyFailure } from '../../src/strategy/strategy-failure.ts'
import { ManualTime } from '../support/manual-time.ts'

const LASTING_MS = 10_000

function holdLease(time: ManualTime): HeldLease {
  return new HeldLease({
    schema: 'made',
    holder: 'made',
    clock: time,
    timers: time,
    lastingMs: LASTING_MS,
    connection: {
      query: () => Promise.reject(new Error('the server is away')),
      close: () => Promise.resolve(),
    },
    taken: {
      kind: 'taken',
      token: 1,
      feedPlace: 0,
      isAbandoned: false,
      commitMs: 0,
      asked: {
        monotonic: time.monotonic(),
        now: time.now(),
      },
    },
  })
}

function leaseOf(held: HeldLease): WriterLease {
  return Object.assign(held, { keep: () => undefined })
}

/** A supervisor leaves a process down that ended with 78. */
const THREAD_LATE = strategyFailure('STRATEGY_THREAD', { facts: { found: 'not loaded in time' } })

it('a start that fails after its lease has run out ends with 75, so that a supervisor starts it again', async () => {
  const time = new ManualTime(0)
  const lease = leaseOf(holdLease(time))

  const before = endOfStart(THREAD_LATE, { lease })
  await time.pass(LASTING_MS)
  const after = endOfStart(THREAD_LATE, { lease })

  expect([before, exitOf(before)]).toEqual([THREAD_LATE, 78])
  expect(after).toMatchObject({ code: 'JOURNAL_LEASE_LOST' })
  expect(exitOf(after)).toBe(75)
})

it('a start without a lease, or after it was given back, ends with what failed', async () => {
  const time = new ManualTime(0)
  const lease = holdLease(time)
  await lease.close()

  expect(endOfStart(THREAD_LATE, {})).toBe(THREAD_LATE)
  expect(endOfStart(THREAD_LATE, { lease: leaseOf(lease) })).toBe(THREAD_LATE)
})
