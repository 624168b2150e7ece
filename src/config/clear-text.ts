import type { DaemonConfig, LoadedConfig } from './load-config.ts'
import { isDatabaseInClear, isRedisInClear } from './server-checks.ts'
import type { Problem, SettingPath } from './yaml/problem.ts'

export function listServersInClear({
  journal,
  exchange: { shared },
}: Pick<DaemonConfig, 'journal' | 'exchange'>): readonly SettingPath[] {
  return [
    ...(journal !== undefined && isDatabaseInClear(journal.url) ? [['journal', 'url']] : []),
    ...(shared !== undefined && isRedisInClear(shared.redis)
      ? [['exchange', 'shared', 'redis']]
      : []),
  ]
}

export function warnOfClearText({
  config,
  documents: { main: source },
}: LoadedConfig): readonly Problem[] {
  const message = 'nothing is encrypted on the way to this server, because withoutTls says so'
  return listServersInClear(config).map((path) => source.problem(path, message))
}
