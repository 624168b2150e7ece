import type { KeptExitsWatch, StopMove } from '../../domain/exits.ts'
import type { HoldSide, KeptExits } from '../../domain/position.ts'
import { own } from '../../lib/own.ts'
import { accountHoldingOf, pairKey } from '../book/book.ts'
import type { EngineSettings } from '../settings.ts'
import type { Core } from './core.ts'
import { openAccountCall } from './open-calls.ts'

const NEW: KeptExitsWatch = {
  listedFor: '',
  listedAt: 0,
  askedAt: 0,
  isListing: false,
  missingSince: undefined,
  move: undefined,
  moveNotBefore: 0,
  failing: undefined,
}

/** Absent where exits may not be listed, which then cost nothing. */
export function createKeptExits({ listsExits }: EngineSettings): Pick<Core, 'keptExits'> {
  return listsExits === true ? { keptExits: new Map() } : {}
}

/** Those of a position that is held now. */
export function keptExitsOn(core: Core, symbol: string, side: HoldSide): KeptExits | undefined {
  if (accountHoldingOf(core.book, symbol)[`${side}Lots`] === 0) return undefined
  return core.book.exits.get(pairKey(symbol, side))
}

export function keptWatchOf({ keptExits }: Core, symbol: string): KeptExitsWatch {
  return keptExits?.get(symbol) ?? NEW
}

export function noteKeptExits(core: Core, symbol: string, change: Partial<KeptExitsWatch>): void {
  if (core.keptExits === undefined) return
  own(core.keptExits).set(symbol, { ...keptWatchOf(core, symbol), ...change })
}

/** A call on the wire is still answered. */
export function forgetKeptExits(core: Core, symbol: string): void {
  const { isListing, move } = keptWatchOf(core, symbol)
  if (core.keptExits && !isListing && move === undefined) own(core.keptExits).delete(symbol)
}

/** The instrument has left: what is still on the wire concerns no position of it. */
export function dropKeptExits({ keptExits }: Core, symbol: string): void {
  if (keptExits) own(keptExits).delete(symbol)
}

/** No strategy has its pair: their names are never empty. */
export function openStopMove(core: Core, symbol: string, move: Omit<StopMove, 'callId'>): number {
  const callId = openAccountCall(core, pairKey('', symbol))
  noteKeptExits(core, symbol, { move: { ...move, callId } })
  return callId
}

/** The instrument whose stop the call moves. */
export function symbolOfMove({ calls }: Core, callId: number): string | undefined {
  const pair = calls.accountCalls.get(callId)
  return pair?.startsWith('|') === true ? pair.slice(1) : undefined
}
