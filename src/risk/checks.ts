import type { DenialCode, Objection, Undescribed } from '../domain/denial.ts'
import {
  isCountable,
  notionalOf,
  type Instrument,
  lotsMax,
  ticksMax,
} from '../domain/instrument.ts'
import { MANUAL } from '../domain/hand-order.ts'
import type { OrderIntent, Intent } from '../domain/intent.ts'
import { isClosing, tradesAs } from '../domain/order-action.ts'
import { heldBackBy, type RestrictedMode, type Restriction } from '../domain/trading-mode.ts'
import { floatOnGrid, nearestStep, showOnGrid, stepAbove, stepBelow } from '../lib/grid.ts'
import {
  addToExposure,
  type Exposure,
  leftToClose,
  marginAt,
  notionalAt,
  worstLots,
  worstOnSide,
} from './exposure.ts'
import { distanceAfter } from './liquidation.ts'
import type { RiskContext } from './risk-context.ts'
import { isKnown, objectToWorstCase, sizeThatFits } from './worst-case.ts'
import { unreachable } from '../lib/unreachable.ts'

export type RiskObjection = Objection | Undescribed<Objection>

export type RiskCheck = (intent: OrderIntent, context: RiskContext) => RiskObjection | undefined

/** The first objection denies, so cheap checks and telling denials come first. */
export const RISK_CHECKS: readonly RiskCheck[] = [
  checkPrecision,
  checkTradingMode,
  checkEntryPause,
  checkExplained,
  checkPriced,
  checkMinimum,
  checkFreshness,
  checkAccountAge,
  checkInstrumentState,
  checkDeadline,
  checkOrderLimits,
  checkCollar,
  checkExits,
  checkClose,
  checkPosition,
  checkPositionNotional,
  checkCapital,
  checkGrossNotional,
  checkLiquidation,
  checkOpenOrders,
  checkWorstCase,
  checkPace,
]

function checkPrecision(
  intent: OrderIntent,
  { instrument }: RiskContext,
): RiskObjection | undefined {
  const { lots, ticks, takeProfitTicks, stopLossTicks } = intent
  return (
    objectToSize(instrument, lots) ??
    objectToPrices(instrument, [ticks, takeProfitTicks, stopLossTicks])
  )
}

/** MKT1. */
function checkPriced(
  _: OrderIntent,
  { instrument, market }: RiskContext,
): RiskObjection | undefined {
  if (market.bid > 0 && market.bid <= market.ask && isCountable(instrument, market.ask))
    return undefined
  return {
    code: 'DATA_MISSING',
    detail: () => `bid ${showKnown(market.bid)}, ask ${showKnown(market.ask)}`,
  }
}

function showKnown(figure: number): string {
  return Number.isFinite(figure) ? String(figure) : 'not known'
}

/**
 * MKT1. This check follows `checkMinimum`, since waiting for prices does not help a size that is
 * too small.
 */
function checkFreshness(
  _: OrderIntent,
  { market, account }: RiskContext,
): RiskObjection | undefined {
  if (market.ageMs <= account.dataAgeMaxMs) return undefined
  const detail = (): string =>
    `the price is ${market.ageMs} ms old, risk.dataAgeMaxMs allows ${account.dataAgeMaxMs} ms`
  return { code: 'DATA_STALE', detail }
}

/** MKT3: without fresh fills and position nothing may add risk or open a position. */
function checkAccountAge(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const { accountAgeMs, account } = context
  const mayLeave = reducesRisk(intent, context) && opensInAccount(intent, context) === 0
  if (accountAgeMs <= account.accountAgeMaxMs || mayLeave) return undefined
  const detail = (): string => {
    const read = Number.isFinite(accountAgeMs) ? `${accountAgeMs} ms ago` : 'never'
    return `fills and position read ${read}, limit ${account.accountAgeMaxMs} ms`
  }
  return { code: 'ACCOUNT_STALE', detail }
}

function checkTradingMode(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const held = heldBackBy(context.trading, {
    isFlatten: intent.purpose === 'flatten',
    // The next check judges whether the account covers the reduction.
    reduces: () => reducesRisk(intent, { holding: context.held, ownExposure: context.ownExposure }),
  })
  return held && { code: denialCodeOf(held), detail: held.reason }
}

function checkEntryPause(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const { entryPause, held, ownExposure } = context
  if (entryPause === undefined || reducesRisk(intent, { holding: held, ownExposure }))
    return undefined
  return { code: 'ENTRY_PAUSED', detail: entryPause }
}

function isFlattenOrExit({ purpose, exit }: Pick<OrderIntent, 'purpose' | 'exit'>): boolean {
  return purpose === 'flatten' || exit !== undefined
}

export type OpeningContext = Pick<
  RiskContext,
  'instrument' | 'trading' | 'held' | 'holding' | 'accountExposure' | 'unowned' | 'isConfirmed'
>

/**
 * RSK4: while fills are unexplained no opening order leaves. A reducing one may open a position in
 * the account only as far as other strategies' lots account for it, and only if the position was
 * read after the last fill.
 */
export function checkExplained(
  intent: Pick<OrderIntent, 'action' | 'lots' | 'purpose'>,
  context: OpeningContext,
): RiskObjection | undefined {
  const { action, lots, purpose } = intent
  if (isClosing(action)) return undefined
  const { instrument, unowned, accountExposure, trading } = context
  if (unowned.length > 0) {
    return {
      code: 'POSITION_UNEXPLAINED',
      detail: () => `fills of no known order: ${unowned.join(', ')}`,
    }
  }
  if (accountExposure.mode === 'hedge_mode') return undefined
  // In mode `active` the limits judge what a quote or a `place` opens.
  const mustReduce = purpose === 'target' || purpose === 'flatten' || trading.mode !== 'active'
  const side = tradesAs(action) === 'buy' ? 'shortLots' : 'longLots'
  const reduced = Math.min(lots, context.held[side])
  if (!mustReduce || reduced === 0) return undefined
  const backed = context.holding[side]
  if (reduced > backed) {
    const detail = (): string =>
      `${showSize(instrument, reduced)} to reduce, ${showSize(instrument, backed)} of it is in the account or held by other strategies`
    return { code: 'POSITION_UNEXPLAINED', detail }
  }
  if (context.isConfirmed || opensInAccount({ action, lots: reduced }, context) === 0)
    return undefined
  return { code: 'POSITION_UNEXPLAINED', detail: 'the position was not read since the last fill' }
}

/** @returns base coin */
function showSize({ lot }: Instrument, lots: number): string {
  return showOnGrid(lot, lots)
}

function opensInAccount(
  { action, lots }: Pick<OrderIntent, 'action' | 'lots'>,
  { accountExposure: { mode, longLots, shortLots } }: Pick<RiskContext, 'accountExposure'>,
): number {
  if (isClosing(action)) return 0
  if (mode === 'hedge_mode') return lots
  return Math.max(0, lots - Math.max(0, tradesAs(action) === 'buy' ? shortLots : longLots))
}

const MODE_DENIALS = {
  reducing: 'TRADING_REDUCING',
  halted: 'TRADING_HALTED',
  killed: 'TRADING_KILLED',
} as const satisfies Record<RestrictedMode, DenialCode>

function denialCodeOf({ mode, code }: Restriction): DenialCode {
  return code === 'clockUnsynchronised' ? 'CLOCK_UNSYNCHRONISED' : MODE_DENIALS[mode]
}

export function reducesRisk(
  intent: Pick<OrderIntent, 'action' | 'lots'>,
  { holding, ownExposure }: Pick<RiskContext, 'holding' | 'ownExposure'>,
): boolean {
  if (isClosing(intent.action)) return true
  // In hedge mode an opening order never reduces.
  if (ownExposure.mode === 'hedge_mode') return false
  return leftToClose(tradesAs(intent.action), holding, ownExposure) >= intent.lots
}

/** Document: delivery_before prohibits opening, delivery_period everything. */
function checkInstrumentState(
  intent: OrderIntent,
  { market }: RiskContext,
): RiskObjection | undefined {
  const state = market.deliveryState
  const refused =
    state === 'delivery_period' ||
    state === 'delivery_config_period' ||
    (state === 'delivery_before' && !isClosing(intent.action))
  return refused ? { code: 'INSTRUMENT_STATE', detail: state } : undefined
}

function checkDeadline(intent: OrderIntent, { now }: RiskContext): RiskObjection | undefined {
  if (now <= intent.deadlineAt) return undefined
  return { code: 'INTENT_EXPIRED', detail: () => `${now - intent.deadlineAt} ms too late` }
}

function checkMinimum(
  intent: OrderIntent,
  { instrument, market }: RiskContext,
): RiskObjection | undefined {
  if (intent.lots < instrument.lotsMin) {
    return {
      code: 'SIZE_BELOW_MINIMUM',
      detail: () =>
        `${showSize(instrument, intent.lots)}, minimum ${showSize(instrument, instrument.lotsMin)}`,
    }
  }
  if (isClosing(intent.action)) return undefined
  const isBuy = tradesAs(intent.action) === 'buy'
  // A market order is valued at the touch, since there is no last price before the first trade.
  const ticks = intent.ticks ?? nearestStep(instrument.tick, isBuy ? market.ask : market.bid)
  const notional = notionalOf(instrument, ticks, intent.lots)
  if (notional.gte(instrument.notionalMin)) return undefined
  return {
    code: 'NOTIONAL_BELOW_MINIMUM',
    detail: () => `${notional.toString()}, minimum ${instrument.notionalMin.toString()}`,
  }
}

function checkOrderLimits(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const { strategy, account, instrument, market } = context
  if (intent.lots > strategy.orderSizeMax) {
    return {
      code: 'ORDER_SIZE_LIMIT',
      detail: () =>
        `${showSize(instrument, intent.lots)}, limit ${showSize(instrument, strategy.orderSizeMax)}`,
    }
  }
  const price = intent.ticks === undefined ? market.ask : floatOnGrid(instrument.tick, intent.ticks)
  const notional = price * floatOnGrid(instrument.lot, intent.lots)
  const limit = Math.min(account.orderNotionalMax, strategy.orderNotionalMax ?? Infinity)
  if (notional <= limit) return undefined
  const detail = (): string => `${notional.toFixed(2)}, limit ${limit}`
  return { code: 'ORDER_NOTIONAL_LIMIT', detail }
}

function checkCollar(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  return (
    objectToDistance('', intent.ticks, context) ??
    objectToDistance('take-profit ', intent.takeProfitTicks, context) ??
    objectToDistance('stop-loss ', intent.stopLossTicks, context)
  )
}

function objectToDistance(
  what: string,
  ticks: number | undefined,
  { instrument: { tick }, market, account }: RiskContext,
): RiskObjection | undefined {
  if (ticks === undefined) return undefined
  const price = floatOnGrid(tick, ticks)
  const low = market.bid * (1 - account.priceCollarRatio)
  const high = market.ask * (1 + account.priceCollarRatio)
  if (price >= low && price <= high) return undefined
  const detail = (): string => {
    const [least, most] = [stepAbove(tick, low), stepBelow(tick, high)].map((step) =>
      showOnGrid(tick, step),
    )
    return `${what}${showOnGrid(tick, ticks)}, allowed ${least} to ${most}`
  }
  return { code: 'PRICE_COLLAR', detail }
}

/**
 * A person counts on the levels of an order by hand, and the position may have changed since the
 * command. The exits of strategies are judged after the fill alone.
 */
function checkExits(
  { strategyId, action, lots, takeProfitTicks, stopLossTicks }: OrderIntent,
  { accountExposure, instrument }: RiskContext,
): RiskObjection | undefined {
  if (strategyId !== MANUAL || (takeProfitTicks ?? stopLossTicks) === undefined) return undefined
  if (opensInAccount({ action, lots }, { accountExposure }) > 0) return undefined
  const { longLots, shortLots } = accountExposure
  const [side, held] = longLots > 0 ? ['long', longLots] : ['short', shortLots]
  const detail = (): string =>
    `the account is ${held === 0 ? 'flat' : `${side} ${showSize(instrument, held)}`}`
  return { code: 'EXIT_WITHOUT_EFFECT', detail }
}

/**
 * A close must not increase or flip the position of strategy or account. For a flatten, quarantined
 * orders do not count: they cannot be accepted any more.
 */
function checkClose(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  if (!isClosing(intent.action)) return undefined
  const { instrument, held, ownExposure, accountExposure } = context
  const closes = (exposure: Exposure): number => {
    const isLong = intent.action === 'closeLong'
    const lots = isLong ? exposure.closingLongLots : exposure.closingShortLots
    if (intent.purpose !== 'flatten') return lots
    return lots - (isLong ? exposure.heldClosingLongLots : exposure.heldClosingShortLots)
  }
  const side = intent.action === 'closeLong' ? 'longLots' : 'shortLots'
  const free = Math.min(
    held[side] - closes(ownExposure),
    accountExposure[side] - closes(accountExposure),
  )
  if (intent.lots <= free) return undefined
  const detail = (): string =>
    `${showSize(instrument, intent.lots)}, ${showSize(instrument, free)} to close`
  return { code: 'CLOSE_EXCEEDS_POSITION', detail }
}

/**
 * RSK1: everything open, in flight or unknown on that side counts with the position. In one-way
 * mode closes count too: resting orders of the side would add to what a close buys back.
 */
function checkPosition(
  intent: OrderIntent,
  { ownExposure, strategy, instrument }: RiskContext,
): RiskObjection | undefined {
  if (isClosing(intent.action) && ownExposure.mode === 'hedge_mode') return undefined
  const worst = worstOnSide(ownExposure, intent.action) + intent.lots
  if (worst <= strategy.positionMax) return undefined
  return {
    code: 'POSITION_LIMIT',
    detail: () =>
      `could reach ${showSize(instrument, worst)}, limit ${showSize(instrument, strategy.positionMax)}`,
  }
}

/**
 * RSK1. The price is the highest of several, so that one price far too low allows no more. A
 * flatten passes at any value, and a close unless orders of its side would exceed the limit after
 * it.
 */
function checkPositionNotional(
  intent: OrderIntent,
  context: RiskContext,
): RiskObjection | undefined {
  const { ownExposure, strategy, instrument } = context
  const limit = strategy.positionNotionalMax
  if (limit === undefined || (isClosing(intent.action) && ownExposure.mode === 'hedge_mode'))
    return undefined
  if (isFlattenOrExit(intent) && reducesRisk(intent, context)) return undefined
  const worst = worstOnSide(ownExposure, intent.action) + intent.lots
  if (worst <= 0) return undefined
  const notional = notionalAt(instrument, worst, highestPrice(intent, context))
  if (notional <= limit) return undefined
  return {
    code: 'POSITION_NOTIONAL_LIMIT',
    detail: () =>
      `${showSize(instrument, worst)} could be worth ${notional.toFixed(2)}, limit ${limit}`,
  }
}

function highestPrice(
  { ticks }: OrderIntent,
  { instrument, market }: Pick<RiskContext, 'instrument' | 'market'>,
): number {
  const own = ticks === undefined ? 0 : floatOnGrid(instrument.tick, ticks)
  return Math.max(market.ask, market.last || 0, own)
}

/**
 * RSK1: the worst case of what the strategy holds must fit its capital. An order that adds nothing,
 * or reduces its position, passes.
 */
function checkCapital(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const { capital, ownExposure, instrument } = context
  if (capital === undefined || reducesRisk(intent, context)) return undefined
  const grown = { ...ownExposure }
  addToExposure(grown, intent.action, intent.lots)
  const lots = worstLots(grown)
  if (lots <= worstLots(ownExposure)) return undefined
  const used = capital.usedBeside + marginAt(instrument, lots, highestPrice(intent, context))
  const { max } = capital
  if (used <= max) return undefined
  const detail = Number.isNaN(max)
    ? 'the equity that it is a share of is not known yet'
    : `could use ${used.toFixed(2)} of ${max.toFixed(2)}`
  return { code: 'CAPITAL_LIMIT', detail }
}

/** RSK1: the account's worst case. A flatten may always close. */
function checkGrossNotional(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  if (isFlattenOrExit(intent) && reducesRisk(intent, context)) return undefined
  const { accountExposure, instrument, market, account, others } = context
  const grown = { ...accountExposure }
  addToExposure(grown, intent.action, intent.lots)
  // A net position is judged in each direction.
  const isNet = grown.mode === 'one_way_mode'
  const lots = isNet ? Math.max(0, worstOnSide(grown, intent.action)) : worstLots(grown)
  if (lots === 0 || (!isNet && lots <= worstLots(accountExposure))) return undefined
  const worst = others.notional + notionalAt(instrument, lots, market.ask)
  if (worst <= account.grossNotionalMax) {
    return reducesRisk(intent, context) ? undefined : objectToLeverage(worst, context)
  }
  return {
    code: 'GROSS_NOTIONAL_LIMIT',
    detail: () => `could reach ${worst.toFixed(2)}, limit ${account.grossNotionalMax}`,
  }
}

/**
 * An order may not lead nearer to a liquidation than where positions are reduced, not even one that
 * closes a hedge of another strategy. An unknown distance denies nothing, and exits and flattens
 * may always close.
 */
function checkLiquidation(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const { distanceMin, distanceFrom } = context
  if (distanceMin === undefined || distanceFrom === undefined) return undefined
  if (isFlattenOrExit(intent) && reducesRisk(intent, context)) return undefined
  const distance = distanceAfter(distanceFrom, intent)
  if (!(distance < distanceMin)) return undefined
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
  const isFar = (lots: number): boolean =>
    distanceAfter(distanceFrom, { ...intent, lots }) >= distanceMin
  return {
    code: 'LIQUIDATION_NEAR',
    detail: () =>
      `a liquidation would be ${percent(distance)} away, limit ${percent(distanceMin)}, ${sizeThatFits(context.instrument, intent.lots, isFar)} would fit`,
  }
}

/**
 * RSK1: the account must survive the configured moves with all resting orders filled. A closing
 * order passes, since a move that fills it takes only fees and margin. While a part is unknown, an
 * order that reduces the account passes, and a flatten always.
 */
function checkWorstCase(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  const { worstCase, accountExposure } = context
  if (worstCase === undefined || isFlattenOrExit(intent)) return undefined
  const objection = objectToWorstCase(worstCase, intent, accountExposure)
  if (objection === undefined || !reducesRisk(intent, context)) return objection
  const mayLeave = isKnown(worstCase)
    ? onlyCloses(intent, accountExposure)
    : opensInAccount(intent, context) === 0
  return mayLeave ? undefined : objection
}

function onlyCloses(
  { action, lots }: Pick<OrderIntent, 'action' | 'lots'>,
  { mode, longLots, shortLots, buyingLots, sellingLots }: Exposure,
): boolean {
  const net = mode === 'one_way_mode' ? longLots : longLots - shortLots
  return tradesAs(action) === 'buy' ? -net >= buyingLots + lots : net >= sellingLots + lots
}

function checkPace(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  if (reducesRisk(intent, context)) return undefined
  const { ownPace, accountPace, strategy, account } = context
  return (
    objectToSelfTrade(intent, context) ??
    objectToCount('of the strategy', ownPace, strategy.ordersPerMinute) ??
    objectToCount('of the account', accountPace, account.ordersPerMinute)
  )
}

function checkOpenOrders(intent: OrderIntent, context: RiskContext): RiskObjection | undefined {
  if (isClosing(intent.action)) return undefined
  const { ownExposure, accountExposure, others, strategy, account } = context
  if (ownExposure.openOrders >= strategy.openOrdersMax) {
    return {
      code: 'OPEN_ORDERS_LIMIT',
      detail: `${ownExposure.openOrders} of the strategy on the instrument`,
    }
  }
  const all = accountExposure.openOrders + others.openOrders
  if (all < account.openOrdersMax) return undefined
  return { code: 'OPEN_ORDERS_LIMIT', detail: `${all} of the account` }
}

/** The orders of all strategies count. A post-only order cannot trade with one of them. */
function objectToSelfTrade(
  { action, ticks, force }: OrderIntent,
  { account, instrument, market, bestResting }: RiskContext,
): RiskObjection | undefined {
  if (account.selfTrade !== 'deny' || force === 'post_only') return undefined
  const isBuy = tradesAs(action) === 'buy'
  const reach = ticks ?? nearestStep(instrument.tick, isBuy ? market.ask : market.bid)
  const own = isBuy ? bestResting.sellTicks : bestResting.buyTicks
  if (isBuy ? reach < own : reach > own) return undefined
  const show = (price: number): string => showOnGrid(instrument.tick, price)
  const detail = (): string => `at ${show(reach)}, an order of ours rests at ${show(own)}`
  return { code: 'SELF_TRADE', detail }
}

function objectToCount(
  whose: string,
  { orders }: RiskContext['ownPace'],
  max: number | undefined,
): Objection | undefined {
  return max === undefined || orders < max
    ? undefined
    : { code: 'ORDER_PACE', detail: `${orders} ${whose}, limit ${max}` }
}

/** @param worst largest possible notional of the account, quote coin */
function objectToLeverage(worst: number, context: RiskContext): Objection | undefined {
  const { leverageMax } = context.account
  if (leverageMax === undefined) return undefined
  const { equity } = context
  if (equity === undefined) return { code: 'LEVERAGE_LIMIT', detail: 'the equity is not known yet' }
  if (worst <= leverageMax * equity) return undefined
  const detail = `could reach ${worst.toFixed(2)} on an equity of ${equity.toFixed(2)}, limit ${leverageMax}`
  return { code: 'LEVERAGE_LIMIT', detail }
}

/** No decision is useful for longer, and a key is remembered for longer. */
const TTL_MS_MAX = 7 * 86_400_000

/**
 * Beyond these limits arithmetic is not exact, and no request can be written. So such numbers are
 * denied where an intent enters the core, and by the first risk check.
 */
export function objectToNumbers(instrument: Instrument, intent: Intent): Objection | undefined {
  switch (intent.kind) {
    case 'place':
      return (
        objectToSize(instrument, intent.lots) ??
        objectToPrices(instrument, [intent.ticks, intent.takeProfitTicks, intent.stopLossTicks]) ??
        objectToDuration(intent.ttlMs)
      )
    case 'quote':
      for (const { ticks, lots } of intent.levels) {
        const objection = objectToSize(instrument, lots) ?? objectToPrices(instrument, [ticks])
        if (objection) return objection
      }
      return undefined
    case 'target':
      return intent.lots === 0 ? undefined : objectToSize(instrument, Math.abs(intent.lots))
    case 'modifyTrigger':
      return objectToPrices(instrument, [
        intent.triggerTicks,
        intent.takeProfitTicks,
        intent.stopLossTicks,
      ])
    case 'copySettings':
    case 'cancelMargin':
    case 'cancelAll':
      return undefined
    default:
      return unreachable(intent)
  }
}

export function objectToSize(instrument: Instrument, lots: number): Objection | undefined {
  const max = lotsMax(instrument)
  if (isCount(lots, max)) return undefined
  return { code: 'SIZE_PRECISION', detail: `${lots} lots, at most ${max}` }
}

/** @param prices in ticks; missing and removed ones are not checked */
export function objectToPrices(
  instrument: Instrument,
  prices: readonly (number | null | undefined)[],
): Objection | undefined {
  const max = ticksMax(instrument)
  for (const ticks of prices) {
    if (ticks === undefined || ticks === null || isCount(ticks, max)) continue
    return { code: 'PRICE_PRECISION', detail: `${ticks} ticks, at most ${max}` }
  }
  return undefined
}

function objectToDuration(ttlMs: number | undefined): Objection | undefined {
  if (ttlMs === undefined || (Number.isSafeInteger(ttlMs) && ttlMs >= 0 && ttlMs <= TTL_MS_MAX))
    return undefined
  return { code: 'INTENT_MALFORMED', detail: `ttlMs: ${ttlMs}, at most ${TTL_MS_MAX}` }
}

function isCount(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value > 0 && value <= max
}
