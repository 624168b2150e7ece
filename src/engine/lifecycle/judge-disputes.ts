import type { Fill } from '../../domain/fill.ts'
import type { Trust } from '../../domain/loss-limits.ts'
import { type Holding, isFlat } from '../../domain/position.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { beginMinute, findDifference } from '../book/recount.ts'
import { accountHoldingOf, holdingOf, pairKey, restrictionOf } from '../book/book.ts'
import type { EngineEvent } from '../event.ts'
import type { StrategySettings } from '../settings.ts'
import type { Core } from '../state/core.ts'
import {
  type FigureComparison,
  disputeOf,
  figureSettingsOf,
  noteComparison,
} from '../state/disputes.ts'
import {
  askForPositionAgain,
  isAwaited,
  isUnreadDue,
  noteUnreadCompared,
  noteWorth,
} from '../state/losses.ts'
import { settledOfStrategy } from '../state/equity.ts'
import { settledOf } from '../state/totals.ts'
import { noteUnrealised } from '../state/market-state.ts'
import {
  inMarginCoin,
  isPositionUnread,
  notionalAt,
  type OwnPrice,
  ownPriceOf,
  showAmount,
  unrealisedOfAccount,
  unrealisedOfStrategy,
  comparableStatement,
} from '../state/own-figure.ts'
import { halt } from '../state/trading-mode.ts'

const DIFFERENCES_TO_BELIEVE = 2
const MINUTE_MS = 60_000

/**
 * MON1: compares our unrealised profit with the exchange's at each reading, and the book with an
 * independent count of its fills once a minute, which includes each change of day.
 * @returns the instruments whose profit was compared
 */
export function judgeDisputes(core: Core, event: EngineEvent): readonly string[] {
  if (event.kind === 'timePassed') judgeRecount(core)
  const symbols = comparedBy(core, event)
  for (const symbol of symbols) compareProfit(core, symbol)
  return symbols
}

function comparedBy(core: Core, event: EngineEvent): readonly string[] {
  if (event.kind === 'positionRead') return [event.reading.symbol]
  if (event.kind === 'fillsRead') return movedBy(core, event.reading.fills)
  if (event.kind === 'timePassed') return listUnread(core)
  // New prices may end a dispute, or confirm a reading.
  const isWaiting = core.disputes.open.size > 0 || core.losses.awaited.size > 0
  if (event.kind !== 'snapshotTaken' || !isWaiting) return NONE
  // Prices alone prove nothing while no reading of the account comes.
  return [...core.instruments.keys()].filter(
    (symbol) => isOpen(core, symbol) && !isPositionUnread(core, symbol),
  )
}

const NONE: readonly string[] = []

/** With new fills, a reading that waited for them may have shown funding. */
function movedBy({ effects }: Core, fills: readonly Fill[]): readonly string[] {
  if (fills.length === 0 && effects.length === 0) return NONE
  const symbols = new Set(fills.map(({ symbol }) => symbol))
  for (const effect of effects)
    if (effect.kind === 'record' && effect.record.kind === 'funding')
      symbols.add(effect.record.symbol)
  return [...symbols]
}

function isOpen(core: Core, symbol: string): boolean {
  return disputeOf(core, 'unrealised', symbol) !== undefined || isAwaited(core, symbol)
}

/** MON2: a profit that was stated too long ago is not known, and ours follows the prices alone. */
function listUnread(core: Core): readonly string[] {
  if (!isUnreadDue(core)) return NONE
  const symbols = [...core.instruments.keys()].filter(
    (symbol) => isPositionUnread(core, symbol) && mayHaveMoved(core, symbol),
  )
  if (symbols.length > 0) noteUnreadCompared(core)
  return symbols
}

/** False where nothing is held, and that was compared before. */
function mayHaveMoved(core: Core, symbol: string): boolean {
  const { book, losses } = core
  if (!isFlat(accountHoldingOf(book, symbol))) return true
  const worth = losses.worths.get(symbol)
  if (worth !== undefined && (worth.trust !== 'flat' || worth.ours !== settledOf(core, symbol)))
    return true
  if (disputeOf(core, 'unrealised', symbol) !== undefined) return true
  return limitedOn(core, symbol).some(({ id }) => !isFlat(holdingOf(book, id, symbol)))
}

interface StatedProfit {
  /** Margin coin; NaN: not known. */
  readonly unrealised: number
  readonly markPrice: number
  readonly requestedAt: number
  readonly isUnread: boolean
}

/**
 * Reading and fills must be about one moment, or a profit could count as realised and as
 * unrealised. Undefined where nothing can be compared.
 */
function statedProfitOf(core: Core, symbol: string): StatedProfit | undefined {
  const isUnread = isPositionUnread(core, symbol)
  if (isUnread) {
    const { statements, worths } = core.losses
    const last = statements.get(symbol)
    // Without a comparison in this run it stays unknown until it is read.
    if (last === undefined || (isJudged(core) && !worths.has(symbol))) return undefined
    const { markPrice, requestedAt } = last
    return { unrealised: Number.NaN, markPrice, requestedAt, isUnread }
  }
  const statement = comparableStatement(core, symbol)
  if (!statement) return undefined
  const unrealised = isFlat(statement) ? 0 : statement.unrealised
  const { markPrice, requestedAt } = statement
  return { unrealised, markPrice, requestedAt, isUnread }
}

function compareProfit(core: Core, symbol: string): void {
  const stated = statedProfitOf(core, symbol)
  if (!stated) return
  const { isUnread, requestedAt } = stated
  const price = ownPriceOf(core, symbol)
  const held = accountHoldingOf(core.book, symbol)
  const ours = unrealisedOfAccount(core, symbol, price.price)
  const theirs = isFlat(held) ? 0 : stated.unrealised
  noteUnrealised(core, symbol, ours)
  const tolerance = toleranceOf(core, symbol, held, price.price)
  const trust = judgeTrust(core, symbol, {
    ours,
    theirs,
    isHeld: !isFlat(held),
    tolerance,
    answeredAt: requestedAt,
    isUnread,
  })
  if (isJudged(core)) {
    const settled = settledOf(core, symbol)
    noteWorth(core, symbol, {
      trust,
      ours: settled + ours,
      theirs: settled + theirs,
      positionAt: requestedAt,
      tickersAt: price.answeredAt,
      isInBand: price.isInBand,
      tolerance,
      ...(isUnread && {
        atLastMark: settled + unrealisedOfAccount(core, symbol, stated.markPrice),
      }),
    })
    for (const strategy of limitedOn(core, symbol))
      noteStrategy(core, { strategy, symbol, stated, price, trust })
  }
  // While our own price is too old, another reading says nothing more; what is not read stays due.
  const isPriced = !Number.isNaN(price.price) && !isUnread
  if (isPriced && (trust === 'disputed' || trust === 'alone')) askForPositionAgain(core, symbol)
}

function isJudged({ settings }: Core): boolean {
  return settings.losses !== undefined || settings.capital !== undefined
}

interface ProfitComparison {
  readonly ours: number
  readonly theirs: number
  readonly isHeld: boolean
  readonly tolerance: number
  readonly answeredAt: number
  readonly isUnread: boolean
}

/** A difference of so many tolerances is logged at once. */
const LARGE = 5

/** Margin coin. */
function toleranceOf(core: Core, symbol: string, held: Holding, price: number): number {
  const { toleranceRatio, toleranceMin } = figureSettingsOf(core)
  const notional = notionalAt(core, symbol, { held, price })
  return Math.max(inMarginCoin(core, symbol, toleranceMin, price), toleranceRatio * notional)
}

function judgeTrust(core: Core, scope: Scope, compared: ProfitComparison): Trust {
  const { ours, theirs, isHeld, tolerance, answeredAt, isUnread } = compared
  // An unknown figure agrees with nothing (MON2).
  const differs = isHeld && !(Math.abs(ours - theirs) <= tolerance)
  if (!differs && disputeOf(core, 'unrealised', scope) === undefined)
    return isHeld ? 'agreed' : 'flat'
  const comparison: FigureComparison = {
    figure: 'unrealised',
    scope,
    ours: inWords(core, ours),
    theirs: inWords(core, theirs),
    differs,
    isPatient: Number.isNaN(ours) || isUnread,
    isLarge: !(Math.abs(ours - theirs) <= LARGE * tolerance),
    silenceMsMax: core.settings.limits.accountAgeMaxMs,
    isUnread,
  }
  const dispute = noteComparison(core, isHeld ? { ...comparison, answeredAt } : comparison)
  if (!isHeld) return 'flat'
  if (!dispute) return 'agreed'
  return !isUnread && core.now - dispute.countedFrom >= figureSettingsOf(core).disputeMsMax
    ? 'alone'
    : 'disputed'
}

function inWords(core: Core, amount: number): string {
  return Number.isNaN(amount) ? 'not known' : showAmount(core, amount)
}

function limitedOn({ settings }: Core, symbol: string): readonly StrategySettings[] {
  const { losses, strategies } = settings
  if (!losses) return []
  return [...strategies.values()].filter(
    ({ id, symbols }) => losses.limits.has(strategyScope(id)) && symbols.includes(symbol),
  )
}

interface StrategyMoment {
  readonly strategy: StrategySettings
  readonly symbol: string
  readonly stated: StatedProfit
  readonly price: OwnPrice
  readonly trust: Trust
}

/**
 * The second figure of a strategy is its own entries at the exchange's mark price, or at the index
 * where strategies hold against each other and no mark is stated.
 */
function noteStrategy(
  core: Core,
  { strategy, symbol, stated, price, trust }: StrategyMoment,
): void {
  const { id } = strategy
  const settled = settledOfStrategy(core, id, symbol)
  const held = holdingOf(core.book, id, symbol)
  const { isUnread, requestedAt } = stated
  const markPrice = trust === 'flat' ? price.price : stated.markPrice
  const ours = unrealisedOfStrategy(core, id, symbol, price.price)
  const atMark = unrealisedOfStrategy(core, id, symbol, markPrice)
  const theirs = isUnread && !isFlat(held) ? Number.NaN : atMark
  const tolerance = toleranceOf(core, symbol, held, price.price)
  // Lots that strategies hold against each other cancel out of the account's figure, so it agrees
  // at any price.
  const ofItself = judgeTrust(core, `${id} on ${symbol}`, {
    ours,
    theirs,
    isHeld: !isFlat(held) && trust === 'agreed',
    tolerance,
    answeredAt: requestedAt,
    isUnread,
  })
  const trustOfOthers = trust === 'flat' ? 'alone' : trust === 'agreed' ? ofItself : trust
  const trustWhenHeld = isUnread ? 'disputed' : trustOfOthers
  noteWorth(core, pairKey(id, symbol), {
    trust: isFlat(held) ? 'flat' : trustWhenHeld,
    ours: settled + ours,
    theirs: settled + theirs,
    tolerance,
    isInBand: price.isInBand,
    positionAt: requestedAt,
    tickersAt: price.answeredAt,
    ...(isUnread && { atLastMark: settled + atMark }),
  })
}

/** Where book and count differ the account's holding is unknown, so no risk may be added. */
function judgeRecount(core: Core): void {
  const { recount, book, run } = core
  if (run.phase !== 'running' || !beginMinute(recount, core.now)) return
  const difference = findDifference(recount, book)
  const dispute = noteComparison(core, {
    figure: 'fills',
    scope: ACCOUNT,
    ours: difference?.ours ?? '',
    theirs: difference?.theirs ?? '',
    differs: difference !== undefined,
    isPatient: false,
    isLarge: true,
    silenceMsMax: 2 * MINUTE_MS,
  })
  if (
    !dispute ||
    dispute.comparisons < DIFFERENCES_TO_BELIEVE ||
    restrictionOf(book, ACCOUNT, 'recount')
  )
    return
  halt(core, ACCOUNT, 'recount', `the book says ${dispute.ours}; its fills say ${dispute.theirs}`)
}
