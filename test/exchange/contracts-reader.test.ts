import { expect, test } from 'vitest'
import { buildInstrument } from '../../src/domain/instrument.ts'
import type { Answer } from '../../src/domain/answer.ts'
import { readContracts } from '../../src/exchange/readers/contracts-reader.ts'
import type { CallableName, ResponseOf } from '../../src/protocol/endpoints.ts'

const BTC = {
  symbol: 'BTCUSDT',
  minTradeNum: '0.0015',
  priceEndStep: '5',
  volumePlace: '3',
  pricePlace: '1',
  sizeMultiplier: '0.001',
  minTradeUSDT: '5',
  symbolStatus: 'normal',
  offTime: '-1',
  launchTime: '',
  fundInterval: '8',
  maxLever: '125',
}

async function read(rows: readonly object[]) {
  const answer = await readContracts(
    {
      call: async <Name extends CallableName>() =>
        ({ kind: 'accepted', data: rows, receivedAt: 7 }) as unknown as Answer<ResponseOf<Name>>,
    },
    'USDT-FUTURES',
  )
  return answer.kind === 'accepted' ? Object.fromEntries(answer.data) : answer
}

test('a contract gets its tick, its lot, and a minimum of whole lots', async () => {
  const other = {
    ...BTC,
    symbol: 'SHIBUSDT',
    pricePlace: '9',
    priceEndStep: '1',
    sizeMultiplier: '100',
    volumePlace: '0',
    minTradeNum: '1',
    symbolStatus: 'limit_open',
    launchTime: '1700000000000',
    offTime: '1800000000000',
    fundInterval: '',
    maxLever: null,
  }

  expect(await read([BTC, other])).toEqual({
    BTCUSDT: {
      tickSize: '0.5',
      lotSize: '0.001',
      minSize: '0.002',
      minNotional: '5',
      fundingHours: 8,
      leverageMax: 125,
      status: 'normal',
    },
    SHIBUSDT: {
      tickSize: '0.000000001',
      lotSize: '100',
      minSize: '100',
      minNotional: '5',
      status: 'limit_open',
      launchedAt: 1_700_000_000_000,
      offAt: 1_800_000_000_000,
    },
  })
})

test.each([
  [{ sizeMultiplier: '0.001', volumePlace: '2' }, '0.01'],
  [{ sizeMultiplier: '', volumePlace: '2' }, '0.01'],
  [{ sizeMultiplier: '0.25', volumePlace: null }, '0.25'],
  [{ sizeMultiplier: '0.25', volumePlace: '1' }, undefined],
  [{ minTradeUSDT: '' }, undefined],
  [{ minTradeNum: '-1' }, undefined],
  [{ pricePlace: 'one' }, undefined],
  [{ priceEndStep: '0' }, undefined],
  [{ priceEndStep: '999999999999999999', pricePlace: '0' }, undefined],
  [{ sizeMultiplier: '999999999999999999.9', volumePlace: null }, undefined],
])('%o has lots of %s', async (fields, lot) => {
  expect(await read([{ ...BTC, ...fields }])).toEqual(
    lot === undefined ? {} : { BTCUSDT: expect.objectContaining({ lotSize: lot }) },
  )
})

test.each(['1e-9', '0.001', '5', '1000000000', 'Infinity', '-8', ''])(
  'an interval of funding of "%s" hours is none, and the contract trades all the same',
  async (fundInterval) => {
    const found = await read([{ ...BTC, fundInterval }])

    expect(found).toEqual({
      BTCUSDT: expect.not.objectContaining({ fundingHours: expect.anything() }),
    })
  },
)

test('a contract of any rules builds an instrument, whatever its interval of funding is', () => {
  const rules = { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' }
  const frame = { productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const

  for (const fundingHours of [1e-9, 0.001, 5, 1e9, Number.POSITIVE_INFINITY, Number.NaN])
    expect(buildInstrument('BTCUSDT', { ...rules, fundingHours }, frame)).not.toHaveProperty(
      'fundingMinutes',
    )
  expect(buildInstrument('BTCUSDT', { ...rules, fundingHours: 8 }, frame).fundingMinutes).toEqual([
    0, 480, 960,
  ])
})

test.each([
  '*',
  'strategy:grid',
  '__proto__',
  'BTC USDT',
  'btcusdt',
  '-rf',
  'A\u0000B',
  'X'.repeat(200),
])('a symbol like %j is no instrument', async (symbol) => {
  expect(await read([{ ...BTC, symbol }, BTC])).toEqual({ BTCUSDT: expect.anything() })
})
