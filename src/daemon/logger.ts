import { destination, type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { type Announcement } from '../engine/effect.ts'
import { type Secret } from '../lib/secret.ts'

export type { Logger } from 'pino'

export interface LoggerOptions {
  readonly level: string
  readonly name: string
  /** 1 is standard output, 2 standard error. */
  readonly descriptor: 1 | 2
  /** In colour for people; otherwise one JSON object a line. */
  readonly readable: boolean
}

const HIDDEN = '[hidden]'

/** Shorter texts stand in every log by chance. */
const SECRET_LENGTH_MIN = 4

/**
 * One line a fact: the event's name under `event`, and its fields beside it. Writes synchronously, so that
 * the last line before an end is there. `hide` names texts that no line may hold, whatever they came in by:
 * the last line of defence behind `Secret` (SEC1).
 */
export interface DaemonLogger {
  readonly log: Logger
  hide(secret: Secret): void
  announce(announcement: Announcement): void
}

export function createLogger({ level, name, descriptor, readable }: LoggerOptions): DaemonLogger {
  const hidden: string[] = []
  const log = pino(
    {
      level,
      name,
      messageKey: 'event',
      base: { name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        streamWrite: (line) => hidden.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line),
      },
    },
    readable ? readableStream(descriptor) : destination({ dest: descriptor, sync: true }),
  )
  return {
    log,
    hide(secret) {
      const text = secret.reveal()
      if (text.length >= SECRET_LENGTH_MIN) hidden.push(text)
    },
    announce({ level: announced, event, fields }) {
      log[announced](fields, event)
    },
  }
}

function readableStream(descriptor: 1 | 2): DestinationStream {
  return pretty({
    destination: descriptor,
    sync: true,
    colorize: true,
    messageKey: 'event',
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'name',
    singleLine: true,
  })
}
