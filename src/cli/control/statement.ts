import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../../lib/clock.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { describeJournalPlace } from '../../domain/journal-place.ts'
import { makeDirectory, writeDurably } from '../../lib/durable-file.ts'
import { dateOf, startOfDate } from '../../lib/start-of-day.ts'
import { writeOut } from '../../lib/write-out.ts'
import { buildStatement, showInstant } from '../../views/statement/build-statement.ts'
import { LINE_NAMES, type Statement } from '../../views/statement/statement.ts'
import { renderStatement, signed } from '../../views/statement/statement-page.ts'
import { toStatementCsv, toTaxCsv } from '../../views/statement/statement-tables.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { print, printResult } from '../process/operator.ts'
import { addSpanOptions, toSpan } from '../process/options.ts'
import { formatTable } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { showEachAccount } from './each-account.ts'
import { type JournalSpanOptions, withRows } from './journal-rows.ts'
import { checkStatement } from './statement-checks.ts'

const EXIT_USAGE = 64
const EXIT_UNEQUAL = 1
const EXIT_UNREAD = 75
/** All else may be missing: an account may have no platform coin, or not be copied. */
const MUST_BE_READ: ReadonlySet<string> = new Set(['fills', 'positions'])
const FORMATS = ['html', 'csv', 'json', 'tax'] as const
const MONTH = /^(2\d{3})-(0[1-9]|1[0-2])$/
const ZONE_MAX = 60

type StatementFormat = (typeof FORMATS)[number]

interface StatementOptions extends JournalSpanOptions {
  readonly month?: string
  readonly year?: string
  readonly zone?: string
  readonly out?: string
  readonly format: readonly StatementFormat[]
  readonly check?: boolean
  readonly json?: boolean
}

export function addStatementCommand(program: Command, { setExit }: VerbFrame): void {
  addSpanOptions(addOperatedOptions(program.command('statement')))
    .description(
      'show what became of the account in a month or a year, from its journal: from opening to closing equity, line by line',
    )
    .option('--month <month>', 'such as 2026-10', parseMonth)
    .option('--year <year>', 'such as 2026', parseYear)
    .option(
      '--zone <zone>',
      'time zone of days, such as Europe/Berlin (default: calendar.timezone)',
      parseZone,
    )
    .option('--out <directory>', 'write the files of --format into it')
    .option('--format <formats>', `any of ${FORMATS.join(',')}`, parseFormats, FORMATS)
    .option(
      '--check',
      'compare with what the exchange still shows; reads it with the account’s keys',
    )
    .option('--json', 'print the statement as JSON')
    .action(async (options: StatementOptions) =>
      setExit(await showEachAccount(options, showStatement)),
    )
}

function parseMonth(text: string): string {
  if (MONTH.test(text)) return text
  throw new InvalidArgumentError('write a month such as 2026-10.')
}

function parseYear(text: string): string {
  if (/^2\d{3}$/.test(text)) return text
  throw new InvalidArgumentError('write a year such as 2026.')
}

function parseZone(text: string): string {
  try {
    if (text.length <= ZONE_MAX)
      return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {}
  throw new InvalidArgumentError('write a time zone such as Europe/Berlin or UTC.')
}

function parseFormats(text: string): readonly StatementFormat[] {
  const wanted = text.split(',').map((part) => part.trim())
  const known = FORMATS.filter((format) => wanted.includes(format))
  if (known.length === new Set(wanted).size) return known
  throw new InvalidArgumentError(`write one or more of ${FORMATS.join(', ')}, with commas between.`)
}

interface NamedSpan {
  readonly since: number
  readonly until: number
  readonly name: string
}

async function showStatement(options: StatementOptions): Promise<number> {
  const loaded = loadOperated(options)
  const timeZone = options.zone ?? loaded.calendar.timezone
  const config = { ...loaded, calendar: { ...loaded.calendar, timezone: timeZone } }
  const now = systemClock.now()
  const span = toNamedSpan(options, timeZone)
  if (typeof span === 'string') return refuse(span)
  if (span.since >= now) return refuse('this time has not begun yet')
  if (span.until <= span.since) return refuse('it ends before it begins')
  const built = withRows(options, ({ reader }) => buildStatement(reader, { config, now, ...span }))
  const statement = await checkStatement(built, { config, options })
  if (options.out !== undefined) writeFiles(statement, span, options.out, options.format)
  if (options.json === true) writeOut(toJson(statement))
  else if (options.out === undefined) writeOut(formatStatement(statement))
  return toExitCode(statement)
}

function refuse(why: string): number {
  print(why)
  return EXIT_USAGE
}

function toNamedSpan(options: StatementOptions, timeZone: string): NamedSpan | string {
  const { month, year, since, until, from, to } = options
  const isSpan = [since, until, from, to].some((given) => given !== undefined)
  if ([month !== undefined, year !== undefined, isSpan].filter(Boolean).length !== 1)
    return 'say which time: --month 2026-10, --year 2026, or --from and --to'
  if (month !== undefined) {
    const [, first = '', second = ''] = MONTH.exec(month) ?? []
    const next = second === '12' ? `${Number(first) + 1}-01` : `${first}-${pad(Number(second) + 1)}`
    return {
      since: startOfDate(`${month}-01`, timeZone),
      until: startOfDate(`${next}-01`, timeZone),
      name: month,
    }
  }
  if (year !== undefined) {
    const [begin, end] = [`${year}-01-01`, `${Number(year) + 1}-01-01`]
    return { since: startOfDate(begin, timeZone), until: startOfDate(end, timeZone), name: year }
  }
  const span = toSpan(options, timeZone)
  if (span.since === undefined) return 'say where it begins: --from 2026-10-01, or --since 7d'
  const end = span.until ?? systemClock.now()
  const name = `${dateOf(span.since, timeZone)}-to-${dateOf(end - 1, timeZone)}`
  return { since: span.since, until: end, name }
}

function pad(count: number): string {
  return String(count).padStart(2, '0')
}

const RENDERERS: Readonly<Record<StatementFormat, (statement: Statement) => string>> = {
  html: renderStatement,
  csv: toStatementCsv,
  json: toJson,
  tax: toTaxCsv,
}

function writeFiles(
  statement: Statement,
  { name }: NamedSpan,
  out: string,
  formats: readonly StatementFormat[],
): void {
  const directory = resolve(out)
  makeDirectory(directory)
  const account = statement.account.replaceAll(/[^\w.-]/g, '_')
  for (const format of formats) {
    const ending = format === 'tax' ? 'tax.csv' : format
    const file = join(directory, `statement-${account}-${name}.${ending}`)
    const isThere = existsSync(file)
    writeDurably(file, RENDERERS[format](statement))
    printResult(`${isThere ? 'written anew' : 'written'}: ${file}`)
  }
}

function toJson({ rows: _rows, ...statement }: Statement): string {
  return `${JSON.stringify(statement, undefined, 2)}\n`
}

function toExitCode({ difference, checks }: Statement): number {
  const addsUp = difference === null || decimal(difference).eq(ZERO)
  if (!addsUp || checks.some(({ state }) => state === 'differs')) return EXIT_UNEQUAL
  const isUnread = checks.some(({ what, isUnread: is }) => is === true && MUST_BE_READ.has(what))
  return isUnread ? EXIT_UNREAD : 0
}

function formatStatement(statement: Statement): string {
  const { account, coin, timeZone, since, until, opening, closing, difference } = statement
  const rows: [string, string][] = [
    ['Opening equity', opening?.equity ?? 'not known'],
    ...statement.lines.map(({ name, amount }): [string, string] => [
      LINE_NAMES[name],
      signed(amount),
    ]),
    ['Closing equity', closing?.equity ?? 'not known'],
  ]
  if (difference !== null && !decimal(difference).eq(ZERO))
    rows.push(['IT DOES NOT ADD UP BY', signed(difference)])
  const table = formatTable(
    [
      { title: 'line', of: ([name]) => name, isElastic: true },
      { title: coin, of: ([, amount]) => amount, isNumber: true },
    ],
    rows,
  )
  const words = { agrees: 'agrees', differs: 'DIFFERS', notChecked: 'not checked' } as const
  const checks = statement.checks.map(
    ({ what, state, found }) => `${what}: ${words[state]}; ${found}`,
  )
  return [
    `${account}, ${showInstant(since, timeZone)} to ${showInstant(until, timeZone)} (${timeZone})`,
    table.trimEnd(),
    `${statement.trades.length} trades closed; --out DIRECTORY writes days, instruments, strategies and trades`,
    ...checks,
    ...statement.remarks,
    `from ${describeJournalPlace(statement.journal)}`,
    '',
  ].join('\n')
}
