import { destination, type DestinationStream, type Logger, pino } from 'pino'
import type { LogEvent } from '../domain/log-events.ts'
import { cleanData } from '../lib/text/clean-text.ts'
import { HiddenTexts, type Secret } from '../lib/secret.ts'
import { hasReader, LogOutput } from './log-output.ts'
import { openTerminal, type Terminal } from './terminal.ts'

export interface LoggerOptions {
  readonly level: string
  readonly name: string
  /** 1 is standard output, 2 standard error. */
  readonly descriptor: 1 | 2
  /** For people at a terminal; undefined for one JSON object a line. */
  readonly terminal: Terminal | undefined
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/**
 * One fact a line: its name under `event`, and its fields. Never waits for a reader
 * (`log-output.ts`).
 */
export interface DaemonLogger {
  /** Whether people read along as it happens. */
  readonly isTerminal: boolean
  /** Where it goes: 1 is standard output, 2 standard error. */
  readonly descriptor: 1 | 2
  log(level: LogLevel, event: LogEvent, fields?: Readonly<Record<string, unknown>>): void
  /** The last line of defence behind `Secret` (SEC1). */
  hide(secret: Secret): void
  /** Whatever level is written; hidden texts are removed. */
  listen(hear: (fact: LoggedFact) => void): void
  setLevel(level: LogLevel): void
}

export interface LoggedFact {
  readonly level: LogLevel
  readonly event: LogEvent
  readonly fields: Readonly<Record<string, unknown>>
}

/** Nobody listens for less. */
const UNHEARD: ReadonlySet<LogLevel> = new Set(['trace', 'debug'])

export function createLogger({ level, name, descriptor, terminal }: LoggerOptions): DaemonLogger {
  const hidden = new HiddenTexts()
  const output = hasReader(descriptor)
    ? new LogOutput(descriptor, (lines) => logger.log('warn', 'log.linesMissing', { lines }))
    : undefined
  const file = (): DestinationStream => destination({ dest: descriptor, sync: true })
  const pinoLogger: Logger = pino(
    {
      level,
      base: { name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        streamWrite: (line) => hidden.remove(line),
      },
    },
    terminal && output ? openTerminal(output.asStream(), terminal) : (output ?? file()),
  )
  const listeners: ((fact: LoggedFact) => void)[] = []
  const clean = (fields: Readonly<Record<string, unknown>>): LoggedFact['fields'] =>
    JSON.parse(hidden.remove(JSON.stringify(fields))) as LoggedFact['fields']
  // For operators that log errors alone.
  const always = pinoLogger.child({}, { level: 'trace' })
  const logger: DaemonLogger = {
    isTerminal: terminal !== undefined,
    descriptor,
    log(given, event, raw = {}) {
      // Before secrets are looked for: what is not seen must not hide one.
      const fields = cleanData(raw) as LoggedFact['fields']
      const sink = event === 'daemon.heartbeat' ? always : pinoLogger
      sink[given]({ event, ...fields })
      if (listeners.length === 0 || UNHEARD.has(given)) return
      const fact = { level: given, event, fields: clean(fields) }
      for (const hear of listeners) hear(fact)
    },
    hide: (secret) => hidden.add(secret),
    listen: (hear) => listeners.push(hear),
    setLevel(least) {
      pinoLogger.level = least
    },
  }
  return logger
}
