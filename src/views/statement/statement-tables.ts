import { addFill, marginFeesOf, NO_MONEY, profitOf, toFillMoney } from '../../domain/fill-money.ts'
import { describeJournalPlace } from '../../domain/journal-place.ts'
import type { BookedFill, BookedRow } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import type { Statement, StatementRow } from './statement.ts'

const COLUMNS = [
  'section',
  'time',
  'name',
  'side',
  'size',
  'fills',
  'realised',
  'fees',
  'funding',
  'amount',
  'coin',
  'note',
] as const

type TableLine = Partial<Record<(typeof COLUMNS)[number], string | number>> & {
  readonly section: string
}

/** `amount` is the result of each line, times are UTC. */
export function toStatementCsv(statement: Statement): string {
  return toCsv(
    COLUMNS,
    listLines(statement).map((line) => COLUMNS.map((column) => line[column] ?? '')),
  )
}

function listLines(statement: Statement): readonly TableLine[] {
  const { coin, opening, closing, lines, difference } = statement
  const ofRows = (section: string, rows: readonly StatementRow[]): readonly TableLine[] =>
    rows.map(({ net, ...row }) => ({ section, ...row, amount: net, coin }))
  return [
    ...(opening?.equity ? [{ section: 'opening', amount: opening.equity, coin }] : []),
    ...lines.map(({ name, amount }) => ({ section: 'line', name, amount, coin })),
    ...(closing?.equity ? [{ section: 'closing', amount: closing.equity, coin }] : []),
    ...(difference === null ? [] : [{ section: 'difference', amount: difference, coin }]),
    ...statement.checks.map(({ what, state, found }) => ({
      section: 'check',
      name: what,
      note: `${state}: ${found}`,
    })),
    ...statement.remarks.map((note) => ({ section: 'remark', note })),
    { section: 'source', note: describeJournalPlace(statement.journal) },
    ...statement.fees.map(({ coin: name, paid, worth, uncounted }) => ({
      section: 'fees',
      name,
      fees: worth,
      amount: paid,
      coin: name,
      note: uncounted === '0' ? '' : `${uncounted} without a price, not counted`,
    })),
    ...ofRows('day', statement.days),
    ...ofRows('instrument', statement.instruments),
    ...ofRows('strategy', statement.strategies),
    ...statement.deposits.map((one) => ({
      section: 'deposit',
      time: toUtc(one.movedAt),
      name: one.id,
      amount: one.amount,
      coin: one.coin,
      note: `${one.note}, by ${one.by}`,
    })),
    ...statement.conversions.map((one) => ({
      section: 'conversion',
      time: toUtc(one.at),
      name: one.id,
      amount: one.toAmount,
      coin: one.toCoin,
      note: `from ${one.fromAmount} ${one.fromCoin}`,
    })),
    ...statement.trades.map((trade) => ({
      section: 'trade',
      time: toUtc(trade.closedAt),
      name: trade.symbol,
      side: trade.side,
      size: trade.size,
      fills: trade.fills,
      realised: trade.gross,
      fees: trade.fees,
      funding: trade.funding,
      amount: trade.net,
      coin: trade.coin,
      note: `${trade.strategyId} from ${toUtc(trade.openedAt)}, ${trade.entryPrice ?? '?'} to ${trade.exitPrice ?? '?'}, ${trade.reason}`,
    })),
  ]
}

/** The universal layout of Koinly, which other tax programs read too. */
const TAX_COLUMNS = [
  'Date',
  'Sent Amount',
  'Sent Currency',
  'Received Amount',
  'Received Currency',
  'Fee Amount',
  'Fee Currency',
  'Net Worth Amount',
  'Net Worth Currency',
  'Label',
  'Description',
  'TxHash',
] as const

interface TaxRow {
  readonly at: number
  readonly sent?: Coins | undefined
  readonly received?: Coins | undefined
  readonly fee?: Coins | undefined
  readonly label: '' | 'realized gain' | 'cost' | 'fee refund'
  readonly description: string
  readonly id: string
}

interface Coins {
  readonly amount: string
  readonly coin: string
}

/** Contracts are no coins: only what they made or cost moves money. */
export function toTaxCsv({ rows, deposits, conversions }: Statement): string {
  const moved = deposits.map(({ movedAt, amount, coin, note, id }): TaxRow => {
    const change = toChange(decimal(amount), coin)
    return { at: movedAt, ...change, label: '', description: note, id: `entry ${id}` }
  })
  const converted = conversions.map((one): TaxRow => {
    const [fee] = one.fees
    return {
      at: one.at,
      sent: { amount: one.fromAmount, coin: one.fromCoin },
      received: { amount: one.toAmount, coin: one.toCoin },
      fee: fee && { amount: fee.amount, coin: fee.coin },
      label: '',
      description: "conversion into the platform's coin",
      id: one.id,
    }
  })
  const all = [...rows.flatMap(toTaxRows), ...moved, ...converted].toSorted(
    (one, other) => one.at - other.at,
  )
  return toCsv(
    TAX_COLUMNS,
    all.map(({ at, sent, received, fee, label, description, id }) => [
      `${toUtc(at).slice(0, 19).replace('T', ' ')} UTC`,
      sent?.amount ?? '',
      sent?.coin ?? '',
      received?.amount ?? '',
      received?.coin ?? '',
      fee?.amount ?? '',
      fee?.coin ?? '',
      '',
      '',
      label,
      description,
      id,
    ]),
  )
}

function toTaxRows(row: BookedRow): readonly TaxRow[] {
  if (row.kind === 'fill') return toFillRows(row)
  const { at, symbol, side, amount, coin, id } = row
  const description = `funding of ${symbol} ${side}`
  const change = toChange(decimal(amount), coin)
  return [{ at, ...change, label: 'realized gain', description, id }]
}

function toFillRows(fill: BookedFill): readonly TaxRow[] {
  const { at, coin, symbol, side, size, price, strategyId, tradeId, orderId } = fill
  const money = toFillMoney(fill)
  const sum = addFill(NO_MONEY, money)
  const [profit, fee] = [profitOf(money), marginFeesOf(sum)]
  const description = `${symbol} ${side} ${size} at ${price}${strategyId === '' ? '' : ` of ${strategyId}`}`
  const common = { at, description, id: `${tradeId} ${orderId}` }
  const hasProfit = !profit.eq(ZERO)
  const isPaid = fee.gt(ZERO)
  const rows: TaxRow[] = []
  if (hasProfit) {
    const paid = isPaid ? { amount: fee.toString(), coin } : undefined
    rows.push({ ...common, ...toChange(profit, coin), fee: paid, label: 'realized gain' })
  } else if (isPaid) {
    rows.push({ ...common, ...toChange(ZERO.minus(fee), coin), label: 'cost' })
  }
  if (fee.lt(ZERO))
    rows.push({ ...common, ...toChange(ZERO.minus(fee), coin), label: 'fee refund' })
  for (const [other, { paid }] of Object.entries(sum.otherFees ?? {}))
    rows.push({ ...common, ...toChange(ZERO.minus(decimal(paid)), other), label: 'cost' })
  return rows
}

function toChange(amount: Decimal, coin: string): Pick<TaxRow, 'sent' | 'received'> {
  return amount.lt(ZERO)
    ? { sent: { amount: ZERO.minus(amount).toString(), coin } }
    : { received: { amount: amount.toString(), coin } }
}

function toUtc(at: number): string {
  return new Date(at).toISOString()
}

function toCsv(
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  return [columns, ...rows].map((cells) => `${cells.map(toCsvCell).join(',')}\n`).join('')
}
