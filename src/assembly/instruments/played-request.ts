import type { readSymbol } from '../../prices/load-recording.ts'
import type { ConfigRequest } from '../../config/load-config.ts'

export const SEEDED = 'seeded'

export interface MarketOptions {
  readonly market: readonly string[]
  readonly speed?: number | undefined
}

let loading: Promise<{ readonly readSymbol: typeof readSymbol }> | undefined

/** @throws Failure RECORDING_… for unreadable files */
export async function withPlayed(
  request: ConfigRequest,
  { market, speed }: MarketOptions,
): Promise<ConfigRequest> {
  if (market.length === 0) return { ...request, played: { files: [], recorded: [], speed } }
  // Imported early, because a guarded thread can import no further code of the program.
  loading ??= import('../../prices/load-recording.ts')
  const loaded = await loading
  const recorded = await Promise.all(market.map((file) => loaded.readSymbol(file)))
  return { ...request, played: { files: market, recorded, speed } }
}

/** Works as {@link withPlayed}, but `seeded` names no file. */
export async function withRecorded(
  request: ConfigRequest,
  { market }: Pick<MarketOptions, 'market'>,
): Promise<ConfigRequest> {
  return withPlayed(request, { market: market.filter((file) => file !== SEEDED) })
}
