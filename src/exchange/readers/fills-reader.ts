import type { Answer } from '../../domain/answer.ts'
import { type Fill, fillKey, type FillsReading, type UnreadableFill } from '../../domain/fill.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../protocol/futures/order-fills.ts'
import { answeredId, type ProductType } from '../../protocol/values.ts'
import type { ReadingCall } from '../client/call-options.ts'
import { toFill } from './wire-fill.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { isUnreadable } from '../../protocol/answer-values.ts'

export interface FillsQuery {
  readonly productType: ProductType
  readonly positionMode: PositionMode
  /** By symbol: the instruments that are traded. Fills of others are left out. */
  readonly instruments: ReadonlyMap<string, Instrument>
  /** Unix ms, exchange clock: fills before it are left out. */
  readonly sinceAt: number
  /** Rows of a full page; default as many as the exchange gives. */
  readonly pageMax?: number
}

export interface FillsCall extends ReadingCall {
  readonly query: FillsQuery
}

/** Pages of one reading: 20,000 fills, which take 20 s at 10 calls a second. */
const FILLS_PAGES_MAX = 200

/** The document allows three months; the shortest three months have 89 days. */
const SPAN_MS_MAX = 89 * 24 * 3_600_000

/** How often a span may be shortened, each time at least to half of what could be read. */
const WINDOWS_MAX = 8

/**
 * Reads every fill since an instant, or none: if one page fails, the whole reading fails. Where there are more fills than
 * can be read at once, only the oldest are returned, as if they had been read before the newer ones existed.
 * Document: GET /api/v2/mix/order/fills.
 */
export async function readFills(call: FillsCall): Promise<Answer<FillsReading>> {
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
  return unknown(`more than ${FILLS_PAGES_MAX} pages of fills within a moment`, clock.now())
}

interface FillsWindow {
  /** Unix ms, exchange clock. */
  readonly sinceAt: number
  readonly untilAt: number | undefined
  /** Unix ms, our clock. */
  readonly requestedAt: number
}

/** Where there are too many pages, returns the times of the newest and the oldest fill that was read. */
async function readPages(
  { caller, clock, offset, query }: FillsCall,
  { sinceAt, untilAt, requestedAt }: FillsWindow,
): Promise<Answer<FillsReading> | { readonly newestAt: number; readonly reachedAt: number }> {
  const { pageMax = FILLS_PAGE_MAX } = query
  const askedAt = offset.exchangeNow(requestedAt)
  // Fills up to an instant of the past are what a read at that instant would have found.
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
    if (next.kind === 'unreadable') return unknown(next.message, receivedAt)
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
  return unknown('a cTime is not a number', clock.now())
}

function unknown(message: string, receivedAt: number): Answer<never> {
  return {
    kind: 'unknown',
    cause: 'unreadable',
    code: SUCCESS_CODE,
    message,
    status: 200,
    receivedAt,
  }
}

/**
 * How pages of fills become one reading: which page is asked for next, which rows count, and in which order. It asks
 * for nothing itself, so that the daemon's reader, a backtest and the fault worlds share it.
 *
 * Pages go from the newest fill back, until one is not full or reaches beyond the span. The two fills of a self-trade
 * have one tradeId, and a page may end between them. So the next page begins with the oldest id of this one once more,
 * and rows that are known already are dropped.
 */

export interface FillsSpan {
  /** Unix ms, exchange clock: fills before it are left out. */
  readonly sinceAt: number
  /** Unix ms, our clock. */
  readonly requestedAt: number
  /** Unix ms, exchange clock: the moment of the reading; undefined: that of the first answer. */
  readonly exchangeTime: number | undefined
  /** Rows of a full page: more than the two that share a tradeId. */
  readonly pageMax: number
}

/** What the pages so far have shown. */
export interface FillsPages {
  readonly pages: readonly (readonly WireFill[])[]
  readonly exchangeTime?: number | undefined
  /** The oldest tradeId. */
  readonly reachedId?: string
  /** What the next page is asked for with. */
  readonly idLessThan?: string
  /** Unix ms, exchange clock: times of the newest and the oldest fill. */
  readonly newestAt: number
  readonly reachedAt: number
}

/** `more`: there is another page · `unreadable`: the pages cannot be followed. */
export type NextPage =
  | { readonly kind: 'complete'; readonly read: FillsPages }
  | { readonly kind: 'more'; readonly read: FillsPages }
  | { readonly kind: 'unreadable'; readonly message: string }

export function beginPages({ sinceAt }: Pick<FillsSpan, 'sinceAt'>): FillsPages {
  return { pages: [], newestAt: Number.NaN, reachedAt: sinceAt }
}

/** @param page `askedAt`: Unix ms, exchange clock, when it was asked for: certainly not too late. */
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
  // A page that is full of one id, or an exchange that does not look at the id, would be asked for for ever.
  if (reachedId !== undefined && BigInt(oldest) >= BigInt(reachedId)) {
    const message = `the page from trade ${reachedId} back does not reach beyond it`
    return { kind: 'unreadable', message }
  }
  const idLessThan = String(BigInt(oldest) + 1n)
  return { kind: 'more', read: { ...read, reachedId: oldest, idLessThan, newestAt, reachedAt } }
}

export interface FillsReader {
  /** By symbol: the instruments that are traded. Fills of others are left out. */
  readonly instruments: ReadonlyMap<string, Instrument>
  /** A text says why a row cannot be read. */
  readonly readRow: (instrument: Instrument, row: WireFill) => Fill | string
}

/**
 * The reading that the pages make, each fill once. A row that is not understood costs only its instrument (MKT4); one that
 * names no instrument costs all of them, and the good rows count all the same.
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

/** A row that comes on two pages counts as it came last, where it came first. One without its ids is like no other. */
function rowsOf(pages: FillsPages['pages']): Iterable<WireFill> {
  return new Map(pages.flat().map((row, place) => [keyOf(row) ?? place, row])).values()
}

function keyOf(row: WireFill): string | undefined {
  const ids = named(row)
  return ids.tradeId === '' || ids.orderId === '' ? undefined : fillKey(ids)
}

/** The names in a row; empty where it does not have them. */
function named(row: WireFill): Pick<WireFill, 'tradeId' | 'orderId' | 'symbol' | 'cTime'> {
  if (!isUnreadable(row)) return row
  const { tradeId = '', orderId = '', symbol = '', cTime = '' } = row.texts
  return { tradeId: toShownId(tradeId), orderId: toShownId(orderId), symbol, cTime }
}

/** An odd id is known by its digest: two rows are two, and nobody sees what stood there. */
function toShownId(id: string): string {
  return answeredId.safeParse(id).success ? id : `odd-${sha256Hex([id]).slice(0, 12)}`
}

/** A row that does not say when it was is not before anything. */
function isBefore(cTime: string, at: number): boolean {
  return cTime !== '' && Number(cTime) < at
}

const DIGITS = /^\d{1,32}$/

/** The smallest tradeId of a page; undefined when one is no number, or none is there. Rows without one are passed over. */
function oldestId(fills: readonly Pick<WireFill, 'tradeId'>[]): string | undefined {
  let oldest: string | undefined
  for (const { tradeId } of fills) {
    if (tradeId === '') continue
    if (!DIGITS.test(tradeId)) return undefined
    if (oldest === undefined || BigInt(tradeId) < BigInt(oldest)) oldest = tradeId
  }
  return oldest
}

/** By time, trade and order: the same fills always come in the same order. */
function compareFills(one: Fill, other: Fill): number {
  return (
    one.filledAt - other.filledAt ||
    compareIds(one.tradeId, other.tradeId) ||
    compareIds(one.orderId, other.orderId)
  )
}

/** Compares ids as numbers, which are too large for a float; others by their text. */
function compareIds(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0)
}
