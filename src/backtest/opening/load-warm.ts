import type { LoadedConfig } from '../../config/load-config.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { warmUp } from '../../assembly/strategies/history.ts'
import { type LoadedStrategy, loadStrategies } from '../../assembly/strategies/strategies.ts'
import { guardPlay } from './guard-play.ts'
import type { Recording } from '../../prices/recording.ts'

export interface LoadingRequest {
  /** Files of feeds, as `--feed` names them. */
  readonly feeds?: readonly string[] | undefined
  /** Hears of each strategy file before it is loaded. */
  readonly onLoading?: (file: string) => void
  /** False where no run will be opened: then no code is loaded in this thread. Default: true. */
  readonly runsHere?: boolean
}

interface BeforeRun {
  /** The files of prices, not cut to the run. */
  readonly whole: readonly Recording[]
  readonly fromAt: number
  readonly request: LoadingRequest
}

/** The strategies of a run, with what there is to know of the time before it. */
export async function loadWarm(
  { config, documents }: LoadedConfig,
  { whole, fromAt, request: { onLoading, runsHere = true, feeds = [] } }: BeforeRun,
): Promise<readonly LoadedStrategy[]> {
  if (runsHere) guardPlay(config, feeds)
  const options = { onLoading, historyBeforeAt: fromAt, here: runsHere }
  const strategies = await loadStrategies(config, documents, toInstruments(config), options)
  return strategies.map((strategy) => warm(strategy, whole, fromAt))
}

/** With the candles before the run, where the files of prices begin earlier than it does. */
function warm(
  strategy: LoadedStrategy,
  whole: readonly Recording[],
  beforeAt: number,
): LoadedStrategy {
  const intervals = [...strategy.needs.candles.keys()]
  const instruments = strategy.instruments.map(({ symbol }) => symbol)
  const history = warmUp(strategy.history, whole, { instruments, intervals, beforeAt })
  return { ...strategy, ...(history.size > 0 && { history }) }
}
