import { type ListedContract, toMarketInstrument } from './futures/instruments/instruments.ts'
import type { CandlePathKind } from './market/recorded/candle-path.ts'
import { loadWithFunding } from '../prices/load-funding.ts'
import { type LiveSource, LiveMarket } from './market/live/live-market.ts'
import type { Market, StoredMarketState } from './market/market.ts'
import { countCutRows, RECORDED_LOTS_MAX } from './market/quote-grid.ts'
import { RecordedMarket } from './market/recorded/recorded-market.ts'
import { SeededMarket } from './market/seeded/seeded-market.ts'

export type MarketChoice =
  | ({ readonly kind: 'seeded' } & SeededPriceSettings)
  | ({
      readonly kind: 'recorded'
      /**
       * `SYMBOL=path`, or a path whose file name has the symbol. Other symbols have seeded prices.
       */
      readonly files: readonly string[]
      readonly funding?: Readonly<Record<string, string>>
      readonly repeat?: boolean
      readonly candlePath?: CandlePathKind
    } & SeededPriceSettings)
  | {
      readonly kind: 'live'
      readonly source: LiveSource
    }

interface SeededPriceSettings {
  readonly prices?: Readonly<Record<string, string>>
  readonly yearlyVolatility?: number
  readonly stepMs?: number
  readonly speed?: number
}

export interface CutVolumes {
  readonly file: string
  readonly symbol: string
  readonly rows: number
  readonly lotsMax: number
}

export interface MarketFrame {
  readonly instruments: readonly ListedContract[]
  readonly seed: number | string
  readonly startAt: number
  readonly onCut?: (cut: CutVolumes) => void
}

/** @throws Failure RECORDING_… for unreadable files */
export async function prepareMarket(
  choice: MarketChoice,
  { instruments, seed, startAt, onCut }: MarketFrame,
): Promise<(stored: StoredMarketState | undefined) => Market> {
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
