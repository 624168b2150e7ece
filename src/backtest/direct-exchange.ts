import { DELIVERY_STATES, TICKER_COLUMNS, type TickerTable } from '../domain/ticker-table.ts'
import { type ResponseOf } from '../protocol/endpoints.ts'
import { batchPlaceOrder } from '../protocol/futures/batch-place-order.ts'
import { cancelAllOrders } from '../protocol/futures/cancel-all-orders.ts'
import { type WirePosition } from '../protocol/futures/single-position.ts'
import { type BatchResult } from '../protocol/values.ts'
import { type ExchangeCore } from '../simulator/core/exchange-core.ts'
import { NOBODY } from '../simulator/handlers.ts'
import { type Reply } from '../simulator/core/reply.ts'

/** The one account. */
export const UID = '1'
const PRODUCT_TYPE = 'USDT-FUTURES'
export const MARGIN_COIN = 'USDT'

export interface PlacedBatch {
  readonly body: string
  /** Unix ms, exchange clock as the client knew it when it signed. */
  readonly signedAt: number
  /** Somebody on the way has sent it a second time. */
  readonly isCopy: boolean
}

export interface FillsQuery {
  readonly startTime: string
  readonly limit: string
  readonly idLessThan?: string
}

type FillsPage = ResponseOf<'orderFills'>
type WireTicker = ResponseOf<'tickers'>[number]

/** The simulated exchange as requests meet it, without a wire: bodies in, replies out. */
export interface SimulatedExchange {
  placeBatch(batch: PlacedBatch): Reply<BatchResult>
  cancelAll(body: string, signedAt: number): Reply<BatchResult>
  fillsPage(query: FillsQuery): Reply<FillsPage>
  position(symbol: string): Reply<WirePosition[] | null>
  /** Fills a table with the tickers of now. */
  readTickers(table: TickerTable): void
}

/** The simulator's core, called directly. */
export class DirectExchange implements SimulatedExchange {
  readonly #core: ExchangeCore
  readonly #now: () => number

  /** @param now Unix ms, exchange clock. */
  constructor(core: ExchangeCore, now: () => number) {
    this.#core = core
    this.#now = now
  }

  placeBatch({ body }: PlacedBatch): Reply<BatchResult> {
    const request = batchPlaceOrder.request.parse(JSON.parse(body))
    return this.#core.answer('batchPlaceOrder', { uid: UID }, request, this.#now())
  }

  cancelAll(body: string): Reply<BatchResult> {
    const request = cancelAllOrders.request.parse(JSON.parse(body))
    return this.#core.answer('cancelAllOrders', { uid: UID }, request, this.#now())
  }

  fillsPage(query: FillsQuery): Reply<FillsPage> {
    return this.#core.answer('orderFills', { uid: UID }, { productType: PRODUCT_TYPE, ...query }, this.#now())
  }

  position(symbol: string): Reply<WirePosition[] | null> {
    const request = { productType: PRODUCT_TYPE, symbol, marginCoin: MARGIN_COIN } as const
    return this.#core.answer('singlePosition', { uid: UID }, request, this.#now())
  }

  readTickers(table: TickerTable): void {
    table.clear()
    for (const ticker of this.tickers()) addTicker(table, ticker)
  }

  tickers(): readonly WireTicker[] {
    const reply = this.#core.answer('tickers', NOBODY, { productType: PRODUCT_TYPE }, this.#now())
    return reply.ok ? reply.data : []
  }
}

/** @param deliveryStatus What is shown of it; default what the ticker says. */
export function addTicker(
  table: TickerTable,
  ticker: WireTicker,
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
