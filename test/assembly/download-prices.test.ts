import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import {
  downloadPrices,
  type DownloadRequest,
} from '../../src/assembly/recordings/download-prices.ts'
import type { Answer } from '../../src/domain/answer.ts'
import type { BeyondCaller } from '../../src/exchange/readers/candles-reader.ts'
import { loadRecording } from '../../src/prices/load-recording.ts'
import { type Granularity, GRANULARITIES } from '../../src/protocol/beyond/candles.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FROM = Date.UTC(2026, 0, 1)
const LISTED_AT = Date.UTC(2026, 0, 3, 5)

const directory = mkdtempSync(join(tmpdir(), 'intentd-download-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Counts calls; of a contract that was listed on 3 January at 05:00. */
class PastExchange {
  calls = 0
  /** The number of the call that fails, and of all after it. */
  failsFrom = Number.POSITIVE_INFINITY
  refusal = 'retry'
  /** Older payments are forgotten: each page is then the first one. */
  paidSince = 0
  /** Added to each price. */
  shift = 0
  /** Numbers of calls that are answered with an empty page, and those of candles shifted in time. */
  emptyAt: readonly number[] = []
  shiftMs = 0
  /** Minutes that the exchange leaves out. */
  gap: readonly [number, number] = [0, 0]

  readonly caller = {
    call: (endpoint: string, request: Record<string, string>) =>
      Promise.resolve(this.#answer(endpoint, request)),
  } as unknown as BeyondCaller

  #answer(endpoint: string, query: Record<string, string>): Answer<unknown> {
    this.calls += 1
    const base = { receivedAt: 0, requestTime: 0 }
    if (this.calls >= this.failsFrom) {
      const code = { code: '40034', message: 'does not exist', status: 400 }
      const kind = { kind: 'refused', class: this.refusal, topic: 'symbol' }
      return { ...kind, ...code, ...base } as Answer<unknown>
    }
    if (this.emptyAt.includes(this.calls)) return { kind: 'accepted', data: [], ...base }
    const data = endpoint === 'historyFundRate' ? this.#rates(query) : this.#candles(query)
    return { kind: 'accepted', data, ...base }
  }

  #candles(query: Record<string, string>): string[][] {
    const { lengthMs } = GRANULARITIES[query['granularity'] as Granularity]
    const rows: string[][] = []
    const until = Number(query['endTime'])
    const first = Math.max(
      Number(query['startTime']),
      Math.floor(LISTED_AT / lengthMs) * lengthMs,
      until - Number(query['limit']) * lengthMs,
    )
    for (let at = first; at < until; at += lengthMs) {
      if (at >= this.gap[0] && at < this.gap[1]) continue
      const price = String(100 + ((at / MINUTE) % 50) / 10 + this.shift)
      rows.push([String(at + this.shiftMs), price, price, price, price, '1.5', '150'])
    }
    return rows
  }

  #rates({ pageNo, pageSize }: Record<string, string>): object[] {
    const newest = Date.UTC(2026, 0, 10)
    const skipped = this.paidSince > 0 ? 0 : (Number(pageNo) - 1) * Number(pageSize)
    return Array.from({ length: 100 }, (_, index) => ({
      fundingTime: String(newest - (skipped + index) * 8 * HOUR),
      fundingRate: '0.0001',
    })).filter(({ fundingTime }) => Number(fundingTime) >= this.paidSince)
  }
}

let exchange = new PastExchange()
let file = ''
let files = 0
beforeEach(() => {
  exchange = new PastExchange()
  file = join(directory, `${(files += 1)}`, 'BTCUSDT-futures-1m.prices')
})

function download(change: Partial<DownloadRequest> = {}) {
  return downloadPrices({
    caller: exchange.caller,
    productType: 'USDT-FUTURES',
    symbol: 'BTCUSDT',
    granularity: '1m',
    fromAt: FROM,
    toAt: Date.UTC(2026, 0, 4),
    file,
    source: 'exchange.example',
    isMadeUp: false,
    timers: {
      after: (_ms, run) => {
        queueMicrotask(run)
        return () => undefined
      },
    },
    onProgress: () => undefined,
    stopReason: () => undefined,
    ...change,
  })
}

test('a file begins where the exchange does, and holds what was paid', async () => {
  const done = await download()

  expect(done).toMatchObject({ rows: 19 * 60, added: 19 * 60, payments: 3, fromAt: LISTED_AT })
  const { rows, funding, intervalMs, market, symbol } = await loadRecording(file)
  expect({ intervalMs, market, symbol }).toEqual({
    intervalMs: MINUTE,
    market: 'futures',
    symbol: 'BTCUSDT',
  })
  expect([rows.at[0], rows.at.at(-1)]).toEqual([LISTED_AT, Date.UTC(2026, 0, 4) - MINUTE])
  expect([...(funding?.at ?? [])]).toEqual([8, 16, 24].map((hour) => Date.UTC(2026, 0, 3, hour)))
  // Empty months before the listing are not asked for by minutes.
  expect(exchange.calls).toBeLessThan(14)
})

test('a file that exists is continued after its last row', async () => {
  await download({ toAt: Date.UTC(2026, 0, 3, 12) })
  const before = await loadRecording(file)
  exchange.calls = 0
  const done = await download()

  expect(done).toMatchObject({ rows: 19 * 60, added: 12 * 60 })
  const { rows } = await loadRecording(file)
  expect(rows.at.slice(0, before.rows.at.length)).toEqual(before.rows.at)
  for (let row = 1; row < rows.at.length; row++)
    expect((rows.at[row] ?? 0) - (rows.at[row - 1] ?? 0)).toBe(MINUTE)
  expect(await download()).toMatchObject({ rows: 19 * 60, added: 0 })
})

test('minutes that the exchange leaves out are a gap, and no difference', async () => {
  exchange.gap = [Date.UTC(2026, 0, 3, 8), Date.UTC(2026, 0, 3, 11)]
  await download({ toAt: Date.UTC(2026, 0, 3, 11, 30) })

  expect(await download()).toMatchObject({ rows: 16 * 60, added: 12.5 * 60 })
})

test('one empty page anywhere is no end and no hole', async () => {
  await download()
  const { calls } = exchange
  const whole = await loadRecording(file)
  for (let call = 1; call <= calls; call++) {
    exchange = new PastExchange()
    exchange.emptyAt = [call]
    file = join(directory, `empty-${call}`, 'BTCUSDT-futures-1m.prices')
    expect(await download(), `call ${call}`).toMatchObject({ missing: 0, payments: 3 })
    expect((await loadRecording(file)).rows.at, `call ${call}`).toEqual(whole.rows.at)
  }
})

test('a hole is said, and filled by a later call once the exchange shows it', async () => {
  exchange.gap = [Date.UTC(2026, 0, 3, 8), Date.UTC(2026, 0, 3, 15)]
  expect(await download()).toMatchObject({ rows: 12 * 60, missing: 7 * 60 })
  expect(await download()).toMatchObject({ rows: 12 * 60, added: 0, missing: 7 * 60 })

  exchange.gap = [0, 0]
  expect(await download()).toMatchObject({ rows: 19 * 60, added: 7 * 60, missing: 0 })
  const { rows } = await loadRecording(file)
  for (let row = 1; row < rows.at.length; row++)
    expect((rows.at[row] ?? 0) - (rows.at[row - 1] ?? 0)).toBe(MINUTE)
})

test('candles that open between the multiples of their length are refused', async () => {
  exchange.shiftMs = 13_000
  await expect(download()).rejects.toMatchObject({
    code: 'DOWNLOAD_INTERRUPTED',
    facts: { reason: expect.stringMatching(/no candle of 1Dutc opens at/) },
  })
})

test('an exchange that shows other candles than the file has is refused', async () => {
  await download({ toAt: Date.UTC(2026, 0, 3, 12) })
  exchange.shift = 0.1

  await expect(download()).rejects.toMatchObject({ code: 'DOWNLOAD_DIFFERS' })
  expect((await loadRecording(file)).rows.at.length).toBe(7 * 60)
})

test('made-up prices are marked in the file, and never continued by an exchange', async () => {
  await download({ toAt: Date.UTC(2026, 0, 3, 12), isMadeUp: true })
  expect(await loadRecording(file)).toMatchObject({ madeUp: true })

  await expect(download()).rejects.toMatchObject({ code: 'DOWNLOAD_OTHER_FILE' })
  await download({ isMadeUp: true })
  expect(await loadRecording(file)).toMatchObject({ madeUp: true })
})

test('a file of another interval is left alone, and so is one that begins later than wanted', async () => {
  await download({ fromAt: Date.UTC(2026, 0, 3, 12) })

  await expect(download()).rejects.toMatchObject({ code: 'DOWNLOAD_BEGINS_LATER' })
  await expect(download({ granularity: '5m' })).rejects.toMatchObject({
    code: 'DOWNLOAD_OTHER_FILE',
  })
})

test('an exchange that goes away in the middle leaves what was read, and the next call goes on', async () => {
  exchange.failsFrom = 6
  await expect(download()).rejects.toMatchObject({ code: 'DOWNLOAD_INTERRUPTED' })
  const kept = (await loadRecording(file)).rows.at.length
  expect(kept).toBeGreaterThan(0)
  exchange.failsFrom = Number.POSITIVE_INFINITY

  expect(await download()).toMatchObject({ rows: 19 * 60, added: 19 * 60 - kept })
})

test('payments of funding that the file has stay, whatever the exchange still shows', async () => {
  await download({ toAt: Date.UTC(2026, 0, 3, 18) })
  const paidAt = async () => [...((await loadRecording(file)).funding?.at ?? [])]
  const before = await paidAt()
  expect(before).toEqual([8, 16].map((hour) => Date.UTC(2026, 0, 3, hour)))

  // It goes away in the middle, after some rows.
  exchange.failsFrom = exchange.calls + 6
  await expect(download({ toAt: Date.UTC(2026, 0, 6) })).rejects.toMatchObject({
    code: 'DOWNLOAD_INTERRUPTED',
  })
  const kept = await loadRecording(file)
  expect(kept.rows.at.length).toBeGreaterThan(13 * 60)
  expect([...(kept.funding?.at ?? [])]).toEqual(before)

  // It has forgotten the older ones, and shows the same page for ever.
  exchange.failsFrom = Number.POSITIVE_INFINITY
  exchange.calls = 0
  exchange.paidSince = Date.UTC(2026, 0, 5)
  await download({ toAt: Date.UTC(2026, 0, 6) })
  expect((await paidAt()).map((at) => (at - Number(before[0])) / HOUR)).toEqual([
    0, 8, 40, 48, 56, 64,
  ])
  expect(exchange.calls).toBeLessThan(60)
})

test('a signal ends it in good order', async () => {
  const stopReason = () => (exchange.calls >= 5 ? 'SIGINT' : undefined)
  await expect(download({ stopReason })).rejects.toMatchObject({
    code: 'DOWNLOAD_INTERRUPTED',
    facts: { reason: 'SIGINT' },
  })
  expect((await loadRecording(file)).rows.at.length).toBeGreaterThan(0)
})

test('a symbol that the exchange does not know, and a time without candles, are said', async () => {
  await expect(download({ toAt: Date.UTC(2026, 0, 2) })).rejects.toMatchObject({
    code: 'DOWNLOAD_EMPTY',
  })
  exchange.failsFrom = 0
  exchange.refusal = 'definite'
  exchange.calls = 0
  await expect(download()).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' })
  expect(exchange.calls).toBe(1)
})
