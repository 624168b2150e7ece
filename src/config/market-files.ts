import { resolve } from 'node:path'
import type { ReadableFile } from './cross-checks.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { StrategyFile } from './schema/strategy-schema.ts'
import type { Problem, SettingPath } from './yaml/problem.ts'
import { isFile, type PartialSettings } from './yaml/checked-file.ts'
import type { SimulatorMarket } from './schema/simulator-schema.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

export function resolveMarket(market: SimulatorMarket, directory: string): SimulatorMarket {
  const resolved = (files: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(files).map(([symbol, file]) => [symbol, resolve(directory, file)]),
    )
  return { ...market, recordings: resolved(market.recordings), funding: resolved(market.funding) }
}

export function checkMarketFiles(
  { source, path, directory }: { source: YamlSource; path: SettingPath; directory: string },
  market: PartialSettings<SimulatorMarket> | undefined,
): Problem[] {
  return (['recordings', 'funding'] as const).flatMap((key) =>
    Object.entries(market?.[key] ?? {}).flatMap(([symbol, file]) => {
      if (file === undefined || isFile(resolve(directory, file))) return []
      return [
        source.problem([...path, key, symbol], 'no such file, seen from the directory of this one'),
      ]
    }),
  )
}

export interface PlayedPrices {
  /** A path, or `SYMBOL=path`; they replace those of the file. */
  readonly files: readonly string[]
  readonly recorded?: readonly string[]
  readonly speed: number | undefined
}

/** Only the embedded simulator plays prices. Live ones have their own speed. */
export function checkPlayed(
  { source, settings }: ReadableFile<DaemonFile>,
  strategies: readonly ReadableFile<StrategyFile>[],
  { files, recorded, speed }: PlayedPrices,
): Problem[] {
  const given = [
    ...(files.length > 0 ? ['--market'] : []),
    ...(speed === undefined ? [] : [`--speed ${speed}`]),
  ]
  const address = ['exchange', 'baseUrl']
  if (given.length > 0 && source.has(address)) {
    const message = `prices come from this exchange: leave ${given.join(' and ')} out, only the simulator inside the daemon plays prices`
    return [{ ...source.problem(address, message), refusedWords: ['--market', '--speed'] }]
  }
  const market = settings.simulator?.market
  if (market === undefined) return []
  if (files.length === 0) {
    if (market.live === undefined || speed === undefined || speed === 1) return []
    const message = `the prices of another exchange come as they come: leave --speed ${speed} out, or give files by --market`
    return [
      {
        ...source.problemOfKey(['simulator', 'market', 'live'], message),
        refusedWords: ['--speed'],
      },
    ]
  }
  if (recorded === undefined) return []
  const priced = new Set([...recorded, ...Object.keys(market.startPrices ?? {})])
  const otherwise =
    market.live === undefined
      ? 'for made-up prices name it under simulator.market.startPrices of the main file'
      : 'live prices are not mixed with files'
  return strategies.flatMap((strategy) =>
    (strategy.settings.enabled === false ? [] : (strategy.settings.instruments ?? [])).flatMap(
      (symbol, index) => {
        if (symbol === undefined || priced.has(symbol)) return []
        const message = `no --market has prices of ${symbol}: give one, or set enabled: false here; ${otherwise}`
        return [strategy.source.problem(['instruments', index], message)]
      },
    ),
  )
}
