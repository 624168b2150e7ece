import { processVariables } from '../../config/secrets.ts'
import { createLogger, type DaemonLogger, type LoggerOptions } from '../../logging/logger.ts'

export interface LogPlace extends Pick<LoggerOptions, 'level' | 'name'> {
  readonly aside: boolean
}

export function openLogger({ level, name, aside }: LogPlace): DaemonLogger {
  const stream = aside ? process.stderr : process.stdout
  const colour = (processVariables()['NO_COLOR'] ?? '') === ''
  return createLogger({
    level,
    name,
    descriptor: aside ? 2 : 1,
    terminal: stream.isTTY === true ? { colour, columns: () => stream.columns } : undefined,
  })
}
