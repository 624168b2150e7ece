import type { MaintenanceRules } from '../domain/liquidation.ts'
import type { MoveDirection, WorstCase } from '../domain/worst-case.ts'
import { tierRateOf } from './liquidation.ts'
import {
  fillLadder,
  type FilledRungs,
  type RestingLadder,
  type Rung,
  type SizedOrder,
  toRung,
} from './resting-ladder.ts'
import { showCoin } from '../domain/coin-amount.ts'
import type { Undescribed, Objection } from '../domain/denial.ts'
import type { Instrument } from '../domain/instrument.ts'
import { tradesAs } from '../domain/order-action.ts'
import { floatOnGrid } from '../lib/grid.ts'
import type { Exposure } from './exposure.ts'

/**
 * The need of an account with one margin coin after a market move with all resting orders filled
 * (`risk.survives`; docs/risk.md says what is counted, with an example).
 *
 *     used = (loss + fees + funding + maintenance) / equity        survived while it is 1 at most
 *
 * A close frees no maintenance: the tier of the largest value on the way counts, since a lower tier
 * comes too late for what was liquidated just before it.
 */

export interface HeldSide {
  /** Base coin. */
  readonly size: number
  /** Average, quote coin; only inverse contracts need it. */
  readonly entryPrice: number
}

export interface RestingSide {
  /** Base coin. */
  readonly opening: number
  readonly closing: number
  /** Present if orders count at their own prices. */
  readonly ladder?: RestingLadder
  readonly more?: readonly Rung[]
}

export interface InstrumentRisk {
  readonly symbol: string
  readonly isInverse: boolean
  /** One-way mode. */
  readonly isNet: boolean
  readonly rules: MaintenanceRules
  readonly move: number
  readonly jointMove: number
  /** Quote coin. */
  readonly price: number
  /** Share of the value; below zero shorts pay. */
  readonly fundingRate: number
  readonly long: HeldSide
  readonly short: HeldSide
  readonly buys: RestingSide
  readonly sells: RestingSide
}

/** Margin coin. */
export interface RiskNeeds {
  readonly symbol: string
  readonly move: number
  readonly standing: number
  readonly down: number
  readonly up: number
  readonly joint: number
}

export function needsOf(risk: InstrumentRisk): RiskNeeds {
  const { symbol, move, jointMove } = risk
  const down = needAt(risk, 'down', move)
  const up = needAt(risk, 'up', move)
  const joint =
    jointMove === move
      ? Math.max(down, up)
      : Math.max(needAt(risk, 'down', jointMove), needAt(risk, 'up', jointMove))
  const standing = Math.max(needAt(risk, 'down', 0), needAt(risk, 'up', 0))
  return { symbol, move, standing, down, up, joint }
}

/** Called for each order, so it makes no objects. */
export function needAt(risk: InstrumentRisk, direction: MoveDirection, move: number): number {
  const { price, isInverse, isNet, rules } = risk
  const isDown = direction === 'down'
  const to = price * (isDown ? 1 - move : 1 + move)
  const growing = isDown ? risk.long : risk.short
  const shrinking = isDown ? risk.short : risk.long
  const filled = fillOf(isDown ? risk.buys : risk.sells, price, to)
  const all = filled.opening + filled.closing
  const closed = Math.min(isNet ? all : filled.closing, shrinking.size)
  const opened = isNet ? all - closed : filled.opening
  const grown = growing.size + opened
  const kept = shrinking.size - closed
  const lost =
    riseOf(growing, growing.size, isInverse, to, price) +
    riseOf(shrinking, kept, isInverse, price, to) +
    riseOf(shrinking, closed, isInverse, price, filled.price) +
    (opened === 0 ? 0 : opened * riseOfOne(filled.price, isInverse, to, filled.price))
  const valueAtFill = isInverse ? 1 : filled.price
  const valueThere = isInverse ? 1 : to
  const highest = Math.max(price, to)
  const fees = rules.takerFeeRate * (all * valueAtFill + (grown + kept) * valueThere)
  const paying = (isDown ? risk.fundingRate : -risk.fundingRate) * (grown - kept)
  const funding = Math.max(0, paying * (isInverse ? 1 : highest))
  const ofGrown = grown * valueThere * tierRateOf(rules, grown * highest)
  const ofShrunk = shrinking.size * valueThere * tierRateOf(rules, shrinking.size * highest)
  const maintenance = isNet ? Math.max(ofGrown, ofShrunk) : ofGrown + ofShrunk
  return (isDown ? lost : -lost) + fees + funding + maintenance
}

/** Margin coin. */
function riseOf(
  { entryPrice }: HeldSide,
  size: number,
  isInverse: boolean,
  from: number,
  to: number,
): number {
  return size === 0 ? 0 : size * riseOfOne(entryPrice, isInverse, from, to)
}

function riseOfOne(entryPrice: number, isInverse: boolean, from: number, to: number): number {
  return isInverse ? entryPrice * (1 / from - 1 / to) : to - from
}

function fillOf(
  { opening, closing, ladder, more = NO_RUNGS }: RestingSide,
  from: number,
  to: number,
): FilledRungs {
  return ladder ? fillLadder(ladder, { from, to }, more) : { opening, closing, price: from }
}

const NO_RUNGS: readonly Rung[] = []

export interface OtherNeeds {
  readonly standing: number
  readonly joint: number
  readonly single: { readonly needs: RiskNeeds; readonly beyond: number } | undefined
}

export function sumNeeds(all: Iterable<RiskNeeds>): OtherNeeds {
  let [standing, joint] = [0, 0]
  let single: OtherNeeds['single']
  for (const needs of all) {
    standing += needs.standing
    joint += needs.joint
    const beyond = Math.max(needs.down, needs.up) - needs.standing
    if (single === undefined || !(beyond <= single.beyond)) single = { needs, beyond }
  }
  return { standing, joint, single }
}

/** @returns undefined if nothing is at risk; NaN figures if a part is not known */
export function findWorstCase(all: Iterable<RiskNeeds>, equity: number): WorstCase | undefined {
  const { standing, joint, single } = sumNeeds(all)
  if (single === undefined) return undefined
  const { needs, beyond } = single
  const alone = standing + beyond
  // The joint scenario is named only if it needs more.
  if (joint > alone) return { scenario: { kind: 'joint' }, need: joint, ...usedOf(joint, equity) }
  const direction = needs.down >= needs.up ? 'down' : 'up'
  const scenario = { kind: 'single', symbol: needs.symbol, direction, move: needs.move } as const
  return { scenario, need: alone, ...usedOf(alone, equity) }
}

export function usedOf(need: number, equity: number): Pick<WorstCase, 'equity' | 'used'> {
  if (Number.isNaN(need) || Number.isNaN(equity)) return { equity, used: Number.NaN }
  return { equity, used: equity > 0 ? need / equity : need > 0 ? Number.POSITIVE_INFINITY : 0 }
}

export function describeScenario(scenario: WorstCase['scenario']): string {
  if (scenario.kind === 'joint') return 'all instruments against us at once'
  return `${scenario.symbol} ${scenario.direction} ${Number((scenario.move * 100).toFixed(2))} %`
}

export interface WorstCaseBasis {
  readonly instrument: Instrument
  /** The worse of two figures; NaN while it is not known. */
  readonly equity: number
  readonly risk: InstrumentRisk
  readonly others: OtherNeeds
  /** Present if orders count at their own prices. `approved` has those of the batch. */
  readonly ladders?: { readonly buys: RestingLadder; readonly sells: RestingLadder }
  readonly approved: { readonly buys: Rung[]; readonly sells: Rung[] }
}

/** An order is denied if it worsens a scenario that the account would then not survive. */
export function objectToWorstCase(
  basis: WorstCaseBasis,
  intent: SizedOrder,
  exposure: Exposure,
): Undescribed<Objection> | undefined {
  const after = needsOf(withOrders(basis, exposure, intent))
  if (isWithin(basis, after) || isSurvived(basis, needsOf(withOrders(basis, exposure)), after))
    return undefined
  const known = { ...exposure }
  return { code: 'WORST_CASE', detail: () => describeDenial(basis, intent, known) }
}

/** Two ways of summing floats differ by a smaller share. */
const ROUNDING = 1e-9

function isWithin(
  { others, equity }: WorstCaseBasis,
  { down, up, standing, joint }: RiskNeeds,
): boolean {
  const alone = Math.max(down, up, standing + (others.single?.beyond ?? Number.NEGATIVE_INFINITY))
  return others.standing + alone <= equity && others.joint + joint <= equity
}

/** Each scenario must need no more than the equity, or no more than without the order. */
function isSurvived(
  { others, equity }: WorstCaseBasis,
  before: RiskNeeds,
  after: RiskNeeds,
): boolean {
  const isNoMore = (was: number, is: number): boolean =>
    is <= equity || is <= was + Math.abs(was) * ROUNDING
  const beyond = others.standing + (others.single?.beyond ?? Number.NEGATIVE_INFINITY)
  return (
    isNoMore(others.standing + before.down, others.standing + after.down) &&
    isNoMore(others.standing + before.up, others.standing + after.up) &&
    isNoMore(others.joint + before.joint, others.joint + after.joint) &&
    isNoMore(before.standing + beyond, after.standing + beyond)
  )
}

export function isKnown({ equity, others }: WorstCaseBasis): boolean {
  return !Number.isNaN(equity) && !Number.isNaN(others.standing)
}

/**
 * Names the unknown figure; else the worst scenario, the equity left without the order, and the
 * size that would fit.
 */
function describeDenial(basis: WorstCaseBasis, intent: SizedOrder, exposure: Exposure): string {
  const { instrument, equity, others } = basis
  const before = needsOf(withOrders(basis, exposure))
  const after = needsOf(withOrders(basis, exposure, intent))
  const worst = findWorstCase(listAll(others, after), equity)
  const now = findWorstCase(listAll(others, before), equity)
  if (worst === undefined || now === undefined || Number.isNaN(worst.used))
    return Number.isNaN(equity)
      ? 'what the account is worth is not known yet'
      : 'a price of what is held or rests is not known'
  const size = sizeThatFits(instrument, intent.lots, (lots) =>
    isSurvived(basis, before, needsOf(withOrders(basis, exposure, { ...intent, lots }))),
  )
  const left = Math.max(0, equity - now.need)
  const inCoin = (amount: number): string => showCoin(amount, instrument.marginCoin)
  return `${describeScenario(worst.scenario)} would take ${showUsed(worst.used)} of ${inCoin(equity)}, with all that rests filled; ${inCoin(left)} are left without it, ${size} would fit`
}

export function sizeThatFits(
  { lot, lotsMin }: Pick<Instrument, 'lot' | 'lotsMin'>,
  lots: number,
  passes: (lots: number) => boolean,
): string {
  let [fits, tooMuch] = [0, lots]
  while (tooMuch - fits > 1) {
    const middle = Math.floor((fits + tooMuch) / 2)
    if (passes(middle)) fits = middle
    else tooMuch = middle
  }
  return fits < lotsMin ? 'nothing' : String(floatOnGrid(lot, fits))
}

export function showUsed(used: number): string {
  return Number.isFinite(used) ? `${(used * 100).toFixed(1)} %` : 'more than all'
}

/** The other instruments become one whose needs are known, so that one function finds the worst. */
function listAll({ standing, joint, single }: OtherNeeds, own: RiskNeeds): readonly RiskNeeds[] {
  if (single === undefined) return [own]
  const { needs, beyond } = single
  const isDown = needs.down >= needs.up
  const moved = standing + beyond
  return [
    own,
    { ...needs, standing, joint, down: isDown ? moved : standing, up: isDown ? standing : moved },
  ]
}

export function withOrders(
  basis: Pick<WorstCaseBasis, 'instrument' | 'risk' | 'ladders' | 'approved'>,
  exposure: Exposure,
  order?: SizedOrder,
): InstrumentRisk {
  const { risk, instrument, ladders, approved } = basis
  const size = (lots: number): number => floatOnGrid(instrument.lot, lots)
  const buys: RestingSide = {
    opening: size(risk.isNet ? exposure.buyingLots : exposure.addingLongLots),
    closing: size(risk.isNet ? 0 : exposure.closingShortLots),
    ...(ladders && { ladder: ladders.buys, more: approved.buys }),
  }
  const sells: RestingSide = {
    opening: size(risk.isNet ? exposure.sellingLots : exposure.addingShortLots),
    closing: size(risk.isNet ? 0 : exposure.closingLongLots),
    ...(ladders && { ladder: ladders.sells, more: approved.sells }),
  }
  if (order === undefined) return { ...risk, buys, sells }
  const rung = toRung(order, risk.isNet)
  return tradesAs(order.action) === 'buy'
    ? { ...risk, buys: withRung(buys, rung, instrument), sells }
    : { ...risk, buys, sells: withRung(sells, rung, instrument) }
}

function withRung(side: RestingSide, rung: Rung, { lot }: Instrument): RestingSide {
  if (side.ladder) return { ...side, more: [...(side.more ?? []), rung] }
  return {
    opening: side.opening + floatOnGrid(lot, rung.opening),
    closing: side.closing + floatOnGrid(lot, rung.closing),
  }
}

/** Negative lots remove an order. */
export function countApproved(basis: WorstCaseBasis, order: SizedOrder): void {
  if (!basis.ladders) return
  const { buys, sells } = basis.approved
  const side = tradesAs(order.action) === 'buy' ? buys : sells
  side.push(toRung(order, basis.risk.isNet))
}
