import { type Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../../lib/clock.ts'
import { startOfDate } from '../../lib/start-of-day.ts'
import { parseDuration } from './options.ts'

export interface SpanOptions {
  readonly since?: number
  readonly until?: number
  readonly from?: DayOrInstant
  readonly to?: DayOrInstant
}

/** `2025-06-02` in the configured time zone, or Unix ms. */
export type DayOrInstant = string | number

/** `since` is included, `until` is not. */
export interface Span {
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

export function parseInstant(text: string): number {
  const at = Date.parse(text)
  if (/^\d{4}-/.test(text) && !Number.isNaN(at)) return at
  if (/^\d+(\.\d+)?[a-z]+$/.test(text)) return systemClock.now() - parseDuration(text)
  throw new InvalidArgumentError(
    'write how far back, such as 10m or 2h, or an instant such as 2025-06-02T06:00Z.',
  )
}

export function toSpan({ since, until, from, to }: SpanOptions, timeZone: string): Span {
  const begin = since ?? (from === undefined ? undefined : toInstant(from, timeZone))
  const end = until ?? (to === undefined ? undefined : toInstant(endOf(to), timeZone))
  return {
    ...(begin !== undefined && { since: begin }),
    ...(end !== undefined && { until: end }),
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

function parseDayOrInstant(text: string): DayOrInstant {
  if (!DAY.test(text)) return parseInstant(text)
  const at = Date.parse(text)
  if (!Number.isNaN(at) && toDay(at) === text) return text
  throw new InvalidArgumentError(`there is no day ${text}; write one such as 2025-06-02.`)
}

/** A last day is included: it ends where the next one begins. */
function endOf(end: DayOrInstant): DayOrInstant {
  return typeof end === 'number' ? end : toDay(Date.parse(end) + DAY_MS)
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function toInstant(moment: DayOrInstant, timeZone: string): number {
  return typeof moment === 'number' ? moment : startOfDate(moment, timeZone)
}
