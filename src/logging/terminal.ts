import { createRequire } from 'node:module'
import type { Writable } from 'node:stream'
import type { DestinationStream } from 'pino'
import type pinoPretty from 'pino-pretty'
import { printTerminalLine, toTerminalLine } from './terminal-line.ts'

/** Of a terminal that does not say how wide it is. */
const COLUMNS = 80

export interface Terminal {
  readonly colour: boolean
  /** How wide it is now; a person may pull it wider. */
  readonly columns: () => number | undefined
}

/** Log lines for people, as wide as the terminal. What prints them is read only where there is one. */
export function openTerminal(
  destination: Writable,
  { colour, columns }: Terminal,
): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof pinoPretty
  return pretty({
    destination,
    colorize: colour,
    hideObject: true,
    ignore: 'name,time,level',
    messageFormat: (logged, _messageKey, _level, { colors }) => {
      const line = toTerminalLine(logged, {
        columns: columns() || COLUMNS,
        directory: process.cwd(),
      })
      const paints = { time: colors.gray, level: colors.red, event: colors.bold, name: colors.gray }
      return printTerminalLine(line, (part, text) => paints[part](text))
    },
  })
}
