import type { FillModelName } from '../../simulator/matching/fill-model.ts'
import type { ConfigOptions } from '../../config/load-config.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

/** Options of every command that plays prices. Instants are Unix ms. */
export interface PlayOptions extends Pick<ConfigOptions, 'set'> {
  /** `STRATEGY.param=value` texts. */
  readonly param: readonly string[]
  readonly market: readonly string[]
  /** `FILE`, `NAME=FILE` or `STRATEGY.NAME=FILE` texts. */
  readonly feed?: readonly string[] | undefined
  /** A directory of kept tickers, or one file. */
  readonly universe?: string | undefined
  readonly days?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly model?: FillModelName | 'all' | undefined
  readonly seed?: number | undefined
  readonly balance?: string | undefined
}

export interface BacktestCommandOptions extends PlayOptions {
  readonly out?: string | undefined
}

/** @returns the command that plays the same again @param config the path as given */
export function backtestCommand(config: string | undefined, options: PlayOptions): string {
  const { market, feed = [], universe, days, model, seed, balance, set, param, from, to } = options
  const many = (name: string, texts: readonly string[]) => texts.flatMap((text) => [name, text])
  const one = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [name, String(value)]
  const time = (at: number | undefined) =>
    at === undefined ? undefined : new Date(at).toISOString()
  const words = [
    'intentd',
    'backtest',
    ...(config === undefined ? [] : [config]),
    ...many('--market', [...market].sort()),
    ...many('--feed', [...feed].sort()),
    ...one('--universe', universe),
    ...(market.includes('seeded') ? one('--days', days) : []),
    ...[one('--from', time(from)), one('--to', time(to)), one('--model', model)].flat(),
    ...[
      one('--seed', seed),
      one('--balance', balance),
      many('--set', set),
      many('--param', param),
    ].flat(),
  ]
  return words.map(toShellWord).join(' ')
}
