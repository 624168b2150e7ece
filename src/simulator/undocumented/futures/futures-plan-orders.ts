import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type Account, type CoreState } from '../../futures/core-state.ts'
import { priceText, sizeText } from '../../futures/instruments/instruments.ts'
import { orderIdText, sequenceOfId, wireSide } from '../../futures/orders/order.ts'
import { type PlanOrder } from '../../futures/plans/plan-order.ts'
import { endPlanOrder } from '../../futures/plans/plan-orders.ts'
import { refusals } from '../../futures/refusals.ts'
import { accept, type Refusal } from '../../shared/reply.ts'
import { historyPage } from '../../shared/history-page.ts'
import { exitPrices, pendingExits, removeExit, toExitRow } from './futures-exits.ts'
import { isOfAsked } from './listed-symbols.ts'
import { type OrderName } from '../undocumented-row.ts'

interface PlanQuery extends OrderName {
  readonly productType: string
  /** `normal_plan`, `track_plan`, or `profit_loss` for the exits of positions; of others nothing is pending. */
  readonly planType: string
  readonly symbol?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
}

interface CancelPlansRequest extends OrderName {
  readonly productType: string
  readonly symbol?: string | undefined
  readonly planType?: string | undefined
  readonly orderIdList?: readonly OrderName[] | undefined
}

const PAGE_MAX = 100

/** Trigger orders that have not triggered, newest first; or the exits of positions. */
export function futuresPlansPending(state: CoreState, { uid }: AccountRef, query: PlanQuery) {
  const account = accountOf(state, uid)
  const rows: readonly (ReturnType<typeof toPlanRow> | ReturnType<typeof toExitRow>)[] =
    query.planType === 'profit_loss' ? exitRows(state, account, query) : planRows(state, account, query)
  const page = historyPage(rows, {
    idOf: ({ orderId }) => orderId,
    idLessThan: query.idLessThan,
    limit: Math.min(PAGE_MAX, Number(query.limit ?? PAGE_MAX)),
    accepts: ({ orderId, clientOid }) =>
      (!query.orderId || orderId === query.orderId) && (!query.clientOid || clientOid === query.clientOid),
  })
  return accept({ entrustedList: page, endId: page.at(-1)?.orderId ?? '' })
}

/** Oldest first. */
function planRows(state: CoreState, account: Account, query: PlanQuery) {
  return pendingPlans(state, account, query)
    .filter(({ planType }) => planType === query.planType)
    .map((plan) => toPlanRow(state, account, plan))
}

/** By id, which is not by age: stop-losses have the higher ones. */
function exitRows(state: CoreState, account: Account, query: PlanQuery) {
  return pendingExits(state, account, query)
    .map((exit) => toExitRow(state, account, exit))
    .sort((a, b) => (a.orderId < b.orderId ? -1 : 1))
}

/**
 * Cancels the trigger orders and exits of a list; without one all trigger orders of a product type, or of one
 * symbol of it. Exits go by their ids alone: who cancels all orders does not mean to lose the stop-losses.
 */
export function cancelFuturesPlans(state: CoreState, { uid }: AccountRef, request: CancelPlansRequest) {
  const account = accountOf(state, uid)
  const pending = pendingPlans(state, account, request)
  const { orderIdList, planType } = request
  if (orderIdList === undefined) {
    const doomed = pending.filter((plan) => planType === undefined || plan.planType === planType)
    for (const plan of doomed) endPlanOrder(state, plan, 'cancelled')
    return accept({ successList: doomed.map(toReference), failureList: [] })
  }
  const successList: ReturnType<typeof toReference>[] = []
  const failureList: ReturnType<typeof toFailure>[] = []
  for (const name of orderIdList) {
    const exit = pendingExits(state, account, request).find(({ orderId }) => orderId === name.orderId)
    const plan = pending.find((candidate) => candidate.status === 'pending' && isNamed(candidate, name))
    if (exit !== undefined) {
      removeExit(state, exit)
      successList.push({ orderId: exit.orderId, clientOid: exit.orderId })
    } else if (plan !== undefined) {
      endPlanOrder(state, plan, 'cancelled')
      successList.push(toReference(plan))
    } else failureList.push(toFailure(name, refusals.planOrderUnknown()))
  }
  return accept({ successList, failureList })
}

function pendingPlans(
  state: CoreState,
  account: Account,
  asked: { readonly productType: string; readonly symbol?: string | undefined },
): PlanOrder[] {
  return [...account.planOrders.values()]
    .filter(({ status }) => status === 'pending')
    .filter(isOfAsked(state, asked))
}

/** When both ids are given, orderId prevails. */
function isNamed(plan: PlanOrder, { orderId, clientOid }: OrderName): boolean {
  if (orderId !== undefined && orderId !== '') return sequenceOfId('11', orderId) === plan.sequence
  return clientOid === plan.clientOid
}

function toReference({ sequence, clientOid }: PlanOrder) {
  return { orderId: orderIdText(sequence), clientOid }
}

function toFailure({ orderId = '', clientOid = '' }: OrderName, { code, message }: Refusal) {
  return { orderId, clientOid, errorMsg: message, errorCode: code }
}

function toPlanRow(state: CoreState, account: Account, plan: PlanOrder) {
  const { instrument } = symbolOf(state, plan.symbol)
  const price = plan.priceTicks === 0 ? '' : priceText(instrument, plan.priceTicks)
  return {
    planType: plan.planType,
    symbol: plan.symbol,
    size: sizeText(instrument, plan.lots),
    ...toReference(plan),
    price,
    executePrice: price,
    callbackRatio: plan.callbackPercent ?? '',
    triggerPrice: priceText(instrument, plan.triggerTicks),
    triggerType: plan.triggerType,
    planStatus: 'not_trigger',
    side: wireSide(plan.slot, plan.direction),
    posSide: plan.slot,
    marginCoin: instrument.marginCoin,
    marginMode: plan.marginMode,
    enterPointSource: 'API',
    tradeSide: plan.action === 'net' ? '' : plan.action,
    posMode: account.setup.positionMode,
    orderType: plan.orderType,
    orderSource: 'normal',
    cTime: String(plan.createdAt),
    uTime: String(plan.updatedAt),
    ...exitPrices('stopSurplus', instrument, plan.takeProfit),
    ...exitPrices('stopLoss', instrument, plan.stopLoss),
  }
}
