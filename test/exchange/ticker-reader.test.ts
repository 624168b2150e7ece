import { describe, expect, it } from 'vitest'
import { TICKER_COLUMNS, TickerTable } from '../../src/domain/ticker-table.ts'
import { readTickersJson } from '../../src/exchange/readers/ticker-reader.ts'
import { createRandom } from '../../src/lib/random.ts'
import { ticker } from '../../src/protocol/futures/tickers.ts'
import { envelopeOf, jsonAnswer, rawAnswer } from '../support/wire-server.ts'
import { closeClientsAfterEach, openClient } from './client-fixture.ts'

closeClientsAfterEach()

type Row = Record<string, unknown>

function tickerRow(symbol: string, more: Row = {}): Row {
  return {
    symbol,
    lastPr: '29904.5',
    askPr: '29904.5',
    bidPr: '29903.5',
    bidSz: '0.5091',
    askSz: '2.2694',
    high24h: '0',
    low24h: '0',
    ts: '1695794271400',
    change24h: '-0.01',
    baseVolume: '0',
    quoteVolume: '0',
    usdtVolume: '0',
    openUtc: '0',
    changeUtc24h: '0',
    indexPrice: '29132.353333',
    fundingRate: '-0.0007',
    holdingAmount: '125.6844',
    deliveryStartTime: null,
    deliveryTime: null,
    deliveryStatus: 'delivery_normal',
    open24h: '0',
    ...more,
  }
}

const bytesOf = (rows: unknown, more: Row = {}): Buffer =>
  Buffer.from(JSON.stringify(envelopeOf(rows, more)))

describe('reading tickers from bytes', () => {
  it('[MKT4] rows of instruments with other characters in their name cost those beside them nothing', () => {
    const odd = [
      '币安人生USDT',
      'BTC-USD-240628',
      '1000SATSUSDT',
      'BTCUSDT_UMCBL',
      'a/b|c d',
      '"\\',
      '😀',
      '__proto__',
    ]
    const table = new TickerTable()
    const rows = [...odd, 'BTCUSDT'].flatMap((symbol) => [tickerRow(symbol)])
    // As other programs write them.
    const escaped = bytesOf(rows)
      .toString()
      .replaceAll(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )

    for (const bytes of [bytesOf(rows), Buffer.from(escaped)]) {
      expect(readTickersJson(bytes, table).kind).toBe('filled')
      expect(table.symbols).toEqual([...odd, 'BTCUSDT'])
      expect(table.read('BTCUSDT', 'bidPr')).toBe(29903.5)
    }
  })

  it('fills the columns, and leaves NaN where a value is missing, null or empty', () => {
    const table = new TickerTable()
    const { bidPr: _, ...withoutBid } = tickerRow('ETHUSD_231229', {
      askSz: '',
      deliveryTime: '1703836799000',
    })

    const read = readTickersJson(bytesOf([tickerRow('BTCUSD'), withoutBid]), table)

    expect(read).toEqual({ kind: 'filled', requestTime: 1_700_000_000_000 })
    expect(table.symbols).toEqual(['BTCUSD', 'ETHUSD_231229'])
    expect(table.read('BTCUSD', 'bidPr')).toBe(29903.5)
    expect(table.read('BTCUSD', 'fundingRate')).toBe(-0.0007)
    expect(table.read('BTCUSD', 'deliveryStatus')).toBe(1)
    expect(table.read('BTCUSD', 'deliveryTime')).toBeNaN()
    expect(table.read('ETHUSD_231229', 'deliveryTime')).toBe(1_703_836_799_000)
    expect(table.read('ETHUSD_231229', 'bidPr')).toBeNaN()
    expect(table.read('ETHUSD_231229', 'askSz')).toBeNaN()
  })

  it('[MKT2] a second answer leaves nothing of the first: neither a symbol nor a value', () => {
    const table = new TickerTable()
    readTickersJson(bytesOf([tickerRow('A1'), tickerRow('B1'), tickerRow('C1')]), table)

    readTickersJson(
      bytesOf([tickerRow('C1', { bidPr: null }), tickerRow('A1', { lastPr: '7' })]),
      table,
    )

    expect(table.symbols).toEqual(['C1', 'A1'])
    expect(table.read('C1', 'bidPr')).toBeNaN()
    expect(table.read('A1', 'lastPr')).toBe(7)
    expect(table.read('B1', 'lastPr')).toBeNaN()
  })

  it('reads small numbers with an exponent, as some runtimes print them', () => {
    const table = new TickerTable()
    readTickersJson(bytesOf([tickerRow('PEPE', { lastPr: '1.2E-7', askSz: '0E-8' })]), table)
    expect(table.read('PEPE', 'lastPr')).toBe(1.2e-7)
    expect(table.read('PEPE', 'askSz')).toBe(0)
  })

  const spoilt: ReadonlyArray<readonly [string, Row]> = [
    ['a last price in another type', { lastPr: 7 }],
    ['NaN', { bidPr: 'NaN' }],
    ['infinity', { bidPr: 'Infinity' }],
    ['what is infinite as a float', { bidPr: '1e999' }],
    ['a hexadecimal number', { bidPr: '0x10' }],
    ['blanks', { bidPr: ' ' }],
    ['the word null', { bidPr: 'null' }],
    ['a negative price', { bidPr: '-1' }],
    ['a price that no tick can count', { bidPr: '1e308' }],
    ['a last price beyond all exact numbers', { lastPr: '9007199254740994' }],
    ['a delivery state that is not listed', { deliveryStatus: 'missing' }],
  ]
  for (const [what, change] of spoilt) {
    it(`[MKT4] ${what} costs its instrument alone, all of its row, and only this time`, () => {
      const table = new TickerTable(4)
      const good = [tickerRow('A1'), tickerRow('B1')]
      readTickersJson(bytesOf(good), table)

      const read = readTickersJson(bytesOf([tickerRow('A1', change), tickerRow('B1')]), table)

      expect(read.kind).toBe('filled')
      expect(TICKER_COLUMNS.map((column) => table.read('A1', column))).toEqual(
        TICKER_COLUMNS.map(() => Number.NaN),
      )
      expect(table.read('B1', 'bidPr')).toBe(29903.5)
      expect([...table.unreadable.keys()]).toEqual(['A1'])
      expect(table.unreadable.get('A1')).toContain(Object.keys(change)[0])
      readTickersJson(bytesOf(good), table)
      expect([table.read('A1', 'bidPr'), table.unreadable.size]).toEqual([29903.5, 0])
    })
  }

  it.each(['', null, undefined])(
    '[MKT4] a listing that never traded has no last price: %j',
    (lastPr) => {
      const table = new TickerTable(4)

      const read = readTickersJson(bytesOf([tickerRow('A1', { lastPr }), tickerRow('B1')]), table)

      expect([read.kind, table.unreadable.size]).toEqual(['filled', 0])
      expect([table.read('A1', 'lastPr'), table.read('A1', 'bidPr')]).toEqual([Number.NaN, 29903.5])
      expect(table.read('B1', 'lastPr')).toBe(29904.5)
    },
  )

  it('[MKT4] what is listed twice has no prices, and what names no instrument is left out', () => {
    const table = new TickerTable(4)
    const rows = [tickerRow('A1'), null, tickerRow(''), 7, [], tickerRow('B1'), tickerRow('A1')]
    for (let again = 0; again < 2; again++) {
      expect(readTickersJson(bytesOf(rows), table).kind).toBe('filled')

      expect(table.symbols).toEqual(['A1', 'B1'])
      expect([table.read('A1', 'bidPr'), table.read('B1', 'bidPr')]).toEqual([Number.NaN, 29903.5])
      expect([...table.unreadable.keys()]).toEqual(['A1'])
    }
  })

  const absurd: ReadonlyArray<readonly [string, unknown]> = [
    ['no entry with a symbol', [tickerRow(''), null]],
    ['a list as a row', [[]]],
    ['no list', { A1: tickerRow('A1') }],
    ['no data', null],
  ]

  for (const [what, rows] of absurd) {
    it(`[MKT1] ${what} makes the whole answer unusable, and the table empty`, () => {
      const table = new TickerTable(4)
      readTickersJson(bytesOf([tickerRow('OLD')]), table)
      table.readAt = 5

      const read = readTickersJson(bytesOf(rows), table)

      expect(read.kind).toBe('malformed')
      expect(table.symbols).toEqual([])
      expect(table.readAt).toBe(0)
      expect(table.read('OLD', 'lastPr')).toBeNaN()
    })
  }

  it('[MKT4] leaves out the instruments that it has no place for, and says so; one that is listed twice takes no second place', () => {
    const table = new TickerTable(4)
    const rows = ['A0', 'A0', 'A1', 'A2', 'A3', 'A4', 'A5', 'A1'].map((symbol) => tickerRow(symbol))

    expect(readTickersJson(bytesOf(rows), table).kind).toBe('filled')

    expect(table.symbols).toEqual(['A0', 'A1', 'A2', 'A3'])
    expect(table.read('A3', 'lastPr')).toBeGreaterThan(0)
    expect([...table.unreadable.keys()].toSorted()).toEqual(['A0', 'A1', 'A4', 'A5'])
    expect(table.unreadable.get('A4')).toContain('behind the first 4 instruments')
  })

  it('leaves what is no success to whoever reads every answer', () => {
    const table = new TickerTable()
    for (const text of ['', '<html>', '[]', '{"code":"40009"}', '{"code":0,"data":[]}', 'null']) {
      expect(readTickersJson(Buffer.from(text), table)).toEqual({ kind: 'other' })
    }
  })

  it('is never laxer than the schema of the row', () => {
    const random = createRandom('mutated rows')
    const values = [
      null,
      undefined,
      '',
      '1',
      '-1',
      0,
      1,
      true,
      [],
      {},
      'x',
      '1.5',
      '1e400',
      'delivery_before',
    ]
    const columns = ['symbol', ...TICKER_COLUMNS]
    let accepted = 0
    for (let round = 0; round < 3000; round++) {
      const column = columns[random.integer(columns.length)] ?? ''
      const row = tickerRow('A1', { [column]: values[random.integer(values.length)] })
      const table = new TickerTable(4)
      const read = readTickersJson(bytesOf([row]), table)
      if (read.kind !== 'filled' || table.unreadable.size > 0) continue
      accepted++
      expect(ticker.safeParse(JSON.parse(JSON.stringify(row))).success, JSON.stringify(row)).toBe(
        true,
      )
    }
    expect(accepted).toBeGreaterThan(500)
  })
})

describe('client.readTickers', () => {
  it('fills the table and says when', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf([tickerRow('BTCUSDT')])))
    const table = new TickerTable()

    const answer = await client.readTickers(table, 'USDT-FUTURES')

    expect(server.requests[0]?.target).toBe('/api/v2/mix/market/tickers?productType=USDT-FUTURES')
    expect(answer).toMatchObject({ kind: 'accepted', requestTime: 1_700_000_000_000 })
    expect(table.requestTime).toBe(1_700_000_000_000)
    expect(table.readAt).toBe(answer.receivedAt)
    expect(table.read('BTCUSDT', 'lastPr')).toBe(29904.5)
  })

  it('[MKT1] empties the table whatever went wrong', async () => {
    const { server, client } = await openClient({ requestTimeoutMs: 300 })
    const table = new TickerTable()
    const wrong = [
      [
        jsonAnswer({ code: '429', msg: 'Too Many Requests' }, 429),
        { kind: 'refused', topic: 'rate' },
      ],
      [jsonAnswer(envelopeOf([tickerRow('')])), { kind: 'unknown', cause: 'unreadable' }],
      [jsonAnswer({ code: '40725' }), { kind: 'unknown', cause: 'ambiguousCode' }],
      [rawAnswer({ status: 502, body: '' }), { kind: 'unknown', cause: 'serverError' }],
      [rawAnswer({ body: '<html>' }), { kind: 'unknown', cause: 'unreadable' }],
      [
        Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
        { kind: 'unknown', cause: 'timeout' },
      ],
    ] as const
    for (const [bytes, expected] of wrong) {
      server.script = (_request, socket) =>
        void socket.write(jsonAnswer(envelopeOf([tickerRow('BTCUSDT')])))
      await client.readTickers(table, 'USDT-FUTURES')
      expect(table.symbols).toEqual(['BTCUSDT'])

      server.script = (_request, socket) => void socket.write(bytes)
      expect(await client.readTickers(table, 'USDT-FUTURES')).toMatchObject(expected)
      expect(table.symbols).toEqual([])
      expect(table.readAt).toBe(0)
    }
  })
})
