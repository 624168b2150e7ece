/** One fill, before it is booked. Prices in ticks of 0.1, sizes in lots of 0.001. */
export interface SoakFill {
  readonly number: number
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
  readonly isMaker: boolean
}

/** What a fill cost and brought, in hundred-millionths of the margin coin. */
export interface Booked {
  readonly fee: number
  readonly profit: number
}

interface SoakHolding {
  /** Negative when short. */
  readonly lots: number
  readonly averageTicks: number
}

/** Of the value, in ten-thousandths: a tick and a lot are worth another ten-thousandth, so a fee is exact. */
const MAKER_FEE = 2
const TAKER_FEE = 6
const UNITS_PER_TICK_AND_LOT = 10_000

/** What the account of a soak holds, has paid and has earned: whole numbers, so that it is compared to the digit. */
export class SoakLedger {
  readonly #holdings = new Map<string, SoakHolding>()
  #fees = 0
  #profit = 0

  get money(): {
    readonly fees: string
    readonly realisedProfit: string
    readonly funding: string
  } {
    return { fees: toCoins(this.#fees), realisedProfit: toCoins(this.#profit), funding: '0' }
  }

  holdingOf(symbol: string): SoakHolding {
    return this.#holdings.get(symbol) ?? { lots: 0, averageTicks: 0 }
  }

  book({ symbol, side, ticks, lots, isMaker }: SoakFill): Booked {
    const before = this.holdingOf(symbol)
    const change = side === 'buy' ? lots : -lots
    const closed =
      Math.sign(before.lots) === -Math.sign(change) ? Math.min(Math.abs(before.lots), lots) : 0
    const gained = (ticks - before.averageTicks) * closed * Math.sign(before.lots)
    const booked = {
      fee: ticks * lots * (isMaker ? MAKER_FEE : TAKER_FEE),
      profit: Math.round(gained * UNITS_PER_TICK_AND_LOT),
    }
    this.#fees += booked.fee
    this.#profit += booked.profit
    this.#holdings.set(symbol, changeHolding(before, { change, ticks }))
    return booked
  }
}

function changeHolding(
  { lots, averageTicks }: SoakHolding,
  { change, ticks }: { readonly change: number; readonly ticks: number },
): SoakHolding {
  const after = lots + change
  if (after === 0) return { lots: 0, averageTicks: 0 }
  const hasGrown = Math.abs(after) > Math.abs(lots)
  if (Math.sign(after) !== Math.sign(lots)) return { lots: after, averageTicks: ticks }
  return {
    lots: after,
    averageTicks: hasGrown ? (averageTicks * lots + ticks * change) / after : averageTicks,
  }
}

/** Hundred-millionths as the decimal that the wire has. */
export function toCoins(units: number): string {
  const sign = units < 0 ? '-' : ''
  const digits = String(Math.abs(units)).padStart(9, '0')
  return `${sign}${digits.slice(0, -8)}.${digits.slice(-8)}`
}
