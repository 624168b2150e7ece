import { accountOf, symbolOf, type Account, type CoreState } from '../core/core-state.ts'
import { priceText, sizeText, type Instrument } from '../core/instruments.ts'
import { orderIdText, sequenceOfId, wireSide, type PositionTrigger } from '../core/order.ts'
import { type PlanOrder } from '../core/plan-order.ts'
import { endPlanOrder } from '../core/plan-orders.ts'
import { refusals } from '../core/refusals.ts'
import { accept, type Refusal } from '../core/reply.ts'
import { pendingExits, removeExit, toExitRow } from './futures-exits.ts'
import { type OrderName } from './futures-orders.ts'

export interface PlanQuery extends OrderName {
  readonly productType: string
  /** `normal_plan`, `track_plan`, or `profit_loss` for the exits of positions; of others nothing is pending. */
  readonly planType: string
  readonly symbol?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
}

export interface CancelPlansRequest extends OrderName {
  readonly productType: string
  readonly symbol?: string | undefined
  readonly planType?: string | undefined
  readonly orderIdList?: readonly OrderName[] | undefined
}

const PAGE_MAX = 100

/** Trigger orders that have not triggered, newest first; or the exits of positions. */
export function futuresPlansPending(state: CoreState, uid: string, query: PlanQuery) {
  const account = accountOf(state, uid)
  const limit = Math.min(PAGE_MAX, Number(query.limit ?? PAGE_MAX))
  const page = (query.planType === 'profit_loss' ? exitRows : planRows)(state, account, query)
    .filter(({ orderId }) => !query.orderId || orderId === query.orderId)
    .filter(({ clientOid }) => !query.clientOid || clientOid === query.clientOid)
    .filter(({ orderId }) => query.idLessThan === undefined || orderId < query.idLessThan)
    .reverse()
    .slice(0, limit)
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
export function futuresCancelPlans(state: CoreState, uid: string, request: CancelPlansRequest) {
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
    if (exit !== undefined) {
      removeExit(state, exit)
      successList.push({ orderId: exit.orderId, clientOid: exit.orderId })
      continue
    }
    const plan = pending.find((candidate) => candidate.status === 'pending' && isNamed(candidate, name))
    if (plan === undefined) {
      failureList.push(toFailure(name, refusals.planOrderUnknown()))
      continue
    }
    endPlanOrder(state, plan, 'cancelled')
    successList.push(toReference(plan))
  }
  return accept({ successList, failureList })
}

function pendingPlans(
  state: CoreState,
  account: Account,
  { productType, symbol }: { readonly productType: string; readonly symbol?: string | undefined },
): PlanOrder[] {
  return [...account.planOrders.values()].filter(
    (plan) =>
      plan.status === 'pending' &&
      (symbol === undefined || plan.symbol === symbol) &&
      symbolOf(state, plan.symbol).instrument.productType === productType,
  )
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
    ...presetFields('stopSurplus', instrument, plan.takeProfit),
    ...presetFields('stopLoss', instrument, plan.stopLoss),
  }
}

function presetFields(name: string, instrument: Instrument, trigger: PositionTrigger | undefined) {
  const ticks = trigger?.executeTicks
  return {
    [`${name}ExecutePrice`]: ticks === undefined ? '' : priceText(instrument, ticks),
    [`${name}TriggerPrice`]: trigger === undefined ? '' : priceText(instrument, trigger.triggerTicks),
    [`${name}TriggerType`]: trigger?.triggerType ?? '',
  }
}
