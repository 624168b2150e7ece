import type { Command } from 'commander'
import type { BookedFill } from '../../journal/booking.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { addSpanOptions, parseCount } from '../process/options.ts'
import { formatGroups, groupFills } from './fill-groups.ts'
import { type GroupBy, groupOption } from './row-groups.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { showEachAccount } from './each-account.ts'
import { type JournalSpanOptions, withRows } from './journal-rows.ts'
import { formatTable, money } from '../process/table.ts'
import { toWords } from './reason-words.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const SHOWN = 20

interface FillsOptions extends JournalSpanOptions {
  readonly strategy?: string
  readonly symbol?: string
  readonly limit?: number
  readonly by?: GroupBy
  readonly json?: boolean
  readonly csv?: boolean
}

export function addFillsCommand(program: Command, { setExit }: VerbFrame): void {
  addSpanOptions(addOperatedOptions(program.command('fills')))
    .description('show what was traded, from the journal; also while the daemon runs')
    .option('--strategy <id>', 'only of this strategy')
    .option('--symbol <symbol>', 'only of this instrument')
    .option(
      '--limit <n>',
      `only the last n (default: ${SHOWN}; with --json and --csv all)`,
      parseCount,
    )
    .addOption(groupOption())
    .option('--json', 'as JSON')
    .option('--csv', 'as CSV')
    .action(async (options: FillsOptions) => setExit(await showEachAccount(options, showFills)))
}

function showFills(options: FillsOptions): number {
  withRows(options, ({ fills, file, config }) => {
    const { by } = options
    writeOut(
      by === undefined
        ? formatFills(lastOf(fills, options), options)
        : formatGroups(groupFills(wantedOf(fills, options), by, config), by, options),
    )
    writeAside(`from ${file}\n`)
  })
  return 0
}

function lastOf(fills: Iterable<BookedFill>, options: FillsOptions): readonly BookedFill[] {
  const { limit, json, csv } = options
  const most = limit ?? (json || csv ? Number.POSITIVE_INFINITY : SHOWN)
  const found: BookedFill[] = []
  for (const fill of wantedOf(fills, options)) {
    found.push(fill)
    if (found.length > 2 * most + 1000) found.splice(0, found.length - most)
  }
  return most < found.length ? found.slice(found.length - most) : found
}

function* wantedOf(
  fills: Iterable<BookedFill>,
  { strategy, symbol }: FillsOptions,
): Generator<BookedFill> {
  for (const fill of fills) {
    const isOfStrategy = fill.strategyId === (strategy ?? fill.strategyId)
    if (isOfStrategy && fill.symbol === (symbol ?? fill.symbol)) yield fill
  }
}

const CSV = [
  ...([
    'tradeId',
    'at',
    'orderId',
    'clientOid',
    'strategyId',
    'symbol',
    'side',
    'tradeSide',
  ] as const),
  ...([
    'price',
    'size',
    'profit',
    'fee',
    'coin',
    'scope',
    'source',
    'fillKind',
    'otherFees',
    'reason',
    'tag',
  ] as const),
]

export function formatFills(
  fills: readonly BookedFill[],
  { json, csv }: Pick<FillsOptions, 'json' | 'csv'>,
): string {
  if (json) return `${JSON.stringify(fills, undefined, 2)}\n`
  if (csv) {
    const rows = fills.map((fill) =>
      CSV.map((name) =>
        toCsvCell(name === 'at' ? new Date(fill.at).toISOString() : fill[name]),
      ).join(','),
    )
    return [CSV.join(','), ...rows].map((line) => `${line}\n`).join('')
  }
  if (fills.length === 0) return 'no fill\n'
  return formatTable(
    [
      {
        title: 'UTC',
        of: ({ at }) => new Date(at).toISOString().slice(5, 19).replace('T', ' '),
        isWhole: true,
      },
      { title: 'strategy', of: ({ strategyId }) => strategyId || '(nobody)', isElastic: true },
      { title: 'instrument', of: ({ symbol }) => symbol },
      { title: 'side', of: ({ side }) => side },
      { title: 'size', of: ({ size }) => size, isNumber: true },
      { title: 'price', of: ({ price }) => price, isNumber: true },
      { title: 'profit', of: ({ profit, coin }) => moneyOrUnknown(profit, coin), isNumber: true },
      { title: 'fee', of: ({ fee, coin }) => moneyOrUnknown(fee, coin), isNumber: true },
      { title: '', of: ({ scope }) => scope },
      ...(fills.some((fill) => remarkOf(fill) !== '')
        ? [{ title: '', of: remarkOf, isBelow: true }]
        : []),
    ],
    fills,
  )
}

function moneyOrUnknown(amount: string, coin: string): string {
  return amount === '' ? 'unknown' : money(amount, coin)
}

function remarkOf({ fillKind, otherFees, reason, tag }: BookedFill): string {
  const kind = fillKind === '' || fillKind === 'trade' ? [] : [toWords(fillKind)]
  const why = [reason === '' ? '' : toWords(reason), tag === '' ? '' : `as ${tag}`].filter(Boolean)
  const fees =
    otherFees === '' ? [] : [`fees also in other coins: ${otherFees.replaceAll(';', ', ')}`]
  return [...kind, why.join(', '), ...fees].filter(Boolean).join('; ')
}
