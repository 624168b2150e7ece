import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Fill } from '../../src/domain/fill.ts'
import { type OrderId, type TradeId } from '../../src/domain/ids.ts'
import type { OrderTerms } from '../../src/domain/order.ts'
import { type JournalRecord } from '../../src/domain/record.ts'
import { applyRecord } from '../../src/engine/book/apply-record.ts'
import { toBookRows, rebuildBook, takeBookChanges } from '../../src/engine/book/book-rows.ts'
import { deriveClientOid } from '../../src/execution/batch.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { MOMENT_AT } from '../support/market-moment.ts'
import { InterpreterBench, STRATEGY } from './interpreter-bench.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoints-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Changes nothing in the book. */
const DENIAL: JournalRecord = {
  kind: 'denial',
  at: MOMENT_AT,
  strategyId: 's',
  symbol: 'BTCUSDT',
  code: 'KEY_REUSED',
  detail: '',
  orders: 1,
  unlogged: 0,
}

/** Two entries of its own for each fill: the trade, and what waits for its order. */
function fillsRecord(first: number, count: number): JournalRecord {
  const fills = Array.from({ length: count }, (_, index): Fill => {
    const id = String(first + index)
    return {
      tradeId: id as TradeId,
      orderId: id as OrderId,
      symbol: 'BTCUSDT',
      side: 'buy',
      tradeSide: 'open',
      ticks: 1,
      lots: 1,
      fee: '0',
      profit: '0',
      scope: 'maker',
      source: 'MANUAL',
      filledAt: MOMENT_AT,
    }
  })
  return { kind: 'fills', at: MOMENT_AT, fills }
}

/** One process: it reads what is there, writes, and dies. How many records it read, and whether it found a checkpoint. */
function runAndDie(records: readonly JournalRecord[]): {
  readonly read: number
  readonly rows: number
} {
  const file = join(folder, 'journal.sqlite')
  const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
  const found = journal.load()
  const book = rebuildBook(found, 'one_way_mode')
  const bench = new InterpreterBench({ journal, book })
  for (const record of records) applyRecord(book, record)
  bench.step(
    'started',
    records.map((record) => ({ kind: 'record', record, durable: false })),
  )
  bench.interpreter.dispatch({ kind: 'timePassed' })
  expect(bench.broken).toEqual([])
  // Nothing but the end of its connection: no checkpoint of an end in good order.
  journal.close()
  const again = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
  const rebuilt = rebuildBook(again.load(), 'one_way_mode')
  again.close()
  expect(JSON.stringify(toBookRows(rebuilt))).toBe(JSON.stringify(toBookRows(book)))
  return { read: found.records.length, rows: found.checkpoint?.length ?? 0 }
}

describe('[DET2] processes that die before they have written enough for a checkpoint', () => {
  test('count what the ones before them wrote: records', () => {
    const runs = Array.from({ length: 12 }, () =>
      runAndDie(Array.from({ length: 1500 }, (): JournalRecord => DENIAL)),
    )

    expect(Math.max(...runs.map(({ read }) => read))).toBeLessThan(10_000)
    expect(runs.at(-1)?.rows).toBeGreaterThan(0)
  })

  test('count what the ones before them wrote: changed entries', () => {
    const runs = Array.from({ length: 12 }, (_, run) => runAndDie([fillsRecord(run * 400, 400)]))

    expect(Math.max(...runs.map(({ read }) => read))).toBeLessThan(6)
    expect(runs.at(-1)?.rows).toBeGreaterThan(3000)
  })
})

describe('the rows of a checkpoint that is due', () => {
  /** A journal in memory that is far enough behind, and the interpreter that writes to it. */
  function behind(): InterpreterBench {
    const bench = new InterpreterBench()
    const fills = fillsRecord(0, 400)
    applyRecord(bench.book, fills)
    bench.step('started', [{ kind: 'record', record: fills, durable: false }])
    bench.done.length = 0
    return bench
  }
  const recording = [{ kind: 'record', record: DENIAL, durable: false } as const]

  test('wait for a tick that records nothing, and records are flushed meanwhile', async () => {
    const bench = behind()

    await bench.time.pass(1000)
    bench.step('timePassed', recording)
    expect(bench.done).toEqual(['append denial', 'flush'])
    bench.step('timePassed', [])
    expect(bench.done).toEqual(['append denial', 'flush', 'checkpoint'])
  })

  test('wait for five ticks at most', () => {
    const bench = behind()

    for (let tick = 0; tick < 6; tick++) bench.step('timePassed', recording)

    expect(bench.done.indexOf('checkpoint')).toBe(bench.done.length - 1)
    expect(bench.done.filter((what) => what === 'append denial')).toHaveLength(6)
  })
})

/** Orders by name, each with a key of its own. */
function sendRecord(count: number): JournalRecord {
  const orders = Array.from({ length: count }, (_, index): OrderTerms => {
    const key = `order ${index}`
    return {
      clientOid: deriveClientOid({ salt: 'ab', strategyId: STRATEGY, key, generation: 0 }),
      strategyId: STRATEGY,
      symbol: 'BTCUSDT',
      purpose: 'place',
      key,
      generation: 0,
      action: 'openLong',
      lots: 4,
      ticks: 1e4,
      force: 'gtc',
      deadlineAt: MOMENT_AT,
    }
  })
  return {
    kind: 'send',
    at: MOMENT_AT,
    batchId: 1,
    symbol: 'BTCUSDT',
    orders,
    again: [],
    requestAt: MOMENT_AT,
    body: '{}',
    seen: { snapshot: 1, market: {} as never, waitedMs: 0 },
  }
}

describe('[ORD2] the keys of a checkpoint are stored in turns before it', () => {
  const file = (): string => join(folder, 'journal.sqlite')
  const open = () => openSqliteJournal({ file: file(), identity: 'live 1', keepSince: () => 0 })

  /** The journal as a kill would leave it, in a file of its own. */
  function copyFiles(name: string): string {
    const copy = join(folder, name)
    for (const part of ['', '-wal', '.mark']) copyFileSync(`${file()}${part}`, `${copy}${part}`)
    return copy
  }

  test('so that no event stores many, and a kill between two loses none', () => {
    const journal = open()
    const book = rebuildBook(journal.load(), 'one_way_mode')
    journal.saveCheckpoint(takeBookChanges(book))
    const bench = new InterpreterBench({ journal, book })
    const keys = Array.from({ length: 250 }, (_, index) => `order ${index}`)
    const record = sendRecord(keys.length)
    applyRecord(book, record)
    bench.step('started', [{ kind: 'record', record, durable: true }])

    const stored: number[] = [0]
    for (let turn = 1; journal.recordsSinceCheckpoint > 0; turn++) {
      bench.interpreter.dispatch({ kind: 'timePassed' })
      const copy = copyFiles(`turn-${turn}.sqlite`)
      const database = new DatabaseSync(copy, { readOnly: true })
      stored.push(Number(database.prepare('SELECT count(*) AS n FROM used_keys').get()?.['n']))
      database.close()
      const again = openSqliteJournal({ file: copy, identity: 'live 1', keepSince: () => 0 })
      const rebuilt = rebuildBook(again.load(), 'one_way_mode')
      expect(toBookRows(rebuilt)).toEqual(toBookRows(book))
      const asked = keys.map((key) => ({ purpose: 'place', strategyId: STRATEGY, key }) as const)
      expect(again.usedKeys(asked).map(({ key }) => key)).toEqual(keys)
      again.close()
    }
    journal.close()

    expect(bench.broken).toEqual([])
    expect(stored.at(-1)).toBe(keys.length)
    const most = Math.max(...stored.slice(1).map((count, index) => count - (stored[index] ?? 0)))
    expect(most).toBeLessThanOrEqual(64)
  })
})
