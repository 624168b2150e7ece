import { usualFundingMinutes } from '../../config/funding-minutes.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { InstrumentSettings } from '../../config/schema/exchange-schema.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'
import { everyHours, type ProductType } from '../../domain/instrument.ts'
import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { createGrid, stepBelow } from '../../lib/grid.ts'
import {
  buildInstruments,
  type ListedContract,
  quarterlyDeliveries,
} from '../../simulator/futures/instruments/instruments.ts'

export interface ListedContracts {
  readonly productTypes: readonly ProductType[]
  readonly instruments: Readonly<Record<string, InstrumentSettings>>
  /** Minutes after midnight UTC. Default: 00, 08 and 16 o'clock. */
  readonly fundingMinutes?: readonly number[]
}

export function contractsOf({
  account,
  instruments,
  calendar,
}: Pick<DaemonConfig, 'account' | 'instruments' | 'calendar'>): ListedContracts {
  const productTypes = [account.productType]
  return { productTypes, instruments, fundingMinutes: usualFundingMinutes(calendar) }
}

/**
 * Lists the simulator's contracts, and configured ones with their precision. An unknown contract is
 * derived from the first of its product type, so that a recording of any symbol can be played.
 * @throws Failure SIMULATOR_PRODUCT_UNKNOWN
 */
export function listInstruments(
  contracts: ListedContracts,
  now: number,
): readonly ListedContract[] {
  const listed = buildInstruments(...quarterlyDeliveries(now))
  const wanted = Object.entries(contracts.instruments).map(([symbol, settings]) => {
    const productType = settings.productType ?? productTypeOf(symbol, contracts, listed)
    const known = listed.find((row) => row.symbol === symbol && row.productType === productType)
    const contract = withPrecision(known ?? createContract(symbol, productType, listed), settings)
    const { fundingHours } = settings
    const fundingMinutes =
      fundingHours === undefined ? contracts.fundingMinutes : everyHours(fundingHours)
    const isDated = fundingHours === undefined && DATED.test(symbol)
    return { ...contract, ...(fundingMinutes && !isDated && { fundingMinutes }) }
  })
  const names = new Set(wanted.map(({ symbol }) => symbol))
  return [...wanted, ...listed.filter(({ symbol }) => !names.has(symbol))]
}

/**
 * @returns the only product type, else that of the known contract, else the one whose quote coin ends
 * the symbol
 */
function productTypeOf(
  symbol: string,
  { productTypes }: ListedContracts,
  listed: readonly ListedContract[],
): ProductType {
  const [first, ...others] = new Set(productTypes)
  if (first !== undefined && others.length === 0) return first
  const ofAccounts = listed.filter(({ productType }) => productTypes.includes(productType))
  const quoted = ofAccounts
    .filter(({ quoteCoin }) => symbol.endsWith(quoteCoin))
    .toSorted((one, other) => other.quoteCoin.length - one.quoteCoin.length)
  const found = ofAccounts.find((row) => row.symbol === symbol) ?? quoted[0]
  if (found !== undefined) return found.productType
  throw new Failure({
    code: 'SIMULATOR_PRODUCT_UNKNOWN',
    sentence: 'nothing says of which product type an instrument is',
    facts: { symbol, accounts: [...new Set(productTypes)].join(', ') },
    hint: `set instruments.${symbol}.productType`,
  })
}

/** A dated contract pays no funding. */
const DATED = /_\d{6}$/

function createContract(
  symbol: string,
  productType: ProductType,
  listed: readonly ListedContract[],
): ListedContract {
  const model = listed.find((row) => row.productType === productType) ?? listed[0]
  if (model === undefined) throw new Error('unreachable: the simulated exchange lists nothing')
  const pair = symbol.replace(DATED, '')
  const baseCoin = pair.endsWith(model.quoteCoin) ? pair.slice(0, -model.quoteCoin.length) : pair
  return {
    ...model,
    symbol,
    productType,
    baseCoin,
    marginCoin: model.isInverse ? baseCoin : model.quoteCoin,
    ...(DATED.test(symbol) && { fundingMinutes: [] }),
    limitLotsMax: Number.MAX_SAFE_INTEGER,
    marketLotsMax: Number.MAX_SAFE_INTEGER,
  }
}

function withPrecision(
  contract: ListedContract,
  { tickSize, lotSize, minSize, minNotional }: InstrumentSettings,
): ListedContract {
  const sizeGrid = createGrid(lotSize)
  // Keeps the size of the largest order in coins.
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

export function configuredContracts({
  instruments,
}: Pick<DaemonConfig, 'instruments'>): ReadonlyMap<string, ContractRules> {
  return new Map(
    Object.entries(instruments).map(
      ([symbol, { tickSize, lotSize, minSize, minNotional, fundingHours }]) => [
        symbol,
        {
          tickSize,
          lotSize,
          minSize,
          minNotional,
          ...(fundingHours !== undefined && { fundingHours }),
        },
      ],
    ),
  )
}
