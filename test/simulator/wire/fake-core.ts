import {
  type AccountRef,
  type ExchangeAccountSetup,
} from '../../../src/simulator/shared/account.ts'
import { accept, type Reply } from '../../../src/simulator/shared/reply.ts'
import { type ServedExchange } from '../../../src/simulator/wire/handle.ts'
import {
  type ServedName,
  type ServedRequestOf,
  type ServedResponseOf,
} from '../../../src/simulator/wire/served-rows.ts'

export const ALICE: ExchangeAccountSetup = {
  uid: '1001',
  label: 'alice',
  key: 'key-of-alice',
  secret: 'secret-of-alice',
  passphrase: 'passphrase-of-alice',
  positionMode: 'one_way_mode',
  role: 'ordinary',
  balances: { USDT: '10000' },
  gateway: { key: 'gateway-of-alice', secret: 'gateway-secret-of-alice', isWhitelisted: true },
}

export const CAROL: ExchangeAccountSetup = {
  ...ALICE,
  uid: '1003',
  label: 'carol',
  key: 'key-of-carol',
  role: 'copyTrader',
  gateway: { key: 'gateway-of-carol', secret: 'gateway-secret-of-carol', isWhitelisted: true },
}

/** An exchange that accepts everything, remembers what it was asked, and can be told to refuse or to break. */
export class FakeCore implements ServedExchange {
  readonly calls: {
    readonly name: string
    readonly uid: string | undefined
    readonly request: unknown
  }[] = []
  readonly advances: number[] = []
  refusal: { readonly code: string; readonly message: string } | undefined
  defect: Error | undefined
  tickerRows: ServedResponseOf<'tickers'> = [TICKER]
  readonly #accounts: readonly ExchangeAccountSetup[]

  constructor(accounts: readonly ExchangeAccountSetup[] = [ALICE, CAROL]) {
    this.#accounts = accounts
  }

  advance(now: number): void {
    this.advances.push(now)
  }

  accountByKey(apiKey: string): ExchangeAccountSetup | undefined {
    return this.#accounts.find(({ key }) => key === apiKey)
  }

  accountByGatewayKey(apiKey: string): ExchangeAccountSetup | undefined {
    return this.#accounts.find(({ gateway }) => gateway?.key === apiKey)
  }

  answer(name: ServedName, { uid }: AccountRef, request: unknown): Reply<unknown> {
    if (this.defect !== undefined) throw this.defect
    this.calls.push({ name, uid: uid === '' ? undefined : uid, request })
    if (this.refusal !== undefined) return { ok: false, ...this.refusal }
    if (name === 'tickers') return accept(this.tickerRows)
    return accept(name === 'batchPlaceOrder' ? acceptBatch(request as Batch) : (DATA[name] ?? []))
  }
}

const TICKER: ServedResponseOf<'tickers'>[number] = {
  symbol: 'BTCUSDT',
  lastPr: '60000.1',
  askPr: '60000.2',
  bidPr: '60000.1',
  bidSz: '1.2',
  askSz: '3.4',
  ts: '1700000000000',
}

type Batch = ServedRequestOf<'batchPlaceOrder'>

function acceptBatch({ orderList }: Batch): ServedResponseOf<'batchPlaceOrder'> {
  const successList = orderList.map(({ clientOid }, index) => ({ orderId: `9${index}`, clientOid }))
  return { successList, failureList: [] }
}

const REFERENCE = { orderId: '1', clientOid: 'a' }
const LISTS = { successList: [], failureList: [] }

/** What each row answers here, where that is no list. */
const DATA: { readonly [Name in ServedName]?: ServedResponseOf<Name> } = {
  cancelAllOrders: LISTS,
  modifyPlanOrder: REFERENCE,
  orderFills: { fillList: [], endId: '' },
  longShortRatio: [{ ts: '1700000000000', longShortRatio: '1.1' }],
  spotWithdrawal: REFERENCE,
  isolatedOpenOrders: { orderList: [] },
  crossedOpenOrders: { orderList: [] },
  isolatedLiquidationOrders: { resultList: [] },
  crossedLiquidationOrders: { resultList: [] },
  isolatedBatchCancelOrders: LISTS,
  copyOrderTotalDetail: {},
  copyConfigSettingSymbols: 'success',
  createVirtualSubaccounts: LISTS,
  gatewayTest: { uid: '1001' },
  serverTime: { serverTime: '1700000000000' },
  account: { marginCoin: 'USDT' },
  setLeverage: { symbol: 'BTCUSDT' },
  setMarginMode: { symbol: 'BTCUSDT' },
  setPositionMode: { posMode: 'hedge_mode' },
  placeOrder: REFERENCE,
  cancelOrder: REFERENCE,
  batchCancelOrders: LISTS,
  orderDetail: { symbol: 'BTCUSDT', orderId: '1' },
  ordersPending: { entrustedList: [] },
  placePlanOrder: REFERENCE,
  ordersPlanPending: { entrustedList: [] },
  modifyTpslOrder: REFERENCE,
  cancelPlanOrder: LISTS,
  spotPlaceOrder: REFERENCE,
  spotCancelOrder: REFERENCE,
  ordersHistory: { entrustedList: [] },
  closePositions: LISTS,
  isolatedCancelOrder: REFERENCE,
  crossedCancelOrder: REFERENCE,
  isolatedPlaceOrder: REFERENCE,
  crossedPlaceOrder: REFERENCE,
}
