import { expect, test } from 'vitest'
import { UniverseRecorder } from '../../src/assembly/recordings/record-universe.ts'
import type { Answer } from '../../src/domain/answer.ts'
import type { ContractRules } from '../../src/domain/contract-rules.ts'
import type { TickerTable } from '../../src/domain/ticker-table.ts'
import type { KeptListing } from '../../src/recording/universe/universe-file.ts'
import { DrawnTickers } from '../support/drawn-tickers.ts'
import { ManualTime } from '../support/manual-time.ts'

const MINUTE_MS = 60_000
const AT = Date.UTC(2026, 0, 1, 12, 0, 20)
const RULES: ContractRules = { tickSize: '1', lotSize: '1', minSize: '1', minNotional: '5' }

/** An exchange whose answers a test chooses, and what was kept of them. */
class RecordedExchange {
  readonly time = new ManualTime(AT)
  readonly drawn = new DrawnTickers({ count: 5, seed: 1 })
  readonly kept: number[] = []
  readonly listed: KeptListing[] = []
  readonly said: string[] = []
  contractReads = 0
  failing = false
  contractsFailing = false
  /** Added to the time of an answer. */
  shiftMs = 0
  leftOut = 0
  full = false
  readonly recorder = new UniverseRecorder({
    readTickers: (table) => Promise.resolve(this.#read(table)),
    readContracts: () => Promise.resolve(this.#readContracts()),
    writer: {
      append: (table) => {
        if (this.full) return Promise.reject(new Error('no space left on device'))
        this.kept.push(table.requestTime)
        return Promise.resolve(100)
      },
      list: (listing) => this.listed.push(listing),
    },
    clock: this.time,
    timers: this.time,
    everyMs: MINUTE_MS,
    say: (sentence) => this.said.push(sentence),
  })

  #read(table: TickerTable): Answer<TickerTable> {
    const receivedAt = this.time.now()
    if (this.failing) return refused(receivedAt)
    this.drawn.next(table, receivedAt + this.shiftMs)
    if (this.leftOut > 0) {
      const symbols = table.symbols.slice(this.leftOut)
      table.clear()
      for (const symbol of symbols) table.claimRow(symbol)
    }
    return { kind: 'accepted', data: table, receivedAt, requestTime: receivedAt }
  }

  #readContracts(): Answer<ReadonlyMap<string, ContractRules>> {
    this.contractReads += 1
    const receivedAt = this.time.now()
    if (this.contractsFailing) return refused(receivedAt)
    const data = new Map(this.drawn.symbols.map((symbol) => [symbol, RULES]))
    return { kind: 'accepted', data, receivedAt, requestTime: receivedAt }
  }
}

function refused(receivedAt: number): Answer<never> {
  const code = { code: '40015', message: 'system is abnormal', status: 500 } as const
  return { kind: 'refused', class: 'retry', topic: 'system', receivedAt, ...code }
}

const minute = (count: number) => Date.UTC(2026, 0, 1, 12, count)

test('an answer is kept at once, and then at each whole minute', async () => {
  const exchange = new RecordedExchange()
  const ended = exchange.recorder.run()
  await exchange.time.pass(0)

  await exchange.time.pass(3 * MINUTE_MS)
  exchange.recorder.stop()
  await ended

  expect(exchange.kept).toEqual([AT, minute(1), minute(2), minute(3)])
  expect(exchange.recorder.stats).toEqual({ answers: 4, bytes: 400, missed: 0 })
  expect(exchange.contractReads).toBe(1)
  expect(exchange.time.timersWaiting).toBe(0)
  expect(exchange.said).toEqual([])
})

test('contracts are read again after a quarter of an hour, and when the list of tickers changes', async () => {
  const exchange = new RecordedExchange()
  const ended = exchange.recorder.run()

  await exchange.time.pass(14 * MINUTE_MS)
  expect(exchange.contractReads).toBe(1)
  exchange.leftOut = 1
  await exchange.time.pass(MINUTE_MS)
  expect(exchange.contractReads).toBe(2)
  await exchange.time.pass(14 * MINUTE_MS)
  expect(exchange.contractReads).toBe(2)
  await exchange.time.pass(2 * MINUTE_MS)
  expect(exchange.contractReads).toBe(3)
  exchange.recorder.stop()
  await ended
  expect(exchange.listed[0]?.contracts.get('C000USDT')).toEqual(RULES)
})

test('calls that fail are repeated within the minute, and said once', async () => {
  const exchange = new RecordedExchange()
  const ended = exchange.recorder.run()
  await exchange.time.pass(30_000)

  exchange.failing = true
  exchange.contractsFailing = true
  await exchange.time.pass(MINUTE_MS + 13_000)
  exchange.failing = false
  await exchange.time.pass(MINUTE_MS)
  exchange.leftOut = 1
  await exchange.time.pass(2 * MINUTE_MS)
  exchange.contractsFailing = false
  await exchange.time.pass(MINUTE_MS)
  exchange.recorder.stop()
  await ended

  expect(exchange.recorder.stats.missed).toBe(1)
  expect(exchange.said).toEqual([
    'tickers are not kept: 40015 system is abnormal',
    'tickers are kept again',
    'contracts are not read: 40015 system is abnormal',
    'contracts are read again',
  ])
})

test('an answer of a wrong time, or a second time, is not kept', async () => {
  const exchange = new RecordedExchange()
  const ended = exchange.recorder.run()
  await exchange.time.pass(30_000)
  exchange.shiftMs = 3 * 86_400_000
  await exchange.time.pass(MINUTE_MS)
  exchange.shiftMs = -10 * MINUTE_MS
  await exchange.time.pass(MINUTE_MS)
  exchange.shiftMs = 0
  await exchange.time.pass(MINUTE_MS)
  exchange.recorder.stop()
  await ended

  expect(exchange.kept).toEqual([AT, minute(3)])
  expect(exchange.recorder.stats.missed).toBe(2)
  expect(exchange.said[0]).toMatch(/^tickers are not kept: the answer is of 2026-01-04/)
})

test('a full disk is said, and what comes later is kept', async () => {
  const exchange = new RecordedExchange()
  exchange.full = true
  const ended = exchange.recorder.run()
  await exchange.time.pass(2 * MINUTE_MS)
  exchange.full = false
  await exchange.time.pass(MINUTE_MS)
  exchange.recorder.stop()
  await ended

  expect(exchange.said).toEqual([
    'tickers are not kept: no space left on device',
    'tickers are kept again',
  ])
  expect(exchange.kept.at(-1)).toBe(minute(3))
})
