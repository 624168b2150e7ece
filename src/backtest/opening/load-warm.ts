import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { listHistoryFiles, warmUp } from '../../assembly/strategies/history.ts'
import { type LoadedStrategy, loadStrategies } from '../../assembly/strategies/strategies.ts'
import type { DaemonConfig, LoadedConfig, StrategyConfig } from '../../config/load-config.ts'
import type { Recording } from '../../prices/recording.ts'
import {
  areFilesGuarded,
  closeFiles,
  guardThread,
  keepReadable,
} from '../../strategy/isolation/guard-thread.ts'
import { pathOfFeed } from './load-feed-files.ts'

export interface LoadingRequest {
  readonly feeds?: readonly string[] | undefined
  readonly onLoading?: (file: string) => void
  /** False loads no code in this thread, because no run will be opened. Default: true. */
  readonly runsHere?: boolean
}

interface RunLeadIn {
  readonly whole: readonly Recording[]
  readonly fromAt: number
  readonly request: LoadingRequest
}

export async function loadWarm(
  { config, documents }: LoadedConfig,
  { whole, fromAt, request: { onLoading, runsHere = true, feeds = [] } }: RunLeadIn,
): Promise<readonly LoadedStrategy[]> {
  if (runsHere) guardPlay(config, feeds)
  const options = { onLoading, historyBeforeAt: fromAt, here: runsHere }
  const strategies = await loadStrategies(config, documents, toInstruments(config), options)
  return strategies.map((strategy) => warm(strategy, whole, fromAt))
}

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
 * Guards this thread for good, before the first strategy is loaded and after `guardFiles`; not with
 * `isolation: inline`.
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

/** The code of these strategies may do everything in a backtest. */
function listUnguarded({
  strategies,
}: Pick<DaemonConfig, 'strategies'>): readonly StrategyConfig[] {
  return strategies.filter(({ isolation }) => isolation === 'inline')
}

export function remarksOnReach(config: Pick<DaemonConfig, 'strategies'>): readonly string[] {
  const ids = listUnguarded(config).map(({ id }) => id)
  if (ids.length === 0) return []
  return [
    `The code of strategies could reach files, network and programs, because of isolation: inline (${ids.join(', ')}).`,
  ]
}
