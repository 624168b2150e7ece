import type { Command } from 'commander'
import type { JournalProfitRow } from '../../control/detail-views.ts'
import { describeJournalPlace, type JournalPlace } from '../../domain/journal-place.ts'
import { ACCOUNT_SERIES, type AccountPoint, toAccountPoint } from '../../journal/curves.ts'
import { dateGroupOf, type GroupBy } from '../../domain/row-groups.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { readProfit } from '../../views/profit-sums.ts'
import { addOperatedOptions } from '../operator/operated-config.ts'
import { describeProfitRows } from '../process/journal-words.ts'
import { addSpanOptions, groupOption } from '../process/options.ts'
import { formatTable, money } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { showEachAccount } from './each-account.ts'
import { type JournalSpanOptions, type OpenedRows, withRows } from './journal-rows.ts'

interface ProfitOptions extends JournalSpanOptions {
  readonly by: GroupBy
  readonly curve?: boolean
  readonly json?: boolean
  readonly csv?: boolean
}

export function addProfitCommand(program: Command, { setExit }: VerbFrame): void {
  addSpanOptions(addOperatedOptions(program.command('profit')))
    .description(
      'show what trading has made: realised profit, fees and funding, from the journal; also while the daemon runs',
    )
    .addOption(groupOption().default('day'))
    .option(
      '--curve',
      'show instead how equity, net profit and peak have gone, over all runs: with --json and --csv by minute, and by hour after a week',
    )
    .option('--json', 'as JSON')
    .option('--csv', 'as CSV')
    .action(async (options: ProfitOptions) => setExit(await showEachAccount(options, showProfit)))
}

function showProfit(options: ProfitOptions): number {
  withRows(options, (opened) => {
    const { reader, config, file, since, until } = opened
    if (options.curve) {
      writeOut(showCurve(opened, options))
      writeAside(`from ${file}, ${describeJournalPlace(opened.journal())}\n`)
      return
    }
    const { by } = options
    const frame = {
      positionMode: config.account.positionMode,
      timeZone: config.calendar.timezone,
    }
    const { journal, rows, uncounted } = readProfit(reader, frame, { by, since, until })
    writeOut(formatProfit(rows, { ...options, uncounted, journal }))
    writeAside(`from ${file}, ${describeProfitRows(journal, by)}`)
  })
  return 0
}

interface ProfitForm extends Pick<ProfitOptions, 'by' | 'json' | 'csv'> {
  readonly uncounted?: string
  readonly journal: JournalPlace
}

const CSV = ['name', 'coin', 'fills', 'net', 'realised', 'fees', 'funding', 'uncounted'] as const

export function formatProfit(
  rows: readonly JournalProfitRow[],
  { by, json, csv, uncounted: uncountedInAll = '', journal }: ProfitForm,
): string {
  if (json) return toJson(rows, journal)
  if (csv) {
    const columns = CSV.filter((column) => by !== 'coin' || column !== 'name')
    const titles = columns.map((column) => (column === 'name' ? by : column))
    const lines = rows.map((row) => columns.map((column) => toCsvCell(row[column])).join(','))
    return [titles.join(','), ...lines].map((line) => `${line}\n`).join('')
  }
  if (rows.length === 0) return 'nothing was traded\n'
  return formatTable(
    [
      { title: by, of: ({ name }) => name, isElastic: true },
      { title: 'fills', of: ({ fills }) => String(fills), isNumber: true },
      { title: 'net', of: ({ net, coin }) => money(net, coin), isNumber: true },
      { title: 'realised', of: ({ realised, coin }) => money(realised, coin), isNumber: true },
      { title: 'fees', of: ({ fees, coin }) => money(fees, coin), isNumber: true },
      {
        title: 'funding',
        of: ({ funding, coin }) => money(funding === '' ? null : funding, coin),
        isNumber: true,
      },
      { title: '', of: ({ coin }) => coin },
      ...(rows.some(({ uncounted }) => uncounted !== '')
        ? [{ title: '', of: ({ uncounted }: JournalProfitRow) => uncounted, isBelow: true }]
        : []),
    ],
    [...rows, ...totalOf(rows, uncountedInAll)],
  )
}

function toJson(rows: readonly JournalProfitRow[], journal: JournalPlace): string {
  const cited = rows.map((row) => ({ ...row, journal }))
  return `${JSON.stringify(cited, undefined, 2)}\n`
}

function totalOf(
  rows: readonly JournalProfitRow[],
  uncounted: string,
): readonly JournalProfitRow[] {
  const coins = new Set(rows.map(({ coin }) => coin))
  if (coins.size !== 1 || rows.length < 2) return []
  const sum = (of: (row: JournalProfitRow) => string): string =>
    rows.reduce((total, row) => total.plus(decimal(of(row) || '0')), ZERO).toString()
  return [
    {
      name: 'all',
      coin: [...coins][0] ?? '',
      fills: rows.reduce((total, { fills }) => total + fills, 0),
      realised: sum(({ realised }) => realised),
      fees: sum(({ fees }) => fees),
      funding: sum(({ funding }) => funding),
      net: sum(({ net }) => net),
      uncounted,
    },
  ]
}

interface CurveForm {
  readonly by: GroupBy
  readonly json?: boolean
  readonly csv?: boolean
}

interface CurveGroup {
  readonly name: string
  readonly last: AccountPoint
  readonly lowest: string | null
  readonly highest: string | null
}

export function showCurve({ reader, config, since, until }: OpenedRows, form: CurveForm): string {
  const { by, json, csv } = form
  if (by !== 'day' && by !== 'week' && by !== 'month') throw groupWrong(by)
  const points = [...reader.curve({ series: ACCOUNT_SERIES, since, until })].map(toAccountPoint)
  if (json) return `${JSON.stringify(points, undefined, 2)}\n`
  if (csv) return toCsv(points)
  if (points.length === 0)
    return 'no curve yet: a daemon keeps a point each minute, from its first start with this version on\n'
  const { calendar, account } = config
  const groups = [...Map.groupBy(points, ({ at }) => dateGroupOf(at, by, calendar.timezone))]
  return formatGroups(
    groups.map(([name, own]) => toGroup(name, own)),
    { by, coin: account.marginCoin },
  )
}

function toCsv(points: readonly AccountPoint[]): string {
  const rows = points.map(({ at, equity, netWithUnrealised, peak }) =>
    [new Date(at).toISOString(), equity ?? '', netWithUnrealised ?? '', peak ?? '']
      .map(toCsvCell)
      .join(','),
  )
  return ['at,equity,netWithUnrealised,peak', ...rows].map((line) => `${line}\n`).join('')
}

function toGroup(name: string, points: readonly AccountPoint[]): CurveGroup {
  const last = points.at(-1) ?? { at: 0, equity: null, netWithUnrealised: null, peak: null }
  const known = points
    .flatMap(({ equity }) => equity ?? [])
    .toSorted((one, other) => Number(one) - Number(other))
  return { name, last, lowest: known[0] ?? null, highest: known.at(-1) ?? null }
}

function formatGroups(
  groups: readonly CurveGroup[],
  { by, coin }: { readonly by: string; readonly coin: string },
): string {
  const changeOf = (group: CurveGroup): string => {
    const before = groups[groups.indexOf(group) - 1]?.last.equity
    const { equity } = group.last
    if (before === undefined || before === null || equity === null || Number(before) <= 0) return ''
    const share = (Number(equity) / Number(before) - 1) * 100
    return `${share < 0 ? '' : '+'}${share.toFixed(2)} %`
  }
  return formatTable(
    [
      { title: by, of: ({ name }) => name },
      { title: 'equity', of: ({ last }) => money(last.equity, coin), isNumber: true },
      { title: 'change', of: changeOf, isNumber: true },
      { title: 'lowest', of: ({ lowest }) => money(lowest, coin), isNumber: true },
      { title: 'highest', of: ({ highest }) => money(highest, coin), isNumber: true },
      {
        title: 'with unrealised',
        of: ({ last }) => money(last.netWithUnrealised, coin),
        isNumber: true,
      },
      { title: 'peak', of: ({ last }) => money(last.peak, coin), isNumber: true },
      { title: '', of: () => coin },
    ],
    groups,
  )
}

function groupWrong(by: string): Failure {
  return new Failure({
    code: 'PROFIT_CURVE_GROUP',
    sentence: 'the curve is that of the account, so it has no rows by strategy, instrument or coin',
    facts: { by },
    hint: 'write --by day, week or month, or --csv for every point',
  })
}
