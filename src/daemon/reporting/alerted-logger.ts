import type { Alerts } from '../../alerts/alerts.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export function alertedLogger(
  logger: DaemonLogger,
  alerts: Pick<Alerts, 'hear' | 'hide'>,
): DaemonLogger {
  return {
    ...logger,
    log(level, event, fields = {}) {
      logger.log(level, event, fields)
      alerts.hear(event, fields)
    },
    hide(secret) {
      logger.hide(secret)
      alerts.hide(secret)
    },
  }
}
