import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { StrategyConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import {
  addCandle,
  candleKey,
  type CandleRow,
  CANDLES_MAX,
  openCandle,
  openOf,
  toRow,
} from '../../domain/candles.ts'
import type { ShowSettings } from '../../engine/settings.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { loadRecording } from '../../prices/load-recording.ts'
import { candleLength, type CandleRows, indexFrom, type Recording } from '../../prices/recording.ts'
import type { ResolvedNeeds } from '../../strategy/needs.ts'

export type CandleHistory = NonNullable<ShowSettings['history']>

type HistoryReading =
  | {
      readonly candles: CandleHistory
      readonly silent: readonly string[]
    }
  | { readonly problems: readonly Problem[] }

/**
 * Reads the candles from before the run. Files of one instrument must agree on common candles.
 * @param beforeAt infinity for a run that begins now
 */
export async function readHistory(
  { file, history, instruments }: Pick<StrategyConfig, 'file' | 'history' | 'instruments'>,
  { candles: needed }: Pick<ResolvedNeeds, 'candles'>,
  source: YamlSource,
  beforeAt = Number.POSITIVE_INFINITY,
): Promise<HistoryReading> {
  const candles = new Map<string, readonly CandleRow[]>()
  const problems: Problem[] = []
  const silent: string[] = []
  for (const [index, name] of history.entries()) {
    try {
      const { symbol, rows, intervalMs: rowMs } = await loadRecording(placeAt(dirname(file), name))
      if (rows.kind !== 'candles')
        throw new Error('these are quotes; candles are read from files of candles')
      if (!instruments.includes(symbol))
        throw new Error(`it is of ${symbol}, which is none of its instruments`)
      let found = 0
      for (const intervalMs of needed.keys()) {
        const key = candleKey(symbol, intervalMs)
        const built = buildCandles(rows, {
          intervalMs,
          beforeAt,
          stepMs: candleLength(rows.at, rowMs),
        })
        candles.set(key, joinCandles(candles.get(key) ?? [], built))
        found += built.length
      }
      if (found === 0 && needed.size > 0) silent.push(name)
    } catch (error) {
      // The message of a Failure contains its cause.
      const text = error instanceof Failure ? error.message : messageOf(error)
      problems.push(source.problem(['history', index], text))
    }
  }
  return problems.length > 0 ? { problems } : { candles, silent }
}

/**
 * From their first candle on, the price files replace a strategy's own history before the run.
 */
export function warmUp(
  known: CandleHistory | undefined,
  recordings: readonly Recording[],
  { instruments, intervals, beforeAt }: WarmUp,
): CandleHistory {
  const candles = new Map(known)
  for (const { symbol, rows, intervalMs: rowMs } of recordings) {
    if (rows.kind !== 'candles' || !instruments.includes(symbol)) continue
    for (const intervalMs of intervals) {
      const key = candleKey(symbol, intervalMs)
      const built = buildCandles(rows, {
        intervalMs,
        beforeAt,
        stepMs: candleLength(rows.at, rowMs),
      })
      const builtFrom = built[0]?.[0] ?? Number.POSITIVE_INFINITY
      const older = (candles.get(key) ?? []).filter(([openAt]) => openAt < builtFrom)
      candles.set(key, [...older, ...built].slice(-CANDLES_MAX))
    }
  }
  return candles
}

interface WarmUp {
  readonly instruments: readonly string[]
  readonly intervals: readonly number[]
  readonly beforeAt: number
}

function joinCandles(one: readonly CandleRow[], other: readonly CandleRow[]): readonly CandleRow[] {
  const byOpenAt = new Map(one.map((row) => [row[0], row]))
  for (const row of other) {
    const known = byOpenAt.get(row[0])
    if (known?.slice(1, 5).some((price, index) => price !== row[index + 1])) {
      const at = new Date(row[0]).toISOString()
      throw new Error(
        `its candle of ${at} is not that of a file before it; name the file that is right alone`,
      )
    }
    byOpenAt.set(row[0], row)
  }
  return [...byOpenAt.values()].toSorted(([left], [right]) => left - right).slice(-CANDLES_MAX)
}

/** `FILE` or `SYMBOL=FILE`, relative to the strategy file. */
function placeAt(directory: string, name: string): string {
  const { symbol, path } = cutPlace(name)
  return `${symbol}${resolve(directory, path)}`
}

function cutPlace(name: string): { readonly symbol: string; readonly path: string } {
  const [, symbol = '', path = name] = /^([A-Z0-9]+(?:_[A-Z0-9]+)?=)?(.+)$/s.exec(name) ?? []
  return { symbol, path }
}

type HistoryNames = Pick<StrategyConfig, 'file' | 'history'>

export function listHistoryFiles({ file, history }: HistoryNames): readonly string[] {
  return history.map((name) => resolve(dirname(file), cutPlace(name).path))
}

export function hashHistory(names: HistoryNames): readonly string[] {
  return listHistoryFiles(names).map((path) =>
    createHash('sha256').update(readFileSync(path)).digest('hex'),
  )
}

interface BuildOptions {
  readonly intervalMs: number
  readonly stepMs: number
  readonly beforeAt: number
}

/**
 * Leaves out partial candles. If a row could reach beyond the end of a candle, and so reveal the
 * future, all are left out.
 */
function buildCandles(
  { at, open, high, low, close }: CandleRows,
  { intervalMs, beforeAt, stepMs }: BuildOptions,
): readonly CandleRow[] {
  const built: CandleRow[] = []
  if (intervalMs % stepMs !== 0) return []
  const end = indexFrom(at, beforeAt)
  const from = Math.max(0, end - Math.ceil((CANDLES_MAX + 1) * (intervalMs / stepMs)))
  let candle: ReturnType<typeof openCandle> | undefined
  let present: number | undefined
  for (let row = from; row < end; row++) {
    const time = at[row] ?? 0
    const openAt = openOf(time, intervalMs)
    if (present !== openAt) {
      candle =
        present !== undefined || time === openAt
          ? openCandle(openAt, open[row] ?? 0, time)
          : undefined
      if (candle) candle.ticks = 0
      present = openAt
    }
    if (!candle) continue
    const prices = { high: high[row] ?? 0, low: low[row] ?? 0, close: close[row] ?? 0 }
    addCandle(candle, prices, time)
    const closesAt = openAt + intervalMs
    if (time + stepMs >= closesAt && closesAt <= beforeAt) built.push(toRow(candle))
  }
  return built.slice(-CANDLES_MAX)
}
