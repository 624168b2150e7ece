import type { DaemonConfig } from '../../config/load-config.ts'
import type { PlayedPrices } from '../../config/market-files.ts'

/** Instruments without a file, unless prices are live. */
export function listFollowingSeed(
  { simulator, instruments }: Pick<DaemonConfig, 'simulator' | 'instruments'>,
  recorded: readonly string[] | undefined,
): readonly string[] {
  if (simulator === undefined || simulator.market.live !== undefined) return []
  const priced = recorded ?? Object.keys(simulator.market.recordings)
  return Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}

export function listPriceless(
  { simulator, instruments }: Pick<DaemonConfig, 'simulator' | 'instruments'>,
  { files, recorded = [] }: PlayedPrices,
): readonly string[] {
  if (simulator === undefined || simulator.market.live !== undefined) return []
  const { startPrices, recordings } = simulator.market
  const priced = [
    ...Object.keys(startPrices),
    ...(files.length > 0 ? recorded : Object.keys(recordings)),
  ]
  return Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}

/** Without a file while others have one, prices follow the seed. */
export function listMadeUp(
  { simulator, instruments }: Pick<DaemonConfig, 'simulator' | 'instruments'>,
  { files, recorded = [] }: PlayedPrices,
): readonly string[] {
  if (simulator === undefined) return []
  const priced = files.length > 0 ? recorded : Object.keys(simulator.market.recordings)
  return priced.length === 0
    ? []
    : Object.keys(instruments).filter((symbol) => !priced.includes(symbol))
}
