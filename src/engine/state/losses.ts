import {
  shareBelow,
  type WitnessTimes,
  type Fall,
  type Trust,
  type UsedLoss,
  type Watermark,
  type WitnessedNet,
  type Worth,
} from '../../domain/loss-limits.ts'
import {
  HOLD_SIDES,
  FLAT,
  type HoldSide,
  type PositionReading,
  type PositionRow,
} from '../../domain/position.ts'
import { ticksMax } from '../../domain/instrument.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import { startOfDay } from '../../lib/start-of-day.ts'
import { accountHoldingOf, capitalOf, pairKey, pairOf } from '../book/book.ts'
import { type Core, record, specOf } from './core.ts'
import { askForPositionSoon } from './readings.ts'
import { confirmedWithinMs } from './own-figure.ts'
import { flatWorth, type ScopeWorth, worthOf } from './equity.ts'

/** The shortest day: clocks are put forward in it. */
const DAY_MS_MIN = 23 * 3_600_000
/** A peak is recorded when it has risen by this share of the equity, or of the tightest limit. */
const PEAK_STEP_OF_EQUITY = 0.001
const PEAK_STEP_OF_LIMIT = 0.1
const ASK_AGAIN_MS = 1000
/** Our figure of what is not read follows the prices as often as positions are read. */
const UNREAD_MS = 1000

/** Keeps what the exchange states of the account's position and its worth. */
export function noteStatement(core: Core, { symbol, rows, requestedAt }: PositionReading): void {
  let { longLots, shortLots } = FLAT
  let unrealised = 0
  let long: PositionRow | undefined
  let short: PositionRow | undefined
  for (const row of rows) {
    if (row.holdSide === 'long') {
      longLots += row.lots
      long ??= row
    } else {
      shortLots += row.lots
      short ??= row
    }
    // An empty text would become the number 0 (MON2).
    if (row.lots > 0)
      unrealised += row.unrealisedProfit === '' ? Number.NaN : Number(row.unrealisedProfit)
  }
  mutable(core.losses.statements).set(symbol, {
    longLots,
    shortLots,
    unrealised,
    markPrice: rows[0]?.markPrice ?? Number.NaN,
    liquidation: bothSides(long?.liquidationPrice, short?.liquidationPrice),
    margin: bothSides(long?.margin, short?.margin),
    marginRatio: bothSides(long?.marginRatio, short?.marginRatio),
    requestedAt,
  })
  for (const { holdSide, lots, openPriceAvg } of rows) {
    noteStatedEntry(core, { symbol, holdSide, lots, openPriceAvg, requestedAt })
  }
}

function bothSides(long = Number.NaN, short = Number.NaN): Record<HoldSide, number> {
  return { long, short }
}

interface StatedEntry {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly lots: number
  readonly openPriceAvg: number
  readonly requestedAt: number
}

/** Lots that no fill explains take the exchange's average price once two readings stated it. */
function noteStatedEntry(core: Core, stated: StatedEntry): void {
  const { symbol, holdSide, lots, openPriceAvg, requestedAt } = stated
  const key = pairOf(symbol, holdSide)
  const entry = core.book.entries.get(symbol)
  const explained = (holdSide === 'long' ? entry?.longLots : entry?.shortLots) ?? 0
  const known = (holdSide === 'long' ? entry?.statedLongLots : entry?.statedShortLots) ?? 0
  const held = accountHoldingOf(core.book, symbol)
  const isOfBook = lots === (holdSide === 'long' ? held.longLots : held.shortLots)
  const spec = specOf(core, symbol)
  const ticks = openPriceAvg / floatOnGrid(spec.tick, 1)
  const taken = holdSide === 'long' ? entry?.longTicks : entry?.shortTicks
  // An entry that only the exchange knows follows what it says.
  const isRestated = known === lots && lots > 0 && taken !== ticks
  const isPossible = openPriceAvg > 0 && ticks <= ticksMax(spec)
  if ((explained >= lots && !isRestated) || !isOfBook || !isPossible)
    return void mutable(core.losses.statedEntries).delete(key)
  const before = core.losses.statedEntries.get(key)
  if (before === undefined || before.ticks !== ticks) {
    mutable(core.losses.statedEntries).set(key, { ticks, requestedAt })
    return askForPositionAgain(core, symbol)
  }
  if (before.requestedAt === requestedAt) return
  mutable(core.losses.statedEntries).delete(key)
  const statedLots = isRestated ? lots : known + lots - explained
  record(core, { kind: 'entry', at: core.now, symbol, holdSide, lots, statedLots, ticks })
}

/** @param stated by one reading; undefined: no other reading has to confirm it any more */
export function noteStatedCounter(
  { losses }: Core,
  key: string,
  stated: { readonly counter: string; readonly requestedAt: number } | undefined,
): void {
  if (stated) mutable(losses.statedCounters).set(key, stated)
  else if (losses.statedCounters.has(key)) mutable(losses.statedCounters).delete(key)
}

/** Called when the next reading decides something. */
export function askForPositionAgain(core: Core, symbol: string): void {
  if (core.now - (core.losses.askedAt.get(symbol) ?? Number.NEGATIVE_INFINITY) < ASK_AGAIN_MS)
    return
  mutable(core.losses.askedAt).set(symbol, core.now)
  askForPositionSoon(core, symbol)
}

/** Two figures of a net profit at one moment. */
export interface Witnesses extends WitnessTimes {
  readonly trust: Trust
  readonly ours: number
  readonly theirs: number
  /** If they differ by more, one of them is wrong. */
  readonly tolerance: number
  /** The prices lie within their band, so our own figure may be judged alone. */
  readonly isInBand: boolean
  /** Present while the position is not read: our figure at the mark that was stated last. */
  readonly atLastMark?: number
}

export function isUnreadDue({ losses: { unreadAt }, now }: Core): boolean {
  return now < unreadAt || now - unreadAt >= UNREAD_MS
}

export function noteUnreadCompared({ losses, now }: Core): void {
  mutable(losses).unreadAt = now
}

/** @param key symbol, or strategy and symbol */
export function noteWorth(core: Core, key: string, seen: Witnesses): void {
  mutable(core.losses.worths).set(
    key,
    weigh(core.losses.worths.get(key), seen, confirmedWithinMs(core)),
  )
}

function weigh(before: Worth | undefined, seen: Witnesses, withinMs: number): Worth {
  const { trust, ours, theirs, tolerance, isInBand, positionAt, tickersAt, atLastMark } = seen
  if (trust === 'flat') return flatWorth(seen)
  const isUnread = atLastMark !== undefined
  const lastStated = isUnread ? lastStatedOf(before, atLastMark) : theirs
  const needsBoth = trust === 'disputed' || (trust === 'alone' && !isInBand)
  // While the figures differ, a limit is reached only if both say so. Later our own decides, at
  // prices in their band.
  const net = needsBoth ? Math.max(ours, lastStated) : ours
  const reading: WitnessedNet = { trust, net, ours, positionAt, tickersAt }
  const isOfKind =
    before !== undefined && (isUnread || (before.base.trust === 'alone') === (trust === 'alone'))
  const known = isOfKind ? before : undefined
  const least = needsBoth ? Math.min(ours, theirs) : ours
  // If the reading before lies between two figures that differ, they neither confirm nor replace it.
  const isUndecided =
    known !== undefined &&
    net - least > tolerance &&
    least <= known.base.net + tolerance &&
    known.base.net < net &&
    reading.positionAt - known.base.positionAt <= withinMs
  const isConfirmed =
    known !== undefined &&
    !isUnread &&
    !isUndecided &&
    isOtherAnswer(known.base, reading, needsBoth)
  const other = isConfirmed ? known.base.net : Number.NaN
  const ofReadings = isConfirmed ? other : (known?.confirmedRead ?? Number.NaN)
  const confirmed = Math.max(net, ofReadings)
  const wasAgreed = known?.base.trust === 'agreed' || known?.base.trust === 'flat'
  const lower = isConfirmed && wasAgreed ? other : (known?.low ?? Number.NaN)
  const middle = isConfirmed
    ? middleOf(ours, known.base.ours, known.earlier)
    : (known?.basis ?? Number.NaN)
  return {
    trust,
    ours,
    theirs,
    believed: trust === 'alone' ? confirmed : net,
    least,
    confirmed,
    confirmedRead: isUnread ? ofReadings : confirmed,
    low: trust === 'agreed' ? Math.min(net, lower) : Number.NaN,
    basis: needsBoth ? Number.NaN : middle,
    earlier: isConfirmed ? known.base.ours : (known?.earlier ?? Number.NaN),
    base:
      (known === undefined || isConfirmed || Number.isNaN(known.base.net)) && !Number.isNaN(net)
        ? reading
        : (known?.base ?? reading),
  }
}

/**
 * Limits of the account go on while one position is not read: what was stated of it last takes the
 * place of the exchange's figure, so prices alone reach none.
 */
function lastStatedOf(before: Worth | undefined, atLastMark: number): number {
  return Number.isNaN(atLastMark) ? (before?.base.net ?? Number.NaN) : atLastMark
}

function middleOf(first: number, second: number, third: number): number {
  return Math.max(Math.min(first, second), Math.min(Math.max(first, second), third))
}

/** None of the answers was seen before. Alone, our own figure depends on the tickers only. */
function isOtherAnswer(
  before: WitnessedNet,
  { trust, positionAt, tickersAt }: WitnessedNet,
  needsBoth: boolean,
): boolean {
  if (Number.isNaN(before.net) || before.tickersAt === tickersAt) return false
  return (trust === 'alone' && !needsBoth) || before.positionAt !== positionAt
}

/** Without limits the peak is only shown, and not recorded. */
export function notePeak(core: Core): void {
  const { low, basis } = worthOf(core, ACCOUNT)
  const known = core.losses.peaks.get(ACCOUNT)
  const peak = known === undefined ? basis : Math.max(known, Number.isNaN(low) ? known : low)
  if (!Number.isNaN(peak)) mutable(core.losses.peaks).set(ACCOUNT, peak)
}

/** Money that the instrument has settled still counts. */
export function forgetWorths({ losses }: Core, symbol: string): void {
  const { worths, statements, askedAt } = mutable(losses)
  for (const key of Array.from(worths.keys()))
    if (key === symbol || key.endsWith(pairKey('', symbol))) worths.delete(key)
  for (const side of HOLD_SIDES) {
    mutable(losses.statedCounters).delete(pairKey(symbol, side))
    mutable(losses.statedEntries).delete(pairKey(symbol, side))
  }
  statements.delete(symbol)
  askedAt.delete(symbol)
}

/** Losses since the day began and below the peak, by each figure that limits use. */
export interface MeasuredLoss {
  readonly isDisputed: boolean
  readonly believed: Fall
  readonly confirmed: Fall
  readonly worse: Fall
}

/** Records where the losses count from when that changed enough. */
export function measureLoss(core: Core, scope: Scope, timeZone: string): MeasuredLoss {
  const worth = worthOf(core, scope)
  const known = core.book.watermarks.get(scope)
  const isNewDay = known === undefined || isDayOver(core.now, known.dayFrom, timeZone)
  // A day and a first peak begin only at a net profit that is believed.
  const isBelieved = !Number.isNaN(worth.basis)
  const isDayTaken = isBelieved && (isNewDay || known.dayNet === null)
  const dayNet = isDayTaken ? worth.basis : (known?.dayNet ?? Number.NaN)
  const peak = peakOf(core, scope, worth)
  if (!Number.isNaN(peak)) mutable(core.losses.peaks).set(scope, peak)
  const before = known?.peak ?? undefined
  const hasRisen = before === undefined ? isBelieved : peak - before > peakStepOf(core, scope, peak)
  if (isDayTaken || hasRisen) {
    const dayFrom =
      isDayTaken && isNewDay
        ? startOfDay(core.now, timeZone)
        : (known?.dayFrom ?? startOfDay(core.now, timeZone))
    writeDown(core, [
      {
        scope,
        dayFrom,
        dayNet: Number.isNaN(dayNet) ? null : dayNet,
        peak: hasRisen ? peak : (before ?? null),
        ...(known?.lastPeak !== undefined &&
          !(peak >= known.lastPeak) && { lastPeak: known.lastPeak }),
      },
    ])
  }
  const last = known?.lastPeak === undefined || peak > known.lastPeak ? peak : known.lastPeak
  const from: LossOrigin = { dayNet, peak, lastPeak: last }
  noteUsed(core, scope, toUsedLoss(core, scope, from, worth.ours))
  const { isDisputed, believed, confirmed, worse } = worth
  return {
    isDisputed,
    believed: fallTo(core, scope, from, believed),
    confirmed: fallTo(core, scope, from, confirmed),
    worse: fallTo(core, scope, from, worse),
  }
}

/** Net profits from which losses count. */
interface LossOrigin {
  readonly dayNet: number
  readonly peak: number
  readonly lastPeak: number
}

function fallTo(core: Core, scope: Scope, from: LossOrigin, net: number): Fall {
  return {
    dayLoss: Math.max(0, from.dayNet - net),
    drawdown: fallOf(core, scope, from.peak, net),
    lastDrawdown: fallOf(core, scope, from.lastPeak, net),
  }
}

/** The same at another net profit; undefined while it is unknown. */
export function usedLossAt(core: Core, judged: UsedLoss, net: number): UsedLoss | undefined {
  const { scope, peak, lastPeak } = judged
  const dayNet = core.book.watermarks.get(scope)?.dayNet ?? Number.NaN
  return toUsedLoss(core, scope, { dayNet, peak, lastPeak }, net)
}

/** For the account a share of its equity at the peak, otherwise an amount. */
function fallOf(core: Core, scope: Scope, peak: number, net: number): number {
  const fallen = Math.max(0, peak - net)
  if (scope !== ACCOUNT) return fallen
  return shareBelow(Number(capitalOf(core)?.toString()) + peak, fallen)
}

/** The peaks of the earlier steps and of the last one, in net profit; NaN: none was taken yet. */
export function lossPeaksOf(
  { book, losses }: Core,
  scope: Scope,
): { readonly peak: number; readonly lastPeak: number } {
  const known = book.watermarks.get(scope)
  const written = known?.peak ?? undefined
  const peak =
    written === undefined ? Number.NaN : Math.max(written, losses.peaks.get(scope) ?? written)
  const last = known?.lastPeak
  return { peak, lastPeak: last === undefined || peak > last ? peak : last }
}

/** A peak rises only to what two readings have confirmed (MON1). */
function peakOf({ book, losses }: Core, scope: Scope, { low, basis }: ScopeWorth): number {
  const written = book.watermarks.get(scope)?.peak ?? undefined
  if (written === undefined) return basis
  const known = Math.max(written, losses.peaks.get(scope) ?? written)
  return Number.isNaN(low) ? known : Math.max(known, low)
}

function toUsedLoss(core: Core, scope: Scope, from: LossOrigin, net: number): UsedLoss | undefined {
  const { dayLoss, drawdown, lastDrawdown } = fallTo(core, scope, from, net)
  const { peak, lastPeak } = from
  if (Number.isNaN(net) || Number.isNaN(peak) || Number.isNaN(dayLoss)) return undefined
  const isShare = scope === ACCOUNT && !Number.isNaN(drawdown)
  return {
    scope,
    net,
    dayLoss,
    lastDrawdown,
    peak,
    lastPeak,
    drawdown: Math.max(0, peak - net),
    ...(isShare && { drawdownShare: drawdown }),
  }
}

/**
 * As judged last. What no reading of this run concerns, such as a strategy without instruments, was
 * not judged, and is known all the same.
 */
export function usedLossOf(core: Core, scope: Scope): UsedLoss | undefined {
  const judged = core.losses.used.get(scope)
  const isLimited = core.settings.losses?.limits.has(scope) === true
  // Until this run has read the fills, the book is that of the last one.
  if (judged !== undefined || !isLimited || core.readings.fillsKnownUntil === 0) return judged
  const dayNet = core.book.watermarks.get(scope)?.dayNet ?? Number.NaN
  return toUsedLoss(core, scope, { dayNet, ...lossPeaksOf(core, scope) }, worthOf(core, scope).ours)
}

function noteUsed({ losses }: Core, scope: Scope, used: UsedLoss | undefined): void {
  if (used === undefined) mutable(losses.used).delete(scope)
  else mutable(losses.used).set(scope, used)
}

function isDayOver(now: number, dayFrom: number, timeZone: string): boolean {
  // This machine's clock was ahead.
  if (dayFrom - now > DAY_MS_MIN) return true
  return now - dayFrom >= DAY_MS_MIN && startOfDay(now, timeZone) > dayFrom
}

function peakStepOf(core: Core, scope: Scope, peak: number): number {
  const { settings } = core
  const { daily = Number.POSITIVE_INFINITY, drawdown } = settings.losses?.limits.get(scope) ?? {}
  const equity = Math.max(0, Number(capitalOf(core)?.toString() ?? 0) + peak)
  const ofEquity =
    settings.capital === undefined ? Number.POSITIVE_INFINITY : equity * PEAK_STEP_OF_EQUITY
  const amounts = scope === ACCOUNT ? [] : Object.values(drawdown ?? {})
  const step = Math.min(ofEquity, Math.min(daily, ...amounts) * PEAK_STEP_OF_LIMIT)
  return Number.isFinite(step) ? step : 0
}

function writeDown(core: Core, watermarks: readonly Watermark[]): void {
  record(core, { kind: 'watermark', at: core.now, watermarks })
}

/** Called before a stop or a release, for peaks that have risen by too little to be recorded. */
export function writePeaks(core: Core): void {
  const risen = [...core.losses.peaks].flatMap(([scope, peak]) => {
    const known = core.book.watermarks.get(scope)
    return known && known.peak !== null && peak > known.peak ? [{ ...known, peak }] : []
  })
  if (risen.length > 0) writeDown(core, risen)
}

/** True if the scope is beyond, and was not when this was last called. */
export function noteWarned({ losses }: Core, scope: Scope, isBeyond: boolean): boolean {
  const isNews = isBeyond && !losses.warned.has(scope)
  if (isBeyond) mutable(losses.warned).add(scope)
  else mutable(losses.warned).delete(scope)
  return isNews
}

/** A flatten that waits for a second reading is judged at the next prices too. */
export function noteAwaited({ losses }: Core, scope: Scope, waits: boolean): void {
  if (waits === losses.awaited.has(scope)) return
  if (waits) mutable(losses.awaited).add(scope)
  else mutable(losses.awaited).delete(scope)
}

export function isAwaited({ losses, settings }: Core, symbol: string): boolean {
  for (const scope of losses.awaited) {
    if (scope === ACCOUNT || scope === symbol) return true
    for (const { id, symbols } of settings.strategies.values()) {
      if (strategyScope(id) === scope && symbols.includes(symbol)) return true
    }
  }
  return false
}
