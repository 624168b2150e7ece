import type { Command } from 'commander'
import type { DaemonConfig } from '../../config/load-config.ts'
import {
  addFill,
  describeUncounted,
  type Money,
  NO_MONEY,
  toFillMoney,
  uncountedOf,
} from '../../domain/fill-money.ts'
import { isInverse } from '../../domain/instrument.ts'
import { type GroupBy, groupOf } from '../../domain/row-groups.ts'
import type { BookedFill } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { describeJournalPlace } from '../../domain/journal-place.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { listLastFills } from '../../views/last-fills.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { print } from '../process/operator.ts'
import { addSpanOptions, groupOption, parseCount } from '../process/options.ts'
import { formatTable, money, toPlainWords } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { type AccountResult, showEachAccount } from './each-account.ts'
import { type JournalSpanOptions, listUnknown, withRows } from './journal-rows.ts'

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

function showFills(options: FillsOptions): AccountResult {
  const { by, limit, json, csv } = options
  return withRows(options, ({ reader, fills, file, config, journal, allFills, since, until }) => {
    const { strategy, symbol } = options
    const most = limit ?? (json || csv ? Number.POSITIVE_INFINITY : SHOWN)
    const query = { strategy, symbol, since, until, limit: most }
    const unknown = listUnknown(options, config, allFills())
    writeOut(
      by === undefined
        ? formatFills(listLastFills(reader, query), options)
        : formatGroups(groupFills(wantedOf(fills, options), by, config), by, options),
    )
    writeAside(`from ${file}, ${describeJournalPlace(journal())}\n`)
    for (const text of unknown) print(text)
    return unknown.length === 0 ? 0 : 'none'
  })
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
      {
        title: 'strategy',
        of: ({ strategyId, source }) =>
          strategyId || (source === 'SYS' ? '(exchange)' : '(nobody)'),
        isElastic: true,
      },
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
  const kind = fillKind === '' || fillKind === 'trade' ? [] : [toPlainWords(fillKind)]
  const why = [reason === '' ? '' : toPlainWords(reason), tag === '' ? '' : `as ${tag}`].filter(
    Boolean,
  )
  const fees =
    otherFees === '' ? [] : [`fees also in other coins: ${otherFees.replaceAll(';', ', ')}`]
  return [...kind, why.join(', '), ...fees].filter(Boolean).join('; ')
}

/** Bought and sold are in the margin coin, of coin-margined contracts in size. */
interface FillGroup {
  readonly name: string
  readonly coin: string
  readonly fills: number
  readonly makers: number
  readonly bought: string
  readonly sold: string
  readonly fees: string
  readonly uncounted: string
}

interface GroupSum {
  makers: number
  bought: Decimal
  sold: Decimal
  money: Money
}

export function groupFills(
  fills: Iterable<BookedFill>,
  by: GroupBy,
  { account, calendar }: Pick<DaemonConfig, 'account' | 'calendar'>,
): readonly FillGroup[] {
  const sums = new Map<string, GroupSum>()
  for (const fill of fills) {
    const key = JSON.stringify([groupOf(fill, by, calendar.timezone), fill.coin])
    const sum = sums.get(key) ?? { makers: 0, bought: ZERO, sold: ZERO, money: NO_MONEY }
    sums.set(key, sum)
    const size = decimal(fill.size)
    const value = isInverse(account) ? size : size.times(decimal(fill.price))
    const isBought =
      (fill.side === 'buy') ===
      (account.positionMode === 'one_way_mode' || fill.tradeSide === 'open')
    if (fill.scope === 'maker') sum.makers += 1
    if (isBought) sum.bought = sum.bought.plus(value)
    else sum.sold = sum.sold.plus(value)
    // Sums of fills show no profit, so a missing one is no gap.
    sum.money = addFill(sum.money, toFillMoney({ ...fill, profit: '0' }))
  }
  return [...sums]
    .map(([key, { bought, sold, money: paid, makers }]): FillGroup => {
      const [name = '', coin = ''] = JSON.parse(key) as string[]
      return {
        name,
        coin,
        fills: paid.fills,
        makers,
        bought: bought.toString(),
        sold: sold.toString(),
        fees: paid.fees.toString(),
        uncounted: describeUncounted(uncountedOf(paid)),
      }
    })
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

const GROUP_COLUMNS = [
  'name',
  'coin',
  'fills',
  'makers',
  'bought',
  'sold',
  'fees',
  'uncounted',
] as const

export function formatGroups(
  groups: readonly FillGroup[],
  by: GroupBy,
  { json, csv }: { readonly json?: boolean; readonly csv?: boolean },
): string {
  if (json) return `${JSON.stringify(groups, undefined, 2)}\n`
  if (csv) {
    const columns = GROUP_COLUMNS.filter((column) => by !== 'coin' || column !== 'name')
    const titles = columns.map((column) => (column === 'name' ? by : column)).join(',')
    const rows = groups.map((group) => columns.map((column) => toCsvCell(group[column])).join(','))
    return [titles, ...rows].map((line) => `${line}\n`).join('')
  }
  if (groups.length === 0) return 'no fill\n'
  return formatTable(
    [
      { title: by, of: ({ name }) => name, isElastic: true },
      { title: 'fills', of: ({ fills }) => String(fills), isNumber: true },
      {
        title: 'maker %',
        of: ({ fills, makers }) => ((makers / fills) * 100).toFixed(0),
        isNumber: true,
      },
      { title: 'bought', of: ({ bought, coin }) => money(bought, coin), isNumber: true },
      { title: 'sold', of: ({ sold, coin }) => money(sold, coin), isNumber: true },
      { title: 'fees', of: ({ fees, coin }) => money(fees, coin), isNumber: true },
      { title: '', of: ({ coin }) => coin },
      { title: '', of: ({ uncounted }) => uncounted, isBelow: true },
    ],
    groups,
  )
}
