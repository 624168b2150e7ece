import type { Undescribed, Objection } from '../domain/denial.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { OrderIntent } from '../domain/intent.ts'
import { isClosing, tradesAs } from '../domain/order-action.ts'
import { floatOnGrid } from '../lib/grid.ts'
import type { Exposure } from './exposure.ts'
import type { RestingLadder, Rung } from './resting-ladder.ts'
import {
  describeScenario,
  findWorstCase,
  needsOf,
  type OtherNeeds,
  type RestingSide,
  type Stake,
  type StakeNeeds,
} from './worst-case.ts'

/** What the worst case after an order depends on beside the order and the exposure of its instrument. */
export interface WorstCaseBasis {
  readonly instrument: Instrument
  /** By the worse figure; NaN: not known. */
  readonly equity: number
  /** What is held of the instrument; its orders are those of the exposure. */
  readonly stake: Stake
  readonly others: OtherNeeds
  /** Where orders count at their own prices: those that rest, and those that were approved for the same batch. */
  readonly ladders?: { readonly buys: RestingLadder; readonly sells: RestingLadder }
  readonly approved: { readonly buys: Rung[]; readonly sells: Rung[] }
}

interface SizedOrder extends Pick<OrderIntent, 'action' | 'lots'> {
  readonly ticks?: number | undefined
}

/**
 * Denies an order after which the account would not survive a scenario that the order makes worse. What lowers the need of
 * every scenario that is beyond the budget passes, however far beyond it is.
 */
export function objectToWorstCase(
  basis: WorstCaseBasis,
  intent: SizedOrder,
  exposure: Exposure,
): Undescribed<Objection> | undefined {
  const before = needsOf(withOrders(basis, exposure))
  const after = needsOf(withOrders(basis, exposure, intent))
  if (isSurvived(basis, before, after)) return undefined
  const known = { ...exposure }
  return { code: 'WORST_CASE', detail: () => describeDenial(basis, intent, known) }
}

/** Sums of floats that should be equal differ by less than this share. */
const ROUNDING = 1e-9

function isSurvived({ others, equity }: WorstCaseBasis, before: StakeNeeds, after: StakeNeeds): boolean {
  const isWithin = (was: number, is: number): boolean => is <= equity || is <= was + Math.abs(was) * ROUNDING
  const beyond = others.single?.beyond ?? Number.NEGATIVE_INFINITY
  return (
    isWithin(others.standing + before.down, others.standing + after.down) &&
    isWithin(others.standing + before.up, others.standing + after.up) &&
    isWithin(others.joint + before.joint, others.joint + after.joint) &&
    (others.single === undefined ||
      isWithin(others.standing + before.standing + beyond, others.standing + after.standing + beyond))
  )
}

/** Whether equity and the needs of the other instruments are known. */
export function isKnown({ equity, others }: WorstCaseBasis): boolean {
  return !Number.isNaN(equity) && !Number.isNaN(others.standing)
}

/** Both unknown figures and the two scenarios are said: what fits is found by halving. */
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
  let [fits, tooMuch] = [0, intent.lots]
  while (tooMuch - fits > 1) {
    const lots = Math.floor((fits + tooMuch) / 2)
    if (isSurvived(basis, before, needsOf(withOrders(basis, exposure, { ...intent, lots })))) fits = lots
    else tooMuch = lots
  }
  const size = fits < instrument.lotsMin ? 'nothing' : String(floatOnGrid(instrument.lot, fits))
  const left = Math.max(0, equity - now.need)
  return `${describeScenario(worst.scenario)} would take ${showUsed(worst.used)} of ${equity.toFixed(2)}, with all that rests filled; ${left.toFixed(2)} are left without it, ${size} would fit`
}

export function showUsed(used: number): string {
  return Number.isFinite(used) ? `${(used * 100).toFixed(1)} %` : 'more than all'
}

/** The others as the needs of one instrument, so that the worst of all is found the same way. */
function listAll({ standing, joint, single }: OtherNeeds, own: StakeNeeds): readonly StakeNeeds[] {
  if (single === undefined) return [own]
  const { needs, beyond } = single
  const isDown = needs.down >= needs.up
  const moved = standing + beyond
  return [own, { ...needs, standing, joint, down: isDown ? moved : standing, up: isDown ? standing : moved }]
}

/** The stake with all orders of the exposure, and one more. */
export function withOrders(
  basis: Pick<WorstCaseBasis, 'instrument' | 'stake' | 'ladders' | 'approved'>,
  exposure: Exposure,
  order?: SizedOrder,
): Stake {
  const { stake, instrument, ladders, approved } = basis
  const size = (lots: number): number => floatOnGrid(instrument.lot, lots)
  const buys: RestingSide = {
    opening: size(stake.isNet ? exposure.buyingLots : exposure.addingLongLots),
    closing: size(stake.isNet ? 0 : exposure.closingShortLots),
    ...(ladders && { ladder: ladders.buys, more: approved.buys }),
  }
  const sells: RestingSide = {
    opening: size(stake.isNet ? exposure.sellingLots : exposure.addingShortLots),
    closing: size(stake.isNet ? 0 : exposure.closingLongLots),
    ...(ladders && { ladder: ladders.sells, more: approved.sells }),
  }
  if (order === undefined) return { ...stake, buys, sells }
  const rung = toRung(instrument, order, stake.isNet)
  return tradesAs(order.action) === 'buy'
    ? { ...stake, buys: withRung(buys, rung), sells }
    : { ...stake, buys, sells: withRung(sells, rung) }
}

function withRung(side: RestingSide, rung: Rung): RestingSide {
  if (side.ladder) return { ...side, more: [...(side.more ?? []), rung] }
  return { opening: side.opening + rung.opening, closing: side.closing + rung.closing }
}

/** @param isNet One-way mode, in which what an order closes follows from all of them. */
export function toRung(instrument: Instrument, { action, lots, ticks }: SizedOrder, isNet: boolean): Rung {
  const size = floatOnGrid(instrument.lot, lots)
  const closes = isClosing(action) && !isNet
  return {
    price: ticks === undefined ? undefined : floatOnGrid(instrument.tick, ticks),
    opening: closes ? 0 : size,
    closing: closes ? size : 0,
  }
}

/** Counts an order that was approved, or takes out a copy of it (lots below zero), where orders count at their own prices. */
export function countApproved(basis: WorstCaseBasis, order: SizedOrder): void {
  if (!basis.ladders) return
  const { buys, sells } = basis.approved
  const side = tradesAs(order.action) === 'buy' ? buys : sells
  side.push(toRung(basis.instrument, order, basis.stake.isNet))
}
