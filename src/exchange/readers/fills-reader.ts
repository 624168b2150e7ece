import type { Answer } from '../../domain/answer.ts'
import type { FillsReading } from '../../domain/fill.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import { FILLS_PAGE_MAX } from '../../protocol/futures/order-fills.ts'
import type { ProductType } from '../../protocol/values.ts'
import type { ReadingCall } from '../client/call-options.ts'
import { beginPages, takePage, toFillsReading } from './fills-pages.ts'
import { toFill } from './wire-fill.ts'

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
      toFill: (instrument, row) => toFill(instrument, query.positionMode, row),
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
