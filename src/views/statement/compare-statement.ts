import type { Answer } from '../../domain/answer.ts'
import { type Fill, type FillsReading, fillKey } from '../../domain/fill.ts'
import { feeOf, profitOf, toFillMoney } from '../../domain/fill-money.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { PositionReading } from '../../domain/position.ts'
import { accountHoldingOf, type Book, pairKey } from '../../engine/book/book.ts'
import type { BookedFill } from '../../journal/booking.ts'
import { decimal } from '../../lib/decimal.ts'
import { CONVERT_PAGE_MAX } from '../../protocol/convert/convert-records.ts'
import type { CallableName, RequestOf, ResponseOf } from '../../protocol/endpoints.ts'
import { showOnGrid } from '../../lib/grid.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import type { CoinConversion, Statement, StatementCheck } from './statement.ts'

export interface ComparedExchange {
  call<Name extends CallableName>(
    endpoint: Name,
    request: RequestOf<Name>,
  ): Promise<Answer<ResponseOf<Name>>>
  readFills(sinceAt: number): Promise<Answer<FillsReading>>
  readPosition(instrument: Instrument): Promise<Answer<PositionReading>>
}

export interface CompareRequest {
  readonly exchange: ComparedExchange
  readonly instruments: ReadonlyMap<string, Instrument>
  /** It may know more after the exchange was read. */
  readonly readBook: () => Book
  readonly now: number
}

const DAY_MS = 86_400_000
/** The document allows 90 days; the shortest three months have 89. */
const READABLE_MS = 89 * DAY_MS
/** The ten calls a second that the document allows read 10,000 conversions in ten seconds. */
const CONVERT_PAGES_MAX = 100
/** The figure of a copied trader is of now. */
const NOW_MS = 15 * 60_000

/** No endpoint of the document shows these. */
const UNSEEN: readonly StatementCheck[] = [
  notChecked('opening and closing equity', 'no endpoint shows the balance of the contracts'),
  notChecked('deposits and withdrawals', 'no endpoint shows them'),
  notChecked('unrealised profit', 'past prices of a position are not shown'),
]

export function listUnchecked(why: string): readonly StatementCheck[] {
  const what = ['fills', 'positions', 'funding', 'conversions'] as const
  return [...what.map((name) => notChecked(name, why)), ...UNSEEN]
}

export async function compareStatement(
  statement: Statement,
  request: CompareRequest,
): Promise<Statement> {
  const fills = await compareFills(statement, request)
  const positions = await comparePositions(request)
  const { check, conversions } = await readConversions(statement, request)
  const equity = await compareEquity(statement, request)
  return {
    ...statement,
    conversions,
    checks: [fills, ...positions, check, ...equity, ...UNSEEN],
  }
}

async function compareFills(
  { rows, since, until }: Statement,
  { exchange, now }: CompareRequest,
): Promise<StatementCheck> {
  const from = Math.max(since, now - READABLE_MS)
  if (from >= until) return notChecked('fills', 'the exchange shows fills for three months only')
  const answer = await exchange.readFills(from)
  if (answer.kind !== 'accepted') return refused('fills', answer)
  const { fills, unreadable = [] } = answer.data
  const shown = new Map(
    fills
      .filter(({ filledAt }) => Math.round(filledAt) >= from && Math.round(filledAt) < until)
      .map((fill) => [fillKey(fill), fill]),
  )
  const booked = new Map(
    rows
      .filter((row): row is BookedFill => row.kind === 'fill' && row.at >= from)
      .map((fill) => [fillKey(fill), fill]),
  )
  const missing = [...shown.keys()].filter((key) => !booked.has(key)).length
  const unknown = [...booked.keys()].filter((key) => !shown.has(key)).length
  const other = [...booked].filter(([key, fill]) => isOther(fill, shown.get(key))).length
  const counts = [
    [missing, 'missing in the journal'],
    [unknown, 'not shown by the exchange'],
    [other, 'with another profit or fee'],
    [unreadable.length, 'that cannot be read'],
  ] as const
  const found = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const span = from > since ? `, since ${showUtc(from)} alone` : ''
  return found.length === 0
    ? {
        what: 'fills',
        state: 'agrees',
        found: `${booked.size} ${booked.size === 1 ? 'fill' : 'fills'}, one by one${span}`,
      }
    : { what: 'fills', state: 'differs', found: `${found.join(', ')}${span}` }
}

/** An amount that one of the two does not know is no difference. */
function isOther(booked: BookedFill, shown: Fill | undefined): boolean {
  if (shown === undefined) return false
  const ours = toFillMoney(booked)
  const isSameFee = !booked.fee || !shown.fee || feeOf(ours).eq(feeOf(shown))
  const isSameProfit = !booked.profit || !shown.profit || profitOf(ours).eq(profitOf(shown))
  return !isSameFee || !isSameProfit
}

async function comparePositions({
  exchange,
  instruments,
  readBook,
}: CompareRequest): Promise<readonly StatementCheck[]> {
  const readings: (readonly [Instrument, PositionReading])[] = []
  for (const instrument of instruments.values()) {
    const answer = await exchange.readPosition(instrument)
    if (answer.kind !== 'accepted')
      return [refused('positions', answer), refused('funding', answer)]
    readings.push([instrument, answer.data])
  }
  const book = readBook()
  const positions = readings.flatMap(([instrument, { rows }]) => {
    const held = accountHoldingOf(book, instrument.symbol)
    return (['long', 'short'] as const).flatMap((side) => {
      const shown = rows.find(({ holdSide }) => holdSide === side)?.lots ?? 0
      const ours = side === 'long' ? held.longLots : held.shortLots
      if (shown === ours) return []
      const show = (lots: number): string => showOnGrid(instrument.lot, lots)
      return [`${instrument.symbol} ${side}: ${show(ours)} here, ${show(shown)} there`]
    })
  })
  const counters = readings.flatMap(([{ symbol }, { rows }]) =>
    rows.flatMap(({ holdSide, lots, fundingFee }) => {
      if (lots === 0 || fundingFee === '') return []
      const ours = book.fundingCounters.get(pairKey(symbol, holdSide)) || '0'
      return [{ name: `${symbol} ${holdSide}`, isSame: decimal(ours).eq(decimal(fundingFee)) }]
    }),
  )
  const others = counters.filter(({ isSame }) => !isSame).map(({ name }) => name)
  return [
    positions.length === 0
      ? { what: 'positions', state: 'agrees', found: `${readings.length} instruments, as of now` }
      : { what: 'positions', state: 'differs', found: `as of now, ${positions.join('; ')}` },
    counters.length === 0
      ? notChecked(
          'funding',
          'the exchange shows it of open positions alone, and none has paid any',
        )
      : others.length === 0
        ? {
            what: 'funding',
            state: 'agrees',
            found: `what ${counters.length} open positions have paid so far`,
          }
        : { what: 'funding', state: 'differs', found: `of ${others.join(', ')}` },
  ]
}

interface ReadConversions {
  readonly check: StatementCheck
  readonly conversions: readonly CoinConversion[]
}

async function readConversions(
  { since, until }: Statement,
  { exchange, now }: CompareRequest,
): Promise<ReadConversions> {
  const from = Math.max(since, now - READABLE_MS)
  const none = (why: string): ReadConversions => ({
    check: notChecked('conversions', why),
    conversions: [],
  })
  if (from >= until) return none('the exchange shows conversions for three months only')
  const found = new Map<string, CoinConversion>()
  let idLessThan: string | undefined
  for (let page = 0; page < CONVERT_PAGES_MAX; page++) {
    const answer = await exchange.call('convertRecords', {
      startTime: String(Math.floor(from)),
      endTime: String(Math.floor(until - 1)),
      limit: String(CONVERT_PAGE_MAX),
      ...(idLessThan !== undefined && { idLessThan }),
    })
    if (answer.kind !== 'accepted')
      return { check: refused('conversions', answer), conversions: [] }
    for (const { orderId, ts, feeDetail, ...record } of answer.data) {
      found.set(orderId, {
        id: orderId,
        at: Number(ts),
        fromCoin: record.fromCoin ?? '',
        fromAmount: record.fromAmount ?? '',
        toCoin: record.toCoin ?? '',
        toAmount: record.toAmount ?? '',
        fees: (feeDetail ?? []).map(({ feeCoin, fee }) => ({
          coin: feeCoin ?? '',
          amount: fee ?? '',
        })),
      })
    }
    idLessThan = answer.data.at(-1)?.orderId
    if (answer.data.length < CONVERT_PAGE_MAX) break
  }
  const conversions = [...found.values()]
    .filter(({ at }) => at >= from && at < until)
    .toSorted((one, other) => one.at - other.at)
  const span = from > since ? `, since ${showUtc(from)} alone` : ''
  return {
    check: {
      what: 'conversions',
      state: 'agrees',
      found: `${conversions.length}, as the exchange lists them${span}`,
    },
    conversions,
  }
}

/** Only a copied trader is shown the account's worth. */
async function compareEquity(
  { closing }: Statement,
  { exchange, now }: CompareRequest,
): Promise<readonly StatementCheck[]> {
  const answer = await exchange.call('copyOrderTotalDetail', {})
  if (answer.kind !== 'accepted') return []
  const { totalEquity } = answer.data
  if (!totalEquity) return []
  const what = 'totalEquity of a copied trader'
  const ours = closing?.equity
  if (!ours || now - closing.notedAt > NOW_MS)
    return [notChecked(what, `it is ${totalEquity} now, and the closing equity is not of now`)]
  const difference = decimal(totalEquity).minus(decimal(ours)).toString()
  return [
    notChecked(
      what,
      `${totalEquity} now, ${difference} beyond the closing equity: it counts other coins and later prices too`,
    ),
  ]
}

function notChecked(what: string, found: string): StatementCheck {
  return { what, state: 'notChecked', found }
}

function refused(
  what: string,
  { code, message }: { readonly code: string; readonly message: string },
): StatementCheck {
  return { ...notChecked(what, `not read: ${code} ${message}`), isUnread: true }
}
