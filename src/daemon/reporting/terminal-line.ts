/**
 * One fact for people, in one line: the time, the level where it is not the ordinary one, the event, and its fields,
 * the telling ones first and without their names where the value says what it is.
 */

/** Of every line, or said by its place in it; and long ids that nobody reads on a screen. */
const FRAME: ReadonlySet<string> = new Set(['level', 'time', 'name', 'event', 'orderId', 'tradeId'])

/** Which come first, and which last; the others stand between them as they were logged. */
const FIRST = ['strategy', 'symbol', 'side', 'size', 'price', 'profit', 'state']
const LAST = ['scope', 'batchId', 'fee', 'clientOid']

/** Of a start: what it has not found is not said. */
const COUNTING = /^(?:recovery|daemon)\./

const LAST_RANK = 1000

/** What a value is called where its name would say nothing: none at all, or a word. */
const WORDS: Readonly<Record<string, string>> = {
  strategy: '',
  symbol: '',
  side: '',
  size: '',
  price: 'at',
  scope: '',
}

/** Of these a screen shows as much as fits: there are many of them, and a log that is piped has them whole. */
const ROUTINE = /^(?:batch|call|cancel|cancelAll|funding|instrument|order|quote|read|simulator|stop|target)\./

export interface TerminalLine {
  readonly time: string
  /** Empty at the ordinary level. */
  readonly level: string
  readonly event: string
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  /** Whether more was told than fits; what comes last is left out without a word. */
  readonly isCut: boolean
}

/** `columns`: of the terminal. */
export function toTerminalLine(logged: Readonly<Record<string, unknown>>, columns: number): TerminalLine {
  const event = String(logged['event'])
  const level = logged['level'] === 'info' ? '' : String(logged['level']).toUpperCase()
  const time = toClockTime(String(logged['time']))
  const fields = Object.entries(logged)
    .filter(([key, value]) => !FRAME.has(key) && value !== undefined)
    .map(([key, value], index) => ({ key, value: toWords(value), rank: rankOf(key, index) }))
    .filter(({ key, value }) => !((key === 'profit' || COUNTING.test(event)) && /^(?:0|none)$/.test(value)))
    .toSorted((one, other) => one.rank - other.rank)
    // The state of an order or a strategy; a path or a flag has its name.
    .map(({ key, value, rank }) => ({
      name: isBareState(event, key) ? '' : (WORDS[key] ?? key),
      value,
      rank,
    }))
  const isShort = (level === '' || level === 'DEBUG') && ROUTINE.test(event)
  if (!isShort) return { time, level, event, fields, isCut: false }
  let width = [time, level, event].filter((part) => part !== '').join(' ').length
  const fitting = fields.filter(({ name, value }) => {
    width += 1 + name.length + (name === '' ? 0 : 1) + value.length
    return width < columns
  })
  const isCut = fields.slice(fitting.length).some(({ rank }) => rank < LAST_RANK)
  return { time, level, event, fields: fitting, isCut }
}

function isBareState(event: string, key: string): boolean {
  return key === 'state' && event.startsWith('order.')
}

function rankOf(key: string, index: number): number {
  if (FIRST.includes(key)) return FIRST.indexOf(key)
  return LAST.includes(key) ? LAST_RANK + LAST.indexOf(key) : FIRST.length + index
}

/** `16:53:54.123`, as the clock on the wall shows it. */
function toClockTime(iso: string): string {
  const at = new Date(iso)
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** A value without the punctuation of JSON: `BTCUSDT 0.012, ETHUSDT -0.5`. */
function toWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(toWords).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value)
  return entries.length === 0 ? 'none' : entries.map(([key, inner]) => `${key} ${toWords(inner)}`).join(', ')
}
