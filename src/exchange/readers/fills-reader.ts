import type { Answer } from '../../domain/answer.ts'
import {
  type CoinFee,
  type Fill,
  fillKey,
  type FillKind,
  type FillsReading,
  type UnreadableFill,
} from '../../domain/fill.ts'
import {
  type Instrument,
  lotsMax,
  type PositionMode,
  type ProductType,
  ticksMax,
} from '../../domain/instrument.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../protocol/futures/order-fills.ts'
import { answeredId } from '../../protocol/values.ts'
import type { ReadingCall } from '../client/request-writer.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { isUnreadable } from '../../protocol/answer-values.ts'
import { toOrderId, toTradeId } from '../../domain/ids.ts'
import { decimal, type Decimal, ZERO } from '../../lib/decimal.ts'
import { parseOnGrid } from '../../lib/grid.ts'

export interface FillsReadingQuery {
  readonly productType: ProductType
  readonly positionMode: PositionMode
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly sinceAt: number
  readonly pageMax?: number
}

export interface FillsReadingCall extends ReadingCall {
  readonly query: FillsReadingQuery
}

/** So many pages hold 20,000 fills and take 20 s at 10 calls a second. */
const FILLS_PAGES_MAX = 200

/** The document allows three months; the shortest have 89 days. */
const SPAN_MS_MAX = 89 * 24 * 3_600_000

const WINDOWS_MAX = 8

/**
 * If one page fails, the whole reading fails. If there are too many fills, only the oldest are
 * returned, as if the newer ones had not happened yet. Document: GET /api/v2/mix/order/fills.
 */
export async function readFills(call: FillsReadingCall): Promise<Answer<FillsReading>> {
  const { clock, offset, query } = call
  const requestedAt = clock.now()
  const sinceAt = Math.max(query.sinceAt, offset.exchangeNow(requestedAt) - SPAN_MS_MAX)
  let untilAt: number | undefined
  for (let window = 0; window < WINDOWS_MAX; window++) {
    const pages = await readPages(call, { sinceAt, untilAt, requestedAt })
    if ('kind' in pages) return pages
    untilAt = Math.floor(sinceAt + (pages.newestAt - pages.reachedAt) / 2)
    if (untilAt <= sinceAt) break
  }
  return unreadableAnswer(
    `more than ${FILLS_PAGES_MAX} pages of fills within a moment`,
    clock.now(),
  )
}

interface FillsWindow {
  readonly sinceAt: number
  readonly untilAt: number | undefined
  readonly requestedAt: number
}

async function readPages(
  { caller, clock, offset, query }: FillsReadingCall,
  { sinceAt, untilAt, requestedAt }: FillsWindow,
): Promise<Answer<FillsReading> | { readonly newestAt: number; readonly reachedAt: number }> {
  const { pageMax = FILLS_PAGE_MAX } = query
  const askedAt = offset.exchangeNow(requestedAt)
  // The reading is dated back to the instant at which it would have found just these fills.
  const behindMs = untilAt === undefined ? 0 : askedAt - untilAt
  const span = {
    sinceAt,
    requestedAt: requestedAt - behindMs,
    exchangeTime: untilAt,
    pageMax,
  }
  let read = beginPages(span)
  for (let page = 0; page < FILLS_PAGES_MAX; page++) {
    const answer = await caller.call('orderFills', {
      productType: query.productType,
      startTime: String(Math.floor(sinceAt)),
      ...(untilAt === undefined ? {} : { endTime: String(untilAt) }),
      limit: String(pageMax),
      idLessThan: read.idLessThan,
    })
    if (answer.kind !== 'accepted') return answer
    const { receivedAt, requestTime } = answer
    const next = takePage(span, read, { fillList: answer.data.fillList, requestTime, askedAt })
    if (next.kind === 'unreadable') return unreadableAnswer(next.message, receivedAt)
    read = next.read
    if (next.kind === 'more') continue
    const data = toFillsReading(read, span, {
      instruments: query.instruments,
      readRow: (instrument, row) => toFill(instrument, query.positionMode, row),
    })
    return { kind: 'accepted', receivedAt, data }
  }
  const { newestAt, reachedAt } = read
  if (Number.isFinite(newestAt - reachedAt)) return { newestAt, reachedAt }
  return unreadableAnswer('a cTime is not a number', clock.now())
}

/** Replaces an answer that says success, and whose data cannot be read. */
export function unreadableAnswer(
  message: string,
  receivedAt: number,
  cause: 'unreadable' | 'unreadableRow' = 'unreadable',
): Answer<never> {
  return {
    kind: 'unknown',
    cause,
    code: SUCCESS_CODE,
    message,
    status: 200,
    receivedAt,
  }
}

/**
 * From here on the file is pure, so that daemon, backtest and fault worlds share it. Pages go back
 * from the newest fill until one is not full or reaches beyond the span. A page may end between the
 * two fills of a self-trade, which share a tradeId. So the next page starts with the oldest id once
 * more, and known rows are dropped.
 */

export interface FillsSpan {
  readonly sinceAt: number
  readonly requestedAt: number
  readonly exchangeTime: number | undefined
  /** A page has room for three rows at least, because two may share a tradeId. */
  readonly pageMax: number
}

export interface FillsPages {
  readonly pages: readonly (readonly WireFill[])[]
  readonly exchangeTime?: number | undefined
  readonly reachedId?: string
  readonly idLessThan?: string
  readonly newestAt: number
  readonly reachedAt: number
}

export type NextPage =
  | { readonly kind: 'complete'; readonly read: FillsPages }
  | { readonly kind: 'more'; readonly read: FillsPages }
  | { readonly kind: 'unreadable'; readonly message: string }

export function beginPages({ sinceAt }: Pick<FillsSpan, 'sinceAt'>): FillsPages {
  return { pages: [], newestAt: Number.NaN, reachedAt: sinceAt }
}

/** @param page `askedAt`: exchange clock at the request, never too late */
export function takePage(
  span: FillsSpan,
  before: FillsPages,
  page: {
    readonly fillList: readonly WireFill[]
    readonly requestTime: number | undefined
    readonly askedAt: number
  },
): NextPage {
  const { fillList, requestTime, askedAt } = page
  const exchangeTime = before.exchangeTime ?? span.exchangeTime ?? requestTime ?? askedAt
  const pages = fillList.length === 0 ? before.pages : [...before.pages, fillList]
  const last = fillList.at(-1)
  const read = { ...before, pages, exchangeTime }
  if (
    last === undefined ||
    fillList.length < span.pageMax ||
    isBefore(named(last).cTime, span.sinceAt)
  ) {
    return { kind: 'complete', read }
  }
  const { cTime } = fillList.map(named).findLast((row) => row.cTime !== '') ?? named(last)
  const reachedAt = Number(cTime)
  const newestAt =
    before.pages.length === 0 ? Number(named(fillList[0] ?? last).cTime) : before.newestAt
  const oldest = oldestId(fillList.map(named))
  if (oldest === undefined) return { kind: 'unreadable', message: 'a tradeId is not a number' }
  const { reachedId } = before
  // Without this the reading would not end where a page is full of one id, or the exchange ignores
  // the id.
  if (reachedId !== undefined && BigInt(oldest) >= BigInt(reachedId)) {
    const message = `the page from trade ${reachedId} back does not reach beyond it`
    return { kind: 'unreadable', message }
  }
  const idLessThan = String(BigInt(oldest) + 1n)
  return { kind: 'more', read: { ...read, reachedId: oldest, idLessThan, newestAt, reachedAt } }
}

export interface FillsReader {
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly readRow: (instrument: Instrument, row: WireFill) => Fill | string
}

/**
 * An unreadable row makes the reading of its instrument incomplete (MKT4); one without a symbol,
 * that of all. Good rows still count.
 */
export function toFillsReading(
  { pages, exchangeTime = 0 }: FillsPages,
  { sinceAt, requestedAt }: Pick<FillsSpan, 'sinceAt' | 'requestedAt'>,
  { instruments, readRow }: FillsReader,
): FillsReading {
  if (pages.length === 0) return { fills: NO_FILLS, sinceAt, requestedAt, exchangeTime }
  const fills: Fill[] = []
  const unreadable: UnreadableFill[] = []
  for (const row of rowsOf(pages)) {
    const { tradeId, orderId, symbol, cTime } = named(row)
    // Some exchanges ignore startTime.
    if (isBefore(cTime, sinceAt)) continue
    if (symbol === '' && isUnreadable(row)) {
      unreadable.push({ tradeId, orderId, symbol: ACCOUNT, problem: row.unreadable })
      continue
    }
    const instrument = instruments.get(symbol.toUpperCase())
    if (instrument === undefined) continue
    const fill = isUnreadable(row) ? row.unreadable : readRow(instrument, row)
    if (typeof fill === 'string')
      unreadable.push({ tradeId, orderId, symbol: instrument.symbol, problem: fill })
    else fills.push(fill)
  }
  fills.sort(compareFills)
  return {
    fills,
    ...(unreadable.length > 0 ? { unreadable } : {}),
    sinceAt,
    requestedAt,
    exchangeTime,
  }
}

const NO_FILLS: readonly Fill[] = []

/** A row on two pages takes its first place and its last content. */
function rowsOf(pages: FillsPages['pages']): Iterable<WireFill> {
  return new Map(pages.flat().map((row, place) => [keyOf(row) ?? place, row])).values()
}

function keyOf(row: WireFill): string | undefined {
  const ids = named(row)
  return ids.tradeId === '' || ids.orderId === '' ? undefined : fillKey(ids)
}

function named(row: WireFill): Pick<WireFill, 'tradeId' | 'orderId' | 'symbol' | 'cTime'> {
  if (!isUnreadable(row)) return row
  const { tradeId = '', orderId = '', symbol = '', cTime = '' } = row.texts
  return { tradeId: toShownId(tradeId), orderId: toShownId(orderId), symbol, cTime }
}

/** An odd id is shown as its digest, which keeps two rows apart and shows none of the text. */
function toShownId(id: string): string {
  return answeredId.safeParse(id).success ? id : `odd-${sha256Hex([id]).slice(0, 12)}`
}

function isBefore(cTime: string, at: number): boolean {
  return cTime !== '' && Number(cTime) < at
}

const DIGITS = /^\d{1,32}$/

function oldestId(fills: readonly Pick<WireFill, 'tradeId'>[]): string | undefined {
  let oldest: string | undefined
  for (const { tradeId } of fills) {
    if (tradeId === '') continue
    if (!DIGITS.test(tradeId)) return undefined
    if (oldest === undefined || BigInt(tradeId) < BigInt(oldest)) oldest = tradeId
  }
  return oldest
}

function compareFills(one: Fill, other: Fill): number {
  return (
    one.filledAt - other.filledAt ||
    compareIds(one.tradeId, other.tradeId) ||
    compareIds(one.orderId, other.orderId)
  )
}

function compareIds(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0)
}

/** Some runtimes print small values with an exponent. */
export const MONEY = /^-?\d{1,40}(\.\d{1,40})?([eE]-?\d{1,2})?$/

/**
 * Paid fees are negative on the wire and positive here. A missing fee or profit is unknown (MON2);
 * the book decides whether an empty profit means an opening fill. Document: Futures fill.
 */
export function toFill(
  instrument: Instrument,
  positionMode: PositionMode,
  row: WireFill,
): Fill | string {
  const ticks = parseOnGrid(instrument.tick, row.price)
  if (ticks === undefined || ticks < 0 || ticks > ticksMax(instrument))
    return `price "${row.price}" is off the grid of ${instrument.tick.step}`
  const lots = parseOnGrid(instrument.lot, row.baseVolume)
  if (lots === undefined || lots <= 0 || lots > lotsMax(instrument)) {
    return `baseVolume "${row.baseVolume}" is off the grid of ${instrument.lot.step}`
  }
  const filledAt = Number(row.cTime)
  if (!Number.isSafeInteger(filledAt) || filledAt <= 0)
    return `cTime "${row.cTime}" is not Unix milliseconds`
  const fees = feesOf(instrument, row)
  if (fees === undefined) return 'a fee is not a decimal'
  const { profit } = row
  if (profit && !MONEY.test(profit)) return `profit "${profit}" is not a decimal`
  const direction = toDirection(positionMode, row)
  if (direction === undefined)
    return `tradeSide "${row.tradeSide}" is not known in hedge position mode`
  return {
    tradeId: toTradeId(row.tradeId),
    orderId: toOrderId(row.orderId),
    symbol: instrument.symbol,
    ...direction,
    ticks,
    lots,
    ...kindOf(row),
    ...fees,
    ...(profit && { profit: decimal(profit).toString() }),
    scope: row.tradeScope?.toLowerCase() === 'maker' ? 'maker' : 'taker',
    source: (row.enterPointSource ?? '').toUpperCase(),
    filledAt,
  }
}

/** `fee` is missing if an amount or its coin is missing. Undefined if an amount is no decimal. */
function feesOf(
  { marginCoin }: Instrument,
  { feeDetail }: WireFill,
): Pick<Fill, 'fee' | 'otherFees'> | undefined {
  const paid = new Map<string, Decimal>()
  let isKnown = (feeDetail?.length ?? 0) > 0
  for (const { feeCoin, totalFee } of feeDetail ?? []) {
    if (totalFee && !MONEY.test(totalFee)) return undefined
    const amount = totalFee ? ZERO.minus(decimal(totalFee)) : undefined
    if (amount === undefined || (!feeCoin && !amount.eq(ZERO))) isKnown = false
    else if (feeCoin) {
      const coin = feeCoin.toUpperCase()
      paid.set(coin, (paid.get(coin) ?? ZERO).plus(amount))
    }
  }
  const otherFees = [...paid].flatMap(([coin, amount]): CoinFee[] =>
    coin === marginCoin || amount.eq(ZERO) ? [] : [{ coin, amount: amount.toString() }],
  )
  return {
    ...(isKnown && { fee: (paid.get(marginCoin) ?? ZERO).toString() }),
    ...(otherFees.length > 0 && { otherFees }),
  }
}

/**
 * The system closes with words such as `burst_close_long`, `reduce_close_short`,
 * `delivery_close_long`.
 */
const SYSTEM_CLOSE = /^[a-z_]+_close_(long|short)$/

const KINDS: readonly (readonly [prefix: string, kind: FillKind])[] = [
  ['burst_', 'liquidation'],
  ['reduce_', 'partialLiquidation'],
  ['offset_', 'netting'],
  ['delivery_', 'delivery'],
  ['dte_sys_adl_', 'autoDeleveraging'],
]
const TRADES: ReadonlySet<string> = new Set(['open', 'close', 'buy_single', 'sell_single'])

/** An undocumented word of the system is kept as it is. */
function kindOf({ tradeSide, enterPointSource }: WireFill): Pick<Fill, 'fillKind' | 'systemWord'> {
  const name = tradeSide?.toLowerCase() ?? ''
  const [, known] = KINDS.find(([prefix]) => name.startsWith(prefix)) ?? []
  if (known !== undefined) return { fillKind: known }
  if (TRADES.has(name) || enterPointSource?.toUpperCase() !== 'SYS') return { fillKind: 'trade' }
  return { fillKind: 'system', systemWord: name }
}

/**
 * In hedge mode `side` is the direction of the position; if the system closed, the trade side names
 * it.
 */
function toDirection(
  positionMode: PositionMode,
  { side, tradeSide }: WireFill,
): Pick<Fill, 'side' | 'tradeSide'> | undefined {
  const name = tradeSide?.toLowerCase() ?? ''
  const systemClose = SYSTEM_CLOSE.exec(name)
  if (positionMode === 'hedge_mode') {
    if (name === 'open' || name === 'close') return { side, tradeSide: name }
    if (systemClose === null) return undefined
    return { side: systemClose[1] === 'long' ? 'buy' : 'sell', tradeSide: 'close' }
  }
  // The position does not depend on the system's words (`buy_single`, `dte_sys_adl_…`).
  const isClose =
    name === 'close' || systemClose !== null || KINDS.some(([prefix]) => name.startsWith(prefix))
  return { side, tradeSide: isClose ? 'close' : 'open' }
}
