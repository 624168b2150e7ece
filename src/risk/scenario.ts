import type { MaintenanceRules } from '../domain/liquidation.ts'
import { isClosing, type OrderAction, tradesAs } from '../domain/order-action.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { HoldSide } from '../domain/position.ts'
import { type Leg, maintenanceAt } from './liquidation.ts'

/**
 * An account after a market move, computed anew for each scenario. Margin coin, prices quote coin,
 * sizes base coin.
 */

/**
 * Which resting orders are filled on the way:
 *
 *     none      none: the market jumps over them
 *     reached   those that a straight move reaches
 *     all       all of both sides
 */
export const FILL_RULES = ['none', 'reached', 'all'] as const
export type FillRule = (typeof FILL_RULES)[number]

export interface ScenarioOrder {
  readonly action: OrderAction
  readonly size: number
  /** Undefined: at the market. */
  readonly price: number | undefined
}

export interface ScenarioLeg extends Leg {
  /** NaN: not known. Absent for crossed margin. */
  readonly margin?: number
}

export interface ScenarioInstrument {
  readonly symbol: string
  readonly isInverse: boolean
  readonly price: number
  readonly legs: readonly ScenarioLeg[]
  readonly orders: readonly ScenarioOrder[]
  /** Undefined: the account's need is unknown too. */
  readonly rules: MaintenanceRules | undefined
  readonly takerFeeRate: number
  /** Longs pay shorts this share of the value next; NaN: not counted. */
  readonly fundingRate: number
  /** An isolated order's margin is its value divided by this. */
  readonly leverage: number
}

export interface ScenarioAccount {
  /** At the prices of the instruments; NaN: not known. */
  readonly equity: number
  readonly positionMode: PositionMode
  /** Each position has only its own margin behind it. */
  readonly isIsolated: boolean
  readonly instruments: readonly ScenarioInstrument[]
}

export interface MoveScenario {
  /** A share for each symbol: -0.1 is a fall of a tenth. Absent: no move. */
  readonly moves: ReadonlyMap<string, number>
  readonly fill: FillRule
  /** The order's own price (default), or the current price, which is worse for it. */
  readonly fillsAt?: 'own' | 'now'
}

export interface ScenarioPosition {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly size: number
  readonly entryPrice: number
  readonly price: number
  /** Size times price; for inverse contracts in the base coin. */
  readonly worth: number
  /** The loss of an isolated position is at most its margin. */
  readonly profit: number
  readonly need: number
  /** An isolated margin does not cover loss and need. */
  readonly isLiquidated: boolean
}

export interface ScenarioOutcome {
  readonly positions: readonly ScenarioPosition[]
  readonly filled: number
  readonly realised: number
  readonly fees: number
  /** At the prices after the move: zero or less. */
  readonly funding: number
  readonly change: number
  readonly equity: number
  readonly need: number
  readonly free: number
  /** Need over equity; Infinity without equity. */
  readonly marginRatio: number
  readonly isLiquidated: boolean
}

/** NaN if a part is not known. */
export function computeScenario(account: ScenarioAccount, scenario: MoveScenario): ScenarioOutcome {
  return sumUp(
    account,
    account.instruments.map((instrument) => play(instrument, account, scenario)),
  )
}

interface InstrumentOutcome {
  readonly positions: readonly ScenarioPosition[]
  readonly filled: number
  readonly realised: number
  readonly fees: number
  readonly funding: number
  readonly profitBefore: number
}

function sumUp(
  { equity: before, isIsolated }: ScenarioAccount,
  played: readonly InstrumentOutcome[],
): ScenarioOutcome {
  const total = (of: (one: InstrumentOutcome) => number): number =>
    played.reduce((sum, one) => sum + of(one), 0)
  const positions = played.flatMap((one) => one.positions)
  const [realised, fees, funding] = [
    total((one) => one.realised),
    total((one) => one.fees),
    total((one) => one.funding),
  ]
  const profit = positions.reduce((sum, position) => sum + position.profit, 0)
  const change = realised - fees + funding + profit - total(({ profitBefore }) => profitBefore)
  const equity = before + change
  const need = positions.reduce((sum, position) => sum + position.need, 0)
  return {
    positions,
    filled: total((one) => one.filled),
    realised,
    fees,
    funding,
    change,
    equity,
    need,
    free: equity - need,
    marginRatio:
      need === 0
        ? 0
        : equity > 0
          ? need / equity
          : equity <= 0
            ? Number.POSITIVE_INFINITY
            : Number.NaN,
    isLiquidated: isIsolated
      ? positions.some(({ isLiquidated }) => isLiquidated)
      : positions.length > 0 && equity - funding <= need,
  }
}

function play(
  instrument: ScenarioInstrument,
  account: ScenarioAccount,
  scenario: MoveScenario,
): InstrumentOutcome {
  const { price, legs, orders } = instrument
  const after = price * (1 + (scenario.moves.get(instrument.symbol) ?? 0))
  const filled =
    scenario.fill === 'none'
      ? NO_ORDERS
      : orders.filter((order) => isFilled(order, price, after, scenario.fill))
  const traded =
    filled.length === 0
      ? { legs, realised: 0, fees: 0 }
      : trade(instrument, account, { ...scenario, filled })
  const positions = traded.legs.map((leg) => toPosition(instrument, leg, after))
  let [funding, profitBefore] = [0, 0]
  for (const position of positions) funding -= fundingOf(instrument, position)
  for (const leg of legs) profitBefore += profitAt(instrument, leg, price)
  const { realised, fees } = traded
  return { positions, filled: filled.length, realised, fees, funding, profitBefore }
}

const NO_ORDERS: readonly ScenarioOrder[] = []

/** A receipt counts as zero: it has not arrived when the move comes. */
function fundingOf(
  { fundingRate }: Pick<ScenarioInstrument, 'fundingRate'>,
  { holdSide, worth }: ScenarioPosition,
): number {
  const paid = holdSide === 'long' ? worth * fundingRate : -worth * fundingRate
  return Number.isNaN(paid) ? 0 : Math.max(0, paid)
}

/** In the order in which a straight move reaches them. */
export function sortByReach(
  orders: readonly ScenarioOrder[],
  now: number,
): readonly ScenarioOrder[] {
  const reachOf = (order: ScenarioOrder): number => Math.abs(priceOfFill(order, now) - now)
  return orders.toSorted((one, other) => reachOf(one) - reachOf(other))
}

function isFilled(
  { action, price }: ScenarioOrder,
  now: number,
  after: number,
  rule: FillRule,
): boolean {
  if (rule !== 'reached' || price === undefined) return rule !== 'none'
  // An order at its current price rests, since the market must move to it.
  if (tradesAs(action) === 'buy') return price > now || (after < now && price >= after)
  return price < now || (after > now && price <= after)
}

/** The order's own price, or the market's if better. */
function priceOfFill({ action, price }: ScenarioOrder, now: number): number {
  if (price === undefined) return now
  return tradesAs(action) === 'buy' ? Math.min(price, now) : Math.max(price, now)
}

function toPosition(
  { symbol, isInverse, rules }: ScenarioInstrument,
  leg: ScenarioLeg,
  price: number,
): ScenarioPosition {
  const { holdSide, size, entryPrice, margin } = leg
  const need = rules ? maintenanceAt({ legs: [leg], rules, isInverse }, price) : Number.NaN
  const profit = profitAt({ isInverse }, leg, price)
  return {
    symbol,
    holdSide,
    size,
    entryPrice,
    price,
    worth: isInverse ? size : size * price,
    profit: margin === undefined || Number.isNaN(margin) ? profit : Math.max(profit, -margin),
    need,
    isLiquidated: margin !== undefined && margin + profit <= need,
  }
}

function profitAt(
  { isInverse }: Pick<ScenarioInstrument, 'isInverse'>,
  { holdSide, size, entryPrice }: Leg,
  price: number,
): number {
  const gain = (holdSide === 'long' ? price - entryPrice : entryPrice - price) * size
  return isInverse ? gain / price : gain
}

function trade(
  instrument: ScenarioInstrument,
  account: ScenarioAccount,
  {
    filled,
    fillsAt,
  }: Pick<MoveScenario, 'fillsAt'> & { readonly filled: readonly ScenarioOrder[] },
): Pick<ScenarioTrading, 'legs' | 'realised' | 'fees'> {
  const trading = new ScenarioTrading(instrument, account)
  for (const order of filled)
    trading.fill(order, fillsAt === 'now' ? instrument.price : priceOfFill(order, instrument.price))
  return trading
}

/** Smaller sizes are float errors. */
const SIZE_MIN = 1e-12

class ScenarioTrading {
  realised = 0
  fees = 0
  readonly #instrument: ScenarioInstrument
  readonly #account: ScenarioAccount
  readonly #legs: Map<HoldSide, ScenarioLeg>

  constructor(instrument: ScenarioInstrument, account: ScenarioAccount) {
    this.#instrument = instrument
    this.#account = account
    this.#legs = new Map(instrument.legs.map((leg) => [leg.holdSide, leg]))
  }

  get legs(): readonly ScenarioLeg[] {
    return [...this.#legs.values()]
  }

  /** In one-way mode a fill closes first; in hedge mode the action says which side it moves. */
  fill({ action, size }: ScenarioOrder, price: number): void {
    const isBuy = tradesAs(action) === 'buy'
    const [same, opposite]: readonly HoldSide[] = isBuy ? ['long', 'short'] : ['short', 'long']
    if (same === undefined || opposite === undefined) return
    const mayClose = this.#account.positionMode === 'one_way_mode' || isClosing(action)
    const closed = mayClose ? Math.min(size, this.#legs.get(opposite)?.size ?? 0) : 0
    const opened = isClosing(action) ? 0 : size - closed
    if (closed > 0) this.#close(opposite, closed, price)
    if (opened > SIZE_MIN) this.#open(same, opened, price)
    this.fees += this.#worth(closed + opened, price) * this.#instrument.takerFeeRate
  }

  #close(side: HoldSide, size: number, price: number): void {
    const leg = this.#legs.get(side)
    if (leg === undefined) return
    this.realised += profitAt(this.#instrument, { ...leg, size }, price)
    const left = leg.size - size
    if (left <= SIZE_MIN) this.#legs.delete(side)
    else
      this.#legs.set(side, {
        ...leg,
        size: left,
        ...(leg.margin !== undefined && { margin: (leg.margin * left) / leg.size }),
      })
  }

  #open(side: HoldSide, size: number, price: number): void {
    const leg = this.#legs.get(side) ?? { holdSide: side, size: 0, entryPrice: price, margin: 0 }
    const grown = leg.size + size
    const margin = (leg.margin ?? 0) + this.#worth(size, price) / this.#instrument.leverage
    this.#legs.set(side, {
      holdSide: side,
      size: grown,
      entryPrice: (leg.entryPrice * leg.size + price * size) / grown,
      ...(this.#account.isIsolated && { margin }),
    })
  }

  #worth(size: number, price: number): number {
    return this.#instrument.isInverse ? size : size * price
  }
}

/** The first point on a scenario's way, or beyond it, with a liquidation. */
export interface FirstLiquidation {
  /** A share of the scenario's moves: 0.5 halfway, 2 twice as far. */
  readonly share: number
  readonly moves: ReadonlyMap<string, number>
}

/** Points examined on the way, and again beyond it, before halving. */
const POINTS = 15
const HALVINGS = 35
/** A price cannot fall to zero; a rise is followed this far. */
const FALL_MAX = 0.999
const RISE_MAX = 10

/** `none`: no price liquidates · `unknown`: a part is not known. */
export function findFirstLiquidation(
  account: ScenarioAccount,
  scenario: MoveScenario,
): FirstLiquidation | 'none' | 'unknown' {
  const end = farthestShare(scenario.moves)
  const look = (share: number): ScenarioOutcome =>
    computeScenario(account, { ...scenario, moves: scaleMoves(scenario.moves, share) })
  const now = look(0)
  if (Number.isNaN(now.need) || (Number.isNaN(now.equity) && !account.isIsolated)) return 'unknown'
  if (now.isLiquidated) return { share: 0, moves: scaleMoves(scenario.moves, 0) }
  let [stands, falls] = [0, 0]
  for (const share of [...pointsUpTo(end), ...tierBorders(account, scenario, end)].toSorted(
    byNumber,
  )) {
    if (look(share).isLiquidated) {
      falls = share
      break
    }
    stands = share
  }
  if (falls === 0) return 'none'
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (stands + falls) / 2
    if (look(middle).isLiquidated) falls = middle
    else stands = middle
  }
  return { share: falls, moves: scaleMoves(scenario.moves, falls) }
}

/** The need jumps where a position changes its tier. */
function tierBorders(
  { instruments }: ScenarioAccount,
  { moves }: MoveScenario,
  end: number,
): readonly number[] {
  const borders = instruments.flatMap(({ symbol, price, legs, rules }) => {
    const move = moves.get(symbol) ?? 0
    if (rules === undefined || move === 0) return []
    const values = legs.map(({ size }) => size * price)
    return rules.tiers
      .flatMap(({ notionalMax }) => values.map((value) => (notionalMax / value - 1) / move))
      .filter((share) => share > 0 && share <= end)
  })
  return borders
    .toSorted(byNumber)
    .slice(0, BORDERS_MAX)
    .flatMap((border) => [border * (1 - HAIR), border, border * (1 + HAIR)])
}

const HAIR = 1e-9
/** With many positions, one jump matters little. */
const BORDERS_MAX = 10

function byNumber(one: number, other: number): number {
  return one - other
}

function scaleMoves(
  moves: ReadonlyMap<string, number>,
  share: number,
): ReadonlyMap<string, number> {
  return new Map([...moves].map(([symbol, move]) => [symbol, move * share]))
}

/** Repetitions of the moves before a price reaches zero or FALL_MAX; 0 if nothing moves. */
function farthestShare(moves: ReadonlyMap<string, number>): number {
  const shares = [...moves.values()].flatMap((move) =>
    move === 0 ? [] : [move < 0 ? FALL_MAX / -move : RISE_MAX / move],
  )
  return shares.length === 0 ? 0 : Math.min(...shares)
}

function pointsUpTo(end: number): readonly number[] {
  if (end === 0) return []
  const inside = Math.min(1, end)
  const first = Array.from({ length: POINTS }, (_, index) => ((index + 1) / POINTS) * inside)
  if (end <= inside) return first
  const beyond = Array.from(
    { length: POINTS },
    (_, index) => inside + ((index + 1) / POINTS) * (end - inside),
  )
  return [...first, ...beyond]
}
