import { type Answer } from '../../domain/answer.ts'
import { type Fill, type FillsReading, type UnreadableFill } from '../../domain/fill.ts'
import { type Instrument, type PositionMode } from '../../domain/instrument.ts'
import { isUnreadable } from '../../protocol/answer-values.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import { FILLS_PAGE_MAX, type WireFill } from '../../protocol/futures/order-fills.ts'
import { type ProductType } from '../../protocol/values.ts'
import { type ReadingCall } from '../client/call-options.ts'
import { toFill } from './wire-fill.ts'

export interface FillsQuery {
  readonly productType: ProductType
  readonly positionMode: PositionMode
  /** By symbol: the instruments that are traded here; fills of others are left out. */
  readonly instruments: ReadonlyMap<string, Instrument>
  /** Unix ms, exchange clock: fills before it are left out. */
  readonly sinceAt: number
}

export interface FillsCall extends ReadingCall {
  readonly query: FillsQuery
}

/** At 10 calls a second 20 s of reading, 20,000 fills: more has to be explained by a person. */
const FILLS_PAGES_MAX = 200

/** The document allows three months; the shortest three months have 89 days. */
const SPAN_MS_MAX = 89 * 24 * 3_600_000

/**
 * Every fill since an instant, or none at all: a page that fails makes the whole reading fail. A row that is not
 * understood costs its instrument alone (MKT4); one that names no instrument, the reading.
 * Pages are read from the newest back until one is short, or older than asked for.
 * Document: GET /api/v2/mix/order/fills.
 */
export async function readFills(call: FillsCall): Promise<Answer<FillsReading>> {
  const { caller, clock, offset, query } = call
  const requestedAt = clock.now()
  const sinceAt = Math.max(query.sinceAt, offset.exchangeNow(requestedAt) - SPAN_MS_MAX)
  const rows = new Map<string, WireFill>()
  let idLessThan: string | undefined
  let exchangeTime: number | undefined
  for (let page = 0; page < FILLS_PAGES_MAX; page++) {
    const answer = await caller.call('orderFills', {
      productType: query.productType,
      startTime: String(Math.floor(sinceAt)),
      limit: String(FILLS_PAGE_MAX),
      idLessThan,
    })
    if (answer.kind !== 'accepted') return answer
    const { receivedAt } = answer
    // Without a time in the answer: when it left, which is surely not too late.
    exchangeTime ??= answer.requestTime ?? offset.exchangeNow(requestedAt)
    const { fillList } = answer.data
    for (const row of fillList) rows.set(named(row).tradeId, row)
    const last = fillList.at(-1)
    if (last === undefined || fillList.length < FILLS_PAGE_MAX || Number(named(last).cTime) < sinceAt) {
      return toReading({ rows: [...rows.values()], query, sinceAt, requestedAt, exchangeTime, receivedAt })
    }
    const oldest = oldestId(fillList.map(named))
    if (oldest === undefined) return unknown('a tradeId is not a number', receivedAt)
    if (idLessThan !== undefined && BigInt(oldest) >= BigInt(idLessThan)) {
      return unknown(`the page before trade ${idLessThan} does not lie before it`, receivedAt)
    }
    idLessThan = oldest
  }
  return unknown(`more than ${FILLS_PAGES_MAX} pages of fills`, clock.now())
}

/** What tells where a row belongs; empty where it does not say. */
function named(row: WireFill): Pick<WireFill, 'tradeId' | 'symbol' | 'cTime'> {
  if (!isUnreadable(row)) return row
  const { tradeId = '', symbol = '', cTime = '' } = row.texts
  return { tradeId, symbol, cTime }
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
    const { tradeId, symbol, cTime } = named(row)
    // There are exchanges that ignore startTime.
    if (Number(cTime) < sinceAt && cTime !== '') continue
    if (symbol === '') return unknown(`fill ${tradeId} names no instrument`, receivedAt)
    const instrument = query.instruments.get(symbol.toUpperCase())
    if (instrument === undefined) continue
    const fill = isUnreadable(row) ? row.unreadable : toFill(instrument, query.positionMode, row)
    if (typeof fill === 'string') unreadable.push({ tradeId, symbol: instrument.symbol, problem: fill })
    else fills.push(fill)
  }
  fills.sort((one, other) => one.filledAt - other.filledAt || compareIds(one.tradeId, other.tradeId))
  return {
    kind: 'accepted',
    receivedAt,
    data: { fills, ...(unreadable.length > 0 ? { unreadable } : {}), sinceAt, requestedAt, exchangeTime },
  }
}

function unknown(message: string, receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'unreadable', code: SUCCESS_CODE, message, status: 200, receivedAt }
}

const DIGITS = /^\d{1,32}$/

/** The smallest tradeId of a page; undefined when one is no number. */
function oldestId(fills: readonly Pick<WireFill, 'tradeId'>[]): string | undefined {
  let oldest: string | undefined
  for (const { tradeId } of fills) {
    if (!DIGITS.test(tradeId)) return undefined
    if (oldest === undefined || BigInt(tradeId) < BigInt(oldest)) oldest = tradeId
  }
  return oldest
}

/** Ids are numbers too large for a float; what is not a number stands in the order of its text. */
function compareIds(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0)
}
