import type { Answer } from '../domain/answer.ts'
import type { Fill, FillsReading, UnreadableFill } from '../domain/fill.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { PositionReading } from '../domain/position.ts'
import type { EngineSettings } from '../engine/settings.ts'
import { toPositionRows } from '../exchange/readers/position-reader.ts'
import { toFill } from '../exchange/readers/wire-fill.ts'
import type { OnAnswer } from '../interpreter/ports.ts'
import { SUCCESS_CODE } from '../protocol/envelope.ts'
import type { EndpointName } from '../protocol/endpoints.ts'
import type { WireFill } from '../protocol/futures/order-fills.ts'
import type { Reply } from '../simulator/shared/reply.ts'
import type { SimulatedExchange } from './direct-exchange.ts'
import { carry, type VirtualWire } from './virtual-wire.ts'

export interface VirtualReadingsOptions {
  readonly wire: VirtualWire
  readonly exchange: SimulatedExchange
  readonly settings: Pick<EngineSettings, 'positionMode' | 'instruments'>
  /** Fills a page. */
  readonly pageFills: number
}

/** A reading of fills, page by page. */
interface FillsPages {
  readonly sinceAt: number
  readonly requestedAt: number
  /** Of the pages before. */
  readonly rows: readonly WireFill[]
  readonly idLessThan?: string | undefined
  readonly exchangeTime?: number
}

/** Reads fills and positions as the exchange's client does, without promises. */
export class VirtualReadings {
  readonly #options: VirtualReadingsOptions
  readonly #fills = new WeakMap<WireFill, Fill>()
  readonly #enter = (happens: () => void): void => this.#options.wire.gate.enter(happens)

  constructor(options: VirtualReadingsOptions) {
    this.#options = options
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    this.#readPage({ sinceAt, requestedAt: this.#now(), rows: [] }, onAnswer)
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    const requestedAt = this.#now()
    const { exchange, settings } = this.#options
    const instrument = settings.instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not traded here`)
    this.#read(
      'singlePosition',
      () => exchange.position(symbol),
      (answer) => {
        if (answer.kind !== 'accepted') return onAnswer(answer)
        const rows = toPositionRows(instrument, answer.data ?? [])
        if (typeof rows === 'string') return onAnswer(unreadableRow(rows, answer.receivedAt))
        const isSilent = answer.data === null
        const exchangeTime = answer.requestTime ?? 0
        onAnswer({ ...answer, data: { symbol, rows, isSilent, requestedAt, exchangeTime } })
      },
    )
  }

  #readPage(pages: FillsPages, onAnswer: OnAnswer<FillsReading>): void {
    const { exchange, pageFills } = this.#options
    const { idLessThan, sinceAt } = pages
    const query = { sinceAt: Math.floor(sinceAt), limit: pageFills, idLessThan }
    this.#read(
      'orderFills',
      () => exchange.fillsPage(query),
      (answer) => {
        if (answer.kind !== 'accepted') return onAnswer(answer)
        const { fillList } = answer.data
        const rows = joinPages(pages.rows, fillList)
        const exchangeTime = pages.exchangeTime ?? answer.requestTime ?? 0
        const last = fillList.at(-1)
        if (last !== undefined && fillList.length === pageFills) {
          return this.#readPage({ ...pages, rows, exchangeTime, idLessThan: last.tradeId }, onAnswer)
        }
        const { requestedAt } = pages
        const reading = this.#toReading(rows)
        onAnswer({ ...answer, data: { ...reading, sinceAt, requestedAt, exchangeTime } })
      },
    )
  }

  #read<Data>(site: EndpointName, perform: () => Reply<Data>, onAnswer: OnAnswer<Data>): void {
    const { wire } = this.#options
    const { limiter, network } = wire
    const waiting = limiter.request(site, 2, (grant) =>
      carry(wire, {
        site,
        grant,
        perform,
        gate: network.isFaithful ? this.#enter : onlyOnce(this.#enter),
        hear: onAnswer,
      }),
    )
    if (!waiting) throw new Error(`too many wait for ${site}`)
  }

  #now(): number {
    return this.#options.wire.trusted.clock.now()
  }

  /** A row that cannot be read costs its instrument alone; those of instruments that are not traded here are left out. */
  #toReading(rows: readonly WireFill[]): Pick<FillsReading, 'fills' | 'unreadable'> {
    if (rows.length === 0) return NO_FILLS
    const fills: Fill[] = []
    const unreadable: UnreadableFill[] = []
    for (const row of rows) {
      const instrument = this.#options.settings.instruments.get(row.symbol)
      const fill = instrument && this.#toFill(instrument, row)
      if (typeof fill === 'string')
        unreadable.push({ tradeId: row.tradeId, symbol: row.symbol, problem: fill })
      else if (fill) fills.push(fill)
    }
    return { fills: fills.sort(byTime), ...(unreadable.length > 0 ? { unreadable } : {}) }
  }

  /** The exchange gives the same row again and again. */
  #toFill(instrument: Instrument, row: WireFill): Fill | string {
    const known = this.#fills.get(row)
    if (known) return known
    const fill = toFill(instrument, this.#options.settings.positionMode, row)
    if (typeof fill !== 'string') this.#fills.set(row, fill)
    return fill
  }
}

const NO_FILLS: Pick<FillsReading, 'fills'> = { fills: [] }

/** A trade that comes on two pages counts as it came last, where it came first. */
function joinPages(before: readonly WireFill[], page: readonly WireFill[]): readonly WireFill[] {
  if (before.length === 0) return page
  return [...new Map([...before, ...page].map((row) => [row.tradeId, row])).values()]
}

/** As the exchange's client answers it. */
function unreadableRow(message: string, receivedAt: number): Answer<never> {
  return { kind: 'unknown', cause: 'unreadableRow', code: SUCCESS_CODE, message, status: 200, receivedAt }
}

/** An answer that comes twice would begin two readings. */
function onlyOnce<Value>(hear: (value: Value) => void): (value: Value) => void {
  let isHeard = false
  return (value) => {
    if (isHeard) return
    isHeard = true
    hear(value)
  }
}

function byTime(one: Fill, other: Fill): number {
  return one.filledAt - other.filledAt || (one.tradeId < other.tradeId ? -1 : 1)
}
