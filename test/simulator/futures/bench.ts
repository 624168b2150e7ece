import { type ResponseOf } from '../../../src/protocol/endpoints.ts'
import { type BatchPlaceItem } from '../../../src/protocol/futures/batch-place-order.ts'
import { type WireFill } from '../../../src/protocol/futures/order-fills.ts'
import { type WirePosition } from '../../../src/protocol/futures/single-position.ts'
import { type ExchangeAccountSetup } from '../../../src/simulator/shared/account.ts'
import {
  createExchangeCore,
  type ExchangeCore,
} from '../../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  type ListedContract,
} from '../../../src/simulator/futures/instruments/instruments.ts'
import { type LedgerCoin } from '../../../src/simulator/futures/accounts/ledger-view.ts'
import { placePlanOrder } from '../../../src/simulator/futures/plans/plan-orders.ts'
import { type PlacePlanOrderRequest } from '../../../src/simulator/futures/plans/place-plan-request.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { type CoreSettings } from '../../../src/simulator/futures/settings.ts'
import { type Market } from '../../../src/simulator/market/market.ts'
import { ScriptedMarket } from './scripted-market.ts'

/** What batch-place and cancel-all answer. */
type BatchResult = ResponseOf<'batchPlaceOrder'>

export const START_AT = Date.UTC(2025, 5, 2, 6)
export const DELIVERY_AT = START_AT + 3_600_000

/** A quote in the words of a test: prices in quote coin, sizes in base coin. */
export interface QuoteText {
  readonly bid: number
  readonly ask: number
  readonly bidSize?: number
  readonly askSize?: number
  readonly last?: number
  readonly traded?: number
  /** On the way from the quote before; default the last price. */
  readonly low?: number
  readonly high?: number
  levelTicks?: number
  candle?: number
  /** Traded in the whole candle, base coin; default more than anybody takes. */
  candleSize?: number
}

export type ItemText = Partial<BatchPlaceItem> & Pick<BatchPlaceItem, 'side' | 'size'>

/** A core over a market that moves only when the test says so. BTCUSDT unless another symbol is named. */
export class Bench {
  readonly core: ExchangeCore
  readonly #market: ScriptedMarket
  #now = START_AT

  constructor(
    settings: Partial<CoreSettings> = {},
    accounts: readonly ExchangeAccountSetup[] = [oneWay, hedge],
    instruments: readonly ListedContract[] = benchInstruments,
    recorded: Pick<Market, 'endings' | 'funding'> = {},
  ) {
    this.#market = new ScriptedMarket(
      benchInstruments.map(({ symbol }) => symbol),
      recorded,
    )
    this.core = createExchangeCore({
      instruments,
      accounts,
      market: () => this.#market,
      settings: { fillModel: 'optimistic', ...settings },
      seed: 1,
    })
    for (const { symbol } of benchInstruments) this.quote({ bid: 60_000, ask: 60_000.1 }, symbol)
  }

  get now(): number {
    return this.#now
  }

  /** The market's next quote, 100 ms on. */
  quote(text: QuoteText, symbol = 'BTCUSDT'): void {
    this.#now += 100
    const { tickFloat, lotFloat } = instrumentOf(symbol)
    const ticks = (price: number) => Math.round(price / tickFloat)
    const lots = (size: number) => Math.round(size / lotFloat)
    this.#market.add(this.#now, symbol, {
      bidTicks: ticks(text.bid),
      askTicks: ticks(text.ask),
      bidLots: lots(text.bidSize ?? 1),
      askLots: lots(text.askSize ?? 1),
      lastTicks: ticks(text.last ?? text.bid),
      tradedLots: lots(text.traded ?? 0),
      ...(text.low !== undefined && { lowTicks: ticks(text.low) }),
      ...(text.high !== undefined && { highTicks: ticks(text.high) }),
      levelTicks: text.levelTicks ?? 1,
      candle: text.candle ?? 0,
      candleLots: lots(text.candleSize ?? 1_000_000),
    })
    this.core.advance(this.#now)
  }

  /** The same quote every second for a quarter of an hour: index and mark price arrive there. */
  settleAt(bid: number, symbol = 'BTCUSDT'): void {
    for (let second = 0; second < 900; second++) {
      this.#now += 900
      this.quote({ bid, ask: bid + instrumentOf(symbol).tickFloat }, symbol)
    }
  }

  wait(ms: number): void {
    this.#now += ms
    this.core.advance(this.#now)
  }

  place(
    uid: string,
    items: readonly ItemText[],
    options: { symbol?: string; marginMode?: 'isolated' | 'crossed' } = {},
  ): BatchResult {
    return dataOf(this.tryPlace(uid, items, options))
  }

  tryPlace(
    uid: string,
    items: readonly ItemText[],
    {
      symbol = 'BTCUSDT',
      marginMode = 'crossed',
    }: { symbol?: string; marginMode?: 'isolated' | 'crossed' } = {},
  ): Reply<BatchResult> {
    const { productType, marginCoin } = instrumentOf(symbol)
    const orderList = items.map(completeItem)
    return this.core.answer(
      'batchPlaceOrder',
      { uid },
      { symbol, productType, marginCoin, marginMode, orderList },
      this.#now,
    )
  }

  placePlan(
    uid: string,
    plan: Partial<PlacePlanOrderRequest>,
  ): Reply<{ orderId: string; clientOid: string }> {
    return this.core.carryOut(this.#now, (state) =>
      placePlanOrder(state, { uid }, { ...PLAN, ...plan }),
    )
  }

  cancelAll(uid: string, symbol = 'BTCUSDT'): Reply<BatchResult> {
    const { productType, marginCoin } = instrumentOf(symbol)
    return this.core.answer(
      'cancelAllOrders',
      { uid },
      { symbol, productType, marginCoin },
      this.#now,
    )
  }

  /** Oldest first. */
  fills(uid: string, symbol = 'BTCUSDT'): WireFill[] {
    const { productType } = instrumentOf(symbol)
    return dataOf(
      this.core.answer('orderFills', { uid }, { productType, symbol }, this.#now),
    ).fillList.reverse()
  }

  positions(uid: string, symbol = 'BTCUSDT'): WirePosition[] {
    const { productType, marginCoin } = instrumentOf(symbol)
    return (
      dataOf(
        this.core.answer('singlePosition', { uid }, { productType, symbol, marginCoin }, this.#now),
      ) ?? []
    )
  }

  coin(uid: string, marginCoin = 'USDT'): LedgerCoin {
    const found = this.core.ledger(uid).coins.find((coin) => coin.marginCoin === marginCoin)
    if (found === undefined) throw new Error(`account ${uid} has no ${marginCoin}`)
    return found
  }

  openOrders(uid: string): string[] {
    return this.core.ledger(uid).openOrders.map(({ clientOid }) => clientOid)
  }
}

/** price x size, scope: what a test compares fills by. */
export function fillTexts(fills: readonly WireFill[]): string[] {
  return fills.map(({ price, baseVolume, tradeScope }) => `${baseVolume} @ ${price} ${tradeScope}`)
}

export function failures(result: BatchResult): string[] {
  return result.failureList.map(({ errorCode, errorMsg }) => `${errorCode} ${errorMsg}`)
}

export function dataOf<Data>(reply: Reply<Data>): Data {
  if (!reply.ok) throw new Error(`${reply.code} ${reply.message}`)
  return reply.data
}

export function limit(
  side: 'buy' | 'sell',
  size: string,
  price: string,
  more: Partial<BatchPlaceItem> = {},
): ItemText {
  return { side, size, price, orderType: 'limit', force: 'gtc', ...more }
}

export function market(
  side: 'buy' | 'sell',
  size: string,
  more: Partial<BatchPlaceItem> = {},
): ItemText {
  return { side, size, orderType: 'market', ...more }
}

const oneWay = openAccount('1', 'one_way_mode')
const hedge = openAccount('2', 'hedge_mode')

export function openAccount(
  uid: string,
  positionMode: ExchangeAccountSetup['positionMode'],
  more: Partial<ExchangeAccountSetup> = {},
): ExchangeAccountSetup {
  return {
    uid,
    label: positionMode,
    key: `key-${uid}`,
    secret: 'secret',
    passphrase: 'passphrase',
    positionMode,
    role: 'ordinary',
    balances: { USDT: '10000', BTC: '1' },
    leverage: 10,
    ...more,
  }
}

export const benchInstruments = buildInstruments(DELIVERY_AT).filter(({ marginCoin }) =>
  ['USDT', 'BTC'].includes(marginCoin),
)

export const DELIVERED =
  benchInstruments.find(({ delivery }) => delivery !== undefined)?.symbol ?? ''

function instrumentOf(symbol: string): ListedContract {
  const found = benchInstruments.find((instrument) => instrument.symbol === symbol)
  if (found === undefined) throw new Error(`no instrument ${symbol}`)
  return found
}

function completeItem(item: ItemText): BatchPlaceItem {
  return { orderType: 'market', ...item }
}

const PLAN: PlacePlanOrderRequest = {
  planType: 'normal_plan',
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginMode: 'crossed',
  marginCoin: 'USDT',
  size: '0.01',
  triggerPrice: '61000',
  triggerType: 'fill_price',
  side: 'buy',
  orderType: 'market',
}
