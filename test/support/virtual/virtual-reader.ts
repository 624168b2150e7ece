import { type Answer } from '../../../src/domain/answer.ts'
import { type Instrument, type PositionMode } from '../../../src/domain/instrument.ts'
import { type Fill } from '../../../src/domain/fill.ts'
import { type PositionRow } from '../../../src/domain/position.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { toFill } from '../../../src/exchange/readers/wire-fill.ts'
import { parseOnGrid } from '../../../src/lib/grid.ts'
import { type WireFill } from '../../../src/protocol/futures/order-fills.ts'
import { type WirePosition } from '../../../src/protocol/futures/single-position.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { callOf, type VirtualGround } from './virtual-ground.ts'
import { type VirtualNetwork } from './virtual-network.ts'

export interface VirtualReaderOptions {
  readonly ground: VirtualGround
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly positionMode: PositionMode
  readonly instruments: ReadonlyMap<string, Instrument>
  /** Fills a page: small, so that pages race with fills. */
  readonly pageFills: number
}

/** Reads fills and positions as the daemon's account reader does: one read of a kind at a time. */
export class VirtualReader {
  readonly #options: VirtualReaderOptions
  readonly #reading = new Set<string>()
  readonly #wanted = new Map<string, () => void>()
  readonly #fills = new WeakMap<WireFill, Fill>()
  #fillsSince = Number.POSITIVE_INFINITY

  constructor(options: VirtualReaderOptions) {
    this.#options = options
  }

  readFills(sinceAt: number): void {
    this.#fillsSince = Math.min(this.#fillsSince, sinceAt)
    this.#once('fills', () => {
      const since = this.#fillsSince
      this.#fillsSince = Number.POSITIVE_INFINITY
      this.#readPage({ sinceAt: since, requestedAt: this.#options.ground.clock.now(), rows: new Map() })
    })
  }

  readPosition(symbol: string): void {
    const name = `position ${symbol}`
    this.#once(name, () => {
      const { network, exchange, ground } = this.#options
      const { limiter, clock, enter } = ground
      const requestedAt = clock.now()
      limiter.request('singlePosition', 2, (grant) => {
        grant.sent()
        network.send({
          ...callOf(ground),
          site: 'singlePosition',
          perform: () => exchange.position(symbol),
          hear: onlyOnce((answer) =>
            enter(() => {
              grant.over(answer)
              this.#takePosition(symbol, requestedAt, answer)
            }),
          ),
        })
      })
    })
  }

  #takePosition(symbol: string, requestedAt: number, answer: Answer<WirePosition[] | null>): void {
    const name = `position ${symbol}`
    if (answer.kind !== 'accepted') return this.#fail(name, answer.kind)
    const rows = (answer.data ?? []).map((row) => this.#toRow(symbol, row))
    const isSilent = answer.data === null
    const exchangeTime = answer.requestTime ?? 0
    this.#end(name, { kind: 'positionRead', reading: { symbol, rows, isSilent, requestedAt, exchangeTime } })
  }

  #takePage(read: FillsRead, answer: Answer<{ readonly fillList: readonly WireFill[] }>): void {
    if (answer.kind !== 'accepted') return this.#fail('fills', answer.kind)
    const { fillList } = answer.data
    for (const row of fillList) read.rows.set(row.tradeId, row)
    const exchangeTime = read.exchangeTime ?? answer.requestTime ?? 0
    const last = fillList.at(-1)
    if (last !== undefined && fillList.length === this.#options.pageFills) {
      return this.#readPage({ ...read, exchangeTime, idLessThan: last.tradeId })
    }
    const { requestedAt, sinceAt } = read
    const fills = [...read.rows.values()].map((row) => this.#toFill(row)).sort(byTime)
    this.#end('fills', { kind: 'fillsRead', reading: { fills, sinceAt, requestedAt, exchangeTime } })
  }

  #fail(what: string, reason: string): void {
    this.#end(what, { kind: 'readFailed', what, reason })
  }

  #readPage(read: FillsRead): void {
    const { network, exchange, ground, pageFills } = this.#options
    const { limiter, enter } = ground
    const { idLessThan, sinceAt } = read
    limiter.request('orderFills', 2, (grant) => {
      grant.sent()
      network.send({
        ...callOf(ground),
        site: 'orderFills',
        perform: () =>
          exchange.fillsPage({
            startTime: String(Math.floor(sinceAt)),
            limit: String(pageFills),
            ...(idLessThan === undefined ? {} : { idLessThan }),
          }),
        hear: onlyOnce((answer) =>
          enter(() => {
            grant.over(answer)
            this.#takePage(read, answer)
          }),
        ),
      })
    })
  }

  /** The exchange gives the same row again and again. */
  #toFill(row: WireFill): Fill {
    const known = this.#fills.get(row)
    if (known) return known
    const { instruments, positionMode } = this.#options
    const instrument = instruments.get(row.symbol)
    const fill = instrument && toFill(instrument, positionMode, row)
    if (fill === undefined || typeof fill === 'string') throw new Error(`an unreadable fill: ${fill}`)
    this.#fills.set(row, fill)
    return fill
  }

  #toRow(symbol: string, row: WirePosition): PositionRow {
    const instrument = this.#options.instruments.get(symbol)
    return {
      holdSide: row.holdSide,
      lots: (instrument && parseOnGrid(instrument.lot, row.total)) ?? Number.NaN,
      openPriceAvg: Number(row.openPriceAvg),
      unrealisedProfit: row.unrealizedPL ?? '0',
      fundingFee: row.totalFee ?? '',
      markPrice: Number(row.markPrice),
      liquidationPrice: Number(row.liquidationPrice),
      positionMode: row.posMode === 'hedge_mode' ? 'hedge_mode' : 'one_way_mode',
    }
  }

  #once(name: string, read: () => void): void {
    if (this.#reading.has(name)) {
      this.#wanted.set(name, read)
      return
    }
    this.#reading.add(name)
    read()
  }

  #end(name: string, event: EngineEvent): void {
    // What is asked for meanwhile is read afterwards.
    this.#options.ground.dispatch(event)
    this.#reading.delete(name)
    const next = this.#wanted.get(name)
    this.#wanted.delete(name)
    if (next) this.#once(name, next)
  }
}

/** An answer that comes twice would begin two readings. */
export function onlyOnce<Value>(hear: (value: Value) => void): (value: Value) => void {
  let isHeard = false
  return (value) => {
    if (isHeard) return
    isHeard = true
    hear(value)
  }
}

interface FillsRead {
  readonly sinceAt: number
  readonly requestedAt: number
  readonly rows: Map<string, WireFill>
  readonly idLessThan?: string
  readonly exchangeTime?: number
}

function byTime(one: Fill, other: Fill): number {
  return one.filledAt - other.filledAt || (one.tradeId < other.tradeId ? -1 : 1)
}
