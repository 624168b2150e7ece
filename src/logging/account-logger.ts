import type { DaemonLogger } from './logger.ts'

/**
 * The log of one account among several: each line names it, and listeners hear their own and what
 * is said of all.
 */
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
