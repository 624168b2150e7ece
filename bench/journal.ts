// What a checkpoint costs, and a start: books with so many ended orders, of which 2,000 entries have changed. The
// rows of what changed, against the whole book as one JSON text, which is how it was written before; both in one
// run, in CPU time, so that the ratio holds on any machine. `npm run bench:journal -- [--orders 10000,100000]`

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { type OrderId, toStrategyId, type TradeId } from '../src/domain/ids.ts'
import { type Order, type OrderTerms } from '../src/domain/order.ts'
import { type JournalRecord } from '../src/domain/record.ts'
import { applyRecord } from '../src/engine/book/apply-record.ts'
import { type Book, createBook, storeOrder } from '../src/engine/book/book.ts'
import { countBookChanges, rebuildBook, takeBookChanges } from '../src/engine/book/book-rows.ts'
import { deriveClientOid } from '../src/execution/batch.ts'
import { type Journal } from '../src/journal/journal.ts'
import { nextLink } from '../src/journal/durable-mark.ts'
import { openSqliteJournal } from '../src/journal/sqlite-journal.ts'
import { mutable } from '../src/lib/mutable.ts'
import { medianOf } from './figures.ts'

const { values } = parseArgs({
  options: { orders: { type: 'string', default: '10000,100000,400000' } },
})
const CHANGES = 2000
const BATCH = 50
const STRATEGY = toStrategyId('grid')
/** Those of the book that fill here, beside the orders. */
const MAPS = ['keys', 'trades', 'holdings', 'account'] as const
const START_AT = Date.UTC(2026, 0, 1)

interface Cost {
  /** CPU of this process, ms. */
  readonly checkpointMs: number
  readonly openMs: number
}

const folder = mkdtempSync(join(tmpdir(), 'bench-journal-'))
try {
  for (const orders of values.orders.split(',').map(Number)) printCosts(orders)
} finally {
  rmSync(folder, { recursive: true })
}

function printCosts(orders: number): void {
  const book = createBook('one_way_mode')
  for (let first = 0; first < orders; first += BATCH) addBatch(book, first)
  const rows = measureRows(book, orders)
  const text = measureText(book)
  const ratio = (of: keyof Cost): string => (text[of] / rows[of]).toFixed(1)
  const [checkpoint, open] = (['checkpointMs', 'openMs'] as const).map(
    (of) => `${text[of].toFixed(0)} ms as a text, ${rows[of].toFixed(0)} as rows: 1/${ratio(of)}`,
  )
  console.log(`${orders} ended orders: a checkpoint ${checkpoint}; a start ${open}`)
}

function measureRows(book: Book, orders: number): Cost {
  const file = join(folder, `${orders}.sqlite`)
  const open = (): Journal =>
    openSqliteJournal({ file, identity: 'bench', salt: 'ab', keepSince: () => 0 })
  const journal = open()
  journal.saveCheckpoint(takeBookChanges(book))
  const checkpointMs = medianOf(
    Array.from({ length: 5 }, (_, round) => {
      for (let batch = 0; countBookChanges(book) < CHANGES; batch++)
        addBatch(book, orders * (round + 1) + batch * BATCH, journal)
      journal.flush()
      return measure(() => journal.saveCheckpoint(takeBookChanges(book)))
    }),
  )
  journal.close()
  let again: Journal | undefined
  const openMs = measure(() => {
    again = open()
    rebuildBook(again.load(), 'one_way_mode')
  })
  again?.close()
  return { checkpointMs, openMs }
}

/** As layout 3 had it: one text, one row, one digest. */
function measureText(book: Book): Cost {
  const database = new DatabaseSync(join(folder, 'text.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec(
    'DROP TABLE IF EXISTS checkpoints; CREATE TABLE checkpoints (body TEXT, seal TEXT) STRICT',
  )
  const save = (): void => {
    const maps = MAPS.map((name) => [...book[name]])
    const text = JSON.stringify({ maps, orders: [...book.orders.values()] })
    database.exec('BEGIN IMMEDIATE; DELETE FROM checkpoints')
    database.prepare('INSERT INTO checkpoints VALUES (?, ?)').run(text, nextLink('', text))
    database.exec('COMMIT')
  }
  save()
  const checkpointMs = measure(save)
  const openMs = measure(() => readText(database))
  database.close()
  return { checkpointMs, openMs }
}

/** Twice, as a start did: to prove it, and to load it. */
function readText(database: DatabaseSync): void {
  const row = database.prepare('SELECT body, seal FROM checkpoints').get()
  const text = String(row?.['body'])
  if (nextLink('', text) !== row?.['seal']) throw new Error('unreachable')
  const { maps, orders } = JSON.parse(text) as { maps: [string, unknown][][]; orders: Order[] }
  const book = mutable(createBook('one_way_mode'))
  for (const [index, name] of MAPS.entries()) {
    const map = book[name] as Map<string, unknown>
    for (const [key, value] of maps[index] ?? []) map.set(key, value)
  }
  for (const { terms, state, orderId, ...rest } of orders)
    storeOrder(book, { terms, state, orderId, ...rest })
}

/** Orders by name that are sent, accepted and filled, in three records. */
function addBatch(book: Book, first: number, journal?: Journal): void {
  const at = START_AT + first
  const terms = Array.from({ length: BATCH }, (_, index) => toTerms(first + index))
  const orderIdOf = (index: number): OrderId => String(1e18 + (first + index) * 1000) as OrderId
  const records: readonly JournalRecord[] = [
    {
      kind: 'send',
      at,
      batchId: first,
      symbol: 'BTCUSDT',
      orders: terms,
      again: [],
      requestAt: at,
      body: '{}',
      seen: {
        snapshot: first,
        market: {} as never,
        waitedMs: 0,
      },
    },
    {
      kind: 'outcome',
      at,
      batchId: first,
      items: terms.map(({ clientOid }, index) => ({
        clientOid,
        outcome: 'accepted',
        orderId: orderIdOf(index),
      })),
    },
    {
      kind: 'fills',
      at,
      fills: terms.map(({ symbol, lots }, index) => ({
        tradeId: String(0x1bc16d674ec80000 + (first + index) * 1e3) as TradeId,
        orderId: orderIdOf(index),
        symbol,
        lots,
        side: (first / BATCH + index) % 2 === 0 ? 'buy' : 'sell',
        tradeSide: 'open',
        ticks: 1e4,
        fee: '0.01',
        profit: '0',
        scope: 'maker',
        source: 'API',
        filledAt: at,
      })),
    },
  ]
  for (const record of records) {
    applyRecord(book, record)
    journal?.append(record)
  }
}

function toTerms(number: number): OrderTerms {
  const key = `order ${number}`
  return {
    clientOid: deriveClientOid({
      salt: 'ab',
      strategyId: STRATEGY,
      key,
      generation: 0,
    }),
    strategyId: STRATEGY,
    symbol: 'BTCUSDT',
    purpose: 'place',
    key,
    generation: 0,
    action: 'openLong',
    lots: 4,
    ticks: 1e4,
    force: 'gtc',
    deadlineAt: START_AT,
  }
}

/** CPU time, ms. */
function measure(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
