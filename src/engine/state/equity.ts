import type { Equity, WitnessTimes, Worth } from '../../domain/loss-limits.ts'
import { isFlat } from '../../domain/position.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import type { Decimal } from '../../lib/decimal.ts'
import { accountHoldingOf, capitalOf, holdingOf, pairOf, ownMoneyOf } from '../book/book.ts'
import { lastPeakOf } from '../book/apply-record.ts'
import type { StrategySettings } from '../settings.ts'
import { type Core, specOf } from './core.ts'
import { settledOf, settledSymbols, ownWorstOf } from './totals.ts'
import { unreadFundingOf, unseenFundingOf } from './unseen-funding.ts'
import { capitalAt } from '../../domain/capital.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { marginAt } from '../../risk/exposure.ts'
import { comparableStatement } from './own-figure.ts'
import { marketOf } from './market-state.ts'

/** Counted by the strategy's own lots and prices, without funding. */
export function settledOfStrategy({ book }: Core, id: string, symbol: string): number {
  const money = ownMoneyOf(book, pairOf(id, symbol))
  return money ? Number(money.profit.minus(money.fees).toString()) : 0
}

/** Net profit since the journal began, by each figure of {@link Worth}; NaN: a part is unknown. */
export interface ScopeWorth {
  readonly isDisputed: boolean
  readonly ours: number
  /** The worse of all known figures. */
  readonly worse: number
  readonly believed: number
  readonly least: number
  readonly confirmed: number
  readonly low: number
  /** A new day and a first peak count from it. */
  readonly basis: number
}

export function worthOf(core: Core, scope: Scope): ScopeWorth {
  if (scope === ACCOUNT) return sumUp(worthsOfAccount(core))
  const strategy = [...core.settings.strategies.values()].find(
    ({ id }) => strategyScope(id) === scope,
  )
  if (strategy) return sumUp(worthsOfStrategy(core, strategy))
  return sumUp([worthOfInstrument(core, scope)])
}

/** Results of instruments that have left the strategy are included. */
function worthsOfStrategy(core: Core, strategy: StrategySettings): readonly (Worth | undefined)[] {
  const { id, symbols, universe } = strategy
  const worths = symbols.map((symbol) => worthOfStrategy(core, id, symbol))
  if (!universe) return worths
  for (const symbol of settledSymbols(core))
    if (!symbols.includes(symbol)) worths.push(toFlatWorth(settledOfStrategy(core, id, symbol)))
  return worths
}

function worthsOfAccount(core: Core): readonly (Worth | undefined)[] {
  const worths: (Worth | undefined)[] = []
  for (const symbol of core.settings.instruments.keys())
    worths.push(worthOfInstrument(core, symbol))
  for (const symbol of otherSymbols(core)) worths.push(toFlatWorth(settledOf(core, symbol)))
  return worths
}

/** Nothing is unrealised where nothing is held, although the position was not read. */
function worthOfInstrument(core: Core, symbol: string): Worth | undefined {
  const known = core.losses.worths.get(symbol)
  if (known) return known
  const isKnown = core.readings.fillsKnownUntil > 0 && isFlat(accountHoldingOf(core.book, symbol))
  return isKnown ? toFlatWorth(settledOf(core, symbol)) : undefined
}

/** False until this run has compared its position, or knows that nothing is held. */
export function isWorthKnown(core: Core, symbol: string): boolean {
  return worthOfInstrument(core, symbol) !== undefined
}

function worthOfStrategy(
  core: Core,
  id: StrategySettings['id'],
  symbol: string,
): Worth | undefined {
  if (isFlat(holdingOf(core.book, id, symbol)))
    return toFlatWorth(settledOfStrategy(core, id, symbol))
  return core.losses.worths.get(pairOf(id, symbol))
}

function toFlatWorth(net: number): Worth {
  return flatWorth({ ours: net, theirs: net, positionAt: 0, tickersAt: 0 })
}

/** Nothing is held, so no price matters. */
export function flatWorth({
  ours,
  theirs,
  positionAt,
  tickersAt,
}: WitnessTimes & Pick<Worth, 'ours' | 'theirs'>): Worth {
  return {
    trust: 'flat',
    ours,
    theirs,
    believed: ours,
    least: ours,
    confirmed: ours,
    confirmedRead: ours,
    low: ours,
    basis: ours,
    base: { trust: 'flat', net: ours, ours, positionAt, tickersAt },
    earlier: ours,
  }
}

function sumUp(worths: readonly (Worth | undefined)[]): ScopeWorth {
  let isDisputed = false
  let [ours, worse, believed, least, confirmed, low, basis] = [0, 0, 0, 0, 0, 0, 0]
  for (const worth of worths) {
    isDisputed ||= worth?.trust === 'disputed' || worth?.trust === 'alone'
    ours += worth?.ours ?? Number.NaN
    worse += worth ? worseOf(worth) : Number.NaN
    believed += worth?.believed ?? Number.NaN
    least += worth?.least ?? Number.NaN
    confirmed += worth?.confirmed ?? Number.NaN
    low += worth?.low ?? Number.NaN
    basis += worth?.basis ?? Number.NaN
  }
  return { isDisputed, ours, worse, believed, least, confirmed, low, basis }
}

function worseOf({ trust, ours, theirs }: Worth): number {
  if (trust === 'flat' || trust === 'agreed' || Number.isNaN(theirs)) return ours
  return Number.isNaN(ours) ? theirs : Math.min(ours, theirs)
}

/** The equity by our own figure, margin coin; undefined while unknown. */
export function equityOf(core: Core): number | undefined {
  let net = 0
  for (const symbol of core.settings.instruments.keys())
    net += worthOfInstrument(core, symbol)?.ours ?? Number.NaN
  for (const symbol of settledSymbols(core))
    if (!core.settings.instruments.has(symbol)) net += settledOf(core, symbol)
  return toEquity(core, net)
}

/** The instruments because of which the equity by our own figure is unknown. */
export function symbolsOfUnknownWorth(core: Core): readonly string[] {
  return [...core.settings.instruments.keys()].filter((symbol) =>
    Number.isNaN(worthOfInstrument(core, symbol)?.ours ?? Number.NaN),
  )
}

/** Limits on exposure use the worse figure, less estimated payments that no reading shows. */
export function equityAtWorst(core: Core): number | undefined {
  return toEquity(core, worthOf(core, ACCOUNT).worse - unreadFundingOf(core))
}

/** Bounds on which both witnesses agree. NaN: not known. */
export interface BelievedEquity {
  /** A budget that is exceeded even at this equity is exceeded. */
  readonly most: number
  /** As `most`, by two readings of each instrument. */
  readonly confirmed: number
  /** A budget that is kept even at this equity is kept again. */
  readonly least: number
}

export function equityBelieved(core: Core): BelievedEquity | undefined {
  const { believed, confirmed, least } = worthOf(core, ACCOUNT)
  const unseen = unseenFundingOf(core)
  const most = toEquity(core, believed - unseen)
  if (most === undefined) return undefined
  return {
    most,
    confirmed: toEquity(core, confirmed - unseen) ?? Number.NaN,
    least: toEquity(core, least - unseen) ?? Number.NaN,
  }
}

export function toEquity(core: Core, net: number): number | undefined {
  const capital = capitalOf(core)
  return Number.isNaN(net) || capital === undefined ? undefined : toNumber(capital) + net
}

/** Kept, because a capital is read far more often than it changes. */
const numbers = new WeakMap<Decimal, number>()

function toNumber(amount: Decimal): number {
  const known = numbers.get(amount)
  if (known !== undefined) return known
  const number = Number(amount.toString())
  numbers.set(amount, number)
  return number
}

/** Our own figure, as readings were compared last. */
export function accountEquityOf(core: Core): Equity | undefined {
  const equity = equityOf(core)
  return equity === undefined ? undefined : withPeak(core, equity)
}

export function withPeak(core: Core, equity: number): Equity {
  const { book, losses } = core
  const written = book.watermarks.get(ACCOUNT)
  const nets = [losses.peaks.get(ACCOUNT), written && lastPeakOf(written)].filter(
    (net) => net !== undefined,
  )
  const peak = nets.length === 0 ? equity : Number(capitalOf(core)?.toString()) + Math.max(...nets)
  return { equity, peak, drawdown: Math.max(0, peak - equity) }
}

/** Symbols that were traded, and are not configured any more. */
function otherSymbols(core: Core): readonly string[] {
  const { instruments } = core.settings
  const others: string[] = []
  for (const symbol of settledSymbols(core)) if (!instruments.has(symbol)) others.push(symbol)
  return others
}

/** Margin coin. */
export interface CapitalUse {
  /** NaN while the equity is unknown, and the capital is a share of it. */
  readonly max: number
  /** Positions with all open orders filled, at each instrument's leverage. */
  readonly used: number
}

export function capitalUseOf(core: Core, id: StrategyId): CapitalUse | undefined {
  const strategy = core.settings.strategies.get(id)
  if (strategy?.capital === undefined) return undefined
  return {
    max: capitalAt(strategy.capital, equityAtWorst(core)),
    used: usedBeside(core, id, undefined),
  }
}

/** The strategy is shown our own figure, not the worse of two. */
export function shownCapitalOf(core: Core, id: StrategyId): number | undefined {
  const capital = core.settings.strategies.get(id)?.capital
  return capital && capitalAt(capital, equityOf(core))
}

/** The margin that the strategy uses on all its instruments but one. */
export function usedBeside(core: Core, id: StrategyId, besides: string | undefined): number {
  const { symbols = [] } = core.settings.strategies.get(id) ?? {}
  return symbols
    .filter((symbol) => symbol !== besides)
    .reduce((sum, symbol) => {
      const lots = ownWorstOf(core, id, symbol)
      return lots === 0 ? sum : sum + marginAt(specOf(core, symbol), lots, priceOf(core, symbol))
    }, 0)
}

/**
 * The last price. A contract that is not listed any more counts at the mark price of its last
 * reading, so that it does not stop all others. Infinity without both: a position of unknown value
 * uses up every limit.
 */
export function priceOf(core: Core, symbol: string): number {
  const { last } = marketOf(core, symbol)
  if (last > 0) return last
  const mark = comparableStatement(core, symbol)?.markPrice ?? Number.NaN
  return mark > 0 ? mark : Number.POSITIVE_INFINITY
}
