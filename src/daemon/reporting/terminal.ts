import { type DestinationStream } from 'pino'
import pretty from 'pino-pretty'

/** Wide enough for most events' names, so that the fields stand below each other. */
const EVENT_WIDTH = 16

/** Of every line, or said by its place in it; and long ids that nobody reads on a screen. */
const FRAME = new Set(['level', 'time', 'name', 'event', 'orderId', 'tradeId'])

/** Log lines for people: the time, the level, the event's name, and its fields as words. */
export function openTerminal(descriptor: 1 | 2, { colour }: { readonly colour: boolean }): DestinationStream {
  return pretty({
    destination: descriptor,
    sync: true,
    colorize: colour,
    translateTime: 'SYS:HH:MM:ss.l',
    hideObject: true,
    ignore: 'name',
    messageFormat: (line, _messageKey, _level, { colors }) => {
      const fields = Object.entries(line).filter(([key, value]) => !FRAME.has(key) && value !== undefined)
      const words = fields.map(([key, value]) => `${colors.gray(key)} ${toWords(value)}`)
      return `${colors.bold(String(line['event']).padEnd(EVENT_WIDTH))} ${words.join('  ')}`
    },
  })
}

/** A value without the punctuation of JSON: `BTCUSDT 0.012, ETHUSDT -0.5`. */
function toWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(toWords).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value)
  return entries.length === 0 ? 'none' : entries.map(([key, inner]) => `${key} ${toWords(inner)}`).join(', ')
}
