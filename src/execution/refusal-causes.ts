import { DRY_RUN_CODE } from '../domain/answer.ts'
import type { Instrument } from '../domain/instrument.ts'
import { canRest, type OrderTerms } from '../domain/order.ts'
import { tradesAs } from '../domain/order-action.ts'
import { showOnGrid } from '../lib/grid.ts'
import { errorCode, type ErrorTopic } from '../protocol/error-codes.ts'

export interface RefusableTerms extends Pick<OrderTerms, 'action' | 'lots' | 'force'> {
  readonly ticks?: number | undefined
  readonly takeProfitTicks?: number | undefined
  readonly stopLossTicks?: number | undefined
}

export type RefusedStep = 'price' | 'size'

export interface RefusalCause {
  /** Orders that would be rejected too wait; others go on. */
  readonly concerns: (order: RefusableTerms, refused: RefusableTerms) => boolean
  /**
   * Whether this acceptance ends the cause. If undefined, the steps of all accepted orders decide
   * (`step`).
   */
  readonly disprovedBy: ((accepted: RefusableTerms, refused: RefusableTerms) => boolean) | undefined
  readonly step?: RefusedStep
  /**
   * `passing`: the market may move on by the next decision, so all orders are tried · `lasting`:
   * only a person or the exchange ends it, so one order is tried for all.
   */
  readonly pace: 'passing' | 'lasting'
  /**
   * An operator hears of the first refusal, of one that goes on, or only of the halt that follows.
   */
  readonly isLogged: 'atOnce' | 'whenItGoesOn' | 'byTheHalt'
  readonly setting?: (instrument: Instrument) => { readonly value: string; readonly path: string }
  /** Besides changing the setting. */
  readonly advice?: (instrument: Instrument) => string
}

const ALL = (): boolean => true

const atMostAsLarge: RefusalCause['concerns'] = (order, refused) => order.lots <= refused.lots
const atLeastAsLarge: RefusalCause['concerns'] = (order, refused) => order.lots >= refused.lots

/** A market order has no price to compare. */
const atMostAsDear: RefusalCause['concerns'] = (order, refused) =>
  order.ticks === undefined || refused.ticks === undefined
    ? order.lots <= refused.lots
    : order.lots * order.ticks <= refused.lots * refused.ticks

const sameSide: RefusalCause['concerns'] = (order, refused) =>
  tradesAs(order.action) === tradesAs(refused.action)

const atLeastAsNear: RefusalCause['concerns'] = (order, refused) => {
  if (order.force !== 'post_only' || order.ticks === undefined || refused.ticks === undefined)
    return false
  if (!sameSide(order, refused)) return false
  return tradesAs(order.action) === 'buy'
    ? order.ticks >= refused.ticks
    : order.ticks <= refused.ticks
}

const atLeastAsHigh: RefusalCause['concerns'] = (order, refused) =>
  order.ticks !== undefined && refused.ticks !== undefined && order.ticks >= refused.ticks
const atMostAsHigh: RefusalCause['concerns'] = (order, refused) =>
  order.ticks !== undefined && refused.ticks !== undefined && order.ticks <= refused.ticks

const samePrice: RefusalCause['concerns'] = (order, refused) =>
  sameSide(order, refused) && order.ticks === refused.ticks

const hasExits = ({ takeProfitTicks, stopLossTicks }: RefusableTerms): boolean =>
  takeProfitTicks !== undefined || stopLossTicks !== undefined

const sameExits: RefusalCause['concerns'] = (order, refused) =>
  sameSide(order, refused) &&
  order.takeProfitTicks === refused.takeProfitTicks &&
  order.stopLossTicks === refused.stopLossTicks

const sameTerms: RefusalCause['concerns'] = (order, refused) =>
  order.action === refused.action &&
  order.lots === refused.lots &&
  order.ticks === refused.ticks &&
  order.force === refused.force &&
  sameExits(order, refused)

const resting: RefusalCause['concerns'] = (order) => canRest(order)

const ofInstrument =
  (
    name: 'tickSize' | 'lotSize' | 'minSize' | 'minNotional',
    value: (instrument: Instrument) => string,
  ) =>
  (instrument: Instrument) => ({
    value: `${name} ${value(instrument)}`,
    path: `instruments.${instrument.symbol}.${name}`,
  })

const tickSize = ofInstrument('tickSize', ({ tick }) => tick.step)
const lotSize = ofInstrument('lotSize', ({ lot }) => lot.step)
const minSize = ofInstrument('minSize', ({ lot, lotsMin }) => showOnGrid(lot, lotsMin))
const minNotional = ofInstrument('minNotional', ({ notionalMin }) => notionalMin.toString())

const lowerCollars = (): string =>
  'lower risk.priceCollarRatio and execution.takerCollarRatio: the exchange allows less'

const compareContract = ({ symbol }: Instrument): string =>
  `compare instruments.${symbol} with the contract at the exchange`

export type CauseName =
  | Exclude<ErrorTopic, 'auth' | 'clock' | 'rate' | 'duplicate' | 'system' | 'orderGone'>
  | 'auth'
  | 'dryRun'
  | 'other'

/** docs/orders.md describes them to operators. */
export const REFUSAL_CAUSES: Readonly<Record<CauseName, RefusalCause>> = {
  priceStep: {
    concerns: (order) => stepsOf(order, 'price').length > 0,
    disprovedBy: undefined,
    step: 'price',
    pace: 'lasting',
    isLogged: 'atOnce',
    setting: tickSize,
  },
  sizeStep: {
    concerns: ALL,
    disprovedBy: undefined,
    step: 'size',
    pace: 'lasting',
    isLogged: 'atOnce',
    setting: lotSize,
  },
  sizeMin: {
    concerns: atMostAsLarge,
    disprovedBy: atMostAsLarge,
    pace: 'lasting',
    isLogged: 'atOnce',
    setting: minSize,
  },
  sizeMax: {
    concerns: atLeastAsLarge,
    disprovedBy: atLeastAsLarge,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: () => 'lower risk.orderSizeMax of the strategy',
  },
  notionalMin: {
    concerns: atMostAsDear,
    disprovedBy: atMostAsDear,
    pace: 'lasting',
    isLogged: 'atOnce',
    setting: minNotional,
  },
  size: {
    concerns: ALL,
    disprovedBy: (accepted, refused) => accepted.lots === refused.lots,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: compareContract,
  },
  priceHigh: {
    concerns: atLeastAsHigh,
    disprovedBy: atLeastAsHigh,
    pace: 'passing',
    isLogged: 'whenItGoesOn',
    advice: lowerCollars,
  },
  priceLow: {
    concerns: atMostAsHigh,
    disprovedBy: atMostAsHigh,
    pace: 'passing',
    isLogged: 'whenItGoesOn',
    advice: lowerCollars,
  },
  wouldTake: {
    concerns: atLeastAsNear,
    disprovedBy: atLeastAsNear,
    pace: 'passing',
    isLogged: 'whenItGoesOn',
    advice: () => 'let the strategy quote further from the market: post-only orders would take',
  },
  exitPrice: {
    concerns: (order, refused) => hasExits(order) && sameSide(order, refused),
    disprovedBy: sameExits,
    pace: 'passing',
    isLogged: 'whenItGoesOn',
    advice: () =>
      'let the strategy set its take-profit and stop-loss on the right side of the market',
  },
  price: {
    concerns: sameSide,
    disprovedBy: samePrice,
    pace: 'passing',
    isLogged: 'whenItGoesOn',
    advice: compareContract,
  },
  balance: {
    concerns: ALL,
    disprovedBy: atLeastAsLarge,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: ({ marginCoin }) =>
      `pay in ${marginCoin}, or lower risk.grossNotionalMax and the limits of the strategy (risk.positionMax)`,
  },
  openOrders: {
    concerns: resting,
    disprovedBy: resting,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: () => 'lower risk.openOrdersMax, or cancel what others have open in the account',
  },
  noPosition: {
    concerns: ALL,
    disprovedBy: atLeastAsLarge,
    pace: 'passing',
    isLogged: 'whenItGoesOn',
    advice: ({ symbol }) => `compare the position in ${symbol} with the exchange`,
  },
  instrument: {
    concerns: ALL,
    disprovedBy: ALL,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: ({ symbol }) =>
      `wait until ${symbol} can be traded again, or take it out of the instruments of the strategy`,
  },
  marginMode: {
    concerns: ALL,
    disprovedBy: ALL,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: ({ symbol }) =>
      `compare account.marginMode with the margin mode of ${symbol} at the exchange`,
  },
  leverage: {
    concerns: ALL,
    disprovedBy: ALL,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: ({ symbol }) =>
      `compare instruments.${symbol}.leverage (or account.leverage) with the leverage of ${symbol} at the exchange, and with the most that it allows`,
  },
  positionMode: {
    concerns: ALL,
    disprovedBy: ALL,
    pace: 'lasting',
    isLogged: 'byTheHalt',
    advice: () => 'compare account.positionMode with the settings at the exchange',
  },
  accountRisk: { concerns: ALL, disprovedBy: ALL, pace: 'lasting', isLogged: 'byTheHalt' },
  auth: { concerns: ALL, disprovedBy: ALL, pace: 'lasting', isLogged: 'byTheHalt' },
  parameter: {
    concerns: (order, refused) => order.force === refused.force,
    disprovedBy: sameTerms,
    pace: 'lasting',
    isLogged: 'atOnce',
    advice: ({ symbol }) =>
      `compare instruments.${symbol}, account.productType and account.marginCoin with the contract at the exchange`,
  },
  dryRun: {
    concerns: (order, refused) =>
      order.action === refused.action &&
      order.lots === refused.lots &&
      order.force === refused.force,
    disprovedBy: () => false,
    pace: 'lasting',
    isLogged: 'byTheHalt',
  },
  other: { concerns: ALL, disprovedBy: sameTerms, pace: 'passing', isLogged: 'whenItGoesOn' },
}

/**
 * One code covers all checks of values. The name of the parameter, the same in every language, says
 * which.
 */
export function causeOf(code: string | undefined, message: string | undefined): CauseName {
  if (code === DRY_RUN_CODE) return 'dryRun'
  const { topic } = errorCode(code)
  if (topic === 'parameter' && /checkBDScale/.test(message ?? '')) {
    if (/\bsize\b/.test(message ?? '')) return 'sizeStep'
    if (/price\b/i.test(message ?? '')) return 'priceStep'
  }
  return topic in REFUSAL_CAUSES ? (topic as CauseName) : 'other'
}

/** Prices or the size, in steps of the configuration. */
export function stepsOf(
  { lots, ticks, takeProfitTicks, stopLossTicks }: RefusableTerms,
  step: RefusedStep,
): readonly number[] {
  if (step === 'size') return [lots]
  return [ticks, takeProfitTicks, stopLossTicks].filter((price) => price !== undefined)
}

/**
 * The greatest common divisor: steps that lie on one grid also lie on this one. 0 stands for no
 * steps.
 */
export function commonStep(common: number, steps: readonly number[]): number {
  return steps.reduce((left, right) => {
    let [larger, smaller] = [left, right]
    while (smaller !== 0) [larger, smaller] = [smaller, larger % smaller]
    return larger
  }, common)
}

/** Accepted orders prove whether these lie on the exchange's grid. */
export function isOnCommonStep(common: number, steps: readonly number[]): boolean {
  return common > 0 && steps.every((one) => one % common === 0)
}

export interface ObservedRefusal {
  readonly cause: CauseName
  readonly code: string
  readonly message: string
  readonly orders: number
  readonly withinMs: number
}

export function describeRefusal(found: ObservedRefusal, instrument: Instrument): string {
  const { cause, code, message, orders, withinMs } = found
  const { setting, advice, step } = REFUSAL_CAUSES[cause]
  const times = orders === 1 ? 'once' : `${orders} times`
  const within = withinMs >= 1000 ? ` in ${Math.ceil(withinMs / 1000)} s` : ''
  const configured = setting?.(instrument)
  const grid = step === undefined ? undefined : namedStep(message)
  const said =
    grid === undefined
      ? `the exchange says "${message}"`
      : `the exchange takes multiples of ${grid}`
  const facts = [...(configured ? [`${configured.value} of the configuration`] : []), said].join(
    ', ',
  )
  const todo = configured === undefined ? advice?.(instrument) : `change ${configured.path}`
  return `refused ${code} ${times}${within}: ${facts}${todo === undefined ? '' : `; ${todo}`}`
}

function namedStep(message: string): string | undefined {
  const numbers = message.match(/\d+(?:\.\d+)?/g) ?? []
  return numbers.length === 1 && !/checkBDScale/.test(message) ? numbers[0] : undefined
}
