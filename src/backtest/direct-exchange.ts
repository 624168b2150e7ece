import type { ContractRules } from '../domain/contract-rules.ts'
import { DELIVERY_STATES, TICKER_COLUMNS, type TickerTable } from '../domain/ticker-table.ts'
import type { ReadPosition } from '../exchange/readers/position-reader.ts'
import type { ResponseOf } from '../protocol/endpoints.ts'
import { batchPlaceOrder } from '../protocol/futures/batch-place-order.ts'
import { cancelAllOrders } from '../protocol/futures/cancel-all-orders.ts'
import { modifyTpslOrder } from '../protocol/beyond/modify-tpsl-order.ts'
import type { BatchResult } from '../protocol/values.ts'
import type { ProductType } from '../domain/instrument.ts'
import {
  isTickerShown,
  listTickers,
  type TickerNumbers,
  toTickerNumbers,
} from '../simulator/futures/instruments/ticker-view.ts'
import { readHeldNumbers, readHeldPositions } from '../simulator/futures/positions/position-view.ts'
import { accountOf, type CoreState } from '../simulator/futures/core-state.ts'
import type { ExchangeCore } from '../simulator/futures/exchange-core.ts'
import { NOBODY } from '../simulator/shared/handlers.ts'
import { accept, type Reply } from '../simulator/shared/reply.ts'
import { planOrderRows } from '../simulator/undocumented/plan-orders.ts'
import type { KeptRows, TickerRow } from './kept-rows.ts'

export const UID = '1'
export const MARGIN_COIN = 'USDT'
const ACCOUNT = { uid: UID } as const

export interface PlacedBatch {
  readonly body: string
  /** Exchange clock as the client knew it. */
  readonly signedAt: number
  readonly isCopy: boolean
}

/** A page lists the newest fills first. */
export interface FillsPageQuery {
  /** Exchange clock. */
  readonly sinceAt: number
  readonly limit: number
  readonly idLessThan?: string | undefined
}

export type FillsPage = ResponseOf<'orderFills'>

export interface SimulatedExchange {
  placeBatch(batch: PlacedBatch): Reply<BatchResult>
  cancelAll(body: string, signedAt: number): Reply<BatchResult>
  fillsPage(query: FillsPageQuery): Reply<FillsPage>
  /** False if no fill is newer. Absent: only a page tells. */
  hasFillsSince?(sinceAt: number): boolean
  position(symbol: string): Reply<readonly ReadPosition[] | null>
  /** Absent: exits at the exchange are not simulated. */
  exitsListed?(symbol: string): Reply<ResponseOf<'ordersPlanPending'>>
  moveExit?(body: string): Reply<ResponseOf<'modifyTpslOrder'>>
  readTickers(table: TickerTable): void
  /** The contracts that were known with the last tickers; absent: none were kept. */
  readonly contracts?: ReadonlyMap<string, ContractRules> | undefined
}

/**
 * Decides which instruments are listed, and how old their prices are (`viewOf` in
 * played-prices.ts).
 */
export interface TickerView {
  isListed(symbol: string, at: number): boolean
  /** Unix ms when a price shown at `shownAt` was last current. */
  currentAt(symbol: string, shownAt: number, now: number): number
}

export interface DirectExchangeOptions {
  readonly productType?: ProductType
  readonly marginCoin?: string
  /** Default: all instruments are listed, and each price is new. */
  readonly view?: TickerView
  readonly keptRows?: Pick<KeptRows, 'fill' | 'contracts' | 'market'> | undefined
  /** Positions are passed as numbers, the same as the client would parse from texts. */
  readonly statesNumbers?: boolean
  /** Called after the market was played, before any answer shows it. */
  readonly onPlayed?: () => void
}

export class DirectExchange implements SimulatedExchange {
  readonly #core: ExchangeCore
  readonly #now: () => number
  readonly #options: DirectExchangeOptions
  readonly #productType: ProductType

  /** @param now exchange clock */
  constructor(core: ExchangeCore, now: () => number, options: DirectExchangeOptions = {}) {
    this.#core = core
    this.#now = now
    this.#options = options
    this.#productType = options.productType ?? 'USDT-FUTURES'
  }

  get contracts(): ReadonlyMap<string, ContractRules> | undefined {
    return this.#options.keptRows?.contracts
  }

  placeBatch({ body }: PlacedBatch): Reply<BatchResult> {
    const request = batchPlaceOrder.request.parse(JSON.parse(body))
    return this.#played(this.#core.answer('batchPlaceOrder', ACCOUNT, request, this.#now()))
  }

  cancelAll(body: string): Reply<BatchResult> {
    const request = cancelAllOrders.request.parse(JSON.parse(body))
    return this.#played(this.#core.answer('cancelAllOrders', ACCOUNT, request, this.#now()))
  }

  fillsPage({ sinceAt, limit, idLessThan }: FillsPageQuery): Reply<FillsPage> {
    const request = {
      productType: this.#productType,
      startTime: String(sinceAt),
      limit: String(limit),
      ...(idLessThan === undefined ? {} : { idLessThan }),
    }
    return this.#played(this.#core.answer('orderFills', ACCOUNT, request, this.#now()))
  }

  hasFillsSince(sinceAt: number): boolean {
    const newestAt = this.#core.carryOut(
      this.#now(),
      (state) => accountOf(state, UID).fills.at(-1)?.at ?? 0,
      ACCOUNT,
    )
    this.#options.onPlayed?.()
    return newestAt >= sinceAt
  }

  position(symbol: string): Reply<readonly ReadPosition[] | null> {
    const read = this.#options.statesNumbers === true ? readHeldNumbers : readHeldPositions
    const rows = this.#core.carryOut(
      this.#now(),
      (state): readonly ReadPosition[] => read(state, ACCOUNT, symbol),
      ACCOUNT,
    )
    return this.#played(accept(rows))
  }

  exitsListed(symbol: string): Reply<ResponseOf<'ordersPlanPending'>> {
    const query = { planType: 'profit_loss', productType: this.#productType, symbol } as const
    const page = this.#core.carryOut(
      this.#now(),
      (state) => planOrderRows.ordersPlanPending.answer(state, ACCOUNT, query),
      ACCOUNT,
    )
    return this.#played(page)
  }

  moveExit(body: string): Reply<ResponseOf<'modifyTpslOrder'>> {
    const request = modifyTpslOrder.request.parse(JSON.parse(body))
    const moved = this.#core.carryOut(
      this.#now(),
      (state) => planOrderRows.modifyTpslOrder.answer(state, ACCOUNT, request),
      ACCOUNT,
    )
    return this.#played(moved)
  }

  readTickers(table: TickerTable): void {
    const { keptRows, view } = this.#options
    const now = this.#now()
    table.clear()
    if (keptRows === undefined) {
      this.#core.carryOut(now, (state) => this.#putTickers(state, table))
      return this.#options.onPlayed?.()
    }
    const rows = this.#core.carryOut(now, (state) =>
      listTickers(state, this.#productType, toTickerNumbers),
    )
    this.#options.onPlayed?.()
    if (keptRows.fill(table, now, toMarketRows(rows, { view, now }))) table.market = keptRows.market
    else for (const ticker of rows) this.#putTicker(table, ticker, now)
  }

  #putTickers(state: CoreState, table: TickerTable): void {
    const now = this.#now()
    for (const symbol of state.symbols.values())
      if (isTickerShown(symbol, this.#productType))
        this.#putTicker(table, toTickerNumbers(state, symbol), now)
  }

  /** A loop over the names of columns would cost more than the figures themselves. */
  #putTicker(table: TickerTable, ticker: TickerNumbers, now: number): void {
    const { symbol, ts } = ticker
    const { view } = this.#options
    if (view?.isListed(symbol, now) === false) return
    const row = table.claimRow(symbol)
    const { columns } = table
    columns.lastPr[row] = ticker.lastPr
    columns.askPr[row] = ticker.askPr
    columns.bidPr[row] = ticker.bidPr
    columns.bidSz[row] = ticker.bidSz
    columns.askSz[row] = ticker.askSz
    columns.high24h[row] = ticker.high24h
    columns.low24h[row] = ticker.low24h
    columns.ts[row] = view ? view.currentAt(symbol, ts, now) : ts
    columns.change24h[row] = ticker.change24h
    columns.baseVolume[row] = ticker.baseVolume
    columns.quoteVolume[row] = ticker.quoteVolume
    columns.usdtVolume[row] = ticker.usdtVolume
    columns.openUtc[row] = ticker.openUtc
    columns.changeUtc24h[row] = ticker.changeUtc24h
    columns.indexPrice[row] = ticker.indexPrice
    columns.fundingRate[row] = ticker.fundingRate
    columns.holdingAmount[row] = ticker.holdingAmount
    columns.open24h[row] = ticker.open24h
    columns.deliveryStartTime[row] = ticker.deliveryStartTime
    columns.deliveryTime[row] = ticker.deliveryTime
    columns.deliveryStatus[row] = indexOfState(ticker.deliveryStatus)
  }

  tickers(): ResponseOf<'tickers'> {
    const request = { productType: this.#productType }
    const reply = this.#played(this.#core.answer('tickers', NOBODY, request, this.#now()))
    return reply.ok ? reply.data : []
  }

  #played<Data>(reply: Reply<Data>): Reply<Data> {
    this.#options.onPlayed?.()
    return reply
  }
}

function toMarketRows(
  tickers: readonly TickerNumbers[],
  { view, now }: { readonly view: TickerView | undefined; readonly now: number },
): ReadonlyMap<string, TickerRow | undefined> {
  return new Map(
    tickers.map((ticker) => {
      const { symbol, ts, deliveryStatus } = ticker
      if (view?.isListed(symbol, now) === false) return [symbol, undefined]
      const row = { ...ticker, deliveryStatus: indexOfState(deliveryStatus) }
      return [symbol, view ? { ...row, ts: view.currentAt(symbol, ts, now) } : row]
    }),
  )
}

export function addTicker(
  table: TickerTable,
  ticker: ResponseOf<'tickers'>[number],
  deliveryStatus: string | null | undefined = ticker.deliveryStatus,
): void {
  const row = table.claimRow(ticker.symbol)
  for (const column of TICKER_COLUMNS) {
    table.columns[column][row] =
      column === 'deliveryStatus' ? indexOfState(deliveryStatus) : toNumber(ticker[column])
  }
}

function toNumber(text: string | null | undefined): number {
  return text === null || text === undefined || text === '' ? Number.NaN : Number(text)
}

function indexOfState(text: string | null | undefined): number {
  const index = DELIVERY_STATES.findIndex((state) => state === text)
  return index < 0 ? Number.NaN : index
}
