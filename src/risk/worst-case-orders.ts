import { showCoin } from '../domain/coin-amount.ts'
import type { Undescribed, Objection } from '../domain/denial.ts'
import type { Instrument } from '../domain/instrument.ts'
import { tradesAs } from '../domain/order-action.ts'
import { floatOnGrid } from '../lib/grid.ts'
import type { Exposure } from './exposure.ts'
import { type RestingLadder, type Rung, type SizedOrder, toRung } from './resting-ladder.ts'
import {
  describeScenario,
  findWorstCase,
  needsOf,
  type OtherNeeds,
  type RestingSide,
  type InstrumentRisk,
  type RiskNeeds,
} from './worst-case.ts'

/** Completed by an order and its instrument's exposure. */
export interface WorstCaseBasis {
  readonly instrument: Instrument
  /** The worse of two figures; NaN: not known. */
  readonly equity: number
  /** Its orders are those of the exposure. */
  readonly risk: InstrumentRisk
  readonly others: OtherNeeds
  /** Set if orders count at their own prices; includes those approved for the batch. */
  readonly ladders?: { readonly buys: RestingLadder; readonly sells: RestingLadder }
  readonly approved: { readonly buys: Rung[]; readonly sells: Rung[] }
}

/** Denies an order that worsens a scenario which the account would then not survive. */
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

/** Equal sums of floats differ by less than this share. */
const ROUNDING = 1e-9

function isWithin(
  { others, equity }: WorstCaseBasis,
  { down, up, standing, joint }: RiskNeeds,
): boolean {
  const alone = Math.max(down, up, standing + (others.single?.beyond ?? Number.NEGATIVE_INFINITY))
  return others.standing + alone <= equity && others.joint + joint <= equity
}

/** Each scenario needs no more than the equity, or than before. */
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
 * Names the unknown figure, or the worst scenario, the equity left without the order, and the size
 * that would fit.
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

/** The largest smaller size that passes, by halving. */
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

/** As one instrument's needs, so that one function finds the worst. */
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
