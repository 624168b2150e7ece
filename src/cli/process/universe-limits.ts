import type { DaemonConfig } from '../../config/load-config.ts'
import { keptUniverseOf } from '../../assembly/state/state-place.ts'
import { LEAVING_TIMES } from '../../domain/universe.ts'
import { listUniverseFiles } from '../../recording/universe/universe-file.ts'

export function describeUniverses(config: DaemonConfig): readonly string[] {
  const choosing = config.strategies.filter(({ enabled, universe }) => enabled && universe)
  if (choosing.length === 0) return []
  return [...choosing.flatMap((strategy) => describeRule(config, strategy)), describeKept(config)]
}

function describeRule(
  { account, risk }: DaemonConfig,
  { id, universe, risk: own, capital }: DaemonConfig['strategies'][number],
): readonly string[] {
  if (!universe) return []
  const { every, top } = universe
  const each = Number(own.positionNotionalMax)
  const all = each * top.count
  const gross = Number(risk.grossNotionalMax)
  const room =
    gross < all
      ? `; risk.grossNotionalMax ${risk.grossNotionalMax} lets ${Math.floor(gross / each)} of them be full`
      : ''
  const part = capital === undefined ? '' : `, with a capital of ${capital}`
  const leaving = top.count * LEAVING_TIMES
  return [
    `universe of ${id}: up to ${top.count} instruments, chosen anew each ${every} (${leaving} while members leave), each up to ${own.positionNotionalMax}, in all ${all} ${account.marginCoin}${part}${room}`,
  ]
}

function describeKept({ state, recordUniverse }: DaemonConfig): string {
  const days = listUniverseFiles(keptUniverseOf(state.directory)).map(({ day }) => day)
  const [first] = days
  if (first !== undefined)
    return `tickers of all instruments are kept from ${first} to ${days.at(-1)}: backtest --universe ${keptUniverseOf(state.directory)}`
  return recordUniverse.enabled
    ? 'tickers of all instruments will be kept for backtests (recordUniverse); none are yet'
    : 'no tickers of all instruments are kept: a backtest chooses among the instruments of the main file (recordUniverse.enabled keeps them)'
}
