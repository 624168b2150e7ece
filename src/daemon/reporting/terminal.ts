import { type DestinationStream } from 'pino'
import pretty from 'pino-pretty'
import { toTerminalLine } from './terminal-line.ts'

/** Of a terminal that does not say how wide it is. */
const COLUMNS = 80

export interface Terminal {
  readonly colour: boolean
  /** How wide it is now; a person may pull it wider. */
  readonly columns: () => number | undefined
}

/** Log lines for people, as wide as the terminal. */
export function openTerminal(descriptor: 1 | 2, { colour, columns }: Terminal): DestinationStream {
  return pretty({
    destination: descriptor,
    sync: true,
    colorize: colour,
    hideObject: true,
    ignore: 'name,time,level',
    messageFormat: (logged, _messageKey, _level, { colors }) => {
      const line = toTerminalLine(logged, columns() || COLUMNS)
      const { time, event, isCut } = line
      const level = line.level === '' ? [] : [colors.red(line.level)]
      const fields = line.fields.map(({ name, value }) =>
        name === '' ? value : `${colors.gray(name)} ${value}`,
      )
      // The last column is free: what is left out shows there.
      return `${[colors.gray(time), ...level, colors.bold(event), ...fields].join(' ')}${isCut ? '…' : ''}`
    },
  })
}
