import { Failure } from '../../lib/failure.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { ACCOUNT_SERIES, type AccountPoint, toAccountPoint } from '../../journal/curves.ts'
import { formatTable, money } from '../process/table.ts'
import type { OpenedRows } from './journal-rows.ts'
import { dateGroupOf, type GroupBy } from './row-groups.ts'

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

/** Rows are days, weeks or months, with --json and --csv every point. */
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
  const rows = points.map(({ at, equity, net, peak }) =>
    [new Date(at).toISOString(), equity ?? '', net ?? '', peak ?? ''].map(toCsvCell).join(','),
  )
  return ['at,equity,net,peak', ...rows].map((line) => `${line}\n`).join('')
}

function toGroup(name: string, points: readonly AccountPoint[]): CurveGroup {
  const last = points.at(-1) ?? { at: 0, equity: null, net: null, peak: null }
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
      { title: 'net, all runs', of: ({ last }) => money(last.net, coin), isNumber: true },
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
