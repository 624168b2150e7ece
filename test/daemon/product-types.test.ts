import { expect, test } from 'vitest'
import {
  type ListedContracts,
  listInstruments,
} from '../../src/assembly/instruments/listed-instruments.ts'

const SETTINGS = { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' }
const NOW = Date.UTC(2025, 5, 2)

function listedAs(
  symbol: string,
  productTypes: ListedContracts['productTypes'],
  more: Partial<ListedContracts['instruments'][string]> = {},
) {
  const instruments = { [symbol]: { ...SETTINGS, ...more } }
  const found = listInstruments({ productTypes, instruments }, NOW).filter(
    (one) => one.symbol === symbol,
  )
  return found.map(({ productType, marginCoin }) => `${productType} ${marginCoin}`)
}

test.each([
  ['BTCUSD', 'COIN-FUTURES BTC'],
  ['BTCUSDT', 'USDT-FUTURES USDT'],
  ['SOLUSDT', 'USDT-FUTURES USDT'],
  ['SOLUSD', 'COIN-FUTURES SOL'],
])('%s is a contract of its own product type, whichever account comes first', (symbol, listed) => {
  expect(listedAs(symbol, ['USDT-FUTURES', 'COIN-FUTURES'])).toEqual([listed])
  expect(listedAs(symbol, ['COIN-FUTURES', 'USDT-FUTURES'])).toEqual([listed])
})

test('what an instrument says goes before its name, and what nothing says is refused', () => {
  const types = ['USDT-FUTURES', 'COIN-FUTURES'] as const
  expect(listedAs('SOLX', types, { productType: 'USDT-FUTURES' })).toEqual(['USDT-FUTURES USDT'])
  expect(() => listedAs('SOLX', types)).toThrow('nothing says of which product type')
})

test('funding is paid at the hours of the instrument, else when the calendar says', () => {
  const instruments = { BTCUSDT: { ...SETTINGS, fundingHours: 4 as const }, ETHUSDT: SETTINGS }
  const contracts = {
    productTypes: ['USDT-FUTURES'],
    instruments,
    fundingMinutes: [60, 780],
  } as const
  const minutesOf = (symbol: string) =>
    listInstruments(contracts, NOW).find((one) => one.symbol === symbol)?.fundingMinutes

  expect(minutesOf('BTCUSDT')).toEqual([0, 240, 480, 720, 960, 1200])
  expect(minutesOf('ETHUSDT')).toEqual([60, 780])
})
