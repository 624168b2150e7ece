import { createRequire } from 'node:module'
import { sep } from 'node:path'
import type { Writable } from 'node:stream'
import { destination, type DestinationStream, type Logger, pino } from 'pino'
import type pinoPretty from 'pino-pretty'
import type { LogEvent } from '../domain/log-events.ts'
import type { Restriction } from '../domain/trading-mode.ts'
import { HiddenTexts, type Secret } from '../lib/secret.ts'
import { cleanData } from '../lib/text/clean-text.ts'
import { hasReader, LogOutput } from './log-output.ts'

export interface LoggerOptions {
  readonly level: string
  readonly name: string
  readonly descriptor: 1 | 2
  /** Lines for a person at a terminal; undefined for one JSON object a line. */
  readonly terminal: Terminal | undefined
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** Never waits for a reader (`log-output.ts`). */
export interface DaemonLogger {
  readonly isTerminal: boolean
  readonly descriptor: 1 | 2
  log(level: LogLevel, event: LogEvent, fields?: Readonly<Record<string, unknown>>): void
  /** The last line of defence behind `Secret` (SEC1). */
  hide(secret: Secret): void
  /** Hears every level, with hidden texts removed. */
  listen(hear: (fact: LoggedFact) => void): void
  setLevel(level: LogLevel): void
}

export interface LoggedFact {
  readonly level: LogLevel
  readonly event: LogEvent
  readonly fields: Readonly<Record<string, unknown>>
}

/** No listener wants these levels. */
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
  // An operator may log errors alone.
  const always = pinoLogger.child({}, { level: 'trace' })
  const logger: DaemonLogger = {
    isTerminal: terminal !== undefined,
    descriptor,
    log(given, event, raw = {}) {
      // Cleaned before secrets are looked for: a character that is not seen must not hide one.
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

// A fact takes one line where it fits: time, level if it is not ordinary, event, and the telling
// fields first.

/** Fields left out on a terminal: their place says them, or they are ids too long to read. */
const FRAME: ReadonlySet<string> = new Set(['level', 'time', 'name', 'event', 'orderId', 'tradeId'])

const FIRST = ['strategy', 'symbol', 'side', 'size', 'price', 'profit', 'state']
const LAST = ['scope', 'batchId', 'fee', 'clientOid']

const COUNTING = /^(?:recovery|daemon)\./

const LAST_RANK = 1000

/** Empty where the value says what it is. */
const WORDS: Readonly<Record<string, string>> = {
  strategy: '',
  symbol: '',
  side: '',
  size: '',
  price: 'at',
  scope: '',
  environment: '',
  openOrders: 'open',
  unknownOrders: 'unknown',
  waitingOrders: 'waiting',
  strategyStates: 'states',
  ends: 'until',
  sinceLastLogged: 'more',
}

/** Sentences, which are set off from what follows. */
const SENTENCES: ReadonlySet<string> = new Set(['detail', 'hint', 'message', 'reason'])

/** A screen shows as many entries as fit; a piped log has all. */
const ROUTINE =
  /^(?:batch|call|cancel|cancelAll|funding|instrument|order|quote|read|simulator(?!\.(?:opened|listening))|stop|target)\./

const CUT = ' …'

const ROW_INDENT = ' '.repeat('00:00:00.000'.length)

interface TerminalField {
  readonly name: string
  readonly value: string
}

interface TerminalLine {
  readonly time: string
  /** Empty at the ordinary level. */
  readonly level: string
  readonly event: string
  readonly rows: readonly (readonly TerminalField[])[]
  readonly isCut: boolean
}

interface TerminalPlace {
  readonly columns: number
  /** Paths below it are written from there. */
  readonly directory: string
}

export function toTerminalLine(
  logged: Readonly<Record<string, unknown>>,
  { columns, directory }: TerminalPlace,
): TerminalLine {
  const event = String(logged['event'])
  const level = logged['level'] === 'info' ? '' : String(logged['level']).toUpperCase()
  const time = toClockTime(String(logged['time']))
  const fields = rankFields(event, logged, directory)
  const headWidth = [time, level, event].filter((part) => part !== '').join(' ').length
  const isShort = (level === '' || level === 'DEBUG') && ROUTINE.test(event)
  if (!isShort)
    return { time, level, event, rows: wrapFields(fields, headWidth, columns), isCut: false }
  const fitting = countFitting(fields, headWidth, columns)
  const isCut = fields.slice(fitting).some(({ rank }) => rank < LAST_RANK)
  return { time, level, event, rows: [fields.slice(0, fitting)], isCut }
}

/** `paint` colours a part and adds no width. */
export function printTerminalLine(
  { time, level, event, rows, isCut }: TerminalLine,
  paint: (part: 'time' | 'level' | 'event' | 'name', text: string) => string = (_, text) => text,
): string {
  const head = [
    paint('time', time),
    ...(level === '' ? [] : [paint('level', level)]),
    paint('event', event),
  ].join(' ')
  const texts = rows.map((fields) =>
    fields
      .map(({ name, value }) => (name === '' ? ` ${value}` : ` ${paint('name', name)} ${value}`))
      .join(''),
  )
  return `${head}${texts.join(`\n${ROW_INDENT}`)}${isCut ? CUT : ''}`
}

interface RankedField extends TerminalField {
  readonly rank: number
}

function rankFields(
  event: string,
  logged: Readonly<Record<string, unknown>>,
  directory: string,
): readonly RankedField[] {
  return (
    Object.entries(logged)
      .filter(([key, value]) => !FRAME.has(key) && value !== undefined)
      .map(([key, value], index) => ({
        key,
        value: key === 'restrictions' ? toHeld(value, logged['time']) : toWords(value, directory),
        rank: rankOf(key, index, event),
      }))
      .filter(
        ({ key, value }) =>
          !((key === 'profit' || COUNTING.test(event)) && /^(?:0|none)$/.test(value)),
      )
      .toSorted((one, other) => one.rank - other.rank)
      // A path or a flag has its name.
      .map(({ key, value, rank }, index, { length }) => ({
        name: isBareState(event, key) ? '' : (WORDS[key] ?? key),
        value: SENTENCES.has(key) && value !== '' && index < length - 1 ? `${value};` : value,
        rank,
      }))
  )
}

function countFitting(fields: readonly RankedField[], headWidth: number, columns: number): number {
  let width = headWidth
  const tooWide = fields.findIndex((field, index) => {
    width += widthOf(field)
    const isLast = fields.slice(index + 1).every(({ rank }) => rank >= LAST_RANK)
    return width + (isLast ? 0 : CUT.length) > columns
  })
  return tooWide < 0 ? fields.length : tooWide
}

function wrapFields(
  fields: readonly TerminalField[],
  headWidth: number,
  columns: number,
): readonly (readonly TerminalField[])[] {
  const rows: TerminalField[][] = [[]]
  let width = headWidth
  const beginRow = (): void => {
    rows.push([])
    width = ROW_INDENT.length
  }
  const put = (field: TerminalField): void => {
    if (width + widthOf(field) > columns && width > ROW_INDENT.length) beginRow()
    rows.at(-1)?.push(field)
    width += widthOf(field)
  }
  for (const { name, value } of fields) {
    for (const [index, text] of value.split('\n').entries()) {
      if (index > 0) beginRow()
      const field = { name: index === 0 ? name : '', value: text }
      const isWide = ROW_INDENT.length + widthOf(field) > columns
      for (const part of isWide ? splitWords(field) : [field]) put(part)
    }
  }
  return rows
}

function splitWords({ name, value }: TerminalField): readonly TerminalField[] {
  return value.split(' ').map((word, index) => ({ name: index === 0 ? name : '', value: word }))
}

function widthOf({ name, value }: TerminalField): number {
  return 1 + name.length + (name === '' ? 0 : 1) + value.length
}

function isBareState(event: string, key: string): boolean {
  return key === 'state' && event.startsWith('order.')
}

function rankOf(key: string, index: number, event: string): number {
  // A fill's scope is maker or taker.
  if (key === 'scope' && !event.includes('fill')) return -1
  if (FIRST.includes(key)) return FIRST.indexOf(key)
  return LAST.includes(key) ? LAST_RANK + LAST.indexOf(key) : FIRST.length + index
}

function toClockTime(iso: string): string {
  const at = new Date(iso)
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

function toWords(value: unknown, directory: string): string {
  const inner = (one: unknown): string => toWords(one, directory)
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inner).join(', ')
  if (typeof value !== 'object' || value === null) return fromHere(String(value), directory)
  const entries = Object.entries(value)
  return entries.length === 0
    ? 'none'
    : entries.map(([key, one]) => `${key} ${inner(one)}`).join(', ')
}

/** The day is added if it is another. */
function toHeld(restrictions: unknown, loggedAt: unknown): string {
  const held = restrictions as readonly (Restriction | string)[]
  const today = new Date(String(loggedAt)).toDateString()
  const words = held.map((restriction) => {
    if (typeof restriction === 'string') return restriction
    const { scope, mode, reason, at } = restriction
    const since = new Date(at)
    const day = since.toDateString() === today ? '' : `${toDay(since)} `
    return `${scope} ${mode} (${reason}; since ${day}${since.toTimeString().slice(0, 5)})`
  })
  return words.join(', ') || 'none'
}

function toDay(at: Date): string {
  const parts = [at.getFullYear(), at.getMonth() + 1, at.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}

function fromHere(text: string, directory: string): string {
  return text.startsWith(`${directory}${sep}`) ? text.slice(directory.length + 1) : text
}

const COLUMNS = 80

interface Terminal {
  readonly colour: boolean
  /** A person may change it. */
  readonly columns: () => number | undefined
}

/** The printer is loaded only where there is a terminal. */
function openTerminal(output: Writable, { colour, columns }: Terminal): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof pinoPretty
  return pretty({
    destination: output,
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
