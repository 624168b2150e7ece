import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { PlayedPrices } from '../../config/market-files.ts'
import { DATA_AGE_MS_MAX } from '../../config/schema/risk-schema.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { loadRecording } from '../../prices/load-recording.ts'
import { priceStepMs } from '../../simulator/market/recorded/recorded-path.ts'
import { filesOf, type MarketOverride } from './simulated-exchange.ts'

type PricedConfig = Pick<DaemonConfig, 'simulator' | 'instruments'>

export function listFollowingSeed(
  { simulator, instruments }: PricedConfig,
  recorded: readonly string[] | undefined,
): readonly string[] {
  if (simulator === undefined || simulator.market.live !== undefined) return []
  const priced = recorded ?? Object.keys(simulator.market.recordings)
  return listOthers(instruments, priced)
}

export function listPriceless(
  { simulator, instruments }: PricedConfig,
  { files, recorded = [] }: PlayedPrices,
): readonly string[] {
  if (simulator === undefined || simulator.market.live !== undefined) return []
  const { startPrices, recordings } = simulator.market
  const priced = [
    ...Object.keys(startPrices),
    ...(files.length > 0 ? recorded : Object.keys(recordings)),
  ]
  return listOthers(instruments, priced)
}

export function listMadeUp(
  { simulator, instruments }: PricedConfig,
  { files, recorded = [] }: PlayedPrices,
): readonly string[] {
  if (simulator === undefined) return []
  const priced = files.length > 0 ? recorded : Object.keys(simulator.market.recordings)
  return priced.length === 0 ? [] : listOthers(instruments, priced)
}

function listOthers(
  instruments: DaemonConfig['instruments'],
  priced: readonly string[],
): readonly string[] {
  return Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}

interface SlowPrices {
  readonly symbol: string
  readonly everyMs: number
  readonly advice: string
}

const ROUND_MS = 500

export function findSlowPrices(
  stepsMs: ReadonlyMap<string, number>,
  { risk, polling }: Pick<DaemonConfig, 'risk' | 'polling'>,
): readonly SlowPrices[] {
  return [...stepsMs].flatMap(([symbol, stepMs]) => {
    // A price is read for the last time right before the next one comes.
    const oldestMs = stepMs + polling.tickersMs
    if (oldestMs <= risk.dataAgeMaxMs) return []
    const leastMs = Math.ceil(oldestMs / ROUND_MS) * ROUND_MS
    const advice =
      leastMs <= DATA_AGE_MS_MAX
        ? `set risk.dataAgeMaxMs to ${leastMs} at least`
        : 'play shorter candles, or play these faster (--speed)'
    return [{ symbol, everyMs: Math.round(stepMs), advice }]
  })
}

export async function listSlowPrices(
  { config, documents }: LoadedConfig,
  played: MarketOverride,
): Promise<readonly Problem[]> {
  if (config.simulator === undefined) return []
  const { market } = config.simulator
  const speed = played.speed ?? config.simulator.speed
  const stepsMs = new Map<string, number>()
  for (const file of filesOf({ market }, played)) {
    const recording = await loadRecording(file).catch(() => undefined)
    if (recording) stepsMs.set(recording.symbol, priceStepMs(recording, speed, market.candlePath))
  }
  return findSlowPrices(stepsMs, config).map(({ symbol, everyMs, advice }) =>
    documents.main.problem(
      ['risk', 'dataAgeMaxMs'],
      `${config.risk.dataAgeMaxMs} ms is less than the time between two prices of ${symbol}, ${everyMs} ms at speed ${speed}: in between nobody decides and orders are denied (DATA_STALE); ${advice}`,
    ),
  )
}
