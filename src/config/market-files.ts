/** Recordings that a simulated market plays: whether they are there, and where. */
import { resolve } from 'node:path'
import type { Problem } from './yaml/problem.ts'
import { isFile } from './yaml/read-file.ts'
import type { Salvaged } from './yaml/salvage.ts'
import type { SimulatorMarket } from './schema/simulator-schema.ts'
import type { SettingPath } from './yaml/setting-path.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

/** A market with the paths of its recordings made absolute. */
export function resolveMarket(market: SimulatorMarket, directory: string): SimulatorMarket {
  const entries = Object.entries(market.recordings)
  return {
    ...market,
    recordings: Object.fromEntries(entries.map(([symbol, file]) => [symbol, resolve(directory, file)])),
  }
}

/** A problem for each recording that is not there. `path` is the market's. */
export function checkMarketFiles(
  { source, path, directory }: { source: YamlSource; path: SettingPath; directory: string },
  market: Salvaged<SimulatorMarket> | undefined,
): Problem[] {
  return Object.entries(market?.recordings ?? {}).flatMap(([symbol, file]) => {
    if (file === undefined || isFile(resolve(directory, file))) return []
    return [
      source.problem([...path, 'recordings', symbol], 'no such file, seen from the directory of this one'),
    ]
  })
}
