import {
  type Cell,
  escapeHtml,
  renderList,
  renderSection,
  renderTable,
  SCROLL_STYLE,
} from '../../report/page/html.ts'
import { describeJournalPlace } from '../../domain/journal-place.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { isWithdrawal, showInstant } from './build-statement.ts'
import { type StatementFees, LINE_NAMES, type Statement, type StatementRow } from './statement.ts'

/** The CSV and JSON files have all. */
const TRADES_MAX = 5000

/** A printer gets black on white. */
const STYLE = `
:root { color-scheme: light; --card: #fff; --text: #16191d; --soft: #5a626c; --edge: #cfd3d8; --good: #17693f; --bad: #a3261a }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 20px 48px; max-width: 900px; background: #fff; color: var(--text);
  font: 13.5px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif }
h1 { font-size: 22px; margin: 0 0 2px; overflow-wrap: anywhere } h2 { font-size: 16px; margin: 0 0 6px }
p { margin: 0 0 8px } .sub, .note { color: var(--soft) } section { margin: 22px 0 0 }
table { border-collapse: collapse; width: 100%; font-size: 12.5px }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid var(--edge); font-variant-numeric: tabular-nums; vertical-align: top }
th { color: var(--soft); font-weight: 500; border-bottom-color: var(--text) } th.text, td.text { text-align: left; overflow-wrap: break-word }
td:not(.text) { white-space: nowrap } .good { color: var(--good) } .bad { color: var(--bad) }
.sums td { border-bottom: 0 } .sums tr:first-child td, .sums tr.end td { border-top: 1px solid var(--text); font-weight: 600 }
.warning { border: 2px solid var(--bad); padding: 8px 12px; margin: 12px 0 0 } ul { margin: 0; padding-left: 18px }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt } table { font-size: 9pt } thead { display: table-header-group }
  tr, .sums, .warning { break-inside: avoid } h2 { break-after: avoid } @page { size: A4; margin: 16mm 14mm } }
@media screen { ${SCROLL_STYLE} .scroll td.text:first-child { white-space: nowrap } }
`

/** It fetches nothing and has no scripts. */
export function renderStatement(statement: Statement): string {
  const { account, environment, timeZone, since, until, madeAt, coin, journal } = statement
  const title = `Statement of ${account}`
  const show = (at: number): string => showInstant(at, timeZone)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${title}, ${show(since).slice(0, 10)}`)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p class="sub">${escapeHtml(`${show(since)} to ${show(until)} (${timeZone}), in ${coin}; environment: ${environment}. Made at ${show(madeAt)} from ${describeJournalPlace(journal)}.`)}</p>
${renderSums(statement)}
${renderRemarks(statement)}
${renderChecks(statement)}
${renderRows('By day', statement.days, coin)}
${renderRows('By instrument', statement.instruments, coin)}
${renderRows(
  'By strategy',
  statement.strategies,
  coin,
  "Profit is counted at each strategy's own average prices. The row (account) has funding, and what leads to the account's figures.",
)}
${renderFees(statement)}
${renderDeposits(statement)}
${renderConversions(statement)}
${renderTrades(statement)}
</body></html>
`
}

function renderSums({ opening, closing, lines, difference, coin }: Statement): string {
  const row = (name: string, amount: string, kind = ''): string =>
    `<tr${kind}><td class="text">${escapeHtml(name)}</td><td>${escapeHtml(amount)}</td></tr>`
  const table = [
    row('Opening equity', opening?.equity ?? 'not known'),
    ...lines.map(({ name, amount }) => row(LINE_NAMES[name], signed(amount))),
    row('Closing equity', closing?.equity ?? 'not known', ' class="end"'),
  ]
  const unequal =
    difference === null || decimal(difference).eq(ZERO)
      ? ''
      : `<p class="warning">It does not add up: the closing equity is ${escapeHtml(signed(difference))} ${escapeHtml(coin)} away from the opening equity and the lines below it.</p>`
  return `<section><table class="sums"><tbody>${table.join('\n')}</tbody></table>${unequal}</section>`
}

function renderRemarks({ remarks }: Statement): string {
  return remarks.length === 0 ? '' : renderSection('To know', renderList(remarks))
}

function renderChecks({ checks }: Statement): string {
  const rows = checks.map(({ what, state, found }): Cell[] => {
    const text = { agrees: 'agrees', differs: 'differs', notChecked: 'not checked' }[state]
    const tone = { agrees: 'good', differs: 'bad', notChecked: 'none' } as const
    return [what, { text, tone: tone[state] }, found]
  })
  return renderSection(
    'Compared with the exchange',
    renderTable(['', '', ''], rows, [0, 2]),
    'The exchange has no balance and no statement in its interface: only what is named here could be compared.',
  )
}

function renderRows(title: string, rows: readonly StatementRow[], coin: string, note = ''): string {
  const cells = [...rows, totalOf(rows)].map(({ name, fills, realised, fees, funding, net }) => [
    name,
    String(fills),
    realised,
    fees,
    funding,
    toned(net),
  ])
  const columns = ['', 'fills', 'realised', 'fees', 'funding', `net, ${coin}`]
  return renderSection(title, renderTable(columns, cells), note)
}

function totalOf(rows: readonly StatementRow[]): StatementRow {
  const sum = (of: (row: StatementRow) => string): string =>
    rows.reduce((total, row) => total.plus(decimal(of(row))), ZERO).toString()
  return {
    name: 'all',
    fills: rows.reduce((total, { fills }) => total + fills, 0),
    realised: sum(({ realised }) => realised),
    fees: sum(({ fees }) => fees),
    funding: sum(({ funding }) => funding),
    net: sum(({ net }) => net),
  }
}

function renderFees({ fees, coin }: Statement): string {
  const rows = fees.map(({ coin: paidIn, paid, worth, uncounted }: StatementFees) => [
    paidIn,
    paid,
    worth,
    uncounted === '0' ? '' : uncounted,
  ])
  return renderSection(
    'Fees by coin',
    renderTable(['coin', 'paid', `counted, ${coin}`, 'without a price, not counted'], rows),
  )
}

function renderDeposits({ deposits, timeZone }: Statement): string {
  if (deposits.length === 0) return ''
  const rows = deposits.map((one) => [
    showInstant(one.movedAt, timeZone),
    `${isWithdrawal(one) ? 'withdrawal' : 'deposit'}${one.corrects === undefined ? '' : `, takes back entry ${one.corrects}`}`,
    `${one.amount} ${one.coin}`,
    one.id,
    `${one.note} (${one.by}, entered ${showInstant(one.enteredAt, timeZone)})`,
  ])
  return renderSection(
    'Deposits and withdrawals',
    renderTable(['moved', '', 'amount', 'entry', 'note'], rows, [0, 1, 4]),
    'Entered by a person; the exchange does not show them.',
  )
}

function renderConversions({ conversions, timeZone }: Statement): string {
  if (conversions.length === 0) return ''
  const rows = conversions.map(({ at, fromAmount, fromCoin, toAmount, toCoin, fees, id }) => [
    showInstant(at, timeZone),
    `${fromAmount} ${fromCoin}`,
    `${toAmount} ${toCoin}`,
    fees.map(({ amount, coin }) => `${amount} ${coin}`).join(', '),
    id,
  ])
  return renderSection(
    "Conversions into the platform's coin",
    renderTable(['time', 'from', 'to', 'fees', 'id'], rows),
    'Of the spot account, whose coins are no part of the equity above.',
  )
}

function renderTrades({ trades, timeZone, coin }: Statement): string {
  if (trades.length === 0) return renderSection('Closed trades', '<p>none</p>')
  const rows = trades
    .slice(-TRADES_MAX)
    .map((trade): Cell[] => [
      showInstant(trade.closedAt, timeZone),
      trade.strategyId,
      `${trade.symbol} ${trade.side}`,
      trade.size,
      trade.entryPrice ?? '?',
      trade.exitPrice ?? '?',
      trade.gross,
      trade.fees,
      trade.funding,
      toned(trade.net),
    ])
  const net = trades.reduce((sum, trade) => sum.plus(decimal(trade.net)), ZERO).toString()
  const cut = trades.length - rows.length
  const note = [
    `${trades.length} trades, net ${net} ${coin}: each counts whole in the time in which it was closed, so this is not the sum above where trades were open at the beginning or at the end.`,
    ...(cut > 0 ? [`The first ${cut} are only in the CSV file and the JSON file.`] : []),
  ].join(' ')
  const columns = [
    'closed',
    'strategy',
    '',
    'size',
    'entry',
    'exit',
    'gross',
    'fees',
    'funding',
    'net',
  ]
  return renderSection('Closed trades', renderTable(columns, rows, [0, 1, 2]), note)
}

export function signed(amount: string): string {
  return decimal(amount).gt(ZERO) ? `+${amount}` : amount
}

function toned(amount: string): Cell {
  const value = decimal(amount)
  return { text: signed(amount), tone: value.gt(ZERO) ? 'good' : value.lt(ZERO) ? 'bad' : 'none' }
}
