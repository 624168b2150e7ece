import { type Instrument, isInverse } from '../../domain/instrument.ts'
import { isFlat } from '../../domain/position.ts'
import type { SurvivalSettings, WorstCase, WorstCaseState } from '../../domain/worst-case.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import type { Exposure } from '../../risk/exposure.ts'
import type { SizedOrder } from '../../risk/resting-ladder.ts'
import type { ReducibleRisk } from '../../risk/reduction.ts'
import {
  findWorstCase,
  type HeldSide,
  needsOf,
  type InstrumentRisk,
  type RiskNeeds,
  sumNeeds,
  usedOf,
  withOrders,
  type WorstCaseBasis,
} from '../../risk/worst-case.ts'
import { accountHoldingOf } from '../book/book.ts'
import { type Core, specOf } from './core.ts'
import { equityAtWorst, equityBelieved } from './equity.ts'
import { marketOf } from './market-state.ts'
import {
  ownPriceOf,
  possibleMark,
  unrealisedOfAccount,
  comparableStatement,
  confirmedWithinMs,
} from './own-figure.ts'
import { laddersOf, needsAsOf, totalsOf } from './totals.ts'

export function createWorstCase(): WorstCaseState {
  return { last: undefined, equity: undefined, isWarned: false, awaited: undefined }
}

export function worstCaseBasisOf(core: Core, symbol: string): WorstCaseBasis | undefined {
  const { survives } = core.settings
  if (survives === undefined) return undefined
  const others = listAtRisk(core).filter((other) => other.symbol !== symbol)
  return {
    ...basisOf(core, specOf(core, symbol), dearestPrice(core, symbol)),
    others: sumNeeds(others.map((other) => needsNow(core, other))),
    equity: equityNow(core),
  }
}

/** The order counts as filled, like all that rests. Undefined: unknown, or nothing to survive. */
export function worstCaseWith(
  core: Core,
  { symbol, ...order }: SizedOrder & { readonly symbol: string },
): WorstCase | undefined {
  const basis = worstCaseBasisOf(core, symbol)
  if (basis === undefined) return undefined
  const others = listAtRisk(core).filter((other) => other.symbol !== symbol)
  const needs = needsOf(withOrders(basis, totalsOf(core, symbol).exposure, order))
  return withKnownUse(
    findWorstCase([...others.map((other) => needsNow(core, other)), needs], equityNow(core)),
  )
}

/** @param amount so much more in the account, margin coin */
export function worstCaseWithMoney(core: Core, amount: number): WorstCase | undefined {
  const { last } = core.worstCase
  return last && { ...last, ...usedOf(last.need, last.equity + amount) }
}

export function worstCaseUnder(core: Core, survives: SurvivalSettings): WorstCase | undefined {
  const under = { ...core, settings: { ...core.settings, survives } }
  const needs = listAtRisk(core).map((instrument) =>
    needsOf(riskOf(under, instrument, dearestPrice(core, instrument.symbol))),
  )
  return withKnownUse(findWorstCase(needs, equityNow(core)))
}

function withKnownUse(worst: WorstCase | undefined): WorstCase | undefined {
  return worst === undefined || Number.isNaN(worst.used) ? undefined : worst
}

export function measureWorstCase(core: Core): WorstCase | undefined {
  mutable(core.worstCase).equity = equityAtWorst(core)
  const needs = listAtRisk(core).map((instrument) => needsNow(core, instrument))
  const measured = findWorstCase(needs, equityNow(core))
  mutable(core.worstCase).last = withKnownUse(measured)
  return core.worstCase.last
}

/** The worst case on which both witnesses agree at least (MON1). */
export interface BelievedWorstCase {
  readonly worst: WorstCase
  /** The used share by two readings of each instrument; NaN: there is only one. */
  readonly confirmedUsed: number
  /** The used share on which both witnesses agree at most; NaN: not known. */
  readonly usedAtMost: number
  readonly equity: number
  readonly held: readonly ReducibleRisk[]
}

export function believedWorstCase(core: Core): BelievedWorstCase | undefined {
  const equity = equityBelieved(core)
  if (equity === undefined) return undefined
  const worst = worstAt(core, mildestPrice, equity.most)
  if (Number.isNaN(worst.used)) return undefined
  const held = [...core.settings.instruments.values()]
    .filter(({ symbol }) => !isFlat(accountHoldingOf(core.book, symbol)))
    .map((instrument): ReducibleRisk => {
      const { risk } = basisOf(core, instrument, mildestPrice(core, instrument.symbol))
      const { bid, ask } = marketOf(core, instrument.symbol)
      return {
        ...risk,
        lotSize: floatOnGrid(instrument.lot, 1),
        lotsMin: instrument.lotsMin,
        halfSpread: Math.max(0, (ask - bid) / 2 / risk.price),
      }
    })
  const { used: confirmedUsed } = worstAt(core, mildestPrice, equity.confirmed)
  const { used: usedAtMost } = worstAt(core, sternestPrice, equity.least)
  return { worst, confirmedUsed, usedAtMost, equity: equity.most, held }
}

function worstAt(
  core: Core,
  priceOf: (core: Core, symbol: string) => number,
  equity: number,
): WorstCase {
  const needs = listAtRisk(core).map((instrument) =>
    needsOf(riskOf(core, instrument, priceOf(core, instrument.symbol))),
  )
  return findWorstCase(needs, equity) ?? { scenario: { kind: 'joint' }, need: 0, equity, used: 0 }
}

function listAtRisk(core: Core): readonly Instrument[] {
  return [...core.settings.instruments.values()].filter((instrument) => isAtRisk(core, instrument))
}

/** At the price at which most is at risk. */
export function needsNow(core: Core, instrument: Instrument): RiskNeeds {
  const { symbol } = instrument
  const price = dearestPrice(core, symbol)
  const from = {
    price,
    fundingRate: fundingRateOf(core, symbol),
    entry: core.book.entries.get(symbol),
    rules: core.settings.liquidation?.rules.get(symbol),
  }
  return needsAsOf(core, symbol, { from, compute: () => needsOf(riskOf(core, instrument, price)) })
}

function isAtRisk(core: Core, { symbol }: Instrument): boolean {
  const { buyingLots, sellingLots } = totalsOf(core, symbol).exposure
  return buyingLots + sellingLots > 0 || !isFlat(accountHoldingOf(core.book, symbol))
}

function riskOf(core: Core, instrument: Instrument, price: number): InstrumentRisk {
  const exposure: Exposure = totalsOf(core, instrument.symbol).exposure
  return withOrders(basisOf(core, instrument, price), exposure)
}

const NOTHING = { opening: 0, closing: 0 }

function basisOf(
  core: Core,
  instrument: Instrument,
  price: number,
): Pick<WorstCaseBasis, 'instrument' | 'risk' | 'ladders' | 'approved'> {
  const { symbol } = instrument
  const { survives, liquidation } = core.settings
  const move = survives?.moves.get(symbol) ?? Number.NaN
  const { longLots, shortLots } = accountHoldingOf(core.book, symbol)
  const entry = core.book.entries.get(symbol)
  const { tick, lot } = instrument
  const sideOf = (lots: number, explained = 0, ticks = Number.NaN): HeldSide => ({
    size: floatOnGrid(lot, lots),
    entryPrice: explained < lots ? Number.NaN : floatOnGrid(tick, ticks),
  })
  const risk: InstrumentRisk = {
    symbol,
    isInverse: isInverse(instrument),
    isNet: core.settings.positionMode === 'one_way_mode',
    rules: liquidation?.rules.get(symbol) ?? UNKNOWN_RULES,
    move,
    jointMove: survives?.jointMoves.get(symbol) ?? move,
    price,
    fundingRate: fundingRateOf(core, symbol),
    long: sideOf(longLots, entry?.longLots, entry?.longTicks),
    short: sideOf(shortLots, entry?.shortLots, entry?.shortTicks),
    buys: NOTHING,
    sells: NOTHING,
  }
  const ladders = survives?.isGap === false ? laddersOf(core, instrument) : undefined
  return { instrument, risk, approved: { buys: [], sells: [] }, ...(ladders && { ladders }) }
}

/** A contract without a rate is taken to pay none. */
function fundingRateOf({ market: { tickers } }: Core, symbol: string): number {
  return tickers?.read(symbol, 'fundingRate') || 0
}

const UNKNOWN_RULES = { tiers: [], takerFeeRate: Number.NaN }

/**
 * The price of the tickers or the last mark, whichever puts more at risk, so that one wrong price
 * lets no more be held. NaN: unknown or too old.
 */
function dearestPrice(core: Core, symbol: string): number {
  if (hasEnded(core, symbol)) return lastMarkOf(core, symbol)
  const { bid, ask, last, ageMs } = marketOf(core, symbol)
  if (ageMs > core.settings.limits.dataAgeMaxMs) return Number.NaN
  const mark = core.losses.statements.get(symbol)?.markPrice ?? Number.NaN
  return isInverse(specOf(core, symbol))
    ? Math.min(bid, last || bid, mark || bid)
    : Math.max(ask, last || ask, mark || ask)
}

/** Our price or the mark, whichever puts less at risk: nothing is closed for one of them alone. */
function mildestPrice(core: Core, symbol: string): number {
  const { low, high } = twoPrices(core, symbol)
  return isInverse(specOf(core, symbol)) ? high : low
}

/**
 * Our price or the mark, whichever puts more at risk: nothing is released for one of them alone.
 */
function sternestPrice(core: Core, symbol: string): number {
  const { low, high } = twoPrices(core, symbol)
  return isInverse(specOf(core, symbol)) ? low : high
}

/** Where our figure of the profit counts alone, so does our price. */
function twoPrices(core: Core, symbol: string): { readonly low: number; readonly high: number } {
  if (hasEnded(core, symbol)) {
    const last = lastMarkOf(core, symbol)
    return { low: last, high: last }
  }
  const { price, isInBand } = ownPriceOf(core, symbol)
  const stated = core.losses.statements.get(symbol)?.markPrice ?? Number.NaN
  const isAlone = isInBand && core.losses.worths.get(symbol)?.trust === 'alone'
  const mark = isAlone ? price : possibleMark(core, symbol, stated)
  return { low: Math.min(price, mark), high: Math.max(price, mark) }
}

/** A contract without a row in the tickers has ended, at its last price. */
function hasEnded({ market: { tickers } }: Core, symbol: string): boolean {
  return tickers !== undefined && tickers.rowOf(symbol) < 0
}

function lastMarkOf(core: Core, symbol: string): number {
  return comparableStatement(core, symbol)?.markPrice ?? Number.NaN
}

/** The worse figure of the last measurement, less what was lost since; NaN: unknown. */
function equityNow(core: Core): number {
  let equity = core.worstCase.equity ?? equityAtWorst(core) ?? Number.NaN
  for (const symbol of core.settings.instruments.keys()) {
    if (isFlat(accountHoldingOf(core.book, symbol)) || !comparableStatement(core, symbol)) continue
    if (hasEnded(core, symbol)) continue
    const then = core.market.marks.get(symbol)?.unrealised ?? Number.NaN
    const now = unrealisedOfAccount(core, symbol, ownPriceOf(core, symbol).price)
    equity += Math.min(0, now - then)
  }
  return equity
}

/** True once when the budget is nearly used, until clearly less of it is. */
export function noteNearBudget({ worstCase }: Core, isNear: boolean, isFar: boolean): boolean {
  const isNews = isNear && !worstCase.isWarned
  if (isNews) mutable(worstCase).isWarned = true
  else if (isFar) mutable(worstCase).isWarned = false
  return isNews
}

/**
 * True if other answers have said before that the budget is exceeded. A reading that leaves it open
 * neither confirms that nor makes it forgotten.
 */
export function confirmBeyond(
  core: Core,
  symbol: string,
  { isBeyond, mayBeBeyond }: { readonly isBeyond: boolean; readonly mayBeBeyond: boolean },
): boolean {
  const { worstCase, losses, market } = core
  if (!isBeyond) {
    if (!mayBeBeyond) forgetBeyond(core)
    return false
  }
  const answers: WorstCaseState['awaited'] = {
    positionAt: losses.statements.get(symbol)?.requestedAt ?? 0,
    tickersAt: market.tickers?.requestTime ?? 0,
  }
  const before = worstCase.awaited
  const isOld =
    before !== undefined && answers.positionAt - before.positionAt > confirmedWithinMs(core)
  if (before === undefined || isOld) mutable(worstCase).awaited = answers
  return (
    before !== undefined &&
    !isOld &&
    before.positionAt !== answers.positionAt &&
    before.tickersAt !== answers.tickersAt
  )
}

export function forgetBeyond({ worstCase }: Core): void {
  mutable(worstCase).awaited = undefined
}
