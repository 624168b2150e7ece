import { type Denial, DENIAL_CODES, detailOf } from '../../domain/denial.ts'
import { type HandOrder, MANUAL } from '../../domain/hand-order.ts'
import type { ClientOid, StrategyId } from '../../domain/ids.ts'
import { type Instrument, isInverse } from '../../domain/instrument.ts'
import type { OrderIntent, PlaceIntent } from '../../domain/intent.ts'
import { isClosing } from '../../domain/order-action.ts'
import { canRest, type Order } from '../../domain/order.ts'
import type { WorstCase } from '../../domain/worst-case.ts'
import { type Restriction, strategyScope } from '../../domain/trading-mode.ts'
import {
  floatOnGrid,
  formatOnGrid,
  type Grid,
  parseOnGrid,
  showOnGrid,
  stepBelow,
  stepsMax,
} from '../../lib/grid.ts'
import { accountHoldingOf, killOf, openOrdersOf, pairKey } from '../book/book.ts'
import type { EngineCommand } from '../event.ts'
import { approveOrders } from '../orders/approve-orders.ts'
import { announce, type Core, record, specOf } from '../state/core.ts'
import { noteDenials } from '../state/denials.ts'
import { marketOf } from '../state/market-state.ts'
import { marginCoinOf, showAmount } from '../state/own-figure.ts'
import { isTrading } from '../state/trading-mode.ts'
import { dropPlace, takeDecision } from '../strategies/take-decision.ts'

export type OrderCommand = Extract<EngineCommand, { kind: 'order' }>
export type CancelCommand = Extract<EngineCommand, { kind: 'cancel' }>

/** Says in words what a command by hand would do, or why it does nothing. */
export interface HandPlan {
  readonly refusal?: string
  readonly detail?: string
  /** The detail without what depends on the moment. */
  readonly change?: string
  /** They depend on the moment: the value, and strategies that trade the instrument too. */
  readonly hints?: readonly string[]
  readonly holds?: Pick<Restriction, 'scope' | 'mode'>
  /** The worst case afterwards; absent where it is unknown or stays as it is. */
  readonly worst?: WorstCase
}

/** A later order is dropped, since the person saw other prices. */
const HAND_ORDER_MS = 30_000

interface JudgedOrder extends HandPlan {
  readonly intent?: PlaceIntent
  readonly denial?: Denial
}

export function judgeOrder(core: Core, command: OrderCommand): JudgedOrder {
  const refusal = objectToTrade(core, command.symbol)
  if (refusal !== undefined) return { refusal }
  const { book } = core
  const { key, symbol } = command
  const pair = pairKey(MANUAL, key)
  if (command.isKeyUsed || book.keys.has(pair) || book.places.has(pair))
    return { detail: `not placed again: the order with the key ${key} was taken before` }
  const spec = specOf(core, symbol)
  const read = readOrder(spec, command)
  if (typeof read === 'string') return { refusal: read }
  const exits = objectToExits(core, spec, read) ?? objectToPassed(core, command, read)
  if (exits !== undefined) return { refusal: exits }
  const { items, denials } = approveOrders(core, symbol, [{ intent: toOrderIntent(core, read) }])
  const [denied] = denials
  if (items.length > 0) {
    const detail = describeOrder(spec, read)
    return { intent: read, detail, change: `${MANUAL}: ${detail}` }
  }
  if (denied === undefined) return { refusal: `${symbol} has no limits of ${MANUAL}` }
  const detail = detailOf(denied)
  return {
    refusal: `${denied.code}: ${DENIAL_CODES[denied.code]} (${detail})`,
    denial: { ...denied, detail },
  }
}

/**
 * Only an order that every check approves becomes a wish of `manual`; the plan judges it once more.
 */
export function takeOrder(core: Core, command: OrderCommand): void {
  const { symbol, key, by, reason } = command
  const { intent, refusal, detail, denial } = judgeOrder(core, command)
  if (denial !== undefined) noteDenials(core, symbol, [denial])
  if (intent === undefined) {
    const why = refusal ?? detail
    return announce(core, 'warn', 'manual.refused', { symbol, key, why, by })
  }
  takeDecision(core, {
    strategyId: MANUAL,
    sequence: core.market.snapshots,
    intents: [intent],
    state: undefined,
    denials: [],
    command: { reason, by },
  })
  announce(core, 'info', 'manual.ordered', { symbol, key, wanted: detail, reason, by })
}

function objectToTrade(core: Core, symbol: string): string | undefined {
  const strategy = core.settings.strategies.get(MANUAL)
  if (strategy?.isByHand !== true)
    return 'trades by hand are off: the main file has no section `manual` with their limits'
  if (!strategy.symbols.includes(symbol))
    return `${symbol} is not an instrument of the main file: ${strategy.symbols.join(', ')}`
  if (killOf(core.book) !== undefined) return 'the kill switch is thrown'
  return isTrading(core)
    ? undefined
    : 'the run does not trade now: the start has yet to read what the account holds, or a stop has begun'
}

/** @returns a sentence where a number cannot be sent */
function readOrder(spec: Instrument, order: HandOrder): PlaceIntent | string {
  const { symbol, side, size, price, force, reduceOnly, takeProfit, stopLoss, key } = order
  const lots = parseOnGrid(spec.lot, size)
  if (lots === undefined || lots <= 0) return objectToText('size', size, spec.lot)
  const prices = { price, takeProfit, stopLoss }
  const ticks: Partial<Record<keyof typeof prices, number>> = {}
  for (const [name, text] of Object.entries(prices)) {
    if (text === undefined) continue
    const parsed = parseOnGrid(spec.tick, text)
    if (parsed === undefined || parsed <= 0) return objectToText(name, text, spec.tick)
    ticks[name as keyof typeof prices] = parsed
  }
  if (price === undefined && force !== undefined)
    return `an order at the market has no time in force, and ${force} was asked for`
  const wrong = objectToLevels(order, ticks)
  if (wrong !== undefined) return wrong
  const opens = side === 'buy' ? 'openLong' : 'openShort'
  const closes = side === 'buy' ? 'closeShort' : 'closeLong'
  return {
    kind: 'place',
    symbol,
    key,
    action: reduceOnly === true ? closes : opens,
    lots,
    ttlMs: HAND_ORDER_MS,
    ...(ticks.price !== undefined && { ticks: ticks.price, force: force ?? 'gtc' }),
    ...(ticks.takeProfit !== undefined && { takeProfitTicks: ticks.takeProfit }),
    ...(ticks.stopLoss !== undefined && { stopLossTicks: ticks.stopLoss }),
  }
}

/** The exchange rejects a level that the entry has passed already. */
function objectToLevels(
  { side, price, takeProfit, stopLoss }: HandOrder,
  ticks: Readonly<Partial<Record<'price' | 'takeProfit' | 'stopLoss', number>>>,
): string | undefined {
  const sign = side === 'buy' ? 1 : -1
  const [above, below] = side === 'buy' ? ['above', 'below'] : ['below', 'above']
  const isBeyond = (one: number | undefined, other: number | undefined): boolean =>
    one === undefined || other === undefined || (one - other) * sign > 0
  if (!isBeyond(ticks.takeProfit, ticks.price))
    return `the take-profit ${takeProfit} of a ${side} belongs ${above} its price ${price}`
  if (!isBeyond(ticks.price, ticks.stopLoss))
    return `the stop-loss ${stopLoss} of a ${side} belongs ${below} its price ${price}`
  if (!isBeyond(ticks.takeProfit, ticks.stopLoss))
    return `the take-profit ${takeProfit} of a ${side} belongs ${above} its stop-loss ${stopLoss}`
  return undefined
}

/**
 * An order at the market, or a limit order that would be filled at once, is filled at the price that
 * there is, and the exchange rejects a level on the wrong side of it.
 */
function objectToPassed(
  core: Core,
  { side, takeProfit, stopLoss }: HandOrder,
  { symbol, ticks, takeProfitTicks, stopLossTicks }: PlaceIntent,
): string | undefined {
  const { tick } = specOf(core, symbol)
  const { bid, ask } = marketOf(core, symbol)
  const priceAt = (at: number | undefined): number => floatOnGrid(tick, at ?? Number.NaN)
  const isBuy = side === 'buy'
  if (ticks !== undefined && (isBuy ? priceAt(ticks) < ask : priceAt(ticks) > bid)) return undefined
  const [above, below] = isBuy ? ['above', 'below'] : ['below', 'above']
  const [high, low] = isBuy ? [takeProfitTicks, stopLossTicks] : [stopLossTicks, takeProfitTicks]
  const wrong = priceAt(high) <= ask ? high : priceAt(low) >= bid ? low : undefined
  if (wrong === undefined) return undefined
  const [name, text, where] =
    wrong === stopLossTicks ? ['stop-loss', stopLoss, below] : ['take-profit', takeProfit, above]
  const price = where === 'above' ? ask : bid
  return `the ${name} ${text} of a ${side} belongs ${where} the market, which is ${bid} to ${ask}: give one ${where} ${price}`
}

/** The exchange keeps exits only of an order that opens, so a person would count on nothing. */
function objectToExits(
  { book }: Core,
  { lot }: Instrument,
  { symbol, action, lots, takeProfitTicks, stopLossTicks }: PlaceIntent,
): string | undefined {
  const levels = [
    ...(takeProfitTicks === undefined ? [] : ['take-profit']),
    ...(stopLossTicks === undefined ? [] : ['stop-loss']),
  ]
  if (levels.length === 0) return undefined
  const idle = `the ${levels.join(' and the ')} would have no effect`
  if (isClosing(action))
    return `${idle}: an order with reduce only opens nothing, and the exchange keeps them only of what opens; order without`
  if (book.positionMode === 'hedge_mode') return undefined
  const isBuy = action === 'openLong'
  const { longLots, shortLots } = accountHoldingOf(book, symbol)
  const against = isBuy ? shortLots : longLots
  if (lots > against) return undefined
  const [verb, side] = isBuy ? ['buy', 'short'] : ['sell', 'long']
  const held = showOnGrid(lot, against)
  return `${idle}: the account is ${side} ${held} ${symbol}, so this ${verb} only makes its position smaller, and the exchange keeps them only of what opens; order without, or ${verb} more than ${held}`
}

function objectToText(name: string, text: string, grid: Grid): string {
  const [value, most] = [Number(text), stepsMax(grid)]
  const below = value > 0 ? stepBelow(grid, value) : -1
  if (below > most)
    return `the ${name} ${text} is more than can be counted; the most is ${showOnGrid(grid, most)}`
  const shown = [below, below + 1]
    .filter((steps) => steps > 0 && steps <= most)
    .map((steps) => showOnGrid(grid, steps))
  const near = shown.length > 0 ? `; near it: ${shown.join(', ')}` : ''
  return `the ${name} ${text} is not a positive multiple of ${grid.step}${near}`
}

function toOrderIntent(core: Core, intent: PlaceIntent): OrderIntent {
  const { symbol, key, action, lots, ticks, force, takeProfitTicks, stopLossTicks } = intent
  return {
    strategyId: MANUAL,
    symbol,
    purpose: 'place',
    key,
    action,
    lots,
    ticks,
    force: ticks === undefined ? 'ioc' : (force ?? 'gtc'),
    takeProfitTicks,
    stopLossTicks,
    deadlineAt: core.now + HAND_ORDER_MS,
  }
}

const ACTIONS = {
  openLong: 'buy',
  closeShort: 'buy, reduce only,',
  openShort: 'sell',
  closeLong: 'sell, reduce only,',
} as const

/** `buy 0.01 BTCUSDT at 60000 (gtc), stop-loss 59000` */
function describeOrder(
  { lot, tick }: Instrument,
  { symbol, action, lots, ticks, force, takeProfitTicks, stopLossTicks }: PlaceIntent,
): string {
  const where = ticks === undefined ? 'the market' : `${formatOnGrid(tick, ticks)} (${force})`
  const level = (name: string, at: number | undefined) =>
    at === undefined ? [] : [`${name} ${formatOnGrid(tick, at)}`]
  return [
    `${ACTIONS[action]} ${formatOnGrid(lot, lots)} ${symbol} at ${where}`,
    ...level('take-profit', takeProfitTicks),
    ...level('stop-loss', stopLossTicks),
  ].join(', ')
}

export function describeMoment(core: Core, intent: PlaceIntent): readonly string[] {
  return [...describeWorth(core, intent), ...describeOthers(core, intent)]
}

function describeWorth(
  core: Core,
  { symbol, action, lots, ticks }: PlaceIntent,
): readonly string[] {
  const spec = specOf(core, symbol)
  const { bid, ask } = marketOf(core, symbol)
  const isBuy = action === 'openLong' || action === 'closeShort'
  const price = ticks === undefined ? (isBuy ? ask : bid) : floatOnGrid(spec.tick, ticks)
  // A size of a coin-margined contract is its value already.
  if (!(price > 0) || isInverse(spec)) return []
  const value = showAmount(core, floatOnGrid(spec.lot, lots) * price)
  const worth = `${value} ${marginCoinOf(core.settings)}`
  if (ticks !== undefined) return [`worth ${worth}`]
  return [`now about ${worth}, at the ${isBuy ? 'ask' : 'bid'} of ${price}`]
}

function describeOthers(
  { settings }: Core,
  { symbol, stopLossTicks, takeProfitTicks }: PlaceIntent,
): readonly string[] {
  const others = [...settings.strategies.values()].filter(
    ({ id, symbols }) => id !== MANUAL && symbols.includes(symbol),
  )
  if (others.length === 0) return []
  const [one, its, goes] =
    others.length === 1 ? ['trades', 'its', 'it goes'] : ['trade', 'their', 'they go']
  const exits = [
    ...(takeProfitTicks === undefined ? [] : ['take-profit']),
    ...(stopLossTicks === undefined ? [] : ['stop-loss']),
  ]
  const meets = `${its} orders can meet this one`
  const closes =
    exits.length === 0
      ? `, and ${meets}`
      : `, ${meets}, and the ${exits.join(' or the ')} closes ${its} position too`
  const ids = others.map(({ id }) => id).join(', ')
  return [`${ids} ${one} ${symbol} too: ${goes} on${closes}`]
}

interface CancelPlan extends HandPlan {
  readonly orders: readonly Order[]
  readonly places: readonly OrderIntent[]
  readonly isRepeated?: true
}

/**
 * Orders placed by name are withdrawn: all of an instrument or a strategy, or the one with this
 * clientOid, orderId or key. A ladder or a target would be placed again, so its orders are named
 * and stay.
 */
export function judgeCancel(
  core: Core,
  { what, key, isKeyUsed }: Pick<CancelCommand, 'what' | 'key' | 'isKeyUsed'>,
): CancelPlan {
  if (isKeyUsed) {
    const detail = `not withdrawn again: the cancel with the key ${key} was done before`
    return { orders: [], places: [], detail, isRepeated: true }
  }
  const { book, settings } = core
  const isNamed = namedBy(what)
  const found = [...settings.instruments.keys()]
    .flatMap((symbol) => [...openOrdersOf(book, symbol)])
    .filter((order) => isNamed(order.terms, order))
  const orders = found.filter(({ terms }) => terms.purpose === 'place' && canRest(terms))
  const open = new Set(found.map(({ terms }) => pairKey(terms.strategyId, terms.key)))
  const places = [...book.places.values()].filter(
    (place) => isNamed(place) && !open.has(pairKey(place.strategyId, place.key)),
  )
  const left = describeLeft(found.filter(({ terms }) => terms.purpose === 'quote'))
  const count = orders.length + places.length
  if (count === 0) {
    const refusal = [`no order placed by name is open for ${what}`, ...left].join('; ')
    return { orders, places, refusal }
  }
  const detail = [`${count} ${count === 1 ? 'order is' : 'orders are'} withdrawn`, ...left]
  return { orders, places, detail: detail.join('; ') }
}

function namedBy(
  what: string,
): (
  terms: Pick<OrderIntent, 'strategyId' | 'symbol' | 'key'> & { readonly clientOid?: ClientOid },
  order?: Order,
) => boolean {
  return (terms, order) =>
    terms.symbol === what ||
    terms.strategyId === what ||
    strategyScope(terms.strategyId) === what ||
    terms.clientOid === what ||
    terms.key === what ||
    order?.orderId === what
}

function describeLeft(rungs: readonly Order[]): readonly string[] {
  const owners = Map.groupBy(rungs, ({ terms }) => terms.strategyId)
  return [...owners].map(
    ([id, orders]) =>
      `${orders.length} of the ladder of ${id} stay, since it would place them again: pause ${strategyScope(id)}`,
  )
}

export function cancelByHand(core: Core, command: CancelCommand): void {
  const { what, reason, by, key } = command
  const { orders, places, refusal, detail, isRepeated } = judgeCancel(core, command)
  if (isRepeated) return
  if (refusal !== undefined)
    return announce(core, 'warn', 'manual.refused', { what, why: refusal, by })
  const at = core.now
  const owner = { reason, by, key }
  const all = [...orders.map(({ terms }) => terms), ...places]
  for (const strategyId of new Set(all.map(({ strategyId: id }) => id as StrategyId))) {
    const withdrawn = orders
      .filter(({ terms }) => terms.strategyId === strategyId)
      .map(({ terms }) => terms.clientOid)
    record(core, { kind: 'decision', at, strategyId, withdrawn, command: owner }, true)
  }
  for (const place of places) dropPlace(core, place, `withdrawn by ${by}`)
  announce(core, 'info', 'manual.cancelled', { what, result: detail, reason, by })
}
