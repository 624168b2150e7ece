import { copyLedger } from '../../../src/simulator/copy/copy.ts'
import { describe, expect, test } from 'vitest'
import { ANNA, ExchangeBench, TARA } from '../exchange-bench.ts'

interface Change {
  readonly symbol?: string
  readonly productType?: string
  readonly settingType: string
  readonly stopSurplusRatio?: string
  readonly stopLossRatio?: string
}

async function openBench() {
  const bench = await ExchangeBench.open({ demoPast: true })
  const change = (...changes: readonly Change[]) => {
    bench.wait(1000)
    const settingList = changes.map((item) => ({
      symbol: 'ETHUSDT',
      productType: 'USDT-FUTURES',
      ...item,
    }))
    return bench.call(TARA, 'copyConfigSettingSymbols', { body: { settingList } })
  }
  const settings = () =>
    copyLedger(bench.exchange.services.copy, TARA.uid)?.settings.map(
      ({ symbol, stopSurplusRatio, stopLossRatio }) =>
        [symbol, stopSurplusRatio ?? '-', stopLossRatio ?? '-'].join(' '),
    )
  const pairs = () => bench.data(TARA, 'copyOrderTotalDetail').tradingPairsAvailableList
  return { bench, change, settings, pairs }
}

describe('ADD', () => {
  test('opens a symbol with its ratios, in capitals or in small letters', async () => {
    const { change, settings, pairs } = await openBench()

    const added = change({ settingType: 'ADD', stopSurplusRatio: '100', stopLossRatio: '30' })
    change({
      symbol: 'btcusd',
      productType: 'coin-futures',
      settingType: 'add',
      stopSurplusRatio: '',
    })

    expect(added).toMatchObject({ status: 200, code: '00000', data: 'success' })
    expect(settings()).toEqual(['BTCUSDT - -', 'ETHUSDT 100 30', 'BTCUSD - -'])
    expect(pairs()).toEqual(['BTCUSDT', 'ETHUSDT', 'BTCUSD'])
  })

  test('sent twice does no harm: the second sets the ratios anew', async () => {
    const { change, settings } = await openBench()

    change({ settingType: 'ADD', stopSurplusRatio: '100', stopLossRatio: '30' })
    change({ settingType: 'ADD', stopSurplusRatio: '50' })

    expect(settings()).toEqual(['BTCUSDT - -', 'ETHUSDT 50 -'])
  })
})

describe('UPDATE', () => {
  test('sets what is given, keeps what is left out, and takes away what is 0', async () => {
    const { change, settings } = await openBench()
    change({ settingType: 'ADD', stopSurplusRatio: '100', stopLossRatio: '30' })

    change({ settingType: 'UPDATE', stopSurplusRatio: '400' })
    expect(settings()?.[1]).toBe('ETHUSDT 400 30')
    change({ settingType: 'update', stopSurplusRatio: '', stopLossRatio: '0' })
    expect(settings()?.[1]).toBe('ETHUSDT 400 -')
    change({ settingType: 'UPDATE', stopLossRatio: '1' })
    expect(settings()?.[1]).toBe('ETHUSDT 400 1')
  })

  test('of a symbol that is not open is refused', async () => {
    const { change } = await openBench()

    expect(change({ settingType: 'UPDATE', stopLossRatio: '10' })).toMatchObject({
      status: 400,
      code: '31052',
    })
  })
})

test('DELETE closes a symbol, ignores its ratios, and is quiet about one that is closed', async () => {
  const { change, settings } = await openBench()

  const codes = [
    change({ symbol: 'BTCUSDT', settingType: 'DELETE', stopLossRatio: '0' }).code,
    change({ symbol: 'BTCUSDT', settingType: 'delete' }).code,
  ]

  expect(codes).toEqual(['00000', '00000'])
  expect(settings()).toEqual([])
})

test('a list is carried out in its order, whole or not at all', async () => {
  const { change, settings } = await openBench()

  const done = change(
    { settingType: 'ADD', stopLossRatio: '5' },
    { settingType: 'UPDATE', stopSurplusRatio: '7' },
    { symbol: 'BTCUSDT', settingType: 'DELETE' },
  )
  const refused = change({ settingType: 'DELETE' }, { symbol: 'XRPUSDT', settingType: 'ADD' })

  expect([done.code, refused.code]).toEqual(['00000', '31019'])
  expect(settings()).toEqual(['ETHUSDT 7 5'])
})

const item = { symbol: 'ETHUSDT', productType: 'USDT-FUTURES', settingType: 'ADD' }

test.each([
  ['an unlisted symbol', { ...item, symbol: 'XRPUSDT' }, '31019'],
  ['a symbol of another product type', { ...item, productType: 'USDC-FUTURES' }, '31019'],
  ['a demo product type', { ...item, productType: 'SUSDT-FUTURES' }, '400172'],
  ['a type of no kind', { ...item, settingType: 'MOVE' }, '400172'],
  ['no type', { ...item, settingType: undefined }, '40019'],
  ['a ratio of 401', { ...item, stopSurplusRatio: '401' }, '40020'],
  ['a ratio with decimals', { ...item, stopLossRatio: '1.5' }, '40020'],
  ['a negative ratio', { ...item, stopLossRatio: '-1' }, '40020'],
  ['an ADD with a ratio of 0', { ...item, stopLossRatio: '0' }, '40017'],
  ['an UPDATE without a ratio', { ...item, settingType: 'UPDATE' }, '40019'],
])('%s is refused', async (_what, setting, code) => {
  const bench = await ExchangeBench.open()

  const answer = bench.call(TARA, 'copyConfigSettingSymbols', { body: { settingList: [setting] } })

  expect(answer).toMatchObject({ status: 400, code, data: null })
})

test.each([
  ['no list', {}, '40019'],
  ['an empty list', { settingList: [] }, '40019'],
  ['51 items', { settingList: Array(51).fill(item) }, '40306'],
])('%s is refused', async (_what, body, code) => {
  const bench = await ExchangeBench.open()

  expect(bench.call(TARA, 'copyConfigSettingSymbols', { body }).code).toBe(code)
})

test('is refused to an account that is no trader', async () => {
  const bench = await ExchangeBench.open()

  expect(bench.call(ANNA, 'copyConfigSettingSymbols')).toMatchObject({ status: 400, code: '31001' })
})
