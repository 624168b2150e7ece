/**
 * The unrealised profit of a position as text. Who holds one asks for it again and again, at another price each time:
 * where all of it is whole numbers it is worked out in whole numbers, to the digits that decimals would give.
 */
import { decimalOfInteger, type Decimal } from '../../../lib/decimal.ts'
import type { Instrument } from '../instruments/instruments.ts'
import { unrealised, type Position } from './position.ts'

/** A tick of a lot, as `digits` / `scale` quote coin. */
interface Unit {
  readonly digits: number
  readonly scale: number
}

/** A float shows so many digits of a decimal as they are; smaller numbers it writes with an exponent. */
const DIGITS_MAX = 1e15
const VALUE_MIN = 1e-6

const units = new WeakMap<Instrument, Unit>()
/** Of a cost, how many ticks of lots it is; NaN where it is no whole number of them. */
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
  // Written so that NaN is refused.
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

function unitOf(instrument: Instrument): Unit {
  const known = units.get(instrument)
  if (known !== undefined) return known
  const [whole = '', decimals = ''] = instrument.tickLotValue.toString().split('.')
  const unit = { digits: Number(whole + decimals), scale: 10 ** decimals.length }
  units.set(instrument, unit)
  return unit
}
