import { showCount } from '../../lib/text/show-count.ts'
import type { Command } from 'commander'
import { CANDLE_INTERVALS_MS, type CandleDetail } from '../../control/detail-views.ts'
import type { ClosedTrade } from '../../domain/closed-trade.ts'
import { describeJournalPlace, type JournalPlace } from '../../domain/journal-place.ts'
import { decimal, sumDecimals } from '../../lib/decimal.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { readClosedTrades } from '../../views/closed-trades.ts'
import { pricesOf, readTradeCourse, type TradeCourse } from '../../views/trade-course.ts'
import { findSocket, withClient } from '../operator/find-daemon.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { print } from '../process/operator.ts'
import { describeUnexplained } from '../process/journal-words.ts'
import { addSpanOptions, parseCount } from '../process/options.ts'
import { age, formatTable, money, toPlainWords } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { showEachAccount, type AccountResult } from './each-account.ts'
import { type JournalSpanOptions, listUnknown, withRows } from './journal-rows.ts'

const SHOWN = 20

type TradesFormat = 'table' | 'json' | 'csv'

interface TradesOptions extends JournalSpanOptions {
  readonly strategy?: string
  readonly symbol?: string
  readonly limit?: number
  readonly json?: boolean
  readonly csv?: boolean
  readonly course?: number
}

export function addTradesCommand(program: Command, { setExit }: VerbFrame): void {
  addSpanOptions(addOperatedOptions(program.command('trades')))
    .description(
      'show closed trades, each of one strategy from flat to flat, from the journal; also while the daemon runs',
    )
    .option('--strategy <id>', 'only of this strategy')
    .option('--symbol <symbol>', 'only of this instrument')
    .option('--limit <n>', `only the last n (default: ${SHOWN}; as JSON and CSV all)`, parseCount)
    .option('--json', 'as JSON')
    .option('--csv', 'as CSV')
    .option(
      '--course <n>',
      'show one trade, the n-th last, as JSON: its fills, the stops that its orders carried, and the prices of that time, as far as the daemon keeps them',
      parseCount,
    )
    .action(async (options: TradesOptions) => setExit(await showEachAccount(options, showTrades)))
}

function showTrades(options: TradesOptions): AccountResult | Promise<AccountResult> {
  const { strategy, symbol, json, csv, course } = options
  if (course !== undefined) return showTradeCourse({ ...options, course })
  const format = json ? 'json' : csv ? 'csv' : 'table'
  return withRows(options, ({ reader, config, file, since, until, allFills }) => {
    const { journal, trades, unexplained } = readClosedTrades(reader, config.account.positionMode, {
      strategy,
      symbol,
      since,
      until,
      limit: options.limit ?? (format === 'table' ? SHOWN : Number.POSITIVE_INFINITY),
    })
    writeOut(formatTrades(trades, format, journal))
    for (const pair of unexplained) writeAside(describeUnexplained(pair))
    writeAside(`from ${file}, ${describeJournalPlace(journal)}\n`)
    const unknown = trades.length === 0 ? listUnknown(options, config, allFills()) : []
    for (const text of unknown) print(text)
    return unknown.length === 0 ? 0 : 'none'
  })
}

const CSV = [
  'strategyId',
  'symbol',
  'side',
  'openedAt',
  'closedAt',
  'heldMs',
  'size',
  'entryPrice',
  'exitPrice',
  'gross',
  'fees',
  'otherFees',
  'funding',
  'net',
  'coin',
  'share',
  'fills',
  'reason',
  'uncounted',
  'entryTag',
  'exitTag',
] as const

export function formatTrades(
  trades: readonly ClosedTrade[],
  format: TradesFormat,
  journal: JournalPlace,
): string {
  if (format === 'json') {
    const rows = trades.map((trade) => ({ ...trade, journal }))
    return `${JSON.stringify(rows, undefined, 2)}\n`
  }
  if (format === 'csv') {
    const rows = trades.map((trade) => CSV.map((name) => toCsvCell(cellOf(trade, name))).join(','))
    return [CSV.join(','), ...rows].map((line) => `${line}\n`).join('')
  }
  if (trades.length === 0) return 'no trade was closed\n'
  return `${formatRows(trades)}\n${sumUp(trades)}\n`
}

function cellOf(trade: ClosedTrade, name: (typeof CSV)[number]): string | number {
  if (name === 'heldMs') return trade.closedAt - trade.openedAt
  if (name === 'openedAt' || name === 'closedAt') return new Date(trade[name]).toISOString()
  if (name === 'otherFees') return describeCoins(trade).join(';')
  return trade[name] ?? ''
}

function formatRows(trades: readonly ClosedTrade[]): string {
  return formatTable(
    [
      {
        title: 'closed, UTC',
        of: ({ closedAt }) => new Date(closedAt).toISOString().slice(0, 16).replace('T', ' '),
        isWhole: true,
      },
      { title: 'strategy', of: ({ strategyId }) => strategyId, isElastic: true },
      { title: 'instrument', of: ({ symbol }) => symbol },
      { title: 'side', of: ({ side }) => side },
      {
        title: 'held for',
        of: ({ openedAt, closedAt }) => age(closedAt - openedAt),
        isNumber: true,
      },
      { title: 'net', of: ({ net, coin }) => money(net, coin), isNumber: true },
      { title: 'net %', of: ({ share }) => showShare(share), isNumber: true },
      { title: 'coin', of: ({ coin }) => coin },
      { title: '', of: describeTrade, isBelow: true },
    ],
    trades,
  )
}

function showShare(share: number | null): string {
  return share === null ? '-' : (share * 100).toFixed(2)
}

function describeTrade(trade: ClosedTrade): string {
  const { size, entryPrice, exitPrice, gross, fees, funding, coin, fills } = trade
  const sums = [
    `${money(gross, coin)} gross`,
    [`${money(fees, coin)} fees`, ...describeCoins(trade)].join(' with '),
    ...(Number(funding) === 0 ? [] : [`${money(funding, coin)} funding`]),
    showCount(fills, 'fill'),
  ]
  const prices = `from ${entryPrice ?? '?'} to ${exitPrice ?? '?'}`
  // The largest size times the difference of the means is not the profit then.
  const from = fills > 2 ? `at most ${size}, in the mean ${prices}` : `${size} ${prices}`
  return [`${from}: ${sums.join(', ')}`, describeEnds(trade), trade.uncounted]
    .filter((part) => part !== '')
    .join('; ')
}

function describeEnds({ reason, entryTag, exitTag }: ClosedTrade): string {
  const exit = `ended by: ${toPlainWords(reason)}${exitTag === '' ? '' : `, as ${exitTag}`}`
  return entryTag === '' ? exit : `entered as ${entryTag}; ${exit}`
}

function describeCoins({ otherFees }: ClosedTrade): readonly string[] {
  return Object.entries(otherFees).map(([coin, paid]) => `${paid} ${coin}`)
}

function sumUp(trades: readonly ClosedTrade[]): string {
  const won = trades.filter(({ net }) => Number(net) > 0).length
  const coins = [...new Set(trades.map(({ coin }) => coin))]
  const nets = coins.map((coin) => {
    const parts = trades.filter((trade) => trade.coin === coin).map(({ net }) => decimal(net))
    return `${money(sumDecimals(parts).toString(), coin)} ${coin}`
  })
  const count = `${trades.length} ${trades.length === 1 ? 'trade' : 'trades'}`
  const partly = trades.filter(({ uncounted }) => uncounted !== '').length
  const remark = partly === 0 ? '' : `; in ${partly} of them not everything is counted`
  return `${count}, ${won} won; net ${nets.join(', ')}${remark}`
}

interface CourseOptions extends JournalSpanOptions {
  readonly strategy?: string
  readonly symbol?: string
  readonly course: number
}

/** Prints `null` if there is none. */
async function showTradeCourse(options: CourseOptions): Promise<AccountResult> {
  const found = withRows(options, ({ reader, config, book, since, until }) => {
    const { strategy, symbol, course: limit } = options
    const { positionMode } = config.account
    const query = { strategy, symbol, since, until, limit }
    const { trades, journal } = readClosedTrades(reader, positionMode, query)
    const trade = trades.length === limit ? trades[0] : undefined
    if (trade === undefined) return undefined
    const tick = book().grids.get(trade.symbol)?.tick
    return { ...readTradeCourse(reader, { trade, positionMode, tick }), journal }
  })
  if (found === undefined) {
    writeOut('null\n')
    print(describeFewer(options.course))
    return 'none'
  }
  const prices = pricesOf(found.trade, await readCandles(options, found.trade.symbol))
  const course: TradeCourse = { ...found, prices }
  writeOut(`${JSON.stringify(course, undefined, 2)}\n`)
  return 0
}

function describeFewer(course: number): string {
  return course === 1 ? 'no trade was closed' : `fewer than ${course} trades were closed`
}

async function readCandles(
  options: CourseOptions,
  symbol: string,
): Promise<readonly (readonly CandleDetail[])[]> {
  const socket = findSocket(loadOperated(options))
  if (socket === undefined) return []
  return withClient(socket, (client) =>
    Promise.all(
      CANDLE_INTERVALS_MS.map(async (intervalMs) => {
        const path = `/v1/candles?symbol=${encodeURIComponent(symbol)}&intervalMs=${intervalMs}`
        const reply = await client.read(path)
        return reply.kind === 'answered' && reply.status === 200
          ? (reply.body as readonly CandleDetail[])
          : []
      }),
    ),
  )
}
