import { Alerts } from '../../alerts/alerts.ts'
import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { loadProxies } from '../../config/proxy.ts'
import type { ConfigOptions, ConfigRequest, DaemonConfig } from '../../config/load-config.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { repeatOptions } from './options.ts'

interface AlertAddress extends Pick<ConfigRequest, 'cwd'>, Pick<ConfigOptions, 'set'> {
  readonly others?: readonly DaemonConfig[]
}

/** @throws ConfigError for missing secrets */
export function openAlerts(
  config: DaemonConfig,
  { cwd, set, others = [] }: AlertAddress,
  logger: Pick<DaemonLogger, 'log' | 'hide'>,
): Alerts | undefined {
  const { name, environment, file, alerts: settings } = config
  const optionsOf = (account: string | undefined): string => {
    const other = others.find((one) => one.name === account)
    return repeatOptions(other ? { config: other.file, set: [] } : { config: file, set })
  }
  return (
    settings &&
    new Alerts({
      settings,
      secrets: loadAlertSecrets(settings, { cwd }),
      proxyFor: loadProxies(config, { cwd }),
      place: { name, environment, optionsOf },
      clock: systemClock,
      timers: systemTimers,
      logger,
    })
  )
}
