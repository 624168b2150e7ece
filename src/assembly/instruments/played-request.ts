import type { readSymbol } from '../../prices/load-recording.ts'
import type { ConfigRequest } from '../../config/load-config.ts'

/** Stands for no file. */
export const SEEDED = 'seeded'

/** `--market` and `--speed`: the prices that the simulator plays. */
export interface MarketOptions {
  readonly market: readonly string[]
  readonly speed?: number | undefined
}

let loading: Promise<{ readonly readSymbol: typeof readSymbol }> | undefined

/** A request with the prices that are to be played. @throws Failure RECORDING_… for files that cannot be read. */
export async function withPlayed(
  request: ConfigRequest,
  { market, speed }: MarketOptions,
): Promise<ConfigRequest> {
  if (market.length === 0) return { ...request, played: { files: [], recorded: [], speed } }
  // Once: a thread that is guarded later imports nothing more of the program.
  loading ??= import('../../prices/load-recording.ts')
  const loaded = await loading
  const recorded = await Promise.all(market.map((file) => loaded.readSymbol(file)))
  return { ...request, played: { files: market, recorded, speed } }
}

/**
 * The same where `seeded` stands for no file: an instrument whose prices are given needs no start price.
 * @throws Failure RECORDING_… for files that cannot be read.
 */
export async function withRecorded(
  request: ConfigRequest,
  { market }: Pick<MarketOptions, 'market'>,
): Promise<ConfigRequest> {
  return withPlayed(request, { market: market.filter((file) => file !== SEEDED) })
}
