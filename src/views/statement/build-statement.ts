import type { DaemonConfig } from '../../config/load-config.ts'
import type { Deposit } from '../../domain/deposit.ts'
import { describeUncounted, uncountedOf } from '../../domain/fill-money.ts'
import { rebuildBook } from '../../engine/book/book-rows.ts'
import type { Book } from '../../engine/book/book.ts'
import type { BookedFill, BookedRow } from '../../journal/booking.ts'
import {
  type AccountMark,
  CURVE_STEPS_MS,
  MARK_SERIES,
  toAccountMark,
} from '../../journal/curves.ts'
import type { JournalReader } from '../../journal/journal-reader.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../lib/decimal.ts'
import { dateOf } from '../../lib/start-of-day.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { readClosedTrades } from '../closed-trades.ts'
import { listStrategyProfits } from '../strategy-profits.ts'
import { AROUND_MS, findMade, type SpanEnd } from './noted-balances.ts'
import type { Statement, StatementBalance, StatementLine } from './statement.ts'
import {
  groupRows,
  listFees,
  type StatementSum,
  sumRows,
  toStrategyRows,
} from './statement-sums.ts'

export interface StatementRequest {
  readonly config: DaemonConfig
  /** Unix ms; `until` is excluded. */
  readonly since: number
  readonly until: number
  readonly now: number
}

type StatementSource = Pick<
  JournalReader,
  'bookings' | 'curve' | 'records' | 'contents' | 'bookedTotal' | 'lastSequence'
>

interface Ends {
  readonly since: number
  readonly until: number
  readonly opening: AccountMark | undefined
  readonly closing: AccountMark | undefined
}

/**
 * The rows of the span must lead from what the account noted at its beginning to what it noted at
 * its end. The caller adds checks and conversions, for which the exchange must be read.
 * @throws Failure JOURNAL_CORRUPT
 */
export function buildStatement(reader: StatementSource, request: StatementRequest): Statement {
  const { config, now } = request
  const { account, calendar } = config
  const sequence = reader.lastSequence()
  const book = rebuildBook(reader.contents(), account.positionMode)
  const ends = findEnds(reader, request)
  const { since, until } = ends
  const rows = readRows(reader, since, until)
  const all = sumRows(rows)
  const deposits = depositsIn(book, since, until)
  const balances = toBalances(reader, book, { ends, all })
  const lines = toLines(balances, deposits, all)
  const fills = rows.filter((row) => row.kind === 'fill')
  const { trades, unexplained } = readClosedTrades(reader, account.positionMode, {
    since,
    until,
    limit: Number.POSITIVE_INFINITY,
  })
  return {
    account: config.name,
    environment: config.environment,
    coin: account.marginCoin,
    timeZone: calendar.timezone,
    since,
    until,
    madeAt: now,
    journal: { run: book.epoch, sequence },
    ...balances,
    lines,
    difference: differenceOf(balances, lines),
    fees: listFees(account.marginCoin, all.money),
    days: groupRows(rows, ({ at }) => dateOf(at, calendar.timezone)),
    instruments: groupRows(rows, ({ symbol }) => symbol),
    strategies: toStrategyRows(
      listStrategyProfits({
        allFills: () => reader.bookings('fill') as Iterable<BookedFill>,
        book,
        since,
        until,
      }),
      countFills(fills),
      all,
    ),
    trades,
    deposits,
    conversions: [],
    rows,
    checks: [],
    remarks: [
      ...remarkOnEnds(request, ends, calendar.timezone),
      ...remarkOnRows(book, ends, all),
      ...remarkOnEarly(reader, book, deposits),
      ...unexplained.map(
        ([strategy, symbol]) =>
          `The fills of the journal do not explain what ${strategy} holds of ${symbol}: some of its trades may be wrong.`,
      ),
    ],
  }
}

function findEnds(reader: StatementSource, { since, until, now }: StatementRequest): Ends {
  let [opening, closing, last]: (AccountMark | undefined)[] = []
  for (const point of reader.curve({ series: MARK_SERIES })) {
    last = toAccountMark(point)
    if (opening === undefined && last.at >= since) opening = last
    if (last.at < until) continue
    closing = last
    break
  }
  if (closing !== undefined) return { since, until, opening, closing }
  if (opening === undefined || last === undefined || last === opening)
    return { since, until: Math.min(until, now), opening, closing: undefined }
  return { since, until: last.at, opening, closing: last }
}

function readRows(reader: StatementSource, since: number, until: number): readonly BookedRow[] {
  const span = { since, until }
  return [...reader.bookings('fill', span), ...reader.bookings('funding', span)].toSorted(
    (one, other) => one.at - other.at,
  )
}

interface Balances {
  readonly opening: StatementBalance | null
  readonly closing: StatementBalance | null
}

function toBalances(
  reader: StatementSource,
  book: Book,
  { ends, all }: { readonly ends: Ends; readonly all: StatementSum },
): Balances {
  const { since, until, opening, closing } = ends
  if (opening === undefined) return { opening: null, closing: null }
  const endOf = (mark: AccountMark, from: number): SpanEnd => ({
    mark,
    at: from,
    rows: readRows(reader, from - AROUND_MS, Math.max(from, mark.at) + AROUND_MS),
  })
  const begin = endOf(opening, since)
  if (closing === undefined) {
    const made = findMade(begin, begin, ZERO).opening
    return { opening: toBalance(book, opening, since, made), closing: null }
  }
  const made = all.money.profit.minus(all.money.fees).plus(all.funding)
  const noted = findMade(begin, endOf(closing, until), made)
  return {
    opening: toBalance(book, opening, since, noted.opening),
    closing: toBalance(book, closing, until, noted.closing),
  }
}

/** Deposits count from when the money was moved, even where they were entered later. */
function toBalance(book: Book, mark: AccountMark, at: number, made: Decimal): StatementBalance {
  const configured = configuredCapital(book, mark)
  const capital = configured?.plus(
    sumDecimals(capitalDeposits(book).flatMap(amountsIf(({ movedAt }) => movedAt < at))),
  )
  const unrealised = decimal(mark.unrealised)
  return {
    notedAt: mark.at,
    equity: capital?.plus(made).plus(unrealised).toString() ?? null,
    capital: capital?.toString() ?? null,
    made: made.toString(),
    unrealised: unrealised.toString(),
  }
}

/** `account.capital` at that moment, with the deposits that the book has forgotten. */
function configuredCapital(book: Book, { capital, at }: AccountMark): Decimal | undefined {
  if (capital === null) return undefined
  const entered = capitalDeposits(book).flatMap(amountsIf(({ enteredAt }) => enteredAt <= at))
  return decimal(capital).minus(sumDecimals(entered))
}

function capitalDeposits({ deposits }: Book): readonly Deposit[] {
  return [...deposits.values()].filter(({ isCapital }) => isCapital)
}

function amountsIf(isWanted: (deposit: Deposit) => boolean) {
  return (deposit: Deposit): readonly Decimal[] =>
    isWanted(deposit) ? [decimal(deposit.amount)] : []
}

function depositsIn({ deposits }: Book, since: number, until: number): readonly Deposit[] {
  return [...deposits.values()]
    .filter(({ movedAt }) => movedAt >= since && movedAt < until)
    .toSorted((one, other) => one.movedAt - other.movedAt)
}

/** A correction has the sign of what it takes back. */
export function isWithdrawal({ amount, corrects }: Deposit): boolean {
  return amount.startsWith('-') === (corrects === undefined)
}

function toLines(
  { opening, closing }: Balances,
  deposits: readonly Deposit[],
  { money, funding }: StatementSum,
): readonly StatementLine[] {
  const moved = deposits.filter(({ isCapital }) => isCapital)
  const amountOf = (list: readonly Deposit[]): Decimal =>
    sumDecimals(list.map(({ amount }) => decimal(amount)))
  const change = (of: (balance: StatementBalance) => string | null): Decimal | undefined => {
    const [before, after] = [opening && of(opening), closing && of(closing)]
    return before === null || after === null ? undefined : decimal(after).minus(decimal(before))
  }
  const capital = change((balance) => balance.capital)?.minus(amountOf(moved))
  const unrealised = change((balance) => balance.unrealised)
  const lines: readonly (readonly [StatementLine['name'], Decimal | undefined])[] = [
    ['deposits', amountOf(moved.filter((one) => !isWithdrawal(one)))],
    ['withdrawals', amountOf(moved.filter(isWithdrawal))],
    ['capitalChange', capital?.eq(ZERO) === true ? undefined : capital],
    ['realised', money.profit],
    ['fees', ZERO.minus(money.fees)],
    ['funding', funding],
    ['unrealised', unrealised],
  ]
  return lines.flatMap(([name, amount]) =>
    amount === undefined ? [] : [{ name, amount: amount.toString() }],
  )
}

const OF_CAPITAL: ReadonlySet<StatementLine['name']> = new Set([
  'deposits',
  'withdrawals',
  'capitalChange',
])

/** Without a capital at both ends, profit is compared all the same. */
function differenceOf(
  { opening, closing }: Balances,
  lines: readonly StatementLine[],
): string | null {
  if (opening === null || closing === null) return null
  const made = ({ made: sum, unrealised }: StatementBalance): Decimal =>
    decimal(sum).plus(decimal(unrealised))
  const known = lines.filter(({ name }) => !OF_CAPITAL.has(name))
  const explained = sumDecimals(known.map(({ amount }) => decimal(amount)))
  return made(closing).minus(made(opening)).minus(explained).toString()
}

function countFills(fills: readonly BookedFill[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { owner, strategyId } of fills)
    if (owner === 'strategy') counts.set(strategyId, (counts.get(strategyId) ?? 0) + 1)
  return counts
}

function remarkOnEnds(
  { since, until, now }: StatementRequest,
  { opening, closing, until: end }: Ends,
  timeZone: string,
): readonly string[] {
  const show = (at: number): string => showInstant(at, timeZone)
  const isLate = (mark: AccountMark, at: number): boolean =>
    mark.at - at > CURVE_STEPS_MS.minute * 10
  const late = (what: string, mark: AccountMark): string =>
    `The daemon wrote down the figures of the ${what} only at ${show(mark.at)}, because it did not run before or did not know them: the unrealised profit of the ${what} is that of then.`
  const isOver = until <= now
  return [
    ...(opening === undefined
      ? [
          `Opening and closing equity are not known: the daemon wrote down no figures of the account in this time. ${isOver ? WRITES : `${WRITES} Start it, and ask again after that.`} The lines are right without them.`,
        ]
      : isLate(opening, since)
        ? [late('beginning', opening)]
        : []),
    ...(opening !== undefined && closing === undefined
      ? [describeMissingEnd(opening, isOver, show)]
      : []),
    ...(closing !== undefined && end === until && isLate(closing, until)
      ? [late('end', closing)]
      : []),
    ...(closing !== undefined && end < until
      ? [
          `It ends at ${show(end)} instead of ${show(until)}: that is when the daemon last wrote down what the account is worth. What happened later is in no line. ${isOver ? WRITES : `${WRITES} Ask again after that for what is newer.`}`,
        ]
      : []),
    ...(opening?.capital === null || closing?.capital === null
      ? [
          'account.capital was not set, so the equity is not known; what was made is compared all the same.',
        ]
      : []),
  ]
}

const WRITES = 'It does so as it has started, and then as each hour begins.'

function describeMissingEnd(
  opening: AccountMark,
  isOver: boolean,
  show: (at: number) => string,
): string {
  const { hour } = CURVE_STEPS_MS
  const next = show(opening.at - (opening.at % hour) + hour)
  const known = `the daemon wrote down what the account is worth only once in this time, at ${show(opening.at)}`
  return isOver
    ? `The closing equity is not known: ${known}, and not again since. It does so as each hour begins: start it, and ask again. The lines are right without it.`
    : `The closing equity is not known yet: ${known}. It does so again at ${next}: let it run, and ask again then. Until then \`intentd status\` shows the equity of now, and the lines are right without it.`
}

/** Journals of earlier versions took entries of any time. */
function remarkOnEarly(
  reader: Pick<StatementSource, 'curve'>,
  { beganAt }: Book,
  deposits: readonly Deposit[],
): readonly string[] {
  const [first] = beganAt > 0 ? [] : reader.curve({ series: MARK_SERIES })
  const firstAt = beganAt > 0 ? beganAt : (first?.at ?? 0)
  const ids = deposits
    .filter(({ isCapital, corrects, movedAt }) => {
      return isCapital && corrects === undefined && movedAt < firstAt
    })
    .map(({ id }) => id)
  if (ids.length === 0) return []
  const of = ids.length === 1 ? `Entry ${ids[0]} is` : `Entries ${ids.join(', ')} are`
  return [
    `${of} dated before the first figures that the daemon wrote down, at ${showUtc(firstAt)}: not checked is whether account.capital had that money already. If it had, take it back: \`intentd deposit --correct ENTRY\`.`,
  ]
}

function remarkOnRows(
  { archivedBefore, deposits, deposited, unseenFunding }: Book,
  { since }: Ends,
  { money }: StatementSum,
): readonly string[] {
  const listed = [...deposits.values()].filter(({ isCapital }) => isCapital)
  const [oldest] = deposits.values()
  const isForgotten = !decimal(deposited).eq(
    sumDecimals(listed.map(({ amount }) => decimal(amount))),
  )
  const uncounted = describeUncounted(uncountedOf(money))
  const unseen = [...unseenFunding.values()].filter(({ lastAt }) => lastAt >= since)
  const estimated = sumDecimals(unseen.map(({ amount }) => decimal(amount))).toString()
  return [
    ...(archivedBefore > Math.max(0, since)
      ? [
          `Fills and funding payments before ${showUtc(archivedBefore)} were archived: they are in the file of \`intentd archive\`, and missing here.`,
        ]
      : []),
    ...(isForgotten && oldest !== undefined && oldest.movedAt > since
      ? [
          `Deposits and withdrawals before ${showUtc(oldest.movedAt)} are not kept one by one any more: they are part of the opening equity.`,
        ]
      : []),
    ...(uncounted === '' ? [] : [`Not everything is known: ${uncounted}.`]),
    ...(unseen.length > 0
      ? [
          `Positions that ended before a reading showed their last payment of funding have paid ${estimated} since the journal began, as estimated: it is in no line here.`,
        ]
      : []),
  ]
}

export function showInstant(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(at)
}
