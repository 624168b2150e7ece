import { type Instrument } from '../../src/domain/instrument.ts'
import { madeInstrument } from '../support/market-moment.ts'

const INSTRUMENTS = 4

/** All alike: ticks of 0.1, lots of 0.001, at a price of some 1000. */
export function createInstruments(): ReadonlyMap<string, Instrument> {
  return new Map(
    Array.from({ length: INSTRUMENTS }, (_, index) => {
      const symbol = `S${index}USDT`
      return [symbol, madeInstrument({ symbol, tick: '0.1', lot: '0.001', lotsMin: 10 })]
    }),
  )
}
