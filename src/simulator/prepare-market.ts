import { type Instrument, toMarketInstrument } from './futures/instruments/instruments.ts'
import type { CandlePathKind } from './market/recorded/candle-path.ts'
import { loadRecording } from '../prices/load-recording.ts'
import { type LiveSource, LiveMarket } from './market/live/live-market.ts'
import type { Market, MarketState } from './market/market.ts'
import { RecordedMarket } from './market/recorded/recorded-market.ts'
import { SeededMarket } from './market/seeded/seeded-market.ts'

/** Where the prices come from. */
export type MarketChoice =
  | {
      readonly kind: 'seeded'
      /** Where instruments start, in quote coin, by symbol; elsewhere where their own row says. */
      readonly prices?: Readonly<Record<string, string>>
      /** Standard deviation of a year of returns; 0.6 is 60 %. */
      readonly yearlyVolatility?: number
      /** Time between two moves, ms. Default 100. */
      readonly stepMs?: number
      /** Market time over real time; 1 is real time, and the default. */
      readonly speed?: number
    }
  | {
      readonly kind: 'recorded'
      /** Paths whose file name begins with the symbol, or `SYMBOL=path`. Other symbols follow the seed. */
      readonly files: readonly string[]
      readonly speed?: number
      readonly stepMs?: number
      /** Starts again at the end instead of standing still. */
      readonly repeat?: boolean
      /** How the points of candles are found. Default random. */
      readonly candlePath?: CandlePathKind
    }
  | {
      /** The prices of another exchange, as it shows them now. */
      readonly kind: 'live'
      readonly source: LiveSource
    }

export interface MarketFrame {
  readonly instruments: readonly Instrument[]
  readonly seed: number | string
  /** Unix ms on the exchange's clock, of a market that is not restored. */
  readonly startAt: number
}

/**
 * Reads the recordings, so that opening the market, afresh or from its stored state, needs no waiting.
 *
 * @throws Failure RECORDING_… for files that cannot be read
 */
export async function prepareMarket(
  choice: MarketChoice,
  { instruments, seed, startAt }: MarketFrame,
): Promise<(stored: MarketState | undefined) => Market> {
  const rows = instruments.map(toMarketInstrument)
  if (choice.kind === 'live') {
    const { source } = choice
    return (stored) => new LiveMarket({ source, instruments: rows }, stored)
  }
  const { speed = 1, stepMs } = choice
  const step = stepMs === undefined ? {} : { stepMs }
  if (choice.kind === 'seeded') {
    const { prices, yearlyVolatility } = choice
    const seeded = rows.map((row) => ({
      ...row,
      startPrice: prices?.[row.symbol] ?? row.startPrice,
      ...(yearlyVolatility !== undefined && { yearlyVolatility }),
    }))
    return (stored) => new SeededMarket({ seed, startAt, instruments: seeded, speed, ...step }, stored)
  }
  const recordings = await Promise.all(choice.files.map(loadRecording))
  const { repeat = false, candlePath = 'random' } = choice
  const common = { speed, startAt, instruments: rows, fallback: { seed, ...step } }
  return (stored) => new RecordedMarket({ recordings, ...common, repeat, candlePath }, stored)
}
