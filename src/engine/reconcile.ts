import { FLAT, type Holding, type PositionReading, type PositionRow } from '../domain/position.ts'
import { decimal } from '../lib/decimal.ts'
import { accountHoldingOf, pairKey } from './book.ts'
import { announce, type Core, exchangeNow, instrumentOf, laneOf, record } from './core.ts'
import { notePositionForFence } from './fence.ts'
import { type Lane } from './lane.ts'
import { halt } from './on-answer.ts'

/**
 * The exchange's position against the book's. A reading speaks of one moment of the exchange's clock; it can
 * be judged only when the fills are known up to that moment, so it waits for them, and the book is compared
 * as it stood then. A difference must be seen twice before the exchange's word is taken (R5).
 */
export function takePosition(core: Core, reading: PositionReading): void {
  const lane = laneOf(core, reading.symbol)
  checkPositionMode(core, reading)
  noteFunding(core, reading)
  lane.pendingReading = {
    holding: toHolding(reading.rows),
    requestedAt: reading.requestedAt,
    exchangeTime: reading.exchangeTime,
  }
  notePositionForFence(core, lane, reading.requestedAt)
  comparePosition(core, lane)
}

function toHolding(rows: readonly PositionRow[]): Holding {
  const lotsOf = (side: 'long' | 'short'): number =>
    rows.filter((row) => row.holdSide === side).reduce((sum, row) => sum + row.lots, 0)
  return rows.length === 0 ? FLAT : { longLots: lotsOf('long'), shortLots: lotsOf('short') }
}

/** Judges the waiting reading, once the fills are known past its moment. */
export function comparePosition(core: Core, lane: Lane): void {
  const reading = lane.pendingReading
  if (!reading || core.fillsReadAt + (core.offsetMs ?? 0) < reading.exchangeTime) return
  lane.pendingReading = undefined
  // Fills around that very moment may or may not be in the reading: then it says nothing.
  if (core.book.fillsThroughAt >= reading.exchangeTime) return
  const known = accountHoldingOf(core.book, lane.symbol)
  if (same(reading.holding, known)) {
    lane.mismatch = undefined
    lane.positionReadAt = reading.requestedAt
    return
  }
  if (!lane.mismatch || !same(lane.mismatch.holding, reading.holding)) {
    lane.mismatch = { holding: reading.holding, seenAt: core.now }
    core.effects.push({ kind: 'readPosition', symbol: lane.symbol })
    return
  }
  if (core.now > lane.mismatch.seenAt) adopt(core, lane, reading.holding)
}

function adopt(core: Core, lane: Lane, holding: Holding): void {
  const was = accountHoldingOf(core.book, lane.symbol)
  const first = core.book.epoch === 1 && core.mode === 'starting'
  lane.mismatch = undefined
  lane.positionReadAt = core.now
  record(core, { kind: 'adopt', at: core.now, symbol: lane.symbol, holding, was }, true)
  announce(core, first ? 'warn' : 'error', 'position.adopted', {
    symbol: lane.symbol,
    longLots: holding.longLots,
    shortLots: holding.shortLots,
    knownLongLots: was.longLots,
    knownShortLots: was.shortLots,
  })
  if (!first) halt(core, lane.symbol, 'the position is not what our fills explain')
}

function same(left: Holding, right: Holding): boolean {
  return left.longLots === right.longLots && left.shortLots === right.shortLots
}

/** A position row names its mode: another one than the config's would turn every order round. */
function checkPositionMode(core: Core, reading: PositionReading): void {
  for (const row of reading.rows) {
    if (row.positionMode !== undefined && row.positionMode !== core.settings.positionMode) {
      halt(
        core,
        reading.symbol,
        `the account is in ${row.positionMode}, the config says ${core.settings.positionMode}`,
      )
    }
  }
}

/** Funding shows only in the counter of a position that stands. */
function noteFunding(core: Core, reading: PositionReading): void {
  for (const holdSide of ['long', 'short'] as const) {
    const row = reading.rows.find((candidate) => candidate.holdSide === holdSide)
    const counter = row?.fundingFee ?? ''
    const before = core.book.fundingCounters.get(pairKey(reading.symbol, holdSide)) ?? ''
    if (counter === before) continue
    const change = decimal(counter || '0').minus(decimal(counter === '' ? '0' : before || '0'))
    record(core, {
      kind: 'funding',
      at: core.now,
      symbol: reading.symbol,
      holdSide,
      counter,
      change: change.toString(),
    })
    if (counter !== '') {
      announce(core, 'info', 'funding.paid', {
        symbol: instrumentOf(core, reading.symbol).symbol,
        holdSide,
        change: change.toString(),
        at: exchangeNow(core),
      })
    }
  }
}
