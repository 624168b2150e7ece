import { type Command, InvalidArgumentError, Option } from 'commander'
import { type ConfigOptions, PAPER_CONFIG } from '../../config/load-config.ts'
import { isDatabaseInClear, objectToDatabase } from '../../config/server-checks.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { ROW_GROUPS } from '../../domain/row-groups.ts'
import { parseTime } from '../../lib/text/parse-time.ts'
import { systemClock } from '../../lib/clock.ts'
import { startOfDate } from '../../lib/start-of-day.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Takes `500ms`, `30s`, `5m`, `2h`, `1d`. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  const unit = UNITS_MS[match?.[2] ?? '']
  if (!match || unit === undefined)
    throw new InvalidArgumentError('write a duration such as 500ms, 30s, 5m or 2h.')
  return Number(match[1]) * unit
}

export function durationOption(flags: string, what: string, defaultMs: number): Option {
  return new Option(flags, what)
    .argParser(parseDuration)
    .default(defaultMs, describeDuration(defaultMs))
}

function describeDuration(ms: number): string {
  const [unit, one] = Object.entries(UNITS_MS).findLast(([, size]) => ms % size === 0) ?? ['ms', 1]
  return `${ms / one}${unit}`
}

export function parseSpeed(text: string): number {
  const speed = Number(text)
  if (!(speed > 0 && speed <= 10_000))
    throw new InvalidArgumentError('write a number above 0, at most 10000.')
  return speed
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('write a port, 0 to 65535.')
  return port
}

export function parseCount(text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 0 || text === '')
    throw new InvalidArgumentError('write a whole number.')
  return count
}

/** No parser of commander, whose errors show the value (SEC1). */
export function assertDatabase(command: Command, flags: string, url: string | undefined): void {
  if (url === undefined) return
  const objection = objectToDatabase(url) ?? objectToClearText(url)
  if (objection !== undefined) command.error(`error: option '${flags}': ${objection}`)
}

function objectToClearText(url: string): string | undefined {
  if (!isDatabaseInClear(url) || new URL(url).searchParams.get('sslmode') === 'disable')
    return undefined
  return 'this is another machine: write sslmode=verify-full behind the address, which checks the certificate, or sslmode=disable, and nothing is encrypted'
}

export function listOption(flags: string, what: string): Option {
  return new Option(flags, `${what}; may be given again`)
    .argParser((text: string, before: readonly string[]) => [...before, text])
    .default([], 'none')
}

export function addConfigOptions(command: Command, shipped = PAPER_CONFIG): Command {
  return command
    .option('-c, --config <file>', `the configuration (default: ${shipped})`)
    .addOption(listOption('--set <path=value>', 'override a setting of the main file'))
}

export function addParamOption(command: Command): Command {
  return command.addOption(
    listOption('--param <strategy.param=value>', 'override a parameter of a strategy'),
  )
}

/** Leaves out refused options. `simulate` has no check. */
export function adviseAgain(words: readonly string[], problems: readonly Problem[] = []): string {
  const refused = new Set(problems.flatMap(({ refusedWords = [] }) => refusedWords))
  const named = namedFile(words)
  const isRefused = named !== undefined && refused.has(named)
  if (words[0] === 'simulate')
    return `Start again with: intentd simulate${repeatOptions({ config: isRefused ? undefined : named, set: [] })}`
  const config = isRefused ? 'MAIN_FILE' : named
  const rest = repeatOptions({ config, set: valuesOf(words, '--set') })
  const params = valuesOf(words, '--param').map((param) => ` --param ${toShellWord(param)}`)
  const isPlayed = ['run', 'standby', 'check'].includes(words[0] ?? '')
  const played = ['--market', '--speed']
    .filter((option) => isPlayed && !refused.has(option))
    .flatMap((option) => valuesOf(words, option).map((value) => ` ${option} ${toShellWord(value)}`))
  return `Check again with: intentd check${[rest, ...params, ...played].join('')}`
}

export function repeatOptions({ config, set, state }: ConfigOptions): string {
  const words = [
    ...(config === undefined ? [] : ['-c', config]),
    ...set.flatMap((one) => ['--set', one]),
    ...(state === undefined ? [] : ['--state', state]),
  ]
  return words.map((word) => ` ${toShellWord(word)}`).join('')
}

function namedFile(words: readonly string[]): string | undefined {
  const at = words.findLastIndex((word) => /^(-c|--config)/.test(word))
  const [, inOne] = /^(?:--config=|-c=?)(.+)$/.exec(words[at] ?? '') ?? []
  if (at >= 0) return inOne ?? words[at + 1]
  return words
    .slice(1)
    .find((word, index) => /\.ya?ml$/.test(word) && words[index]?.startsWith('--') !== true)
}

function valuesOf(words: readonly string[], option: string): readonly string[] {
  return words.flatMap((word, index) => (index > 0 && words[index - 1] === option ? [word] : []))
}

/** No decision, file of prices or report takes so long. */
const HUNG_AFTER_MS = 60_000
const DAYS_MAX = 3650

export function hungAfterOption(): Option {
  return durationOption(
    '--hung-after <duration>',
    'end it after so much time without progress',
    HUNG_AFTER_MS,
  )
}

export function addPlayOptions(command: Command, models: readonly string[]): Command {
  return addParamOption(command)
    .addOption(listOption('--market <file>', 'prices: FILE, SYMBOL=FILE, or `seeded`'))
    .addOption(
      listOption('--feed <name=file>', 'readings of a feed: FILE, NAME=FILE or STRATEGY.NAME=FILE'),
    )
    .option(
      '--universe <directory>',
      'tickers of all instruments that `record --universe` kept; what has no file of prices trades on them',
    )
    .option('--days <n>', 'length of a seeded market (default: 30)', parseDays)
    .option('--from <date>', 'beginning, UTC: 2025-06-01 or 2025-06-01T12:00', parseDate)
    .option('--to <date>', 'end, excluded', parseDate)
    .addOption(
      new Option('--model <name>', 'how orders are filled (default: as configured)').choices(
        models,
      ),
    )
    .option('--seed <n>', 'seed of all random numbers (default: as configured)', parseCount)
    .option(
      '--balance <amount>',
      'margin coin at the start (default: as configured, or 10000)',
      parseBalance,
    )
    .addOption(listOption('--set <path=value>', 'override a setting of the main file'))
}

function parseDays(text: string): number {
  const days = parseCount(text)
  if (days >= 1 && days <= DAYS_MAX) return days
  throw new InvalidArgumentError(`write a whole number from 1 to ${DAYS_MAX}.`)
}

export function parseDate(text: string): number {
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z?)?$/.test(text)
  const zoned = text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text
  const at = isDate ? parseTime(zoned) : undefined
  // Nothing was traded before 1970.
  if (at === undefined || at <= 0)
    throw new InvalidArgumentError('write a date such as 2025-06-01 or 2025-06-01T12:00 (UTC).')
  return at
}

function parseBalance(text: string): string {
  if (!/^\d+(?:\.\d+)?$/.test(text) || Number(text) <= 0)
    throw new InvalidArgumentError('write an amount such as 10000.')
  return text
}

export interface SpanOptions {
  readonly since?: number
  readonly until?: number
  readonly from?: DayOrInstant
  readonly to?: DayOrInstant
}

type DayOrInstant = string | number

/** `since` is included, `until` is not. */
export interface QuerySpan {
  readonly since?: number
  readonly until?: number
}

export function addSpanOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--from <date>', 'beginning: a day such as 2025-06-02, or as --since')
        .argParser(parseDayOrInstant)
        .conflicts('since'),
    )
    .addOption(
      new Option('--to <date>', 'end: a day, which is included, or as --until')
        .argParser(parseDayOrInstant)
        .conflicts('until'),
    )
    .option('--since <when>', 'beginning: 10m, 2h, 7d (ago), or an instant', parseInstant)
    .option('--until <when>', 'end, excluded', parseInstant)
}

export function groupOption(): Option {
  return new Option(
    '--by <what>',
    'one row for each; days are those of `calendar.timezone`',
  ).choices(ROW_GROUPS)
}

export function parseInstant(text: string): number {
  const at = instantOf(text)
  if (at !== undefined) return at
  throw new InvalidArgumentError(`write ${INSTANTS}.`)
}

const INSTANTS = 'how far back, such as 10m or 2h, or an instant such as 2025-06-02T06:00Z'

function instantOf(text: string): number | undefined {
  const at = /^\d{4}-/.test(text) ? parseTime(text) : undefined
  if (at !== undefined) return at
  const [, back] = /^(\d+(?:\.\d+)?[a-z]+)(?: ago)?$/.exec(text) ?? []
  return back === undefined ? undefined : systemClock.now() - parseDuration(back)
}

export function toSpan({ since, until, from, to }: SpanOptions, timeZone: string): QuerySpan {
  const begin = since ?? (from === undefined ? undefined : toInstant(from, timeZone))
  const end = until ?? (to === undefined ? undefined : toInstant(endOf(to), timeZone))
  return {
    ...(begin !== undefined && { since: begin }),
    ...(end !== undefined && { until: end }),
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

export function parseDayOrInstant(text: string): DayOrInstant {
  if (DAY.test(text)) {
    if (parseTime(text) !== undefined) return text
    throw new InvalidArgumentError(`there is no day ${text}; write one such as 2025-06-02.`)
  }
  const at = instantOf(text)
  if (at !== undefined) return at
  throw new InvalidArgumentError(`write a day such as 2025-06-02, ${INSTANTS}.`)
}

function endOf(end: DayOrInstant): DayOrInstant {
  return typeof end === 'number' ? end : toDay(Date.parse(end) + DAY_MS)
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function toInstant(moment: DayOrInstant, timeZone: string): number {
  return typeof moment === 'number' ? moment : startOfDate(moment, timeZone)
}
