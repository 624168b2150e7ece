import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRest, isTerminal } from '../../src/domain/order.ts'
import { countBookChanges } from '../../src/engine/book/book-rows.ts'
import { type EventTime } from './event-meter.ts'
import { timesOfBoth } from './soak-report.ts'
import { compareLedger } from './compare-ledger.ts'
import { digestOf } from './restart.ts'
import { SoakAccount } from './soak-account.ts'
import { openSoakJournal, restoreBook } from './soak-journal.ts'
import { sizesOf } from './soak-sample.ts'

const LOAD = 8
/** Long enough that ended orders are forgotten. */
const RUN_MS = 420_000

/** As `docs/bounds.md` has them, ms. */
const ORDERS_KEPT_MS = 300_000
const PRUNE_EVERY_MS = 5000
/** What is read again (fills as they become visible, and 2 s more), and a minute. */
const TRADES_KEPT_MS = 60_000 + 2000 + 250
/** Fills are read every 5 s at this load, and time passes every second. */
const LATE_MS = 7000
const OPEN_ORDERS_MAX = 1000
/** A checkpoint comes at 250 changes, and no event of this load makes so many more. */
const CHANGES_MAX = 250 + 500
/** Between two looks at what has changed, 50 ms, a cancel-all may end hundreds of orders, and batches place others. */
const BUSIEST_MOMENT_ROWS = 1150

describe('minutes under a load, on the journal on disk', () => {
  let account: SoakAccount
  beforeAll(() => {
    account = new SoakAccount(LOAD)
    account.run(RUN_MS)
  })
  afterAll(() => account.close())

  test('reach the load, with orders of every fate', () => {
    const { orders, fills, cancelled, cancelAlls } = account.exchange.counts
    const fates = new Set(
      [...account.book.orders.values()].map(({ state, terms }) => `${state} ${canRest(terms)}`),
    )

    expect(orders).toBeGreaterThan((LOAD * RUN_MS) / 1000)
    expect(Math.min(fills, cancelled, cancelAlls)).toBeGreaterThan(50)
    expect([...fates]).toEqual(
      expect.arrayContaining([
        'live true',
        'filled true',
        'filled false',
        'done true',
        'done false',
      ]),
    )
  })

  test('[BND1] leave in the book what is kept, and no more', () => {
    const { book, now } = account
    const sizes = sizesOf(book)
    const ended = [...book.orders.values()].filter(isTerminal)
    const before = now - ORDERS_KEPT_MS - PRUNE_EVERY_MS
    const tradesBefore = now - TRADES_KEPT_MS - PRUNE_EVERY_MS - LATE_MS

    expect(account.exchange.counts.orders).toBeGreaterThan(1.2 * ended.length)
    expect(ended.filter(({ endedAt }) => endedAt < before)).toEqual([])
    expect(sizes['open']).toBe(book.orders.size - ended.length)
    expect(sizes['open']).toBeLessThan(OPEN_ORDERS_MAX)
    expect(account.exchange.counts.fills).toBeGreaterThan(2 * book.trades.size)
    expect([...book.trades.values()].filter((filledAt) => filledAt < tradesBefore)).toEqual([])
    expect([...book.keys.values()].filter(({ clientOid }) => !book.orders.has(clientOid))).toEqual(
      [],
    )
    expect(
      [...book.places.values()].filter(({ deadlineAt }) => deadlineAt < now - LATE_MS),
    ).toEqual([])
    expect(
      [...book.withdrawn].filter((name) => isTerminal(book.orders.get(name) ?? fail(name))),
    ).toEqual([])
    expect(countBookChanges(book)).toBeLessThan(CHANGES_MAX)
    expect([sizes['orphans'], sizes['unsettled'], sizes['restrictions']]).toEqual([0, 0, 0])
  })

  test('[DET2] are followed by a restart that rebuilds the same book', () => {
    account.flush()
    const journal = openSoakJournal(account.file, () => 0)
    const restored = restoreBook(journal)
    journal.close()

    expect(digestOf(restored)).toBe(digestOf(account.book))
  })

  test('[ORD5] end with the books that the exchange has, to the last digit', () => {
    const isClean = account.stop('flatten')

    expect(isClean).toBe(true)
    expect(account.exchange.counts.fills).toBeGreaterThan(100)
    expect(compareLedger(account)).toEqual([])
  })
})

test('[BND1] a checkpoint writes little at once, however many orders there are', () => {
  const account = new SoakAccount(250)
  try {
    account.run(25_000)

    expect(account.exchange.counts.orders).toBeGreaterThan(5000)
    expect(account.meter.checkpoints).toBeGreaterThan(20)
    expect(account.meter.checkpointRowsMax).toBeLessThan(250 + BUSIEST_MOMENT_ROWS)
  } finally {
    account.close()
  }
})

test('of an event that is held up in one of two runs the shorter time counts', () => {
  const took = (ms: number, kind = 'timePassed') =>
    ({ kind, stepMs: ms, effectsMs: 0, journalMs: 0, checkpointMs: 0, cpuMs: ms }) as EventTime
  const first = new Map([
    [7, took(90)],
    [8, took(60)],
    [9, took(55)],
  ])
  const second = new Map([
    [7, took(12)],
    [9, took(70)],
  ])

  expect([...timesOfBoth(first, second)].map(([number, { cpuMs }]) => [number, cpuMs])).toEqual([
    [7, 12],
    [9, 55],
  ])
  expect(() => timesOfBoth(first, new Map([[7, took(12, 'granted')]]))).toThrow('event 7')
})

function fail(name: string): never {
  throw new Error(`${name} is no order`)
}
