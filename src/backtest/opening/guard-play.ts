import type { DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { listHistoryFiles } from '../../assembly/strategies/history.ts'
import { areFilesGuarded, closeFiles, keepReadable } from '../../strategy/isolation/guard-files.ts'
import { guardThread } from '../../strategy/isolation/guard-thread.ts'
import { pathOfFeed } from './feed-files.ts'

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
