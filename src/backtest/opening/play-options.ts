import type { FillModelName } from '../../simulator/matching/fill-model.ts'
import type { ConfigOptions } from '../../config/config-request.ts'

/** What a backtest plays, as the command line says it. Instants are Unix ms. */
export interface PlayOptions extends Pick<ConfigOptions, 'set'> {
  /** `STRATEGY.param=value` texts. */
  readonly param: readonly string[]
  readonly market: readonly string[]
  /** `FILE`, `NAME=FILE` or `STRATEGY.NAME=FILE` texts. */
  readonly feed?: readonly string[] | undefined
  /** Of a seeded market. */
  readonly days?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly model?: FillModelName | 'all' | undefined
  readonly seed?: number | undefined
  readonly balance?: string | undefined
}

export interface BacktestOptions extends PlayOptions {
  readonly out?: string | undefined
}
