import { type Instrument, isInverse } from '../../domain/instrument.ts'
import { type Decimal, decimal, decimalOfInteger, ZERO } from '../../lib/decimal.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import type { PositionSlot, RunFill } from '../run-facts.ts'

/** Margin coin. */
export interface RoundTrip {
  readonly strategyId: string
  readonly instrument: Instrument
  readonly slot: PositionSlot
  readonly entry: 'buy' | 'sell'
  readonly openedAt: number
  readonly closedAt: number | undefined
  readonly peakLots: number
  readonly fills: number
  /** Means, in quote coin. */
  readonly openPrice: number
  readonly closePrice: number
  /** Exact only for a closed position in a linear contract. */
  readonly profit: Decimal
  readonly fees: Decimal
}

interface OpenPosition {
  readonly entry: 'buy' | 'sell'
  readonly openedAt: number
  lots: number
  peakLots: number
  fills: number
  /** Ticks times lots; all numbers but `cost` are whole. */
  cost: number
  opened: { lots: number; tickLots: number }
  closed: { lots: number; tickLots: number }
  profit: number
  fees: Decimal
}

/** A coin-margined profit is a quotient. */
const MONEY_DECIMALS = 12

export class PositionBook {
  readonly #key: Pick<RoundTrip, 'strategyId' | 'instrument' | 'slot'>
  readonly #onClosed: (trip: RoundTrip) => void
  readonly #tickLotValue: Decimal
  #open: OpenPosition | undefined

  constructor(
    key: Pick<RoundTrip, 'strategyId' | 'instrument' | 'slot'>,
    onClosed: (trip: RoundTrip) => void,
  ) {
    this.#key = key
    this.#onClosed = onClosed
    this.#tickLotValue = decimal(key.instrument.tick.step).times(decimal(key.instrument.lot.step))
  }

  get lots(): number {
    return this.#open === undefined ? 0 : this.#open.lots * (this.#open.entry === 'buy' ? 1 : -1)
  }

  /** @returns the profit before fees in margin coin, 0 if the fill closes nothing */
  take({
    direction,
    ticks,
    lots,
    fee,
    at,
  }: Pick<RunFill, 'direction' | 'ticks' | 'lots' | 'fee' | 'at'>): number {
    const closing =
      this.#open && this.#open.entry !== direction ? Math.min(lots, this.#open.lots) : 0
    const opening = lots - closing
    const closingFee = opening === 0 ? fee : shareOf(fee, closing, lots)
    const realised = closing > 0 ? this.#close({ ticks, lots: closing, fee: closingFee, at }) : 0
    if (opening > 0)
      this.#add({
        direction,
        ticks,
        lots: opening,
        fee: fee.minus(closing > 0 ? closingFee : ZERO),
        at,
      })
    return realised
  }

  /** Margin coin, before fees; the price is in quote coin. */
  unrealised(price: number): number {
    const open = this.#open
    if (open === undefined || open.lots === 0) return 0
    const { instrument } = this.#key
    const value = price * floatOnGrid(instrument.lot, open.lots)
    const gain =
      (value - open.cost * Number(this.#tickLotValue.toString())) * (open.entry === 'buy' ? 1 : -1)
    return isInverse(instrument) ? gain / price : gain
  }

  current(): RoundTrip | undefined {
    return this.#open && this.#toTrip(this.#open, undefined)
  }

  #add({
    direction,
    ticks,
    lots,
    fee,
    at,
  }: Pick<RunFill, 'direction' | 'ticks' | 'lots' | 'fee' | 'at'>): void {
    const open = (this.#open ??= createPosition(direction, at))
    open.lots += lots
    open.peakLots = Math.max(open.peakLots, open.lots)
    open.fills += 1
    open.cost += ticks * lots
    open.opened.lots += lots
    open.opened.tickLots += ticks * lots
    open.fees = open.fees.plus(fee)
  }

  #close({ ticks, lots, fee, at }: Pick<RunFill, 'ticks' | 'lots' | 'fee' | 'at'>): number {
    const open = this.#open
    if (open === undefined) return 0
    const cost = lots === open.lots ? open.cost : (open.cost * lots) / open.lots
    const gain = (ticks * lots - cost) * (open.entry === 'buy' ? 1 : -1)
    const price = floatOnGrid(this.#key.instrument.tick, ticks)
    const profit = gain * Number(this.#tickLotValue.toString())
    const realised = isInverse(this.#key.instrument) ? profit / price : profit
    open.profit += realised
    open.cost -= cost
    open.lots -= lots
    open.fills += 1
    open.closed.lots += lots
    open.closed.tickLots += ticks * lots
    open.fees = open.fees.plus(fee)
    if (open.lots === 0) {
      this.#open = undefined
      this.#onClosed(this.#toTrip(open, at))
    }
    return realised
  }

  #toTrip(open: OpenPosition, closedAt: number | undefined): RoundTrip {
    const { tick } = this.#key.instrument
    const mean = ({ lots, tickLots }: OpenPosition['opened']): number =>
      lots === 0 ? Number.NaN : floatOnGrid(tick, tickLots / lots)
    return {
      ...this.#key,
      entry: open.entry,
      openedAt: open.openedAt,
      closedAt,
      peakLots: open.peakLots,
      fills: open.fills,
      fees: open.fees,
      openPrice: mean(open.opened),
      closePrice: mean(open.closed),
      profit: this.#profitOf(open),
    }
  }

  #profitOf({ entry, opened, closed, cost, profit }: OpenPosition): Decimal {
    if (isInverse(this.#key.instrument)) return decimal(profit.toFixed(MONEY_DECIMALS))
    const tickLots = closed.tickLots - (opened.tickLots - cost)
    const signed = entry === 'buy' ? tickLots : -tickLots
    if (Number.isSafeInteger(signed)) return decimalOfInteger(signed).times(this.#tickLotValue)
    return decimal(signed.toFixed(MONEY_DECIMALS)).times(this.#tickLotValue)
  }
}

function createPosition(entry: 'buy' | 'sell', openedAt: number): OpenPosition {
  const sums = { lots: 0, tickLots: 0 }
  return {
    entry,
    openedAt,
    lots: 0,
    peakLots: 0,
    fills: 0,
    cost: 0,
    profit: 0,
    fees: ZERO,
    opened: { ...sums },
    closed: { ...sums },
  }
}

function shareOf(fee: Decimal, lots: number, of: number): Decimal {
  return fee.times(decimalOfInteger(lots)).div(decimalOfInteger(of))
}
