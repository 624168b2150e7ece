import type { Answer } from '../domain/answer.ts'
import { type Fill, fillKey, type FillsReading, type UnreadableFill } from '../domain/fill.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { PositionReading } from '../domain/position.ts'
import { ACCOUNT } from '../domain/trading-mode.ts'
import type { EngineSettings } from '../engine/settings.ts'
import { type ReadPosition, toPositionRows } from '../exchange/readers/position-reader.ts'
import { toFill } from '../exchange/readers/wire-fill.ts'
import type { OnAnswer } from '../interpreter/ports.ts'
import type { ResponseOf } from '../protocol/endpoints.ts'
import { isUnreadable, type UnreadableRow } from '../protocol/answer-values.ts'
import { SUCCESS_CODE } from '../protocol/envelope.ts'
import type { WireFill } from '../protocol/futures/order-fills.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { SimulatedExchange } from './direct-exchange.ts'
import { askFor, type VirtualWire, type WireCall } from './virtual-wire.ts'

type FillsPage = ResponseOf<'orderFills'>
type ReadPositions = readonly ReadPosition[] | null

export interface VirtualReadingsOptions {
  readonly wire: VirtualWire
  readonly exchange: SimulatedExchange
  /** Fills a page. */
  readonly pageFills: number
  readonly settings: Pick<EngineSettings, 'positionMode' | 'instruments'>
}

const NO_ROWS: readonly WireFill[] = []

/** Reads fills and positions as the exchange's client does, without promises. */
export class VirtualReadings {
  readonly #wire: VirtualWire
  readonly #exchange: SimulatedExchange
  readonly #instruments: EngineSettings['instruments']
  readonly #fills: FillsCallOptions

  constructor({ wire, exchange, pageFills, settings }: VirtualReadingsOptions) {
    this.#wire = wire
    this.#exchange = exchange
    this.#instruments = settings.instruments
    this.#fills = { wire, exchange, pageFills, knownFills: new KnownFills(settings) }
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    const requestedAt = this.#wire.trusted.clock.now()
    askFor(this.#wire, new FillsCall(this.#fills, { sinceAt, requestedAt, rows: NO_ROWS, onAnswer }))
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    const requestedAt = this.#wire.trusted.clock.now()
    const instrument = this.#instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not traded here`)
    const exchange = this.#exchange
    askFor(this.#wire, new PositionCall({ exchange, instrument, requestedAt, onAnswer }))
  }
}

interface FillsCallOptions extends Omit<VirtualReadingsOptions, 'settings'> {
  readonly knownFills: KnownFills
}

/** A reading of fills, page by page. */
interface FillsPages {
  readonly sinceAt: number
  readonly requestedAt: number
  /** Of the pages before. */
  readonly rows: readonly WireFill[]
  readonly idLessThan?: string
  /** The oldest tradeId of the pages before. */
  readonly reachedId?: string
  readonly exchangeTime?: number
  readonly onAnswer: OnAnswer<FillsReading>
}

/** Asks for one page of fills, and then for the next one. */
class FillsCall implements WireCall<FillsPage> {
  readonly site = 'orderFills'
  readonly isReading = true
  readonly #options: FillsCallOptions
  readonly #pages: FillsPages

  constructor(options: FillsCallOptions, pages: FillsPages) {
    this.#options = options
    this.#pages = pages
  }

  perform(): Reply<FillsPage> {
    const { exchange, pageFills } = this.#options
    const { sinceAt, idLessThan } = this.#pages
    return exchange.fillsPage({ sinceAt: Math.floor(sinceAt), limit: pageFills, idLessThan })
  }

  hear(answer: Answer<FillsPage>): void {
    const { wire, pageFills, knownFills } = this.#options
    const pages = this.#pages
    if (answer.kind !== 'accepted') return pages.onAnswer(answer)
    const { fillList } = answer.data
    const rows = joinPages(pages.rows, fillList)
    const exchangeTime = pages.exchangeTime ?? answer.requestTime ?? 0
    const last = fillList.at(-1)
    if (last !== undefined && fillList.length === pageFills) {
      const next = { ...pages, rows, exchangeTime, ...pageBehind(last, pages.reachedId) }
      return askFor(wire, new FillsCall(this.#options, next))
    }
    const { sinceAt, requestedAt } = pages
    const data = knownFills.toReading(rows, { sinceAt, requestedAt, exchangeTime })
    pages.onAnswer({ ...answer, data })
  }
}

const NO_FILLS: readonly Fill[] = []

/** Fills by their rows: the exchange gives the same row again and again. */
class KnownFills {
  readonly #settings: VirtualReadingsOptions['settings']
  readonly #fills = new WeakMap<WireFill, Fill>()

  constructor(settings: VirtualReadingsOptions['settings']) {
    this.#settings = settings
  }

  /** A row that cannot be read costs its instrument alone; those of instruments that are not traded here are left out. */
  toReading(
    rows: readonly WireFill[],
    { sinceAt, requestedAt, exchangeTime }: Pick<FillsReading, 'sinceAt' | 'requestedAt' | 'exchangeTime'>,
  ): FillsReading {
    if (rows.length === 0) return { fills: NO_FILLS, sinceAt, requestedAt, exchangeTime }
    const fills: Fill[] = []
    const unreadable: UnreadableFill[] = []
    for (const row of rows) {
      if (isUnreadable(row)) {
        unreadable.push(...this.#describe(row))
        continue
      }
      const instrument = this.#settings.instruments.get(row.symbol)
      const fill = instrument && this.#toFill(instrument, row)
      if (typeof fill === 'string')
        unreadable.push({
          tradeId: row.tradeId,
          orderId: row.orderId,
          symbol: row.symbol,
          problem: fill,
        })
      else if (fill) fills.push(fill)
    }
    fills.sort(byTime)
    if (unreadable.length === 0) return { fills, sinceAt, requestedAt, exchangeTime }
    return { fills, unreadable, sinceAt, requestedAt, exchangeTime }
  }

  #describe({ unreadable: problem, texts }: UnreadableRow): readonly UnreadableFill[] {
    const { tradeId = '', orderId = '', symbol = ACCOUNT } = texts
    const isOurs = symbol === ACCOUNT || this.#settings.instruments.has(symbol)
    return isOurs ? [{ tradeId, orderId, symbol, problem }] : []
  }

  #toFill(instrument: Instrument, row: WireFill): Fill | string {
    const known = this.#fills.get(row)
    if (known) return known
    const fill = toFill(instrument, this.#settings.positionMode, row)
    if (typeof fill !== 'string') this.#fills.set(row, fill)
    return fill
  }
}

interface PositionCallOptions {
  readonly exchange: SimulatedExchange
  readonly instrument: Instrument
  readonly requestedAt: number
  readonly onAnswer: OnAnswer<PositionReading>
}

/** Asks for the position of one instrument. */
class PositionCall implements WireCall<ReadPositions> {
  readonly site = 'singlePosition'
  readonly isReading = true
  readonly #options: PositionCallOptions

  constructor(options: PositionCallOptions) {
    this.#options = options
  }

  perform(): Reply<ReadPositions> {
    const { exchange, instrument } = this.#options
    return exchange.position(instrument.symbol)
  }

  hear(answer: Answer<ReadPositions>): void {
    const { instrument, requestedAt, onAnswer } = this.#options
    if (answer.kind !== 'accepted') return onAnswer(answer)
    const rows = toPositionRows(instrument, answer.data ?? [])
    if (typeof rows === 'string') return onAnswer(unreadableRow(rows, answer.receivedAt))
    const { symbol } = instrument
    const isSilent = answer.data === null
    const exchangeTime = answer.requestTime ?? 0
    onAnswer({ ...answer, data: { symbol, rows, isSilent, requestedAt, exchangeTime } })
  }
}

/** As the exchange's client answers it. */
function unreadableRow(message: string, receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'unreadableRow', code: SUCCESS_CODE, message, status: 200, receivedAt }
}

/**
 * Where the next page begins: with the oldest id once more, since the page may end between the two fills of a self-trade.
 * A page of two rows may hold nothing but them.
 */
function pageBehind({ tradeId }: WireFill, reachedId: string | undefined) {
  const idLessThan = tradeId === reachedId ? tradeId : String(BigInt(tradeId) + 1n)
  return { reachedId: tradeId, idLessThan }
}

/** A fill that comes on two pages counts as it came last, where it came first. */
function joinPages(before: readonly WireFill[], page: readonly WireFill[]): readonly WireFill[] {
  if (before.length === 0) return page
  return [...new Map([...before, ...page].map((row) => [fillKey(row), row])).values()]
}

/** As the daemon's reader sorts them. */
function byTime(one: Fill, other: Fill): number {
  return (
    one.filledAt - other.filledAt ||
    compareTexts(one.tradeId, other.tradeId) ||
    compareTexts(one.orderId, other.orderId)
  )
}

/** The ids of the simulator are all of one length. */
function compareTexts(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}
