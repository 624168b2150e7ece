import type { MaintenanceRules } from '../domain/liquidation.ts'
import { isClosing, type OrderAction, tradesAs } from '../domain/order-action.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { HoldSide } from '../domain/position.ts'
import { type Leg, maintenanceAt } from './liquidation.ts'

/*
 * How an account would stand if the market moved: what it would hold, be worth and have left. Every figure is counted anew for each
 * scenario, from what is held and what rests now; nothing is kept. Amounts are in the margin coin, prices in the quote
 * coin, sizes in the base coin.
 */

/**
 * Which resting orders are filled on the way.
 *
 *     none      none: the market jumps over them
 *     reached   those whose price the market comes to on the straight way
 *     all       all of both sides, wherever they rest
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
  /** An isolated position has set this aside; NaN: not known. Absent where all is crossed. */
  readonly margin?: number
}

/** An instrument with its price now, and what is held and rests there. */
export interface ScenarioInstrument {
  readonly symbol: string
  readonly isInverse: boolean
  readonly price: number
  readonly legs: readonly ScenarioLeg[]
  readonly orders: readonly ScenarioOrder[]
  /** Undefined: not known, so neither is what the account needs. */
  readonly rules: MaintenanceRules | undefined
  readonly takerFeeRate: number
  /** Longs pay shorts this share of the value next; NaN: not known, and not counted. */
  readonly fundingRate: number
  /** An isolated order sets aside its value divided by this. */
  readonly leverage: number
}

export interface ScenarioAccount {
  /** Now, at the prices of the instruments; NaN: not known. */
  readonly equity: number
  readonly positionMode: PositionMode
  /** Each position stands on the margin that it has set aside, and not all of them on the equity. */
  readonly isIsolated: boolean
  readonly instruments: readonly ScenarioInstrument[]
}

export interface Scenario {
  /** The share of itself by which each price moves, by symbol: -0.1 is a fall of a tenth. Absent: it stands. */
  readonly moves: ReadonlyMap<string, number>
  readonly fill: FillRule
  /** Whether orders are filled at their own price, or at the price now, which is worse for them. Absent: their own. */
  readonly fillsAt?: 'own' | 'now'
}

/** A position as the scenario leaves it. */
export interface ScenarioPosition {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly size: number
  readonly entryPrice: number
  readonly price: number
  /** Size at the price: of an inverse contract in the base coin. */
  readonly worth: number
  /** Not realised; of an isolated one no loss beyond its margin. */
  readonly profit: number
  /** Maintenance margin and the fee of closing. */
  readonly need: number
  /** The margin of an isolated one does not cover its loss and its need. */
  readonly isLiquidated: boolean
}

export interface ScenarioOutcome {
  readonly positions: readonly ScenarioPosition[]
  /** How many resting orders were filled. */
  readonly filled: number
  /** Profit of the fills that closed. */
  readonly realised: number
  readonly fees: number
  /** The next payment, at the prices after the move: zero or less. */
  readonly funding: number
  /** Equity after less equity before. */
  readonly change: number
  readonly equity: number
  readonly need: number
  /** Equity that nothing needs. */
  readonly free: number
  /** Need over equity; Infinity where nothing is left. */
  readonly used: number
  /** At the prices after the move, before the funding. What happened on the way says {@link findFirstLiquidation}. */
  readonly isLiquidated: boolean
}

/** Counts what an account comes to. A figure of which a part is not known is NaN. */
export function computeScenario(account: ScenarioAccount, scenario: Scenario): ScenarioOutcome {
  return sumUp(
    account,
    account.instruments.map((instrument) => play(instrument, account, scenario)),
  )
}

/** The part of one instrument. */
interface Played {
  readonly positions: readonly ScenarioPosition[]
  readonly filled: number
  readonly realised: number
  readonly fees: number
  readonly funding: number
  readonly profitBefore: number
}

function sumUp(
  { equity: before, isIsolated }: ScenarioAccount,
  played: readonly Played[],
): ScenarioOutcome {
  const total = (of: (one: Played) => number): number =>
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
    used:
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
  scenario: Scenario,
): Played {
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

/** A position's next payment. If it would receive one, that is not there yet when the move comes, and helps nothing. */
function fundingOf(
  { fundingRate }: Pick<ScenarioInstrument, 'fundingRate'>,
  { holdSide, worth }: ScenarioPosition,
): number {
  const paid = holdSide === 'long' ? worth * fundingRate : -worth * fundingRate
  return Number.isNaN(paid) ? 0 : Math.max(0, paid)
}

/** In the order in which a straight move comes to them: {@link computeScenario} takes them as they stand. */
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
  // At the price now it rests, since the market has to come to it.
  if (tradesAs(action) === 'buy') return price > now || (after < now && price >= after)
  return price < now || (after > now && price <= after)
}

/** Its own price; what the market offers already is traded at the market's. */
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
  { filled, fillsAt }: Pick<Scenario, 'fillsAt'> & { readonly filled: readonly ScenarioOrder[] },
): Pick<ScenarioTrading, 'legs' | 'realised' | 'fees'> {
  const trading = new ScenarioTrading(instrument, account)
  for (const order of filled)
    trading.fill(order, fillsAt === 'now' ? instrument.price : priceOfFill(order, instrument.price))
  return trading
}

/** A size below this is the error of a float. */
const SIZE_MIN = 1e-12

/** The positions of an instrument while orders are filled. */
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

  /** In one-way mode what trades against the position closes it first; in hedge mode the action says which side it moves. */
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

/** Where, on the way that a scenario says and beyond, the exchange would close a position for the first time. */
export interface FirstLiquidation {
  /** How much of the scenario's moves: 0.5 halfway, 2 twice as far. */
  readonly share: number
  readonly moves: ReadonlyMap<string, number>
}

/** So many points on the way are looked at, and as many beyond it; between two of them the way is halved. */
const POINTS = 15
const HALVINGS = 35
/** No price falls to nothing; a rise is followed so far. */
const FALL_MAX = 0.999
const RISE_MAX = 10

/** `none`: no price on that way liquidates · `unknown`: a part of it is not known. */
export function findFirstLiquidation(
  account: ScenarioAccount,
  scenario: Scenario,
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

/** Just before, at and behind each share of the way at which a position as it is now changes its tier: its need jumps there. */
function tierBorders(
  { instruments }: ScenarioAccount,
  { moves }: Scenario,
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
/** The nearest ones: where so many positions are held, the jump of one decides little. */
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

/** How often the moves can be repeated before a price is nothing, or has risen too far; 0 where nothing moves. */
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
