import { describe, expect, it } from 'vitest'
import { type Instrument } from '../../src/domain/instrument.ts'
import { decimal } from '../../src/lib/decimal.ts'
import { createGrid } from '../../src/lib/grid.ts'
import { envelopeOf, jsonAnswer, rawAnswer, type WireServer } from '../support/wire-server.ts'
import { closeClientsAfterEach, openClient, SECRETS } from './client-fixture.ts'

closeClientsAfterEach()

const BTCUSDT: Instrument = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  tick: createGrid('0.5'),
  lot: createGrid('0.001'),
  lotsMin: 1,
  notionalMin: decimal('5'),
}

const NOW = Date.now()
const QUERY = {
  productType: 'USDT-FUTURES',
  positionMode: 'one_way_mode',
  instruments: new Map([['BTCUSDT', BTCUSDT]]),
  sinceAt: NOW - 60_000,
} as const

type Row = Record<string, unknown>

function fillRow(tradeId: number, more: Row = {}): Row {
  return {
    tradeId: String(tradeId),
    symbol: 'BTCUSDT',
    orderId: '121212',
    price: '42000.5',
    baseVolume: '0.010',
    quoteVolume: '420.005',
    feeDetail: [
      { deduction: 'no', feeCoin: 'USDT', totalDeductionFee: null, totalFee: '-0.25200300' },
    ],
    side: 'buy',
    profit: '0',
    enterPointSource: 'api',
    tradeSide: 'buy_single',
    posMode: 'one_way_mode',
    tradeScope: 'taker',
    cTime: String(NOW - 1000 + tradeId),
    ...more,
  }
}

/** Answers like the exchange: newest first, a page of 100 before `idLessThan`. */
function serveFills(server: WireServer, rows: readonly Row[]): void {
  server.script = ({ target }, socket) => {
    const query = new URL(target, 'http://x').searchParams
    const before = BigInt(query.get('idLessThan') ?? '9999999999')
    const page = rows
      .toSorted((one, other) =>
        Number(BigInt(String(other['tradeId'])) - BigInt(String(one['tradeId']))),
      )
      .filter((row) => BigInt(String(row['tradeId'])) < before)
      .slice(0, 100)
    socket.write(
      jsonAnswer(envelopeOf({ fillList: page, endId: page.at(-1)?.['tradeId'] ?? null })),
    )
  }
}

describe('what the exchange says is not ours', () => {
  it.each([
    ['an escape sequence', { orderId: '12\u001B[2J' }],
    ['a line of its own', { tradeId: '5\r\n{"level":"info"}' }],
    ['a formula', { orderId: '=HYPERLINK("http://evil.example")' }],
    ['what is not seen', { orderId: '12\u200B12' }],
    ['our passphrase', { orderId: SECRETS.passphrase }],
    [
      'our passphrase, written as JSON may',
      { tradeId: SECRETS.passphrase.replace('c', '\\u0063') },
    ],
  ])(
    '[MKT4] a fill whose id is %s is a refused row, with a clear word and without what stood there',
    async (_, more) => {
      const { server, client } = await openClient()
      const text = JSON.stringify(
        envelopeOf({ fillList: [{ ...fillRow(2), ...more }, fillRow(1)], endId: '1' }),
      )
      server.script = (_request, socket) =>
        void socket.write(rawAnswer({ body: text.replaceAll('\\\\u', '\\u') }))

      const answer = await client.readFills(QUERY)

      expect(answer).toMatchObject({
        kind: 'accepted',
        data: {
          fills: [{ tradeId: '1' }],
          unreadable: [
            {
              symbol: 'BTCUSDT',
              problem: expect.stringMatching(/Id: no id of the exchange: letters/),
            },
          ],
        },
      })
      expect(JSON.stringify(answer)).toMatch(/"odd-[0-9a-f]{12}"/)
      expect(JSON.stringify(answer)).not.toMatch(/canary|evil|\\u001b|\\r|\u200B/i)
    },
  )

  it('two rows with odd ids are two: each costs its own instrument', async () => {
    const { server, client } = await openClient()
    const rows = [
      fillRow(2, { tradeId: '\u001B1' }),
      fillRow(3, { tradeId: '\u001B2', orderId: 'x y' }),
    ]
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ fillList: rows, endId: '1' })))

    const answer = await client.readFills(QUERY)

    expect(answer.kind === 'accepted' && answer.data.unreadable).toHaveLength(2)
  })

  it('the words of a fill are cleaned, and lose our secrets', async () => {
    const { server, client } = await openClient()
    const words = {
      enterPointSource: 'sys',
      tradeSide: `odd\u001B[1m_${SECRETS.passphrase.replace('-', '-\u200B')}`,
    }
    serveFills(server, [fillRow(1, words)])

    const answer = await client.readFills(QUERY)

    expect(answer).toMatchObject({ data: { fills: [{ systemWord: 'odd_[hidden]' }] } })
  })
})

describe('reading fills', () => {
  it('turns decimals into ticks and lots, and a fee that was paid positive', async () => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(1)])

    const answer = await client.readFills(QUERY)

    expect(answer).toMatchObject({
      kind: 'accepted',
      data: {
        sinceAt: QUERY.sinceAt,
        exchangeTime: 1_700_000_000_000,
        fills: [
          {
            tradeId: '1',
            orderId: '121212',
            symbol: 'BTCUSDT',
            side: 'buy',
            tradeSide: 'open',
            ticks: 84_001,
            lots: 10,
            fee: '0.252003',
            profit: '0',
            scope: 'taker',
            source: 'API',
            filledAt: NOW - 999,
          },
        ],
      },
    })
  })

  it('reads all pages, each fill once, oldest first', async () => {
    const { server, client } = await openClient()
    serveFills(
      server,
      Array.from({ length: 250 }, (_, index) => fillRow(index + 1)),
    )

    const answer = await client.readFills(QUERY)

    expect(server.requests).toHaveLength(3)
    const ids =
      answer.kind === 'accepted' ? answer.data.fills.map(({ tradeId }) => Number(tradeId)) : []
    expect(ids).toEqual(Array.from({ length: 250 }, (_, index) => index + 1))
  })

  it('[ORD5] reads both fills of a self-trade, which share a tradeId, also where a page ends between them', async () => {
    const { server, client } = await openClient()
    // The hundredth row from the newest is one of the two, whichever comes first.
    const rows = Array.from({ length: 250 }, (_, index) => fillRow(index + 1))
    const twin = fillRow(151, { orderId: '343434', side: 'sell' })
    serveFills(server, [...rows, twin])

    const answer = await client.readFills(QUERY)

    const fills = answer.kind === 'accepted' ? answer.data.fills : []
    expect(fills).toHaveLength(251)
    expect(fills.filter(({ tradeId }) => tradeId === '151')).toMatchObject([
      { orderId: '121212', side: 'buy' },
      { orderId: '343434', side: 'sell' },
    ])
  })

  it('ends at a page that is full of one tradeId: nobody can tell how many there are', async () => {
    const { server, client } = await openClient()
    const twins = Array.from({ length: 150 }, (_, index) => fillRow(7, { orderId: String(index) }))
    serveFills(server, [...twins, fillRow(8), fillRow(1)])

    expect(await client.readFills(QUERY)).toMatchObject({
      kind: 'unknown',
      message: 'the page from trade 7 back does not reach beyond it',
    })
    expect(server.requests).toHaveLength(2)
  })

  it('stops at a page that is older than asked for, where startTime is ignored', async () => {
    const { server, client } = await openClient()
    const rows = Array.from({ length: 500 }, (_, index) =>
      fillRow(index + 1, { cTime: String(NOW - 60_000 + (index - 449) * 1000) }),
    )
    serveFills(server, rows)

    const answer = await client.readFills(QUERY)

    expect(server.requests).toHaveLength(1)
    expect(answer).toMatchObject({ kind: 'accepted' })
    if (answer.kind === 'accepted') expect(answer.data.fills).toHaveLength(51)
  })

  it('[ORD4] is complete or nothing: a page that fails makes the reading fail', async () => {
    const { server, client } = await openClient()
    const page = Array.from({ length: 100 }, (_, index) => fillRow(200 - index))
    server.script = ({ target }, socket) => {
      if (target.includes('idLessThan')) socket.resetAndDestroy()
      else socket.write(jsonAnswer(envelopeOf({ fillList: page, endId: '101' })))
    }

    expect(await client.readFills(QUERY)).toMatchObject({
      kind: 'unknown',
      cause: 'connectionLost',
    })
  })

  it('does not go round in circles when a page repeats itself', async () => {
    const { server, client } = await openClient()
    const page = Array.from({ length: 100 }, (_, index) => fillRow(200 - index))
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ fillList: page, endId: '101' })))

    expect(await client.readFills(QUERY)).toMatchObject({ kind: 'unknown', cause: 'unreadable' })
    expect(server.requests).toHaveLength(2)
  })

  it('never asks for a span of more than three months', async () => {
    const { server, client } = await openClient()
    serveFills(server, [])

    const answer = await client.readFills({ ...QUERY, sinceAt: 0 })

    const startTime = Number(
      new URL(server.requests[0]?.target ?? '', 'http://x').searchParams.get('startTime'),
    )
    expect(NOW - startTime).toBeLessThan(90 * 24 * 3_600_000)
    expect(answer).toMatchObject({ kind: 'accepted', data: { sinceAt: startTime } })
  })

  it('[MKT3] of more fills than can be read at once are the oldest ones, and the next read goes on from there', async () => {
    const rows = Array.from({ length: 30_000 }, (_, index) =>
      fillRow(index + 1, { cTime: String(NOW - 3_600_000 + index * 100) }),
    )
    const asked: number[] = []
    const { client, server } = await openClient()
    server.script = ({ target }, socket) => {
      const query = new URL(target, 'http://x').searchParams
      const [since, until] = [
        Number(query.get('startTime')),
        Number(query.get('endTime') ?? Infinity),
      ]
      const before = Number(query.get('idLessThan') ?? Infinity)
      asked.push(until)
      const from = rows.findLastIndex(
        (row) => Number(row['tradeId']) < before && Number(row['cTime']) <= until,
      )
      const page = rows.slice(Math.max(0, from - 99), from + 1).toReversed()
      const seen = page.filter((row) => Number(row['cTime']) >= since)
      socket.write(
        jsonAnswer(envelopeOf({ fillList: seen, endId: seen.at(-1)?.['tradeId'] ?? '' })),
      )
    }

    const answer = await client.readFills({ ...QUERY, sinceAt: NOW - 4_000_000 })

    const data = answer.kind === 'accepted' ? answer.data : undefined
    const until = asked.at(-1) ?? 0
    const expected = rows.filter((row) => Number(row['cTime']) <= until)
    expect(expected.length).toBeGreaterThan(1_000)
    expect(data?.fills).toHaveLength(expected.length)
    expect(data?.exchangeTime).toBe(until)
  })

  it('leaves out fills of symbols that are not traded here', async () => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(1), fillRow(2, { symbol: 'DOGEUSDT', price: 'whatever' })])

    const answer = await client.readFills(QUERY)

    expect(answer).toMatchObject({ kind: 'accepted', data: { fills: [{ tradeId: '1' }] } })
  })

  it('an empty list and a missing one are no fills', async () => {
    const { server, client } = await openClient()
    for (const data of [{ fillList: [], endId: null }, { fillList: null, endId: '' }, {}]) {
      server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf(data)))
      expect(await client.readFills(QUERY)).toMatchObject({ kind: 'accepted', data: { fills: [] } })
    }
  })

  const spoiled: ReadonlyArray<readonly [string, Row]> = [
    ['a price off the grid', { price: '42000.3' }],
    ['a price that ticks cannot count', { price: '1e308' }],
    ['a price of more digits than ticks can count', { price: `1${'0'.repeat(30)}` }],
    ['a size off the grid', { baseVolume: '0.0105' }],
    ['a size of zero', { baseVolume: '0' }],
    ['a time that is none', { cTime: 'yesterday' }],
    ['a fee that is no number', { feeDetail: [{ feeCoin: 'USDT', totalFee: 'NaN' }] }],
    ['a profit that is no number', { profit: '0x10' }],
    ['a side that there is not', { side: 'both' }],
    ['a price in another type', { price: 42_000 }],
    ['more than can be counted', { baseVolume: '9007199254740' }],
  ]
  for (const [what, more] of spoiled) {
    it(`[MKT4] ${what} makes the reading incomplete for its instrument, and says which fill`, async () => {
      const { server, client } = await openClient()
      serveFills(server, [fillRow(7, more), fillRow(8, { symbol: 'ETHUSDT' }), fillRow(9)])
      const instruments = new Map(
        [BTCUSDT, { ...BTCUSDT, symbol: 'ETHUSDT' }].map((one) => [one.symbol, one]),
      )

      const answer = await client.readFills({ ...QUERY, instruments })

      const data = answer.kind === 'accepted' ? answer.data : undefined
      expect(data?.fills.map(({ tradeId }) => tradeId).toSorted()).toEqual(['8', '9'])
      expect(data?.unreadable).toEqual([
        { tradeId: '7', orderId: '121212', symbol: 'BTCUSDT', problem: expect.any(String) },
      ])
    })
  }

  it('[MKT4] a row that names no instrument may be of any, and the good ones are read', async () => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(7, { symbol: 7 }), fillRow(8)])

    expect(await client.readFills(QUERY)).toMatchObject({
      kind: 'accepted',
      data: { fills: [{ tradeId: '8' }], unreadable: [{ tradeId: '7', symbol: '*' }] },
    })
  })

  it('[MKT4] rows without ids are not taken for one: each makes the reading incomplete for its instrument', async () => {
    const { server, client } = await openClient()
    const noIds = { tradeId: undefined, orderId: undefined }
    const fillList = [fillRow(8, { ...noIds, symbol: 'ETHUSDT' }), fillRow(7, noIds)]
    server.script = (_request, socket) =>
      socket.write(jsonAnswer(envelopeOf({ fillList, endId: null })))
    const instruments = new Map(
      [BTCUSDT, { ...BTCUSDT, symbol: 'ETHUSDT' }].map((one) => [one.symbol, one]),
    )

    const answer = await client.readFills({ ...QUERY, instruments })

    const { unreadable = [] } = answer.kind === 'accepted' ? answer.data : {}
    expect(unreadable.map(({ symbol }) => symbol).toSorted()).toEqual(['BTCUSDT', 'ETHUSDT'])
  })

  it('[MKT4] an unreadable row of what is not traded here is left out', async () => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(7, { symbol: 'DOGEUSDT', side: 7 }), fillRow(8)])

    const answer = await client.readFills(QUERY)

    expect(answer).toMatchObject({ kind: 'accepted', data: { fills: [{ tradeId: '8' }] } })
    expect(answer.kind === 'accepted' && answer.data.unreadable).toBeUndefined()
  })

  const directions = [
    ['one_way_mode', 'sell', 'sell_single', 'sell', 'open'],
    ['one_way_mode', 'sell', 'burst_sell_single', 'sell', 'close'],
    ['one_way_mode', 'buy', null, 'buy', 'open'],
    ['one_way_mode', 'sell', 'reduce_close_long', 'sell', 'close'],
    ['hedge_mode', 'buy', 'open', 'buy', 'open'],
    ['hedge_mode', 'buy', 'close', 'buy', 'close'],
    ['hedge_mode', 'sell', 'burst_close_long', 'buy', 'close'],
    ['hedge_mode', 'buy', 'burst_close_long', 'buy', 'close'],
    ['hedge_mode', 'buy', 'delivery_close_short', 'sell', 'close'],
    ['hedge_mode', 'sell', 'offset_close_short', 'sell', 'close'],
  ] as const
  for (const [positionMode, side, tradeSide, ourSide, ourTradeSide] of directions) {
    it(`reads ${side} ${tradeSide} in ${positionMode} as ${ourSide} ${ourTradeSide}`, async () => {
      const { server, client } = await openClient()
      serveFills(server, [fillRow(1, { side, tradeSide })])
      expect(await client.readFills({ ...QUERY, positionMode })).toMatchObject({
        data: { fills: [{ side: ourSide, tradeSide: ourTradeSide }] },
      })
    })
  }

  it('does not guess a trade side in hedge mode', async () => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(1, { tradeSide: 'something_new' })])
    expect(await client.readFills({ ...QUERY, positionMode: 'hedge_mode' })).toMatchObject({
      data: { fills: [], unreadable: [{ tradeId: '1' }] },
    })
  })

  it('keeps fees in other coins apart, and adds up those of each coin', async () => {
    const { server, client } = await openClient()
    const feeDetail = [
      { feeCoin: 'bgb', totalFee: '-0.005' },
      { feeCoin: 'usdt', totalFee: '-0.1' },
      { feeCoin: 'BGB', totalFee: '-0.006' },
      { feeCoin: 'USDT', totalFee: '0.3' },
      { feeCoin: 'POINTS', totalFee: '0' },
    ]
    serveFills(server, [fillRow(1, { feeDetail })])
    expect(await client.readFills(QUERY)).toMatchObject({
      data: { fills: [{ fee: '-0.2', otherFees: [{ coin: 'BGB', amount: '0.011' }] }] },
    })
  })

  it.each([
    ['no list', null],
    ['an empty list', []],
    ['an amount that is null', [{ feeCoin: 'USDT', totalFee: null }]],
    ['an amount that is empty', [{ feeCoin: 'USDT', totalFee: '' }]],
    ['an amount of no coin', [{ feeCoin: null, totalFee: '-0.3' }]],
  ])('[MON2] knows no fee of a row with %s', async (_, feeDetail) => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(1, { feeDetail })])

    const answer = await client.readFills(QUERY)

    expect(answer).toMatchObject({ kind: 'accepted', data: { fills: [{ tradeId: '1' }] } })
    expect(JSON.stringify(answer)).not.toContain('"fee"')
  })

  it.each([null, ''])('[MON2] knows no profit of a row with %j', async (profit) => {
    const { server, client } = await openClient()
    serveFills(server, [fillRow(1, { profit })])

    const answer = await client.readFills(QUERY)

    expect(answer).toMatchObject({ kind: 'accepted', data: { fills: [{ tradeId: '1' }] } })
    expect(JSON.stringify(answer)).not.toContain('"profit"')
  })

  it.each([
    ['open', 'API', { fillKind: 'trade', tradeSide: 'open' }],
    ['close', 'SYS', { fillKind: 'trade', tradeSide: 'close' }],
    ['sell_single', 'SYS', { fillKind: 'trade' }],
    ['burst_close_long', 'SYS', { fillKind: 'liquidation', tradeSide: 'close' }],
    ['burst_sell_single', 'sys', { fillKind: 'liquidation', tradeSide: 'close' }],
    ['reduce_close_short', 'SYS', { fillKind: 'partialLiquidation' }],
    ['reduce_buy_single', 'SYS', { fillKind: 'partialLiquidation' }],
    ['offset_close_long', 'SYS', { fillKind: 'netting' }],
    ['delivery_sell_single', 'SYS', { fillKind: 'delivery' }],
    ['dte_sys_adl_close_short', 'SYS', { fillKind: 'autoDeleveraging' }],
    ['dte_sys_adl_buy_in_single_side_mode', 'SYS', { fillKind: 'autoDeleveraging' }],
    ['melt_close_long', 'SYS', { fillKind: 'system', systemWord: 'melt_close_long' }],
    ['melt_close_long', 'WEB', { fillKind: 'trade' }],
  ])(
    'says what a fill with the trade side %s of %s was',
    async (tradeSide, enterPointSource, expected) => {
      const { server, client } = await openClient()
      serveFills(server, [fillRow(1, { tradeSide, enterPointSource })])

      expect(await client.readFills(QUERY)).toMatchObject({ data: { fills: [expected] } })
    },
  )
})

describe('reading a position', () => {
  const positionRow = (more: Row = {}): Row => ({
    marginCoin: 'USDT',
    symbol: 'BTCUSDT',
    holdSide: 'long',
    total: '0.010',
    available: '0.01',
    openPriceAvg: '25000.123',
    marginMode: 'crossed',
    posMode: 'one_way_mode',
    unrealizedPL: '-1.5',
    liquidationPrice: '-24144.1',
    markPrice: '25100',
    totalFee: '',
    ...more,
  })

  it('turns sizes into lots, and leaves out what the exchange leaves out', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(
        jsonAnswer(
          envelopeOf([
            positionRow(),
            positionRow({ holdSide: 'short', openPriceAvg: '', posMode: 'x' }),
          ]),
        ),
      )

    const answer = await client.readPosition({ instrument: BTCUSDT })

    expect(answer).toMatchObject({
      kind: 'accepted',
      data: {
        symbol: 'BTCUSDT',
        exchangeTime: 1_700_000_000_000,
        rows: [
          {
            holdSide: 'long',
            lots: 10,
            openPriceAvg: 25000.123,
            unrealisedProfit: '-1.5',
            fundingFee: '',
            markPrice: 25_100,
            liquidationPrice: -24144.1,
            positionMode: 'one_way_mode',
          },
          { holdSide: 'short', openPriceAvg: Number.NaN, positionMode: undefined },
        ],
      },
    })
    if (answer.kind === 'accepted')
      expect(answer.data.requestedAt).toBeLessThanOrEqual(answer.receivedAt)
  })

  it('knows no price that the ticks of the instrument cannot count', async () => {
    const { server, client } = await openClient()
    const prices = {
      openPriceAvg: '1e99',
      markPrice: `1${'0'.repeat(30)}`,
      liquidationPrice: '2e15',
    }
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf([positionRow(prices)])))

    expect(await client.readPosition({ instrument: BTCUSDT })).toMatchObject({
      kind: 'accepted',
      data: {
        rows: [
          {
            lots: 10,
            openPriceAvg: Number.NaN,
            markPrice: Number.NaN,
            liquidationPrice: Number.NaN,
          },
        ],
      },
    })
  })

  it.each([
    [
      { marginMode: 'isolated', leverage: '20' },
      { marginMode: 'isolated', leverage: 20 },
    ],
    [
      { marginMode: null, leverage: null },
      { marginMode: undefined, leverage: undefined },
    ],
    [
      { marginMode: 'x', leverage: '' },
      { marginMode: undefined, leverage: undefined },
    ],
    [{ leverage: '0' }, { marginMode: 'crossed', leverage: undefined }],
  ])('[MON2] %j says of margin mode and leverage no more than it says', async (said, known) => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf([positionRow(said)])))

    expect(await client.readPosition({ instrument: BTCUSDT })).toMatchObject({
      data: { rows: [known] },
    })
  })

  it('an answer without a time is about the moment of its request, which is certainly not too late', async () => {
    const { server, client, offset } = await openClient()
    let answeredAt = 0
    server.script = (_request, socket) =>
      void setTimeout(() => {
        answeredAt = Date.now()
        socket.write(jsonAnswer(envelopeOf([positionRow()], { requestTime: undefined })))
      }, 20)

    const answer = await client.readPosition({ instrument: BTCUSDT })

    const { requestedAt = 0, exchangeTime } = (answer.kind === 'accepted' && answer.data) || {}
    expect(requestedAt).toBeLessThan(answeredAt)
    expect(exchangeTime).toBe(offset.exchangeNow(requestedAt))
  })

  it('an empty list and a missing one are flat', async () => {
    const { server, client } = await openClient()
    for (const data of [[], null]) {
      server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf(data)))
      expect(await client.readPosition({ instrument: BTCUSDT })).toMatchObject({
        data: { rows: [] },
      })
    }
  })

  const spoiled: ReadonlyArray<readonly [string, readonly Row[]]> = [
    ['a size off the grid', [positionRow({ total: '0.0101' })]],
    ['a negative size', [positionRow({ total: '-0.01' })]],
    ['a size that is no number', [positionRow({ total: '' })]],
    ['another symbol', [positionRow({ symbol: 'ETHUSDT' })]],
    ['two rows of one side', [positionRow(), positionRow()]],
    ['a side that there is not', [positionRow({ holdSide: 'net' })]],
    ['more than can be counted', [positionRow({ total: '9007199254740' })]],
  ]
  for (const [what, rows] of spoiled) {
    it(`[RSK1] ${what} is unknown, never flat`, async () => {
      const { server, client } = await openClient()
      server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf(rows)))
      expect(await client.readPosition({ instrument: BTCUSDT })).toMatchObject({
        kind: 'unknown',
        cause: 'unreadableRow',
      })
    })
  }

  for (const unrealizedPL of [null, '', 'NaN', undefined]) {
    it(`[MON2] a profit that is ${String(unrealizedPL)} is not known, and not zero`, async () => {
      const { server, client } = await openClient()
      const { unrealizedPL: _, ...others } = positionRow({})
      const row = unrealizedPL === undefined ? others : { ...others, unrealizedPL }
      server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf([row])))
      const answer = await client.readPosition({ instrument: BTCUSDT })
      expect(answer).toMatchObject({ kind: 'accepted', data: { rows: [{ unrealisedProfit: '' }] } })
    })
  }
})
