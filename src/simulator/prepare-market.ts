import { type Instrument, toMarketInstrument } from './futures/instruments/instruments.ts'
import type { CandlePathKind } from './market/recorded/candle-path.ts'
import { loadWithFunding } from '../prices/load-funding.ts'
import { type LiveSource, LiveMarket } from './market/live/live-market.ts'
import type { Market, MarketState } from './market/market.ts'
import { countCutRows, RECORDED_LOTS_MAX } from './market/quote-grid.ts'
import { RecordedMarket } from './market/recorded/recorded-market.ts'
import { SeededMarket } from './market/seeded/seeded-market.ts'

/** Where the prices come from. */
export type MarketChoice =
  | ({ readonly kind: 'seeded' } & MadeUpPrices)
  | ({
      readonly kind: 'recorded'
      /** Paths whose file name says the symbol, or `SYMBOL=path`. Other symbols have made-up prices. */
      readonly files: readonly string[]
      /** Files of payments of funding, by symbol. */
      readonly funding?: Readonly<Record<string, string>>
      /** Starts again at the end instead of standing still. */
      readonly repeat?: boolean
      /** How the points of candles are found. Default random. */
      readonly candlePath?: CandlePathKind
    } & MadeUpPrices)
  | {
      /** The prices of another exchange, as it shows them now. */
      readonly kind: 'live'
      readonly source: LiveSource
    }

/** How prices move that follow the seed. */
interface MadeUpPrices {
  /** Where instruments start, in quote coin, by symbol; elsewhere where their own row says. */
  readonly prices?: Readonly<Record<string, string>>
  /** Standard deviation of a year of returns; 0.6 is 60 %. */
  readonly yearlyVolatility?: number
  /** Time between two moves, ms. Default 100. */
  readonly stepMs?: number
  /** Market time over real time, of recordings too; 1 is real time, and the default. */
  readonly speed?: number
}

/** A recording has rows with more than so many lots, which are played as so many. */
export interface CutVolumes {
  readonly file: string
  readonly symbol: string
  readonly rows: number
  readonly lotsMax: number
}

export interface MarketFrame {
  readonly instruments: readonly Instrument[]
  readonly seed: number | string
  /** Unix ms on the exchange's clock, of a market that is not restored. */
  readonly startAt: number
  readonly onCut?: (cut: CutVolumes) => void
}

/**
 * Reads the recordings, so that opening the market, afresh or from its stored state, needs no waiting.
 *
 * @throws Failure RECORDING_… for files that cannot be read
 */
export async function prepareMarket(
  choice: MarketChoice,
  { instruments, seed, startAt, onCut }: MarketFrame,
): Promise<(stored: MarketState | undefined) => Market> {
  const listed = instruments.map(toMarketInstrument)
  if (choice.kind === 'live') {
    const { source } = choice
    return (stored) => new LiveMarket({ source, instruments: listed }, stored)
  }
  const { speed = 1, stepMs, prices, yearlyVolatility } = choice
  const step = stepMs === undefined ? {} : { stepMs }
  const rows = listed.map((row) => ({
    ...row,
    startPrice: prices?.[row.symbol] ?? row.startPrice,
    ...(yearlyVolatility !== undefined && { yearlyVolatility }),
  }))
  if (choice.kind === 'seeded')
    return (stored) =>
      new SeededMarket({ seed, startAt, instruments: rows, speed, ...step }, stored)
  const recordings = await loadWithFunding(choice.files, choice.funding)
  for (const recording of recordings) {
    const { symbol, source: file } = recording
    const lotSize = rows.find((row) => row.symbol === symbol)?.lotSize
    const count = lotSize === undefined ? 0 : countCutRows(recording, lotSize)
    if (count > 0) onCut?.({ file, symbol, rows: count, lotsMax: RECORDED_LOTS_MAX })
  }
  const { repeat = false, candlePath = 'random' } = choice
  const common = { speed, startAt, instruments: rows, fallback: { seed, ...step } }
  return (stored) => new RecordedMarket({ recordings, ...common, repeat, candlePath }, stored)
}
