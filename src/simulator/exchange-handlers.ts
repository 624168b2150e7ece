import { type ConvertService } from './convert/convert-service.ts'
import { type CopyService } from './copy/copy-service.ts'
import { type CoreState } from './core/core-state.ts'
import { type ExchangeCore } from './core/exchange-core.ts'
import { accept } from './core/reply.ts'
import { type GatewayService } from './gateway/gateway-service.ts'
import { type MarginService } from './margin/margin-service.ts'
import {
  setFuturesLeverage,
  setFuturesMarginMode,
  setFuturesPositionMode,
} from './undocumented/account-modes.ts'
import { closeFuturesPositions } from './undocumented/close-positions.ts'
import { coinInformation } from './undocumented/coin-information.ts'
import { futuresAccount, futuresAccounts, futuresAllPositions } from './undocumented/futures-account.ts'
import { futuresCandles } from './undocumented/futures-candles.ts'
import { futuresContracts } from './undocumented/futures-contracts.ts'
import {
  futuresCancelOrder,
  futuresCancelOrders,
  futuresOrderDetail,
  futuresOrdersHistory,
  futuresOrdersPending,
} from './undocumented/futures-orders.ts'
import { futuresCancelPlans, futuresPlansPending } from './undocumented/futures-plan-orders.ts'
import { marginCurrencyRows } from './undocumented/margin-currencies.ts'
import { placeOneOrder, toPlanRequest } from './undocumented/place-one.ts'
import { futuresPrice, futuresTicker, spotTickers } from './undocumented/prices.ts'
import { type SpotService } from './spot/spot-service.ts'
import { type SubaccountService } from './subaccounts/subaccount-service.ts'
import { type Handlers } from './wire/handlers.ts'

/** Every service of the exchange but futures, which is the core. */
export interface AccountServices {
  readonly spot: SpotService
  readonly margin: MarginService
  readonly convert: ConvertService
  readonly copy: CopyService
  readonly subaccounts: SubaccountService
  readonly gateway: GatewayService
}

/** Carries out a service's request: the market and every service are played up to `now` first, all is stored after. */
export type ServeRequest = <Result>(now: number, handle: (state: CoreState) => Result) => Result

/** What answers each row of the tables, in their order. */
export function buildHandlers(core: ExchangeCore, services: AccountServices, serve: ServeRequest): Handlers {
  return {
    ...futuresHandlers(core),
    ...spotHandlers(services, serve),
    ...marginHandlers(services, serve),
    ...otherHandlers(services, serve),
    ...marketHandlers(core),
    ...undocumentedFutures(core),
  }
}

function futuresHandlers(core: ExchangeCore) {
  return {
    batchPlaceOrder: (request, { account, now }) => core.batchPlaceOrder(account, request, now),
    cancelAllOrders: (request, { account, now }) => core.cancelAllOrders(account, request, now),
    modifyPlanOrder: (request, { account, now }) => core.modifyPlanOrder(account, request, now),
    orderFills: (request, { account, now }) => core.orderFills(account, request, now),
    singlePosition: (request, { account, now }) => core.singlePosition(account, request, now),
    tickers: (request, { now }) => core.tickers(request, now),
    longShortRatio: (request, { now }) => core.longShortRatio(request, now),
  } satisfies Partial<Handlers>
}

/** Public and private alike: the market must be where the request finds it. */
function spotHandlers({ spot, convert }: AccountServices, serve: ServeRequest) {
  return {
    spotHistoryOrders: (request, { account, now }) =>
      serve(now, () => spot.spotHistoryOrders(account, request, now)),
    spotOrderInfo: (request, { account, now }) => serve(now, () => spot.spotOrderInfo(account, request, now)),
    spotSymbols: (request, { now }) => serve(now, () => spot.spotSymbols(request, now)),
    spotWithdrawal: (request, { account, now }) =>
      serve(now, () => spot.spotWithdrawal(account, request, now)),
    spotPlaceOrder: (request, { account, now }) =>
      serve(now, () => spot.spotPlaceOrder(account, request, now)),
    spotCancelOrder: (request, { account, now }) =>
      serve(now, () => spot.spotCancelOrder(account, request, now)),
    spotUnfilledOrders: (request, { account, now }) =>
      serve(now, () => spot.spotUnfilledOrders(account, request, now)),
    spotAssets: (request, { account, now }) => serve(now, () => spot.spotAssets(account, request, now)),
    spotTickers: (request, { now }) =>
      serve(now, (state) => spotTickers(state, spot.spotSymbols(request, now))),
    convertRecords: (request, { account, now }) =>
      serve(now, () => convert.convertRecords(account, request, now)),
  } satisfies Partial<Handlers>
}

function marginHandlers({ margin }: AccountServices, serve: ServeRequest) {
  return {
    isolatedOpenOrders: (request, { account, now }) =>
      serve(now, () => margin.isolatedOpenOrders(account, request, now)),
    crossedOpenOrders: (request, { account, now }) =>
      serve(now, () => margin.crossedOpenOrders(account, request, now)),
    isolatedLiquidationOrders: (request, { account, now }) =>
      serve(now, () => margin.isolatedLiquidationOrders(account, request, now)),
    crossedLiquidationOrders: (request, { account, now }) =>
      serve(now, () => margin.crossedLiquidationOrders(account, request, now)),
    isolatedBatchCancelOrders: (request, { account, now }) =>
      serve(now, () => margin.isolatedBatchCancelOrders(account, request, now)),
    isolatedPlaceOrder: (request, { account, now }) =>
      serve(now, () => margin.placeMarginOrder(account, { ...request, mode: 'isolated' }, now)),
    crossedPlaceOrder: (request, { account, now }) =>
      serve(now, () => margin.placeMarginOrder(account, { ...request, mode: 'crossed' }, now)),
    isolatedCancelOrder: (request, { account, now }) =>
      serve(now, () => margin.cancelMarginOrder(account, { ...request, mode: 'isolated' }, now)),
    crossedCancelOrder: (request, { account, now }) =>
      serve(now, () => margin.cancelMarginOrder(account, { ...request, mode: 'crossed' }, now)),
  } satisfies Partial<Handlers>
}

function otherHandlers({ copy, subaccounts, gateway }: AccountServices, serve: ServeRequest) {
  return {
    copyOrderTotalDetail: (request, { account, now }) =>
      serve(now, () => copy.copyOrderTotalDetail(account, request, now)),
    copyConfigSettingSymbols: (request, { account, now }) =>
      serve(now, () => copy.copyConfigSettingSymbols(account, request, now)),
    createVirtualSubaccounts: (request, { account, now }) =>
      serve(now, () => subaccounts.createVirtualSubaccounts(account, request, now)),
    gatewayTest: (request, { account, now }) => gateway.gatewayTest(account, request, now),
  } satisfies Partial<Handlers>
}

function marketHandlers(core: ExchangeCore) {
  return {
    serverTime: (_request, { now }) => accept({ serverTime: String(now) }),
    contracts: (request, { now }) => core.carryOut(now, (state) => futuresContracts(state, request)),
    candles: (request, { now }) => core.carryOut(now, (state) => futuresCandles(state, request)),
    historyCandles: (request, { now }) => core.carryOut(now, (state) => futuresCandles(state, request)),
    symbolTicker: (request, { now }) => core.carryOut(now, (state) => futuresTicker(state, request)),
    symbolPrice: (request, { now }) => core.carryOut(now, (state) => futuresPrice(state, request)),
    spotCoins: ({ coin }) => accept(coinInformation(coin)),
    marginCurrencies: () => accept(marginCurrencyRows()),
  } satisfies Partial<Handlers>
}

function undocumentedFutures(core: ExchangeCore) {
  return {
    account: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresAccount(state, uid, request)),
    accounts: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresAccounts(state, uid, request)),
    allPositions: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresAllPositions(state, uid, request)),
    setLeverage: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => setFuturesLeverage(state, uid, request)),
    setMarginMode: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => setFuturesMarginMode(state, uid, request)),
    setPositionMode: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => setFuturesPositionMode(state, uid, request)),
    placeOrder: (request, { account, now }) => placeOneOrder(core, account, { request, now }),
    cancelOrder: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresCancelOrder(state, uid, request)),
    batchCancelOrders: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresCancelOrders(state, uid, request)),
    orderDetail: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresOrderDetail(state, uid, request)),
    ordersPending: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresOrdersPending(state, uid, request)),
    ordersHistory: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresOrdersHistory(state, uid, request)),
    closePositions: (request, { account, now }) => closeFuturesPositions(core, account, { request, now }),
    placePlanOrder: (request, { account, now }) => core.placePlanOrder(account, toPlanRequest(request), now),
    ordersPlanPending: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresPlansPending(state, uid, request)),
    cancelPlanOrder: (request, { account: { uid }, now }) =>
      core.carryOut(now, (state) => futuresCancelPlans(state, uid, request)),
  } satisfies Partial<Handlers>
}
