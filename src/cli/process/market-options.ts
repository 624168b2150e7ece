import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { MarketOptions } from '../../assembly/instruments/played-request.ts'
import type { ConfigOptions } from '../../config/load-config.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import { listOption, parseSpeed } from './options.ts'

export function addMarketOptions(command: Command): Command {
  return command
    .addOption(listOption('--market <file>', 'play recorded prices, FILE or SYMBOL=FILE'))
    .option('--speed <n>', 'play prices at n times real speed', parseSpeed)
}

export function toAbsolute(spec: string): string {
  const [, symbol = '', path = ''] = /^([A-Z0-9]+(?:_[A-Z0-9]+)?=)?(.*)$/s.exec(spec) ?? []
  return `${symbol}${resolve(path)}`
}

export function repeatMarket(options: MarketOptions): string {
  return listMarketWords(options)
    .map((word) => ` ${toShellWord(word)}`)
    .join('')
}

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
