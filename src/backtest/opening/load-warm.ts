import type { LoadedConfig, DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { warmUp, listHistoryFiles } from '../../assembly/strategies/history.ts'
import { loadStrategies, type LoadedStrategy } from '../../assembly/strategies/strategies.ts'
import type { Recording } from '../../prices/recording.ts'
import {
  areFilesGuarded,
  closeFiles,
  guardThread,
  keepReadable,
} from '../../strategy/isolation/guard-thread.ts'
import { pathOfFeed } from './feed-files.ts'

export interface LoadingRequest {
  /** As in `--feed`. */
  readonly feeds?: readonly string[] | undefined
  readonly onLoading?: (file: string) => void
  /** False where no run will be opened: no code is loaded in this thread. Default: true. */
  readonly runsHere?: boolean
}

interface RunLeadIn {
  /** Not cut to the run. */
  readonly whole: readonly Recording[]
  readonly fromAt: number
  readonly request: LoadingRequest
}

/** With what there is to know of the time before it. */
export async function loadWarm(
  { config, documents }: LoadedConfig,
  { whole, fromAt, request: { onLoading, runsHere = true, feeds = [] } }: RunLeadIn,
): Promise<readonly LoadedStrategy[]> {
  if (runsHere) guardPlay(config, feeds)
  const options = { onLoading, historyBeforeAt: fromAt, here: runsHere }
  const strategies = await loadStrategies(config, documents, toInstruments(config), options)
  return strategies.map((strategy) => warm(strategy, whole, fromAt))
}

/** Where price files begin before the run. */
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

let isGuarded = false

/**
 * Irrevocably takes from this thread what strategies do not need, before the first is loaded; only
 * after `guardFiles`. `isolation: inline` says that the code was read: then all of Node stays.
 * @param feeds as in `--feed`
 */
export function guardPlay(
  { strategies }: Pick<DaemonConfig, 'strategies'>,
  feeds: readonly string[] = [],
): void {
  if (!areFilesGuarded() || isGuarded || listUnguarded({ strategies }).length > 0) return
  isGuarded = true
  for (const file of [...strategies.flatMap(listHistoryFiles), ...feeds.map(pathOfFeed)])
    keepReadable(file)
  closeFiles()
  guardThread()
}

/** Their code may do everything in a backtest. */
function listUnguarded({
  strategies,
}: Pick<DaemonConfig, 'strategies'>): readonly StrategyConfig[] {
  return strategies.filter(({ isolation }) => isolation === 'inline')
}

/** Says what the code could reach, for the report. */
export function remarksOnReach(config: Pick<DaemonConfig, 'strategies'>): readonly string[] {
  const ids = listUnguarded(config).map(({ id }) => id)
  if (ids.length === 0) return []
  return [
    `The code of strategies could reach files, network and programs, because of isolation: inline (${ids.join(', ')}).`,
  ]
}
