import type { Fill } from '../../domain/fill.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { AssignedRecord } from '../../domain/record.ts'
import {
  applyToHolding,
  FLAT,
  HOLD_SIDES,
  type Holding,
  type HoldingChange,
  type HoldSide,
  isFlat,
  isSameHolding,
  lotsOn,
  netLots,
  type PositionReading,
  type PositionRow,
} from '../../domain/position.ts'
import { accountHoldingOf, type Book, holdingOf, pairKey, pairOf } from '../book/book.ts'
import { noteChanged } from '../state/changes.ts'
import { exchangeNow, noteMark } from '../state/market-state.ts'
import {
  announce,
  type Core,
  instrumentOf,
  type InstrumentState,
  type PendingReading,
  record,
  specOf,
} from '../state/core.ts'
import { checkSetup } from './check-setup.ts'
import { askForPositionAgain, noteStatedCounter, noteStatement } from '../state/losses.ts'
import { askForPositionSoon } from '../state/readings.ts'
import { mutable } from '../../lib/mutable.ts'
import { notePositionForResolution } from './resolution.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'
import { hasUnreadableRows, notePositionReadable } from './unreadable.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { floatOnGrid, formatOnGrid } from '../../lib/grid.ts'
import { notionalAt } from '../state/own-figure.ts'
import { noteFundingShown } from '../state/unseen-funding.ts'

/** A position and its fills may become visible this far apart, by the exchange's clock. */
const POSITION_SKEW_MS = 500
/** The time in an answer may lie this far from its call, since the clocks are known no better. */
const ANSWER_SKEW_MS = 2000
const RECENT_MS = 60_000
/**
 * A shorter difference is not believed: an empty or foreign answer would write off what strategies
 * hold. Meanwhile nothing adds risk, since the position counts as not read.
 */
const MISMATCH_MS_MIN = 10_000
/** The exchange makes no more in a minute. */
const RECENT_FILLS_MAX = 5000

/**
 * A reading waits until the fills up to its moment of the exchange's clock are known, and is
 * compared with the book of that moment. docs/mechanisms.md says when a difference is believed
 * (Positions).
 */
export function takePosition(core: Core, reading: PositionReading): void {
  const instrument = instrumentOf(core, reading.symbol)
  notePositionReadable(core, reading.symbol)
  const objection = objectionTo(core, reading)
  if (objection !== undefined) {
    return announce(core, 'warn', 'read.failed', {
      what: `position ${reading.symbol}`,
      reason: objection,
    })
  }
  checkSetup(core, instrument, reading)
  noteMark(core, reading)
  noteStatement(core, reading)
  const position = mutable(instrument.position)
  if (position.mismatch === undefined) noteReadAt(core, position, reading.requestedAt)
  noteConfirmed(core, instrument, reading)
  // If each new reading replaced the waiting one, none might ever be compared.
  position.pending ??= {
    holding: toHolding(reading.rows),
    counters: toCounters(reading.rows),
    isSilent: reading.isSilent,
    requestedAt: reading.requestedAt,
    exchangeTime: reading.exchangeTime,
  }
  notePositionForResolution(core, instrument, reading.requestedAt)
  if (!hasUnreadableRows(core, instrument.symbol)) comparePosition(core, instrument)
}

/**
 * RSK4: an opening order may serve as an exit only after a reading that agrees and was asked for
 * after the last fill.
 */
function noteConfirmed(
  core: Core,
  { symbol, position }: InstrumentState,
  { rows, requestedAt }: PositionReading,
): void {
  if (requestedAt < position.movedAt) return
  const isConfirmed = isSameHolding(toHolding(rows), accountHoldingOf(core.book, symbol))
  if (isConfirmed === position.isConfirmed) return
  mutable(position).isConfirmed = isConfirmed
  noteChanged(core.changes, symbol)
}

function noteMoved(core: Core, symbol: string): void {
  const position = mutable(instrumentOf(core, symbol).position)
  position.movedAt = core.now
  position.isConfirmed = false
}

/** An answer without data proves no empty position, and a wrong time would block later readings. */
function objectionTo(
  core: Core,
  { symbol, isSilent, requestedAt, exchangeTime }: PositionReading,
): string | undefined {
  if (isSilent && !isFlat(accountHoldingOf(core.book, symbol))) {
    return 'the answer says nothing, and the book says that there is one'
  }
  const earliest = requestedAt + (core.clock.offsetMs ?? 0) - ANSWER_SKEW_MS
  const latest = exchangeNow(core) + ANSWER_SKEW_MS
  return exchangeTime < earliest || exchangeTime > latest
    ? 'the time in the answer cannot be true'
    : undefined
}

function toHolding(rows: readonly PositionRow[]): Holding {
  const lotsOf = (side: 'long' | 'short'): number =>
    rows.filter((row) => row.holdSide === side).reduce((sum, row) => sum + row.lots, 0)
  return rows.length === 0 ? FLAT : { longLots: lotsOf('long'), shortLots: lotsOf('short') }
}

function toCounters(rows: readonly PositionRow[]): PendingReading['counters'] {
  const counterOf = (side: 'long' | 'short'): string =>
    rows.find(({ holdSide }) => holdSide === side)?.fundingFee ?? ''
  return { long: counterOf('long'), short: counterOf('short') }
}

/**
 * Keeps fills while a reading may have to be compared with them.
 * @param heardAt Unix ms, exchange clock; a fill with a later date has a wrong date
 */
export function noteRecentFills(core: Core, fills: readonly Fill[], heardAt: number): void {
  for (const [symbol, news] of Map.groupBy(fills, (fill) => fill.symbol)) {
    const added = news.map(({ side, tradeSide, lots, filledAt }) => ({
      change: { side, tradeSide, lots },
      filledAt: Math.min(filledAt, heardAt),
    }))
    noteMoved(core, symbol)
    const position = mutable(instrumentOf(core, symbol).position)
    position.recentFills = [...position.recentFills, ...added]
      .filter(({ filledAt }) => filledAt > core.book.fillsThroughAt - RECENT_MS)
      .sort((left, right) => left.filledAt - right.filledAt)
      .slice(-RECENT_FILLS_MAX)
  }
}

function noteReadAt(
  { now }: Core,
  position: { readAt: number; heardAt: number },
  requestedAt: number,
): void {
  position.readAt = requestedAt
  position.heardAt = now
}

export function comparePosition(core: Core, instrument: InstrumentState): void {
  const position = mutable(instrument.position)
  const reading = position.pending
  if (!reading) return
  if (core.readings.fillsKnownUntil + (core.clock.offsetMs ?? 0) < reading.exchangeTime) {
    if (isEnoughForStart(core, instrument, reading) && agrees(core, instrument, reading))
      position.agreedAt = reading.requestedAt
    return
  }
  position.pending = undefined
  if (core.readings.fillsKnownUntil - reading.requestedAt > RECENT_MS) return
  if (agrees(core, instrument, reading)) {
    if (position.mismatch !== undefined) noteReadAt(core, position, reading.requestedAt)
    position.mismatch = undefined
    position.agreedAt = reading.requestedAt
    const wentThrough = holdingsSince(core, instrument, reading.exchangeTime)
    return noteFunding(core, instrument, reading, wentThrough)
  }
  // An answer without data proves nothing while fills show a position.
  if (reading.isSilent) return
  const difference = subtract(
    core,
    reading.holding,
    holdingAt(core, instrument, reading.exchangeTime),
  )
  const seen = position.mismatch
  if (!seen || !isSameHolding(seen.difference, difference)) {
    position.mismatch = { difference, requestedAt: core.now }
    logUnexplained(core, instrument, reading)
    askForPositionSoon(core, instrument.symbol)
    return
  }
  if (reading.requestedAt < seen.requestedAt) return
  const isTraded = core.run.phase === 'running' && instrument.start.stage === 'proved'
  if (isTraded && reading.requestedAt < seen.requestedAt + MISMATCH_MS_MIN) return
  adopt(core, instrument, difference, reading.requestedAt)
}

/**
 * A start may trust a reading before the newest fills are readable, if the fills of this run
 * explain it; it is compared again later. An answer without data counts only where no open order
 * could have been filled.
 */
function isEnoughForStart(
  { readings, book }: Core,
  { symbol, start }: InstrumentState,
  { isSilent }: PendingReading,
): boolean {
  if (start.stage !== 'reading' || readings.fillsKnownUntil === 0) return false
  return !isSilent || (book.open.get(symbol)?.size ?? 0) === 0
}

function logUnexplained(
  core: Core,
  { symbol }: InstrumentState,
  { holding }: PendingReading,
): void {
  const known = accountHoldingOf(core.book, symbol)
  announce(core, 'warn', 'position.unexplained', {
    symbol,
    longLots: holding.longLots,
    shortLots: holding.shortLots,
    knownLongLots: known.longLots,
    knownShortLots: known.shortLots,
    isConfirmed: false,
  })
}

function agrees(
  core: Core,
  instrument: InstrumentState,
  { holding, exchangeTime }: PendingReading,
): boolean {
  let known = accountHoldingOf(core.book, instrument.symbol)
  for (const { change, filledAt } of instrument.position.recentFills.toReversed()) {
    if (filledAt <= exchangeTime + POSITION_SKEW_MS && isSameHolding(known, holding)) return true
    if (filledAt < exchangeTime - POSITION_SKEW_MS) return false
    known = undo(core, known, change)
  }
  return isSameHolding(known, holding)
}

/** The newest comes first. */
function holdingsSince(
  core: Core,
  instrument: InstrumentState,
  exchangeTime: number,
): readonly Holding[] {
  const holdings = [accountHoldingOf(core.book, instrument.symbol)]
  for (const { change, filledAt } of instrument.position.recentFills.toReversed()) {
    const [held] = holdings.slice(-1)
    if (held === undefined || filledAt <= exchangeTime - POSITION_SKEW_MS) break
    holdings.push(undo(core, held, change))
  }
  return holdings
}

function holdingAt(core: Core, instrument: InstrumentState, exchangeTime: number): Holding {
  return instrument.position.recentFills
    .filter(({ filledAt }) => filledAt > exchangeTime)
    .reduceRight(
      (known, { change }) => undo(core, known, change),
      accountHoldingOf(core.book, instrument.symbol),
    )
}

function undo(core: Core, holding: Holding, change: HoldingChange): Holding {
  return applyToHolding(core.settings.positionMode, holding, { ...change, lots: -change.lots })
}

function subtract(core: Core, left: Holding, right: Holding): Holding {
  if (core.settings.positionMode === 'one_way_mode') {
    return { longLots: netLots(left) - netLots(right), shortLots: 0 }
  }
  return { longLots: left.longLots - right.longLots, shortLots: left.shortLots - right.shortLots }
}

function add(core: Core, holding: Holding, difference: Holding): Holding {
  if (core.settings.positionMode === 'one_way_mode') {
    const net = netLots(holding) + difference.longLots
    return { longLots: Math.max(0, net), shortLots: Math.max(0, -net) }
  }
  return {
    longLots: holding.longLots + difference.longLots,
    shortLots: holding.shortLots + difference.shortLots,
  }
}

function adopt(
  core: Core,
  instrument: InstrumentState,
  difference: Holding,
  requestedAt: number,
): void {
  const was = accountHoldingOf(core.book, instrument.symbol)
  const holding = add(core, was, difference)
  const held = holdingsOf(core, instrument.symbol)
  const position = mutable(instrument.position)
  position.mismatch = undefined
  position.agreedAt = requestedAt
  noteReadAt(core, position, requestedAt)
  // After a crash between the two records, the next run must not trade on an unchecked position.
  halt(
    core,
    instrument.symbol,
    'contradiction',
    `the position is not what our fills explain, and was adopted (the exchange shows no fills older than 90 days, so what was traded before that is not among them): ${RELEASE_HINT}`,
  )
  record(core, { kind: 'adopt', at: core.now, symbol: instrument.symbol, holding, was }, true)
  giveBack(core, instrument, holding)
  noteMoved(core, instrument.symbol)
  position.writtenOff = { was, lost: lostOf(core, instrument.symbol, held), movedAt: core.now }
  announce(core, 'error', 'position.adopted', {
    symbol: instrument.symbol,
    longLots: holding.longLots,
    shortLots: holding.shortLots,
    knownLongLots: was.longLots,
    knownShortLots: was.shortLots,
  })
}

/**
 * The position is again what the fills explain, with nothing traded since, so the exchange answered
 * wrongly. Strategies get back what they lost, or one would order it a second time.
 */
function giveBack(core: Core, { symbol, position }: InstrumentState, holding: Holding): void {
  const { writtenOff, movedAt } = position
  if (writtenOff?.movedAt !== movedAt || !isSameHolding(writtenOff.was, holding)) return
  const reason = 'the position is again what the fills explain'
  for (const [strategyId, lost] of writtenOff.lost)
    assignHolding(core, { symbol, strategyId, holding: lost, reason, by: 'intentd' })
}

export function assignHolding(
  core: Core,
  assigned: Omit<AssignedRecord, 'kind' | 'at' | 'longTicks' | 'shortTicks'>,
  beyondLimit?: string,
): void {
  const { symbol, strategyId, holding, reason, by } = assigned
  const prices = paidPricesOf(core.book, symbol)
  record(
    core,
    { kind: 'assigned', at: core.now, symbol, strategyId, holding, ...prices, reason, by },
    true,
  )
  const lot = core.settings.instruments.get(symbol)?.lot
  const sizeOf = (lots: number): string => (lot ? formatOnGrid(lot, lots) : `${lots} lots`)
  announce(core, 'warn', 'position.assigned', {
    symbol,
    strategyId,
    ...(holding.longLots > 0 && { long: sizeOf(holding.longLots) }),
    ...(holding.shortLots > 0 && { short: sizeOf(holding.shortLots) }),
    ...(beyondLimit !== undefined && { beyondLimit }),
    reason,
    by,
  })
}

export function paidPricesOf(
  book: Book,
  symbol: string,
): Pick<AssignedRecord, 'longTicks' | 'shortTicks'> {
  const entry = book.entries.get(symbol)
  const { longLots, shortLots } = book.account.get(symbol) ?? FLAT
  if (entry === undefined) return {}
  return {
    ...(longLots > 0 && entry.longLots >= longLots && { longTicks: entry.longTicks }),
    ...(shortLots > 0 && entry.shortLots >= shortLots && { shortTicks: entry.shortTicks }),
  }
}

function holdingsOf({ book, settings }: Core, symbol: string): ReadonlyMap<StrategyId, Holding> {
  return new Map([...settings.strategies.keys()].map((id) => [id, holdingOf(book, id, symbol)]))
}

function lostOf(
  { book }: Core,
  symbol: string,
  before: ReadonlyMap<StrategyId, Holding>,
): ReadonlyMap<StrategyId, Holding> {
  const lost = new Map<StrategyId, Holding>()
  for (const [id, held] of before) {
    const now = holdingOf(book, id, symbol)
    const part = {
      longLots: Math.max(0, held.longLots - now.longLots),
      shortLots: Math.max(0, held.shortLots - now.shortLots),
    }
    if (!isFlat(part)) lost.set(id, part)
  }
  return lost
}

/** Funding of one interval is at most some thousandths of the position's worth. */
const FUNDING_SHARE_MAX = 0.01

/**
 * The counter begins at zero with each position, so it counts only where the reading agrees with
 * the book and the position was not closed since.
 * @param wentThrough everything held from the moment of the reading until now, by the fills
 */
function noteFunding(
  core: Core,
  { symbol }: InstrumentState,
  { holding, counters, requestedAt, exchangeTime }: PendingReading,
  wentThrough: readonly Holding[],
): void {
  let isChanged = false
  for (const holdSide of HOLD_SIDES) {
    const counter = lotsOn(holding, holdSide) > 0 ? counters[holdSide] : ''
    const before = core.book.fundingCounters.get(pairOf(symbol, holdSide)) ?? ''
    if (counter === before) continue
    // Nothing was paid yet, or the row does not say: that is no new zero.
    if (counter === '' && lotsOn(holding, holdSide) > 0) continue
    if (counter !== '' && wentThrough.some((held) => lotsOn(held, holdSide) === 0)) continue
    const change =
      counter === ''
        ? '0'
        : decimal(counter)
            .minus(decimal(before || '0'))
            .toString()
    // A counter that begins at zero, or the same amount written otherwise, is no payment.
    if (counter !== '' && decimal(change).eq(ZERO)) continue
    if (counter !== '' && !isCredible(core, { symbol, holdSide, counter, change, requestedAt }))
      continue
    record(core, { kind: 'funding', at: core.now, symbol, holdSide, counter, change })
    if (counter === '') continue
    announce(core, 'info', 'funding.paid', { symbol, holdSide, change, at: exchangeNow(core) })
    isChanged = true
  }
  noteFundingShown(core, symbol, { at: exchangeTime, isChanged })
}

/**
 * The fills may end a position, so the funding of an earlier reading that still waits counts first.
 */
export function noteFundingBefore(core: Core, fills: readonly Fill[]): void {
  for (const [symbol, news] of Map.groupBy(fills, (fill) => fill.symbol)) {
    const instrument = instrumentOf(core, symbol)
    const { pending } = instrument.position
    const held = accountHoldingOf(core.book, symbol)
    if (!pending || isFlat(held) || !isSameHolding(pending.holding, held)) continue
    if (news.some(({ filledAt }) => filledAt <= pending.exchangeTime)) continue
    noteFunding(core, instrument, pending, [held])
  }
}

interface StatedFunding {
  readonly symbol: string
  readonly holdSide: HoldSide
  readonly counter: string
  readonly change: string
  readonly requestedAt: number
}

/**
 * MON1: one wrong counter must not become a loss or a peak, so an unusually large payment counts
 * only once two readings agree.
 */
function isCredible(
  core: Core,
  { symbol, holdSide, counter, change, requestedAt }: StatedFunding,
): boolean {
  const key = pairKey(symbol, holdSide)
  const held = accountHoldingOf(core.book, symbol)
  const notional = notionalAt(core, symbol, { held, price: entryPriceOf(core, symbol, holdSide) })
  const before = core.losses.statedCounters.get(key)
  if (
    Math.abs(Number(change)) <= FUNDING_SHARE_MAX * notional ||
    isOfOtherReading(before, counter, requestedAt)
  ) {
    noteStatedCounter(core, key, undefined)
    return true
  }
  if (before?.counter !== counter) noteStatedCounter(core, key, { counter, requestedAt })
  askForPositionAgain(core, symbol)
  return false
}

/** 0 where our own fills do not tell it. */
function entryPriceOf(core: Core, symbol: string, holdSide: HoldSide): number {
  const ticks = core.book.entries.get(symbol)?.[`${holdSide}Ticks`] ?? 0
  return floatOnGrid(specOf(core, symbol).tick, ticks)
}

function isOfOtherReading(
  before: { readonly counter: string; readonly requestedAt: number } | undefined,
  counter: string,
  requestedAt: number,
): boolean {
  return before?.counter === counter && before.requestedAt !== requestedAt
}
