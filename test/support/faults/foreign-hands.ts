import { createRandom, type Random } from '../../../src/lib/random.ts'
import { orderIdText, tradeIdText } from '../../../src/simulator/futures/orders/order.ts'
import {
  accountOf,
  type CoreState,
  positionOf,
  symbolOf,
} from '../../../src/simulator/futures/core-state.ts'
import { priceText, sizeText } from '../../../src/simulator/futures/instruments/instruments.ts'
import { cancelOrder } from '../../../src/simulator/futures/orders/order-lifecycle.ts'
import { setPositionMode } from '../../../src/simulator/undocumented/futures-account.ts'
import { type Position } from '../../../src/simulator/futures/positions/position.ts'
import { closePosition } from '../../../src/simulator/futures/positions/system-close.ts'
import { API_NAME, HAND_NAME, ODD_NAME } from '../virtual/exchange-truth.ts'
import { UID } from '../../../src/backtest/direct-exchange.ts'
import { type ChangedSettings } from './changed-settings.ts'
import { type FaultKind } from './virtual-faults.ts'
import { type WorldPlan } from '../world/world-plan.ts'
import { ORDER_LOTS_MAX } from '../world/world-limits.ts'
import { type World } from '../world/world.ts'

/** Each of them is drawn at every point of this grid. */
const GRID_MS = 250
const RESTING_MS = [300, 6000] as const
/** How long an instrument is suspended, or the mode stays switched if nothing halts for it. */
const SUSPENDED_MS = [300, 6000] as const
const SWITCHED_MS = [300, 4000] as const
/** How long grids and settings differ from the configuration. */
const CHANGED_MS = [2000, 15_000] as const
const HAND_LOTS_MAX = 8
const LOOKED_AT_MS = 900

type Deed = (world: World, random: Random) => void

const DEEDS: { readonly [Fault in FaultKind]?: Deed } = {
  liquidated: liquidate,
  deleveraged: deleverage,
  closedUnseen: closeUnseen,
  tradedByHand: (world, random) => placeByHand(world, random, 'market'),
  orderVanishes: vanish,
  tradedByProgram: tradeByProgram,
  orderByHand: (world, random) => placeByHand(world, random, 'limit'),
  modeSwitched: switchMode,
  suspended: suspend,
  gridChanged: (world, random) =>
    change(
      world,
      random,
      random.integer(2) === 0 ? { priceSteps: 10 } : { sizeSteps: 2 + 3 * random.integer(2) },
    ),
  marginModeChanged: (world, random) => change(world, random, { marginMode: 'isolated' }),
  leverageChanged: (world, random) => change(world, random, { leverage: '25' }),
}

/**
 * Actions of others on our account, after its first reading: before that they would be its initial
 * state.
 */
export function meddle(world: World): void {
  const { time, faults, facts, plan, quiet } = world
  const deeds = (Object.keys(DEEDS) as FaultKind[]).filter((fault) => (plan.faults[fault] ?? 0) > 0)
  const scripted = new Set(plan.script?.map(({ fault }) => fault))
  for (const fault of scripted) if (DEEDS[fault] && !deeds.includes(fault)) deeds.push(fault)
  if (deeds.length === 0) return
  const beganAt = time.now
  const look = (): void => {
    if (!faults.isOn) return
    if (quiet.isOn) return time.after(quiet.stretch(GRID_MS), look)
    const n = Math.floor((time.now - beganAt) / GRID_MS)
    for (const fault of deeds) {
      if (facts.records.length === 0 || !faults.strikes(fault, 'account', n)) continue
      DEEDS[fault]?.(world, createRandom(faults.severity(0, 2 ** 30)))
    }
    time.after(GRID_MS, look)
  }
  time.after(GRID_MS, look)
}

/**
 * The operator looks at a halt, restores the account and releases; for a drawdown whose last step
 * would fire again at once, the second time with a new peak. The unheld part stays unheld.
 */
export function releaseHalts(world: World): void {
  const { time, process, facts, faults, quiet } = world
  const released = new Map<string, number>()
  const look = (): void => {
    if (!faults.isOn) setMode(world, world.plan.positionMode)
    for (const [scope, { at, mode }] of facts.halted) {
      const lookedAtMs = mode === 'reducing' ? world.plan.reducingMs : LOOKED_AT_MS
      // A suspended process gets the release when it goes on.
      if (facts.isUnattended || time.now - at < lookedAtMs || process.isStill) continue
      if (!setMode(world, world.plan.positionMode)) continue
      const newPeak = released.get(scope) === at
      released.set(scope, at)
      process.dispatch({
        kind: 'commanded',
        command: {
          kind: 'release',
          scope,
          reason: 'looked at',
          by: 'world',
          unclaimed: true,
          ...(newPeak && { newPeak }),
        },
      })
    }
    if (faults.isOn || facts.halted.size > 0) time.after(quiet.stretch(GRID_MS), look)
  }
  time.after(GRID_MS, look)
}

/**
 * Returns whether the account has that mode then: switching needs a flat account without orders.
 */
function setMode({ exchange }: World, posMode: WorldPlan['positionMode']): boolean {
  return exchange.core.carryOut(exchange.now, (state) => {
    if (accountOf(state, UID).setup.positionMode === posMode) return true
    return setPositionMode(state, { uid: UID }, { posMode }).ok
  })
}

function switchMode(world: World, random: Random): void {
  const { positionMode } = world.plan
  if (!setMode(world, positionMode === 'hedge_mode' ? 'one_way_mode' : 'hedge_mode')) return
  const [from, to] = SWITCHED_MS
  world.time.after(from + random.integer(to - from), () => setMode(world, positionMode))
}

function suspend({ exchange, plan }: World, random: Random): void {
  const symbol = plan.symbols[random.integer(plan.symbols.length)] ?? ''
  const [from, to] = SUSPENDED_MS
  exchange.suspensions.suspend(
    symbol,
    exchange.now + from + random.integer(to - from),
    random.integer(3),
  )
}

function change({ exchange, plan }: World, random: Random, is: ChangedSettings): void {
  const symbol = plan.symbols[random.integer(plan.symbols.length)] ?? ''
  const [from, to] = CHANGED_MS
  const until = exchange.now + from + random.integer(to - from)
  exchange.settingChanges.change(symbol, { since: exchange.now, until, is })
}

/** The account is in need: resting orders are cancelled silently, and positions closed. */
function liquidate({ exchange }: World, random: Random): void {
  exchange.core.carryOut(exchange.now, (state) => {
    const { openOrders, positions } = accountOf(state, UID)
    if (positions.size === 0) return
    for (const order of Array.from(openOrders.values())) cancelOrder(state, order, 'liquidation')
    const count = 1 + random.integer(positions.size)
    for (const position of [...positions.values()].slice(0, count)) close(state, position, 'burst')
  })
}

/**
 * The exchange silently loses a resting order: the first on its side that the market would reach.
 */
function vanish({ exchange }: World, random: Random): void {
  const side = random.integer(2) === 0 ? 'buy' : 'sell'
  exchange.core.carryOut(exchange.now, (state) => {
    const orders = [...accountOf(state, UID).openOrders.values()].filter(
      ({ direction, priceTicks }) => direction === side && priceTicks > 0,
    )
    const [first] = orders.sort((left, right) => left.priceTicks - right.priceTicks)
    const order = side === 'buy' ? orders.at(-1) : first
    if (order) cancelOrder(state, order, 'self_trade')
  })
}

/**
 * A part of a position is closed against a liquidation that found no market; resting orders stay.
 */
function deleverage({ exchange }: World, random: Random): void {
  exchange.core.carryOut(exchange.now, (state) => {
    const positions = [...accountOf(state, UID).positions.values()]
    if (positions.length === 0) return
    const position = positions[random.integer(positions.length)]
    if (!position) return
    const lots = 1 + random.integer(position.lots)
    close(state, { ...position, lots }, CLOSES[random.integer(CLOSES.length)] ?? 'reduce')
  })
}

/** Like the settlement of a contract: only the position shows it. */
function closeUnseen(world: World, random: Random): void {
  const { truth, unseen } = world.exchange
  const before = truth.fillsInOrder.length
  deleverage(world, random)
  for (const { sequence, orderSequence } of truth.fillsInOrder.slice(before)) {
    const order = truth.orders.get(String(orderSequence))
    if (order?.source === 'SYS') unseen.add(tradeIdText(sequence))
  }
}

/** Reasons of the system for partial closes, with one undocumented word. */
const CLOSES = ['reduce', 'offset', 'dte_sys_adl', 'delivery', 'melt'] as const

function close(state: CoreState, position: Position, how: 'burst' | (typeof CLOSES)[number]): void {
  closePosition(state, position, { tradeSide: `${how}_close_${position.holdSide}` })
}

/** With the app's own name, or without any. A resting one is cancelled after a while. */
function placeByHand(world: World, random: Random, orderType: 'market' | 'limit'): void {
  const lots = 1 + random.integer(HAND_LOTS_MAX)
  const name =
    random.integer(2) === 0 ? { clientOid: `${HAND_NAME}${random.integer(2 ** 30)}` } : {}
  place(world, random, { orderType, lots, name })
}

/**
 * Another program with the account's keys trades at the market at any time, also while the process
 * is down. It trades more than an order of ours can have, also where the exchange cuts it to what
 * is held, and not while one of ours has no orderId: the parts of a large order could not be
 * attributed.
 */
export function tradeByProgram(world: World, random: Random): void {
  if (hasNameless(world)) return
  const lots = ORDER_LOTS_MAX + 1 + random.integer(HAND_LOTS_MAX)
  const prefix = random.integer(3) === 0 ? ODD_NAME : API_NAME
  place(world, random, {
    orderType: 'market',
    lots,
    leastLots: ORDER_LOTS_MAX + 1,
    name: { clientOid: `${prefix}${random.integer(2 ** 30)}` },
  })
}

function hasNameless({ process }: World): boolean {
  const orders = [...(process.engine?.book.open.values() ?? [])].flatMap((open) => [
    ...open.values(),
  ])
  return orders.some(({ orderId, attempts }) => orderId === undefined && attempts > 0)
}

interface ForeignOrder {
  readonly orderType: 'market' | 'limit'
  readonly lots: number
  /** Nothing is placed that the exchange would cut to less. */
  readonly leastLots?: number
  readonly name: { readonly clientOid?: string }
}

function place(
  { exchange, plan, time }: World,
  random: Random,
  { orderType, lots, leastLots = 0, name }: ForeignOrder,
): void {
  const symbol = plan.symbols[random.integer(plan.symbols.length)] ?? ''
  const side = random.integer(2) === 0 ? 'buy' : 'sell'
  const tradeSide = random.integer(2) === 0 ? 'open' : 'close'
  const isClose = plan.positionMode === 'hedge_mode' && tradeSide === 'close'
  const { size, price, closableLots } = exchange.core.carryOut(exchange.now, (state) => {
    const { instrument, market } = symbolOf(state, symbol)
    const closed = positionOf(accountOf(state, UID), symbol, side === 'buy' ? 'long' : 'short')
    const buys = (side === 'buy') === (plan.positionMode === 'one_way_mode' || tradeSide === 'open')
    const away = random.integer(12)
    const ticks = buys ? market.bidTicks - away : market.askTicks + away
    return {
      size: sizeText(instrument, lots),
      price: priceText(instrument, ticks),
      closableLots: closed?.lots ?? 0,
    }
  })
  if (isClose && closableLots < leastLots) return
  const reply = exchange.core.answer(
    'batchPlaceOrder',
    { uid: UID },
    {
      symbol,
      productType: 'USDT-FUTURES',
      marginMode: 'crossed',
      marginCoin: 'USDT',
      orderList: [
        {
          side,
          size,
          orderType,
          ...(plan.positionMode === 'hedge_mode' ? { tradeSide } : {}),
          ...(orderType === 'limit' ? { price, force: 'gtc' as const } : {}),
          ...name,
        },
      ],
    },
    exchange.now,
  )
  const [order] = reply.ok ? reply.data.successList : []
  if (orderType === 'market' || !order?.orderId) return
  const { orderId } = order
  time.after(RESTING_MS[0] + random.integer(RESTING_MS[1] - RESTING_MS[0]), () =>
    takeAway(exchange, orderId),
  )
}

function takeAway(exchange: World['exchange'], orderId: string): void {
  exchange.core.carryOut(exchange.now, (state) => {
    for (const order of accountOf(state, UID).openOrders.values()) {
      if (orderIdText(order.sequence) === orderId) return cancelOrder(state, order, 'user')
    }
  })
}
