import type { InstrumentSettings } from '../../config/schema/exchange-schema.ts'
import { decimal } from '../../lib/decimal.ts'
import { createGrid, stepBelow } from '../../lib/grid.ts'
import {
  buildInstruments,
  type Instrument,
  nextQuarterlyDelivery,
} from '../../simulator/futures/instruments/instruments.ts'

/** What an operator says about the contracts that a simulated exchange shall list. */
export interface ListedContracts {
  readonly productType: Instrument['productType']
  readonly marginCoin: string
  readonly instruments: Readonly<Record<string, InstrumentSettings>>
}

/**
 * Everything a simulated exchange lists: its own contracts, and each that the configuration names, with the
 * precision written there. A contract it did not know is made after the first of its product type, so that a
 * recording of any symbol can be played.
 */
export function listInstruments(contracts: ListedContracts, now: number): readonly Instrument[] {
  const listed = buildInstruments(nextQuarterlyDelivery(now))
  const wanted = Object.entries(contracts.instruments).map(([symbol, settings]) => {
    const known = listed.find((row) => row.symbol === symbol && row.productType === contracts.productType)
    return withPrecision(known ?? createContract(symbol, contracts, listed), settings)
  })
  const names = new Set(wanted.map(({ symbol }) => symbol))
  return [...wanted, ...listed.filter(({ symbol }) => !names.has(symbol))]
}

function createContract(
  symbol: string,
  { productType, marginCoin }: ListedContracts,
  listed: readonly Instrument[],
): Instrument {
  const model = listed.find((row) => row.productType === productType) ?? listed[0]
  if (model === undefined) throw new Error('unreachable: the simulated exchange lists nothing')
  const baseCoin = symbol.endsWith(model.quoteCoin) ? symbol.slice(0, -model.quoteCoin.length) : symbol
  return {
    ...{ ...model, symbol, productType, baseCoin, marginCoin: model.isInverse ? baseCoin : marginCoin },
    // Nobody knows how many of these coins the exchange takes at once: those of the model may be worth a few cents.
    ...{ limitLotsMax: Number.MAX_SAFE_INTEGER, marketLotsMax: Number.MAX_SAFE_INTEGER },
  }
}

function withPrecision(
  contract: Instrument,
  { tickSize, lotSize, minSize, minNotional }: InstrumentSettings,
): Instrument {
  const sizeGrid = createGrid(lotSize)
  // The largest order is a size, whatever the lot.
  const toLots = (lotsMax: number): number =>
    Math.min(Number.MAX_SAFE_INTEGER, Math.floor(lotsMax * (contract.lotFloat / Number(lotSize))))
  return {
    ...contract,
    limitLotsMax: toLots(contract.limitLotsMax),
    marketLotsMax: toLots(contract.marketLotsMax),
    priceGrid: createGrid(tickSize),
    sizeGrid,
    lotsMin: Math.max(1, stepBelow(sizeGrid, Number(minSize))),
    notionalMin: minNotional,
    tickLotValue: decimal(tickSize).times(decimal(lotSize)),
    tickFloat: Number(tickSize),
    lotFloat: Number(lotSize),
  }
}
