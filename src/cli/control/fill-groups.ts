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
import type { BookedFill } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { formatTable, money } from '../process/table.ts'
import { type GroupBy, groupOf } from './row-groups.ts'

/** Decimal strings in the margin coin; a coin-margined contract is counted by its size. */
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
    // No profit is shown here, so it must not count as missing.
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

const CSV = ['name', 'coin', 'fills', 'makers', 'bought', 'sold', 'fees', 'uncounted'] as const

export function formatGroups(
  groups: readonly FillGroup[],
  by: GroupBy,
  { json, csv }: { readonly json?: boolean; readonly csv?: boolean },
): string {
  if (json) return `${JSON.stringify(groups, undefined, 2)}\n`
  if (csv) {
    const columns = CSV.filter((column) => by !== 'coin' || column !== 'name')
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
