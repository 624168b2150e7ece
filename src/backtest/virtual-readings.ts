import type { Answer } from '../domain/answer.ts'
import type { Fill, FillsReading } from '../domain/fill.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { PositionReading } from '../domain/position.ts'
import type { EngineSettings } from '../engine/settings.ts'
import {
  beginPages,
  type FillsPages,
  type FillsReader,
  type FillsSpan,
  takePage,
  toFillsReading,
} from '../exchange/readers/fills-reader.ts'
import { type ReadPosition, toPositionRows } from '../exchange/readers/position-reader.ts'
import { toFill } from '../exchange/readers/wire-fill.ts'
import type { OnAnswer } from '../interpreter/ports.ts'
import type { ResponseOf } from '../protocol/endpoints.ts'
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

/** Reads fills and positions as the exchange's client does, without promises: pages become a reading by the same code. */
export class VirtualReadings {
  readonly #wire: VirtualWire
  readonly #exchange: SimulatedExchange
  readonly #instruments: EngineSettings['instruments']
  readonly #fills: FillsCallOptions

  constructor({ wire, exchange, pageFills, settings }: VirtualReadingsOptions) {
    this.#wire = wire
    this.#exchange = exchange
    this.#instruments = settings.instruments
    this.#fills = { wire, exchange, pageFills, reader: createReader(settings) }
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    const requestedAt = this.#wire.trusted.clock.now()
    const span = { sinceAt, requestedAt, exchangeTime: undefined, pageMax: this.#fills.pageFills }
    askFor(this.#wire, new FillsCall(this.#fills, { span, read: beginPages(span), onAnswer }))
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
  readonly reader: FillsReader
}

interface FillsAsked {
  readonly span: FillsSpan
  /** The pages before. */
  readonly read: FillsPages
  readonly onAnswer: OnAnswer<FillsReading>
}

/** Asks for one page of fills, and then for the next one. */
class FillsCall implements WireCall<FillsPage> {
  readonly site = 'orderFills'
  readonly isReading = true
  readonly #options: FillsCallOptions
  readonly #asked: FillsAsked

  constructor(options: FillsCallOptions, asked: FillsAsked) {
    this.#options = options
    this.#asked = asked
  }

  perform(): Reply<FillsPage> {
    const { exchange, pageFills } = this.#options
    const { span, read } = this.#asked
    return exchange.fillsPage({
      sinceAt: Math.floor(span.sinceAt),
      limit: pageFills,
      ...(read.idLessThan !== undefined && { idLessThan: read.idLessThan }),
    })
  }

  hear(answer: Answer<FillsPage>): void {
    const { wire, reader } = this.#options
    const { span, read, onAnswer } = this.#asked
    if (answer.kind !== 'accepted') return onAnswer(answer)
    const { requestTime } = answer
    const next = takePage(span, read, { fillList: answer.data.fillList, requestTime, askedAt: 0 })
    if (next.kind === 'unreadable')
      return onAnswer(unreadableAnswer(next.message, answer.receivedAt))
    if (next.kind === 'more')
      return askFor(wire, new FillsCall(this.#options, { ...this.#asked, read: next.read }))
    onAnswer({ ...answer, data: toFillsReading(next.read, span, reader) })
  }
}

/** Fills by their rows: the exchange gives the same row again and again. */
function createReader({
  positionMode,
  instruments,
}: VirtualReadingsOptions['settings']): FillsReader {
  const fills = new WeakMap<WireFill, Fill>()
  return {
    instruments,
    readRow(instrument, row) {
      const known = fills.get(row)
      if (known) return known
      const fill = toFill(instrument, positionMode, row)
      if (typeof fill !== 'string') fills.set(row, fill)
      return fill
    },
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
  return {
    kind: 'unknown',
    cause: 'unreadableRow',
    code: SUCCESS_CODE,
    message,
    status: 200,
    receivedAt,
  }
}

/** As the daemon's reader does. */
function unreadableAnswer(message: string, receivedAt: number): Answer<never> {
  return {
    kind: 'unknown',
    cause: 'unreadable',
    code: SUCCESS_CODE,
    message,
    status: 200,
    receivedAt,
  }
}
