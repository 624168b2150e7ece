import type { DaemonLogger } from './logger.ts'

/** Its listeners hear of their own account, and what is said of all accounts. */
export function accountLogger(logger: DaemonLogger, account: string): DaemonLogger {
  return {
    ...logger,
    log: (level, event, fields = {}) => logger.log(level, event, { account, ...fields }),
    listen: (hear) =>
      logger.listen((fact) => {
        const { account: of = account } = fact.fields
        if (of === account) hear(fact)
      }),
  }
}
