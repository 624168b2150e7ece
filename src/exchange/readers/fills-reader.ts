import type { Answer } from '../../domain/answer.ts'
import { type Fill, fillKey, type FillsReading, type UnreadableFill } from '../../domain/fill.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { isUnreadable } from '../../protocol/answer-values.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../protocol/futures/order-fills.ts'
import type { ProductType } from '../../protocol/values.ts'
import type { ReadingCall } from '../client/call-options.ts'
import { toFill } from './wire-fill.ts'

export interface FillsQuery {
  readonly productType: ProductType
  readonly positionMode: PositionMode
  /** By symbol: the instruments that are traded. Fills of others are left out. */
  readonly instruments: ReadonlyMap<string, Instrument>
  /** Unix ms, exchange clock: fills before it are left out. */
  readonly sinceAt: number
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
 * Reads every fill since an instant, or none: if one page fails, the whole reading fails. A row that is not understood
 * costs only its instrument (MKT4); one that names no instrument costs all of them, and the good rows are read all the same. Where there are more fills than can
 * be read at once, only the oldest are returned, as if they had been read before the newer ones existed.
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

interface FillsSpan {
  /** Unix ms, exchange clock. */
  readonly sinceAt: number
  readonly untilAt: number | undefined
  /** Unix ms, our clock. */
  readonly requestedAt: number
}

/**
 * Reads pages from the newest fill back, until a page is not full or reaches beyond the span. Where there are too many
 * pages, returns the times of the newest and the oldest fill that was read.
 *
 * The two fills of a self-trade have one tradeId, and a page may end between them. So the next page begins with the
 * oldest id of this one once more, and rows that are known already are dropped.
 */
async function readPages(
  { caller, clock, offset, query }: FillsCall,
  { sinceAt, untilAt, requestedAt }: FillsSpan,
): Promise<Answer<FillsReading> | { readonly newestAt: number; readonly reachedAt: number }> {
  const rows = new Map<string, WireFill>()
  /** The oldest tradeId of the pages so far. */
  let reachedId: string | undefined
  let exchangeTime = untilAt
  let newestAt = Number.NaN
  let reachedAt = sinceAt
  // Fills up to an instant of the past are what a read at that instant would have found.
  const behindMs = untilAt === undefined ? 0 : offset.exchangeNow(requestedAt) - untilAt
  for (let page = 0; page < FILLS_PAGES_MAX; page++) {
    const answer = await caller.call('orderFills', {
      productType: query.productType,
      startTime: String(Math.floor(sinceAt)),
      ...(untilAt === undefined ? {} : { endTime: String(untilAt) }),
      limit: String(FILLS_PAGE_MAX),
      idLessThan: reachedId === undefined ? undefined : String(BigInt(reachedId) + 1n),
    })
    if (answer.kind !== 'accepted') return answer
    const { receivedAt } = answer
    // An answer without a time gets that of its request, which is certainly not too late.
    exchangeTime ??= answer.requestTime ?? offset.exchangeNow(requestedAt)
    const { fillList } = answer.data
    for (const row of fillList) rows.set(fillKey(named(row)), row)
    const last = fillList.at(-1)
    if (last === undefined || fillList.length < FILLS_PAGE_MAX || isBefore(named(last).cTime, sinceAt)) {
      const times = { sinceAt, requestedAt: requestedAt - behindMs, exchangeTime, receivedAt }
      return toReading({ rows: [...rows.values()], query, ...times })
    }
    const { cTime } = fillList.map(named).findLast((row) => row.cTime !== '') ?? named(last)
    reachedAt = Number(cTime)
    if (page === 0) newestAt = Number(named(fillList[0] ?? last).cTime)
    const oldest = oldestId(fillList.map(named))
    if (oldest === undefined) return unknown('a tradeId is not a number', receivedAt)
    // A page that is full of one id, or an exchange that does not look at the id, would be asked for for ever.
    if (reachedId !== undefined && BigInt(oldest) >= BigInt(reachedId)) {
      return unknown(`the page from trade ${reachedId} back does not reach beyond it`, receivedAt)
    }
    reachedId = oldest
  }
  if (Number.isFinite(newestAt - reachedAt)) return { newestAt, reachedAt }
  return unknown('a cTime is not a number', clock.now())
}

/** The names in a row; empty where it does not have them. */
function named(row: WireFill): Pick<WireFill, 'tradeId' | 'orderId' | 'symbol' | 'cTime'> {
  if (!isUnreadable(row)) return row
  const { tradeId = '', orderId = '', symbol = '', cTime = '' } = row.texts
  return { tradeId, orderId, symbol, cTime }
}

interface CollectedRows extends Omit<FillsReading, 'fills' | 'unreadable'> {
  readonly rows: readonly WireFill[]
  readonly query: FillsQuery
  readonly receivedAt: number
}

function toReading(collected: CollectedRows): Answer<FillsReading> {
  const { rows, query, sinceAt, requestedAt, exchangeTime, receivedAt } = collected
  const fills: Fill[] = []
  const unreadable: UnreadableFill[] = []
  for (const row of rows) {
    const { tradeId, orderId, symbol, cTime } = named(row)
    // Some exchanges ignore startTime.
    if (isBefore(cTime, sinceAt)) continue
    if (symbol === '' && isUnreadable(row)) {
      unreadable.push({ tradeId, orderId, symbol: ACCOUNT, problem: row.unreadable })
      continue
    }
    const instrument = query.instruments.get(symbol.toUpperCase())
    if (instrument === undefined) continue
    const fill = isUnreadable(row) ? row.unreadable : toFill(instrument, query.positionMode, row)
    if (typeof fill === 'string')
      unreadable.push({ tradeId, orderId, symbol: instrument.symbol, problem: fill })
    else fills.push(fill)
  }
  fills.sort(compareFills)
  return {
    kind: 'accepted',
    receivedAt,
    data: { fills, ...(unreadable.length > 0 ? { unreadable } : {}), sinceAt, requestedAt, exchangeTime },
  }
}

/** A row that does not say when it was is not before anything. */
function isBefore(cTime: string, at: number): boolean {
  return cTime !== '' && Number(cTime) < at
}

function unknown(message: string, receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'unreadable', code: SUCCESS_CODE, message, status: 200, receivedAt }
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
