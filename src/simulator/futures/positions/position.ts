import { decimal, decimalOfInteger, quotient, ZERO, type Decimal } from '../../../lib/decimal.ts'
import type { ListedContract, ContractTier } from '../instruments/instruments.ts'
import type { PositionSide, PositionTrigger } from '../orders/order.ts'
import type { ExchangeMarginMode } from '../../shared/account.ts'

export interface Position {
  readonly sequence: number
  readonly uid: string
  readonly symbol: string
  readonly slot: PositionSide
  readonly holdSide: 'long' | 'short'
  readonly marginMode: ExchangeMarginMode
  readonly leverage: number
  lots: number
  /** Exact price times size of the open lots, in quote coin. */
  cost: Decimal
  /** Margin coin; zero for a crossed position, which the balance backs. */
  margin: Decimal
  /** Only for prechecks; {@link updateFloats} keeps both true. */
  costFloat: number
  marginFloat: number
  realised: Decimal
  fees: Decimal
  /** Undefined until the first funding; negative when paid. */
  funding: Decimal | undefined
  takeProfit: PositionTrigger | undefined
  stopLoss: PositionTrigger | undefined
  readonly openedAt: number
  updatedAt: number
}

/** A part is rounded half to even, and the rest of the position keeps the remainder. */
const MONEY_DECIMALS = 12
const HALF_EVEN = 2

function roundMoney(amount: Decimal): Decimal {
  return amount.round(MONEY_DECIMALS, HALF_EVEN)
}

export function quoteValue(instrument: ListedContract, ticks: number, lots: number): Decimal {
  const product = ticks * lots
  const exact = Number.isSafeInteger(product)
    ? decimalOfInteger(product)
    : decimalOfInteger(ticks).times(decimalOfInteger(lots))
  return exact.times(instrument.tickLotValue)
}

export function baseSize(instrument: ListedContract, lots: number): Decimal {
  return decimal(instrument.sizeGrid.step).times(decimalOfInteger(lots))
}

function priceDecimal(instrument: ListedContract, ticks: number): Decimal {
  return decimal(instrument.priceGrid.step).times(decimalOfInteger(ticks))
}

export function marginValue(instrument: ListedContract, ticks: number, lots: number): Decimal {
  return instrument.isInverse ? baseSize(instrument, lots) : quoteValue(instrument, ticks, lots)
}

function toMarginCoin(instrument: ListedContract, amount: Decimal, ticks: number): Decimal {
  if (!instrument.isInverse) return amount
  return roundMoney(amount.div(priceDecimal(instrument, ticks)))
}

export function shareOf(position: Position, lots: number, whole: Decimal): Decimal {
  if (lots === position.lots) return whole
  return roundMoney(whole.times(decimalOfInteger(lots)).div(decimalOfInteger(position.lots)))
}

export function profitOf(
  instrument: ListedContract,
  position: Position,
  close: { readonly lots: number; readonly ticks: number; readonly cost: Decimal },
): Decimal {
  const value = quoteValue(instrument, close.ticks, close.lots)
  const gain = position.holdSide === 'long' ? value.minus(close.cost) : close.cost.minus(value)
  return toMarginCoin(instrument, gain, close.ticks)
}

export function unrealised(instrument: ListedContract, position: Position, ticks: number): Decimal {
  return profitOf(instrument, position, { lots: position.lots, ticks, cost: position.cost })
}

export function averageEntry(instrument: ListedContract, position: Position): Decimal {
  return position.cost.div(baseSize(instrument, position.lots))
}

export function initialMargin(value: Decimal, leverage: number): Decimal {
  return quotient(value, decimalOfInteger(leverage), { decimals: MONEY_DECIMALS, rounding: 'up' })
}

export function maintenanceTier({ maintenanceTiers }: ListedContract, value: number): ContractTier {
  return maintenanceTiers.find(({ notionalMax }) => value <= notionalMax) ?? WHOLE_VALUE
}

const WHOLE_VALUE: ContractTier = {
  notionalMax: Number.POSITIVE_INFINITY,
  rate: '1',
  rateFloat: 1,
}

export function positionKey(symbol: string, slot: PositionSide): string {
  return `${symbol}/${slot}`
}

/** Must be called wherever cost or margin change. */
export function updateFloats(position: Position): void {
  position.costFloat = Number(position.cost.toString())
  position.marginFloat = Number(position.margin.toString())
}

export const NO_POSITION = {
  lots: 0,
  cost: ZERO,
  margin: ZERO,
  costFloat: 0,
  marginFloat: 0,
  realised: ZERO,
  fees: ZERO,
  funding: undefined,
  takeProfit: undefined,
  stopLoss: undefined,
}
