import { Alerts } from '../../alerts/alerts.ts'
import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { type ConfigRequest, type DaemonConfig } from '../../config/load-config.ts'
import { type DaemonLogger } from '../../daemon/reporting/logger.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { toShellWord } from './options.ts'

/** The alerts of a configuration; undefined where it has none. @throws ConfigError for secrets that are missing. */
export function openAlerts(
  { name, environment, file, alerts: settings }: DaemonConfig,
  { cwd }: Pick<ConfigRequest, 'cwd'>,
  logger: Pick<DaemonLogger, 'log' | 'hide'>,
): Alerts | undefined {
  return (
    settings &&
    new Alerts({
      settings,
      secrets: loadAlertSecrets(settings, { cwd }),
      place: { name, environment, options: ` -c ${toShellWord(file)}` },
      clock: systemClock,
      timers: systemTimers,
      logger,
    })
  )
}
