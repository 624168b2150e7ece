import { quotient, ZERO, type Decimal, decimalOfInteger } from '../../../lib/decimal.ts'
import { floatOnGrid } from '../../../lib/grid.ts'
import type { RequestOf } from '../../../protocol/endpoints.ts'
import type { WirePosition } from '../../../protocol/futures/single-position.ts'
import type { AccountRef } from '../../shared/account.ts'
import {
  accountOf,
  symbolOf,
  type ExchangeAccount,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { priceText, sizeText, type ListedContract } from '../instruments/instruments.ts'
import {
  DISPLAY_DECIMALS,
  heldMargin,
  liquidationPrice,
  maintenanceRateOf,
  marginRatio,
} from './margin.ts'
import { closingOrders } from '../orders/order-lifecycle.ts'
import { namedSymbol } from '../instruments/asked-symbols.ts'
import { mayOpen, reduces, remainingLotsOf } from '../orders/order.ts'
import { baseSize, type Position, unrealised } from './position.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import { shareAfterFee } from '../../wallet/fees.ts'
import { negated } from '../../wallet/rounding.ts'

const HALF_EVEN = 2
const SHOWN = { decimals: DISPLAY_DECIMALS }

export function singlePosition(
  state: CoreState,
  { uid }: AccountRef,
  request: RequestOf<'singlePosition'>,
): Reply<WirePosition[]> {
  const symbol = namedSymbol(state, request)
  if (!symbol.ok) return symbol
  const account = accountOf(state, uid)
  const held = positionsOf(account, request.symbol)
  return accept(held.map((position) => toWirePosition(state, account, position)))
}

export function readHeldPositions(
  state: CoreState,
  { uid }: AccountRef,
  symbol: string,
): readonly HeldPosition[] {
  const account = accountOf(state, uid)
  return positionsOf(account, symbol).map((position) => toHeldPosition(state, account, position))
}

export function readHeldNumbers(
  state: CoreState,
  { uid }: AccountRef,
  symbol: string,
): readonly HeldNumbers[] {
  const account = accountOf(state, uid)
  return positionsOf(account, symbol).map((position) => toHeldNumbers(state, account, position))
}

export function positionsOf({ positions }: ExchangeAccount, symbol: string): Position[] {
  if (positions.size === 0) return []
  const held = [...positions.values()].filter((position) => position.symbol === symbol)
  return held.sort((one, other) => (one.holdSide < other.holdSide ? -1 : 1))
}

/** These texts are kept, because writing them costs ten times as much as the rest of a row. */
type HeldPosition = ReturnType<typeof toHeldPosition>

function toHeldPosition(state: CoreState, account: ExchangeAccount, position: Position) {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  return {
    ...toStandingPart(state, position),
    posMode: account.setup.positionMode,
    unrealizedPL: unrealisedText(instrument, position, markTicks),
    markPrice: priceText(instrument, markTicks),
  }
}

type HeldNumbers = ReturnType<typeof toHeldNumbers>

function toHeldNumbers(state: CoreState, account: ExchangeAccount, position: Position) {
  const { instrument, markTicks } = symbolOf(state, position.symbol)
  return {
    ...toStandingPart(state, position),
    posMode: account.setup.positionMode,
    unrealizedPL: unrealisedNumber(instrument, position, markTicks),
    markPrice: floatOnGrid(instrument.priceGrid, markTicks),
  }
}

const written = new WeakMap<
  Position,
  { made: PositionAmounts; row: ReturnType<typeof writeStandingPart> }
>()

type PositionAmounts = Pick<Position, 'lots' | 'cost' | 'margin' | 'funding'>

function toStandingPart(state: CoreState, position: Position) {
  const { lots, cost, margin, funding } = position
  const { made, row: known } = written.get(position) ?? {}
  const isSame =
    made?.lots === lots && made.cost === cost && made.margin === margin && made.funding === funding
  if (known !== undefined && isSame) return known
  const row = writeStandingPart(symbolOf(state, position.symbol), position)
  written.set(position, { made: { lots, cost, margin, funding }, row })
  return row
}

function writeStandingPart(symbol: SymbolState, position: Position) {
  const { lots, cost, funding } = position
  const { instrument } = symbol
  return {
    symbol: position.symbol,
    holdSide: position.holdSide,
    marginSize: display(heldMargin(symbol, position)),
    total: sizeText(instrument, lots),
    openPriceAvg: display(quotient(cost, baseSize(instrument, lots), SHOWN)),
    totalFee: funding?.toString() ?? '',
  }
}

/**
 * `available`, `locked` and `total` are in base coin as in the document's sample; its table says
 * quote currency.
 */
export function toWirePosition(
  state: CoreState,
  account: ExchangeAccount,
  position: Position,
): WirePosition {
  const symbol = symbolOf(state, position.symbol)
  const { instrument } = symbol
  const held = toHeldPosition(state, account, position)
  const locked = Math.min(position.lots, remainingLotsOf(closingOrders(account, position)))
  return {
    symbol: position.symbol,
    marginCoin: instrument.marginCoin,
    holdSide: position.holdSide,
    openDelegateSize: sizeText(instrument, openingDelegateLots(account, position)),
    marginSize: held.marginSize,
    available: sizeText(instrument, position.lots - locked),
    locked: sizeText(instrument, locked),
    total: held.total,
    leverage: String(position.leverage),
    achievedProfits: position.realised.toString(),
    openPriceAvg: held.openPriceAvg,
    marginMode: position.marginMode,
    posMode: held.posMode,
    unrealizedPL: held.unrealizedPL,
    liquidationPrice: display(liquidationPrice(state, account, position) ?? ZERO),
    keepMarginRate: maintenanceRateOf(symbol, position).toString(),
    markPrice: held.markPrice,
    marginRatio: display(marginRatio(state, account, position)),
    breakEvenPrice: display(breakEvenPrice(state, position)),
    totalFee: held.totalFee,
    deductedFee: position.fees.toString(),
    assetMode: 'single',
    cTime: String(position.openedAt),
    uTime: String(position.updatedAt),
  }
}

function openingDelegateLots({ openOrders }: ExchangeAccount, position: Position): number {
  const enlarging = [...openOrders.values()].filter(
    (order) =>
      order.symbol === position.symbol &&
      order.slot === position.slot &&
      mayOpen(order) &&
      !reduces(order, position),
  )
  return remainingLotsOf(enlarging)
}

/** At this price a taker close pays back all fees; funding does not count. */
function breakEvenPrice(state: CoreState, position: Position): Decimal {
  const { instrument } = symbolOf(state, position.symbol)
  const size = baseSize(instrument, position.lots)
  const isLong = position.holdSide === 'long'
  const { taker } = state.rates
  const kept = size.times(isLong ? shareAfterFee(taker) : taker.plus('1'))
  const fees = isLong ? position.fees : negated(position.fees)
  if (!instrument.isInverse) return quotient(position.cost.plus(fees), kept, SHOWN)
  // For an inverse contract a long's profit is size - cost / price, in base coin.
  const needed = kept.minus(fees)
  return needed.lte(ZERO) ? ZERO : quotient(position.cost, needed, SHOWN)
}

function display(value: Decimal): string {
  return value.round(DISPLAY_DECIMALS, HALF_EVEN).toString()
}

interface TickLotUnit {
  readonly digits: number
  readonly scale: number
}

const DIGITS_MAX = 1e15
const VALUE_MIN = 1e-6

const units = new WeakMap<ListedContract, TickLotUnit>()
/** In ticks times lots; NaN if the cost is not a whole number of them. */
const costs = new WeakMap<Decimal, number>()

/**
 * Account views request this at every price change, so it is computed with integers where that is
 * exact.
 */
export function unrealisedText(
  instrument: ListedContract,
  position: Position,
  ticks: number,
): string {
  return (
    wholeText(instrument, position, ticks) ?? unrealised(instrument, position, ticks).toString()
  )
}

export function unrealisedNumber(
  instrument: ListedContract,
  position: Position,
  ticks: number,
): number {
  return (
    wholeAmount(instrument, position, ticks) ??
    Number(unrealised(instrument, position, ticks).toString())
  )
}

function wholeText(
  instrument: ListedContract,
  position: Position,
  ticks: number,
): string | undefined {
  const amount = wholeAmount(instrument, position, ticks)
  if (amount === undefined || (amount !== 0 && Math.abs(amount) < VALUE_MIN)) return undefined
  return String(amount)
}

function wholeAmount(
  instrument: ListedContract,
  position: Position,
  ticks: number,
): number | undefined {
  if (instrument.isInverse) return undefined
  const value = ticks * position.lots
  const cost = costOf(instrument, position.cost)
  const { digits, scale } = unitOf(instrument)
  const gained = (position.holdSide === 'long' ? value - cost : cost - value) * digits
  if (!(value < DIGITS_MAX && Math.abs(gained) < DIGITS_MAX)) return undefined
  return gained / scale + 0
}

function costOf({ tickLotValue }: ListedContract, cost: Decimal): number {
  const known = costs.get(cost)
  if (known !== undefined) return known
  const count = Number(cost.div(tickLotValue).toString())
  const isWhole =
    Number.isSafeInteger(count) && decimalOfInteger(count).times(tickLotValue).eq(cost)
  const steps = isWhole ? count : Number.NaN
  costs.set(cost, steps)
  return steps
}

function unitOf(instrument: ListedContract): TickLotUnit {
  const known = units.get(instrument)
  if (known !== undefined) return known
  const [whole = '', decimals = ''] = instrument.tickLotValue.toString().split('.')
  const unit = { digits: Number(whole + decimals), scale: 10 ** decimals.length }
  units.set(instrument, unit)
  return unit
}
