/** Servers on other machines that are called without TLS, because the configuration says so. */
import type { DaemonConfig, LoadedConfig } from './load-config.ts'
import { isDatabaseInClear, isRedisInClear } from './server-checks.ts'
import type { Problem } from './yaml/problem.ts'
import type { SettingPath } from './yaml/setting-path.ts'

/** The settings that allow it. */
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

/** The same as warnings at their places. */
export function warnOfClearText({
  config,
  documents: { main: source },
}: LoadedConfig): readonly Problem[] {
  const message = 'nothing is encrypted on the way to this server, because withoutTls says so'
  return listServersInClear(config).map((path) => source.problem(path, message))
}
