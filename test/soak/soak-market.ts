import { type Instrument } from '../../src/domain/instrument.ts'

/** Where prices go up and down around, in ticks. */
const MIDDLE_TICKS = 10_000

/** Slow and fast waves that each instrument's price is the sum of: how high, in ticks, and how long, ms. */
const WAVES = [
  { ticks: 40, periodMs: 1_200_000 },
  { ticks: 10, periodMs: 40_000 },
] as const

/** Each instrument is somewhere else on its waves. */
const SHIFT_MS = 777_000
/** With fewer orders a second prices move more slowly, so that as much of a ladder follows them. */
const FULL_SPEED_ORDERS = 100

/** Prices that stay within a band for ever, and are known for each instant without having been there before. */
export class SoakMarket {
  readonly #shifts: ReadonlyMap<string, number>
  readonly #speed: number

  constructor(instruments: ReadonlyMap<string, Instrument>, ordersPerSecond: number) {
    this.#shifts = new Map(
      [...instruments.keys()].map((symbol, place) => [symbol, place * SHIFT_MS]),
    )
    this.#speed = Math.min(1, ordersPerSecond / FULL_SPEED_ORDERS)
  }

  /** The best bid in ticks at an instant (Unix ms); the best ask is one tick above. */
  bidTicksAt(symbol: string, at: number): number {
    const angle = 2 * Math.PI * (at * this.#speed + (this.#shifts.get(symbol) ?? 0))
    const waves = WAVES.map(({ ticks, periodMs }) => ticks * Math.sin(angle / periodMs))
    return MIDDLE_TICKS + Math.round(waves.reduce((sum, wave) => sum + wave, 0))
  }
}
