import type { LoadedConfig, DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { warmUp, listHistoryFiles } from '../../assembly/strategies/history.ts'
import { loadStrategies, type LoadedStrategy } from '../../assembly/strategies/strategies.ts'
import type { Recording } from '../../prices/recording.ts'
import { areFilesGuarded, closeFiles, keepReadable } from '../../strategy/isolation/guard-files.ts'
import { guardThread } from '../../strategy/isolation/guard-thread.ts'
import { pathOfFeed } from './feed-files.ts'

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

let isGuarded = false

/**
 * Takes from this thread what a strategy has no use for, before the first one is loaded; only from a thread that began
 * with `guardFiles`, for it cannot be given back. Where the configuration says
 * `isolation: inline` of a strategy it says that its code was read: it and those beside it then keep all of Node.
 * @param feeds As `--feed` names them.
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

/** Strategies whose code may do everything in a backtest. */
function listUnguarded({
  strategies,
}: Pick<DaemonConfig, 'strategies'>): readonly StrategyConfig[] {
  return strategies.filter(({ isolation }) => isolation === 'inline')
}

/** For the report: what the code of this run could reach. */
export function remarksOnReach(config: Pick<DaemonConfig, 'strategies'>): readonly string[] {
  const ids = listUnguarded(config).map(({ id }) => id)
  if (ids.length === 0) return []
  return [
    `The code of strategies could reach files, network and programs, because of isolation: inline (${ids.join(', ')}).`,
  ]
}
