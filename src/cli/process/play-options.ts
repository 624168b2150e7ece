import { type Command, InvalidArgumentError, Option } from 'commander'
import { addParamOption, durationOption, listOption, parseCount } from './options.ts'

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
  const at = isDate
    ? Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text)
    : Number.NaN
  // A parser may make a 30th of February a day of March; nothing was traded before 1970.
  if (!(at > 0) || !new Date(at).toISOString().startsWith(text.slice(0, 10)))
    throw new InvalidArgumentError('write a date such as 2025-06-01 or 2025-06-01T12:00 (UTC).')
  return at
}

function parseBalance(text: string): string {
  if (!/^\d+(?:\.\d+)?$/.test(text) || Number(text) <= 0)
    throw new InvalidArgumentError('write an amount such as 10000.')
  return text
}
