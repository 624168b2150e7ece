import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { readSymbol } from '../../prices/load-recording.ts'
import type { ConfigRequest } from '../../config/load-config.ts'
import { type ConfigOptions, listOption, parseSpeed, toShellWord } from './options.ts'

/** Stands for no file. */
export const SEEDED = 'seeded'

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

/** A recording of `--market` wherever a command is typed. */
export function toAbsolute(spec: string): string {
  const [, symbol = '', path = ''] = /^([A-Z0-9]+(?:_[A-Z0-9]+)?=)?(.*)$/s.exec(spec) ?? []
  return `${symbol}${resolve(path)}`
}

/** The options as they were given, for a command that is to be pasted. */
export function repeatMarket(options: MarketOptions): string {
  return listMarketWords(options)
    .map((word) => ` ${toShellWord(word)}`)
    .join('')
}

/** The words of a `check` of what these options name. */
export function listCheckWords(options: ConfigOptions & MarketOptions): readonly string[] {
  const { config, set, param = [] } = options
  return [
    'check',
    ...(config === undefined ? [] : ['-c', config]),
    ...set.flatMap((text) => ['--set', text]),
    ...param.flatMap((text) => ['--param', text]),
    ...listMarketWords(options),
  ]
}

function listMarketWords({ market, speed }: MarketOptions): readonly string[] {
  return [
    ...market.flatMap((file) => ['--market', file]),
    ...(speed === undefined ? [] : ['--speed', String(speed)]),
  ]
}
