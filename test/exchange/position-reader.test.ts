import { expect, test } from 'vitest'
import {
  type KnownRows,
  type ReadPosition,
  toPositionRows,
} from '../../src/exchange/readers/position-reader.ts'
import { madeInstrument } from '../support/market-moment.ts'

const HELD: ReadPosition = {
  symbol: 'BTCUSDT',
  holdSide: 'long',
  marginSize: '50',
  total: '0.02',
  openPriceAvg: '50000',
  posMode: 'one_way_mode',
  unrealizedPL: '1.5',
  totalFee: '-0.25',
  markPrice: '50075',
}
const CHANGED: readonly Partial<ReadPosition>[] = [
  { unrealizedPL: '2', markPrice: '50100' },
  { unrealizedPL: 2, markPrice: 50_100 },
  { unrealizedPL: '' },
  { total: '0.03' },
  { openPriceAvg: '50001' },
  { marginSize: '51' },
  { totalFee: '' },
  { posMode: 'hedge_mode' },
  { marginMode: 'isolated' },
  { leverage: '10' },
  { liquidationPrice: '40000' },
  { marginRatio: '0.1' },
  { keepMarginRate: '0.004' },
]

test.each(CHANGED)('a row that is read again, with %o, is read as for the first time', (change) => {
  const instrument = madeInstrument()
  const known: KnownRows = new Map()
  const position = { ...HELD, symbol: instrument.symbol }
  toPositionRows(instrument, [position], known)

  const rows = toPositionRows(instrument, [{ ...position, ...change }], known)

  expect(rows).toEqual(toPositionRows(instrument, [{ ...position, ...change }]))
  expect(rows).not.toEqual(toPositionRows(instrument, [position]))
})

test('a number reads as the text of the same number', () => {
  const instrument = madeInstrument()
  const texts = { ...HELD, symbol: instrument.symbol }

  const [written] = toPositionRows(instrument, [texts])
  const [played] = toPositionRows(instrument, [{ ...texts, unrealizedPL: 1.5, markPrice: 50_075 }])

  expect(played).toEqual({ ...(written as object), unrealisedProfit: 1.5 })
})
