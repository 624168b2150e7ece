/**
 * Account views request the unrealised profit at every price change, so it is computed with
 * integers where that is exact, with the decimals' digits.
 */
import { decimalOfInteger, type Decimal } from '../../../lib/decimal.ts'
import type { Instrument } from '../instruments/instruments.ts'
import { unrealised, type Position } from './position.ts'

interface TickLotUnit {
  readonly digits: number
  readonly scale: number
}

/** Within this range a float prints exactly the decimal's digits. */
const DIGITS_MAX = 1e15
const VALUE_MIN = 1e-6

const units = new WeakMap<Instrument, TickLotUnit>()
/** In ticks times lots; NaN if the cost is not a whole number of them. */
const costs = new WeakMap<Decimal, number>()

export function unrealisedText(instrument: Instrument, position: Position, ticks: number): string {
  return (
    wholeText(instrument, position, ticks) ?? unrealised(instrument, position, ticks).toString()
  )
}

function wholeText(instrument: Instrument, position: Position, ticks: number): string | undefined {
  if (instrument.isInverse) return undefined
  const value = ticks * position.lots
  const cost = costOf(instrument, position.cost)
  const { digits, scale } = unitOf(instrument)
  const gained = (position.holdSide === 'long' ? value - cost : cost - value) * digits
  if (!(value < DIGITS_MAX && Math.abs(gained) < DIGITS_MAX)) return undefined
  const amount = gained / scale
  return Math.abs(amount) < VALUE_MIN && gained !== 0 ? undefined : String(amount + 0)
}

function costOf({ tickLotValue }: Instrument, cost: Decimal): number {
  const known = costs.get(cost)
  if (known !== undefined) return known
  const count = Number(cost.div(tickLotValue).toString())
  const isWhole =
    Number.isSafeInteger(count) && decimalOfInteger(count).times(tickLotValue).eq(cost)
  const steps = isWhole ? count : Number.NaN
  costs.set(cost, steps)
  return steps
}

function unitOf(instrument: Instrument): TickLotUnit {
  const known = units.get(instrument)
  if (known !== undefined) return known
  const [whole = '', decimals = ''] = instrument.tickLotValue.toString().split('.')
  const unit = { digits: Number(whole + decimals), scale: 10 ** decimals.length }
  units.set(instrument, unit)
  return unit
}
