import { dirname, resolve } from 'node:path'
import { type StrategyConfig } from '../../config/load-config.ts'
import { type Problem } from '../../config/yaml/problem.ts'
import { type YamlSource } from '../../config/yaml/yaml-source.ts'
import {
  addTick,
  candleKey,
  type CandleRow,
  CANDLES_MAX,
  openCandle,
  openOf,
  toRow,
} from '../../domain/candles.ts'
import { type ShowSettings } from '../../engine/settings.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { loadRecording } from '../../prices/load-recording.ts'
import { type CandleRows } from '../../prices/recording.ts'
import { type ResolvedNeeds } from '../../strategy/needs.ts'

export type CandleHistory = NonNullable<ShowSettings['history']>

type HistoryReading = { readonly candles: CandleHistory } | { readonly problems: readonly Problem[] }

/** The candles that a strategy needs, out of the files that it names: the newest of each. */
export async function readHistory(
  { file, history, instruments }: Pick<StrategyConfig, 'file' | 'history' | 'instruments'>,
  { candles: needed }: Pick<ResolvedNeeds, 'candles'>,
  source: YamlSource,
): Promise<HistoryReading> {
  const candles = new Map<string, readonly CandleRow[]>()
  const problems: Problem[] = []
  for (const [index, name] of history.entries()) {
    try {
      const { symbol, rows } = await loadRecording(placeAt(dirname(file), name))
      if (rows.kind !== 'candles') throw new Error('these are quotes; candles are read from files of candles')
      if (!instruments.includes(symbol))
        throw new Error(`it is of ${symbol}, which is none of its instruments`)
      for (const intervalMs of needed.keys()) {
        candles.set(candleKey(symbol, intervalMs), buildCandles(rows, intervalMs))
      }
    } catch (error) {
      // A failure says its cause itself.
      const text = error instanceof Failure ? error.message : messageOf(error)
      problems.push(source.problem(['history', index], text))
    }
  }
  return problems.length > 0 ? { problems } : { candles }
}

/** `FILE` or `SYMBOL=FILE`, relative to the strategy file. */
function placeAt(directory: string, name: string): string {
  const [, symbol, path = name] = /^([A-Z0-9]+=)?(.+)$/s.exec(name) ?? []
  return `${symbol ?? ''}${resolve(directory, path)}`
}

/** Candles of an interval out of shorter ones. One of which the file has only the end, or the beginning, is left out. */
function buildCandles({ at, open, high, low, close }: CandleRows, intervalMs: number): readonly CandleRow[] {
  const built: CandleRow[] = []
  const stepMs = smallestStep(at)
  const from = Math.max(0, at.length - Math.ceil((CANDLES_MAX + 1) * (intervalMs / stepMs)))
  let candle: ReturnType<typeof openCandle> | undefined
  let present: number | undefined
  for (let row = from; row < at.length; row++) {
    const time = at[row] ?? 0
    const openAt = openOf(time, intervalMs)
    if (present !== openAt) {
      candle = present !== undefined || time === openAt ? openCandle(openAt, open[row] ?? 0, time) : undefined
      if (candle) candle.ticks = 0
      present = openAt
    }
    if (!candle) continue
    for (const price of [high[row], low[row], close[row]]) addTick(candle, price ?? 0, time)
    // Three prices of one row.
    candle.ticks -= 2
    if (time + stepMs >= openAt + intervalMs) built.push(toRow(candle))
  }
  return built.slice(-CANDLES_MAX)
}

function smallestStep(at: Float64Array): number {
  let stepMs = Number.POSITIVE_INFINITY
  for (let row = 1; row < at.length; row++) stepMs = Math.min(stepMs, (at[row] ?? 0) - (at[row - 1] ?? 0))
  return Number.isFinite(stepMs) ? stepMs : 60_000
}
