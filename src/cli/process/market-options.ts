import type { Command } from 'commander'
import type { ConfigRequest } from '../../config/load-config.ts'
import { listOption, parseSpeed, toShellWord } from './options.ts'

/** `--market` and `--speed`: the prices that the simulator plays. */
export interface MarketOptions {
  readonly market: readonly string[]
  readonly speed?: number | undefined
}

export function addMarketOptions(command: Command): Command {
  return command
    .addOption(listOption('--market <file>', 'play recorded prices, FILE or SYMBOL=FILE'))
    .option('--speed <n>', 'play prices at n times real speed', parseSpeed)
}

/** A request with the prices that are to be played. @throws Failure RECORDING_… for files that cannot be read. */
export async function withPlayed(
  request: ConfigRequest,
  { market, speed }: MarketOptions,
): Promise<ConfigRequest> {
  if (market.length === 0) return { ...request, played: { files: [], recorded: [], speed } }
  const { readSymbol } = await import('../../prices/load-recording.ts')
  const recorded = await Promise.all(market.map(readSymbol))
  return { ...request, played: { files: market, recorded, speed } }
}

/** The options as they were given, for a command that is to be pasted. */
export function repeatMarket({ market, speed }: MarketOptions): string {
  return listMarketWords({ market, speed })
    .map((word) => ` ${toShellWord(word)}`)
    .join('')
}

/** The same, a word each. */
export function listMarketWords({ market, speed }: MarketOptions): readonly string[] {
  return [
    ...market.flatMap((file) => ['--market', file]),
    ...(speed === undefined ? [] : ['--speed', String(speed)]),
  ]
}
