import {
  type DistanceTrust,
  type HourlyCloses,
  LIQUIDATION_DISPUTE_MS,
  LIQUIDATION_STEPS,
  type LiquidationDistance,
  type LiquidationStep,
} from '../../domain/liquidation.ts'
import type { PositionStatement } from '../../domain/loss-limits.ts'
import { isInverse } from '../../domain/instrument.ts'
import { type Holding, type HoldSide, HOLD_SIDES, isFlat, lotsOn } from '../../domain/position.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import {
  distanceTo,
  type Leg,
  type Legs,
  maintenanceAt,
  pickPrice,
  standingAt,
} from '../../risk/liquidation.ts'
import { accountHoldingOf, pairKey, pairOf } from '../book/book.ts'
import { type Core, specOf } from './core.ts'
import { disputeOf, noteComparison } from './disputes.ts'
import { equityOf } from './equity.ts'
import { settledOf } from './totals.ts'
import { unreadFundingOf } from './unseen-funding.ts'
import { exchangeNow } from './market-state.ts'
import {
  type OwnPrice,
  ownPriceOf,
  possibleMark,
  comparableStatement,
  confirmedWithinMs,
  isPositionUnread,
} from './own-figure.ts'
import { marginModeOf } from './trading-mode.ts'
import { type CandleSeries, newestOpenAt, readCandle } from '../../domain/candles.ts'

/**
 * Figures that differ by a larger share of the price differ neither by rounding nor by the moment
 * of their reading.
 */
const DIFFERENCE_MAX = 0.02
/** Beyond so many times the price a difference of two figures says nothing. */
const FAR = 1
/** Ratios may differ by a share of the larger one, and by rounding. */
const RATIO_TOLERANCE = 0.2
const RATIO_ROUNDING = 0.001

const UNKNOWN = { long: Number.NaN, short: Number.NaN }

/** MON2: what was stated too long ago is not known. */
function statementOf(core: Core, symbol: string): PositionStatement | undefined {
  const statement = core.losses.statements.get(symbol)
  if (statement === undefined || !isPositionUnread(core, symbol))
    return comparableStatement(core, symbol)
  return {
    ...statement,
    unrealised: Number.NaN,
    markPrice: Number.NaN,
    liquidation: UNKNOWN,
    margin: UNKNOWN,
    marginRatio: UNKNOWN,
  }
}

/** Measures nothing while a new reading and the book differ on the positions. */
export function measureDistances(core: Core, symbol: string): readonly LiquidationDistance[] {
  const statement = statementOf(core, symbol)
  if (!statement) return []
  const held = accountHoldingOf(core.book, symbol)
  const price = ownPriceOf(core, symbol)
  noteHourlyPrice(core, symbol, price.price)
  const measured: LiquidationDistance[] = []
  for (const holdSide of HOLD_SIDES) {
    if (lotsOn(held, holdSide) === 0) endDispute(core, symbol, holdSide)
    else measured.push(measureSide(core, { symbol, holdSide, statement, price }))
  }
  if (measured.length === 0) mutable(core.liquidation.distances).delete(symbol)
  else mutable(core.liquidation.distances).set(symbol, measured)
  for (const distance of measured) noteNearest(core, distance)
  return measured
}

interface MeasuredSide {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly statement: PositionStatement
  readonly price: OwnPrice
}

function measureSide(core: Core, of: MeasuredSide): LiquidationDistance {
  const { symbol, holdSide, statement, price } = of
  const standing = findLiquidationGroup(core, symbol, holdSide)
  const ourPrice = standing && price.price > 0 ? pickPrice(standing.legs, price.price) : undefined
  const stated = statement.liquidation[holdSide]
  const statedPrice = stated > 0 ? stated : Number.NaN
  const markPrice = possibleMark(core, symbol, statement.markPrice, price)
  const knownPrice = ourPrice ?? Number.NaN
  const ours = ourPrice === undefined ? Number.NaN : distanceTo(ourPrice, price.price)
  const statedDistance = Number.isNaN(statedPrice) ? Number.NaN : distanceTo(statedPrice, markPrice)
  const ratios = {
    ours: standing && price.price > 0 ? ratioAt(standing, price.price) : Number.NaN,
    stated: statement.marginRatio[holdSide],
  }
  const apart = Math.abs(knownPrice / price.price - statedPrice / markPrice)
  const isFar = Math.min(ours, statedDistance) > FAR
  const figures: JudgedPrices = {
    ourPrice: knownPrice,
    statedPrice,
    ours,
    stated: statedDistance,
    trust: trustOf({ ours, stated: statedDistance }, isFar || apart <= DIFFERENCE_MAX),
  }
  const trust = isPositionUnread(core, symbol) ? figures.trust : judgeTrust(core, of, figures)
  const byMark = statement.markPrice > 0 ? distanceTo(statedPrice, statement.markPrice) : Infinity
  const nearest =
    trust === 'alone' ? ours : nearestOf(figures, Number.isNaN(statedPrice) ? Infinity : byMark)
  return {
    symbol,
    holdSide,
    markPrice,
    ownPrice: price.price,
    ourPrice: knownPrice,
    statedPrice,
    ours,
    stated: statedDistance,
    nearest,
    moves: nearest / typicalMoveOf(core, symbol),
    trust,
    ratio: ratios.ours,
    statedRatio: ratios.stated,
    ratioTrust: trustOf(ratios, isRatioClose(ratios)),
  }
}

/** @param byMark the stated price from the stated mark, however odd: it warns */
function nearestOf(
  { ours, stated }: Pick<LiquidationDistance, 'ours' | 'stated'>,
  byMark: number,
): number {
  if (Number.isNaN(ours)) return Math.min(stated, byMark)
  return Number.isNaN(stated) ? ours : Math.min(ours, stated, byMark)
}

function noteNearest(
  { liquidation, now }: Core,
  { symbol, holdSide, nearest }: LiquidationDistance,
): void {
  if (!(nearest < (liquidation.nearest.get(symbol)?.distance ?? Number.POSITIVE_INFINITY))) return
  mutable(liquidation.nearest).set(symbol, { symbol, holdSide, distance: nearest, at: now })
}

interface TwoFigures {
  readonly ours: number
  readonly stated: number
}

function trustOf({ ours, stated }: TwoFigures, isClose: boolean): DistanceTrust {
  if (Number.isNaN(ours)) return Number.isNaN(stated) ? 'none' : 'stated'
  // The exchange states none, or nothing at all.
  if (Number.isNaN(stated)) return 'ours'
  return isClose ? 'agreed' : 'disputed'
}

/** Some exchanges count the fee of closing and others do not, and all round. */
function isRatioClose({ ours, stated }: TwoFigures): boolean {
  // With nothing behind the position there is no ratio to compare.
  if (!Number.isFinite(ours) || !Number.isFinite(stated)) return ours >= 1 && stated >= 1
  return Math.abs(ours - stated) <= RATIO_ROUNDING + RATIO_TOLERANCE * Math.max(ours, stated)
}

interface JudgedPrices extends TwoFigures {
  readonly ourPrice: number
  readonly statedPrice: number
  readonly trust: DistanceTrust
}

/**
 * When the figures have differed for long, although the position is read and our prices are near
 * their index, ours counts alone: a wrong field of the exchange must not keep a step away for ever.
 */
function judgeTrust(
  core: Core,
  { symbol, holdSide, statement, price }: MeasuredSide,
  { ourPrice, statedPrice, ours, stated, trust }: JudgedPrices,
): DistanceTrust {
  const differs = trust === 'disputed'
  if (!differs && core.disputes.open.size === 0) return trust
  const scope = sideOf(symbol, holdSide)
  if (!differs && disputeOf(core, 'liquidation', scope) === undefined) return trust
  const dispute = noteComparison(core, {
    figure: 'liquidation',
    scope,
    ours: inWords(ourPrice, ours),
    theirs: inWords(statedPrice, stated),
    differs,
    isPatient: false,
    isLarge: false,
    answeredAt: statement.requestedAt,
    silenceMsMax: core.settings.limits.accountAgeMaxMs,
  })
  const isAlone =
    differs &&
    price.isInBand &&
    dispute !== undefined &&
    core.now - dispute.countedFrom >= LIQUIDATION_DISPUTE_MS
  return isAlone ? 'alone' : trust
}

function inWords(price: number, distance: number): string {
  return Number.isFinite(price)
    ? `${price.toPrecision(7)} (${(distance * 100).toFixed(2)} % away)`
    : 'no price at all'
}

function sideOf(symbol: string, holdSide: HoldSide): string {
  return `${symbol} ${holdSide}`
}

function endDispute(core: Core, symbol: string, holdSide: HoldSide): void {
  if (core.disputes.open.size === 0) return
  const scope = sideOf(symbol, holdSide)
  const open = disputeOf(core, 'liquidation', scope)
  if (open === undefined) return
  const { figure, ours, theirs } = open
  const { accountAgeMaxMs: silenceMsMax } = core.settings.limits
  noteComparison(core, {
    figure,
    scope,
    ours,
    theirs,
    differs: false,
    isPatient: false,
    isLarge: false,
    silenceMsMax,
  })
}

/** True once, until both figures agree again. */
export function noteAlone(
  { liquidation }: Core,
  { symbol, holdSide, trust }: LiquidationDistance,
): boolean {
  const key = pairOf(symbol, holdSide)
  const isKnown = liquidation.alone.has(key)
  if (trust !== 'alone') {
    if (isKnown && trust !== 'disputed') mutable(liquidation.alone).delete(key)
    return false
  }
  if (!isKnown) mutable(liquidation.alone).add(key)
  return !isKnown
}

/** Positions that would be closed together, and what all others need. */
interface LiquidationGroup {
  readonly legs: Legs
  readonly othersNeed: number
}

function findLiquidationGroup(
  core: Core,
  symbol: string,
  side: HoldSide,
): LiquidationGroup | undefined {
  const isIsolated = marginModeOf(core, symbol) === 'isolated'
  const all = legsOf(core, symbol, accountHoldingOf(core.book, symbol))
  const rules = core.settings.liquidation?.rules.get(symbol)
  if (all === undefined || rules === undefined) return undefined
  const legs = isIsolated ? all.filter(({ holdSide }) => holdSide === side) : all
  const isOfBase = isInverse(specOf(core, symbol))
  const { behind, othersNeed } = isIsolated
    ? { behind: statementOf(core, symbol)?.margin[side] ?? Number.NaN, othersNeed: 0 }
    : marginBehind(core, symbol)
  if (Number.isNaN(behind)) return undefined
  return { legs: { legs, behind, rules, isInverse: isOfBase }, othersNeed }
}

/** Maintenance margin over what stands behind it; Infinity where that is nothing. */
function ratioAt({ legs, othersNeed }: LiquidationGroup, price: number): number {
  const need = maintenanceAt(legs, price)
  const behind = standingAt(legs, price) + need + othersNeed
  return behind > 0 ? (need + othersNeed) / behind : Number.POSITIVE_INFINITY
}

/** Undefined if our fills do not explain all lots. */
export function legsOf(core: Core, symbol: string, held: Holding): readonly Leg[] | undefined {
  const entry = core.book.entries.get(symbol)
  const { tick, lot } = specOf(core, symbol)
  const legs: Leg[] = []
  for (const holdSide of HOLD_SIDES) {
    const lots = lotsOn(held, holdSide)
    if (lots === 0) continue
    const isLong = holdSide === 'long'
    const explained = (isLong ? entry?.longLots : entry?.shortLots) ?? 0
    const ticks = isLong ? entry?.longTicks : entry?.shortTicks
    if (explained < lots || ticks === undefined) return undefined
    legs.push({ holdSide, size: floatOnGrid(lot, lots), entryPrice: floatOnGrid(tick, ticks) })
  }
  return legs
}

/**
 * The margin behind crossed positions whatever their price does: our equity without their profit,
 * less what others need or have set aside. NaN while a part is unknown.
 */
export function marginBehind(
  core: Core,
  symbol: string,
): Pick<Legs, 'behind'> & Pick<LiquidationGroup, 'othersNeed'> {
  const equity = equityOf(core)
  if (equity === undefined) return NOTHING_KNOWN
  let [othersNeed, setAside] = [0, 0]
  for (const other of core.settings.instruments.keys()) {
    const held = accountHoldingOf(core.book, other)
    if (other === symbol || isFlat(held)) continue
    if (marginModeOf(core, other) === 'isolated') {
      setAside += setAsideOn(core, other, held)
      continue
    }
    const legs = legsOf(core, other, held)
    const rules = core.settings.liquidation?.rules.get(other)
    if (legs === undefined || rules === undefined) return NOTHING_KNOWN
    othersNeed += maintenanceAt(
      { legs, rules, isInverse: isInverse(specOf(core, other)) },
      ownPriceOf(core, other).price,
    )
  }
  const paid = setAside + unreadFundingOf(core)
  return { behind: equity - unrealisedOn(core, symbol) - paid - othersNeed, othersNeed }
}

function unrealisedOn(core: Core, symbol: string): number {
  const worth = core.losses.worths.get(symbol)
  return worth ? worth.ours - settledOf(core, symbol) : 0
}

/** Isolated margin and its profit back no other position. */
function setAsideOn(core: Core, symbol: string, held: Holding): number {
  const { margin } = core.losses.statements.get(symbol) ?? {}
  let sum = unrealisedOn(core, symbol)
  for (const side of HOLD_SIDES) if (lotsOn(held, side) > 0) sum += margin?.[side] ?? Number.NaN
  return sum
}

const NOTHING_KNOWN = { behind: Number.NaN, othersNeed: Number.NaN }

/**
 * The fewest lots of a crossed position whose close brings its liquidation farther than a share of
 * the price; in hedge mode at most the excess over the other side, which would be in danger then.
 * Zero while a part is unknown, and for isolated positions, whose margin shrinks with them.
 */
export function lotsToClose(
  core: Core,
  symbol: string,
  { holdSide, share }: { readonly holdSide: HoldSide; readonly share: number },
): number {
  const held = accountHoldingOf(core.book, symbol)
  const legs = legsOf(core, symbol, held)
  const rules = core.settings.liquidation?.rules.get(symbol)
  const { price } = ownPriceOf(core, symbol)
  const { behind } = marginBehind(core, symbol)
  const closed = legs?.find((leg) => leg.holdSide === holdSide)
  const isIsolated = marginModeOf(core, symbol) === 'isolated'
  if (isIsolated || Number.isNaN(behind) || !rules || !legs || !closed) return 0
  const spec = specOf(core, symbol)
  const inBase = isInverse(spec)
  const isFar = (lots: number): boolean => {
    const size = floatOnGrid(spec.lot, lots)
    const gained =
      (holdSide === 'long' ? 1 : -1) * size * (price - closed.entryPrice) -
      size * price * rules.takerFeeRate
    const left = legs.map((leg) => (leg === closed ? { ...leg, size: leg.size - size } : leg))
    const of = {
      legs: left,
      behind: behind + (inBase ? gained / price : gained),
      rules,
      isInverse: inBase,
    }
    return distanceTo(pickPrice(of, price), price) > share
  }
  let [tooFew, enough] = [0, Math.max(0, excessOf(held, holdSide))]
  while (enough - tooFew > 1) {
    const lots = Math.floor((tooFew + enough) / 2)
    if (isFar(lots)) enough = lots
    else tooFew = lots
  }
  return enough
}

function excessOf(held: Holding, side: HoldSide): number {
  return side === 'long' ? held.longLots - held.shortLots : held.shortLots - held.longLots
}

/** If both sides are crossed, only the larger one: the other hedges it. */
export function threatenedOf(
  core: Core,
  symbol: string,
  distances: readonly LiquidationDistance[],
): readonly LiquidationDistance[] {
  if (distances.length < 2 || marginModeOf(core, symbol) === 'isolated') return distances
  const held = accountHoldingOf(core.book, symbol)
  return distances.filter(({ holdSide }) => excessOf(held, holdSide) >= 0)
}

/** True once when the position comes nearer than the first step, until it is clearly farther. */
export function noteNear(
  { liquidation }: Core,
  { symbol, holdSide, nearest }: LiquidationDistance,
  warn: number,
): boolean {
  const key = pairOf(symbol, holdSide)
  const isKnown = liquidation.warned.has(key)
  if (isKnown && nearest > warn * REARMED) mutable(liquidation.warned).delete(key)
  if (isKnown || !(nearest <= warn)) return false
  mutable(liquidation.warned).add(key)
  return true
}

/**
 * A warning comes again only after so many times the step's distance was reached. A reduction aims
 * at as much, so that the next small move does not reduce anew.
 */
export const REARMED = 1.1

/**
 * True if an earlier reading with other answers, about the position and of the tickers, said the
 * same (MON1).
 */
export function confirmNear(
  core: Core,
  { symbol, step }: { readonly symbol: string; readonly step: LiquidationStep },
  isNear: boolean,
): boolean {
  const key = pairOf(symbol, step)
  const before = core.liquidation.awaited.get(key)
  if (!isNear) {
    if (before !== undefined) mutable(core.liquidation.awaited).delete(key)
    return false
  }
  const positionAt = core.losses.statements.get(symbol)?.requestedAt ?? 0
  const tickersAt = core.market.tickers?.requestTime ?? 0
  const isOld = before !== undefined && positionAt - before.positionAt > confirmedWithinMs(core)
  if (before === undefined || isOld)
    mutable(core.liquidation.awaited).set(key, { positionAt, tickersAt })
  return (
    !isOld &&
    before !== undefined &&
    before.positionAt !== positionAt &&
    before.tickersAt !== tickersAt
  )
}

/** Hourly moves are followed all the same, for the next position. */
export function forgetDistances(core: Core, symbol: string): void {
  const { liquidation } = core
  noteHourlyPrice(core, symbol, ownPriceOf(core, symbol).price)
  if (!liquidation.distances.has(symbol) && liquidation.awaited.size === 0) return
  mutable(liquidation.distances).delete(symbol)
  for (const step of LIQUIDATION_STEPS) mutable(liquidation.awaited).delete(pairKey(symbol, step))
  for (const side of HOLD_SIDES) {
    mutable(liquidation.warned).delete(pairKey(symbol, side))
    mutable(liquidation.alone).delete(pairKey(symbol, side))
    endDispute(core, symbol, side)
  }
}

export function forgetHours(core: Core, symbol: string): void {
  forgetDistances(core, symbol)
  mutable(core.hours).delete(symbol)
  mutable(core.liquidation.nearest).delete(symbol)
}

/*
 * How far a price moves in an hour: the median between hourly closes of 24 hours, in any direction.
 * A mean would follow one jump.
 */

const HOUR_MS = 3_600_000
/** 24 moves have one close more, and the present hour has none yet. */
const CLOSES_MAX = 24 + 2
/** The median of fewer moves is chance. */
const MOVES_MIN = 3

function noteHourlyPrice(core: Core, symbol: string, price: number): void {
  if (!(price > 0)) return
  const hour = Math.floor(exchangeNow(core) / HOUR_MS)
  const known = core.hours.get(symbol)
  const next = known === undefined || hour > known.hour ? beginHour(core, symbol, hour) : known
  // After a clock was set back the price belongs to no kept close.
  if (hour === next.hour) takeClose(next, price)
}

function takeClose(hours: HourlyCloses, price: number): void {
  mutable(hours.closes)[hours.closes.length - 1] = price
}

/** A share of the price; NaN with fewer than three moves. */
function typicalMoveOf(core: Core, symbol: string): number {
  return core.hours.get(symbol)?.typical ?? Number.NaN
}

function beginHour(core: Core, symbol: string, hour: number): HourlyCloses {
  const known = core.hours.get(symbol)
  const passed = known ? Math.min(hour - known.hour, CLOSES_MAX) : CLOSES_MAX
  const closes = [...(known?.closes ?? []), ...Array.from({ length: passed }, () => Number.NaN)]
  const kept = closes.slice(-CLOSES_MAX)
  fillFromCandles(core, symbol, kept, hour)
  const begun = { hour, closes: kept, typical: medianMove(kept.slice(0, -1)) }
  mutable(core.hours).set(symbol, begun)
  return begun
}

/** Closed candles survive a restart, and know earlier hours. */
function fillFromCandles(core: Core, symbol: string, closes: number[], hour: number): void {
  for (const [key, series] of core.book.candles) {
    if (!key.startsWith(`${symbol}|`) || HOUR_MS % series.intervalMs !== 0) continue
    for (let place = 0; place < closes.length - 1; place++) {
      if (!Number.isNaN(closes[place])) continue
      const endAt = (hour - (closes.length - 1 - place) + 1) * HOUR_MS
      closes[place] = closeAt(series, endAt)
    }
  }
}

/** NaN where the candle is not kept, or no price was seen in it. */
function closeAt(series: CandleSeries, endAt: number): number {
  const { intervalMs, length } = series
  const place = length - 1 - (newestOpenAt(series) + intervalMs - endAt) / intervalMs
  return readCandle(series, 'ticks', place) > 0 ? readCandle(series, 'close', place) : Number.NaN
}

function medianMove(closes: readonly number[]): number {
  const moves = closes
    .slice(1)
    .map((close, index) => Math.abs(close / (closes[index] ?? Number.NaN) - 1))
    .filter((move) => !Number.isNaN(move))
    .toSorted((one, other) => one - other)
  if (moves.length < MOVES_MIN) return Number.NaN
  const middle = moves.length / 2
  return ((moves[Math.ceil(middle) - 1] ?? 0) + (moves[Math.floor(middle)] ?? 0)) / 2
}
