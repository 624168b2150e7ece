import type { KeptExitsWatch, StopMove } from '../../domain/exits.ts'
import type { HoldSide, KeptExits } from '../../domain/position.ts'
import { mutable } from '../../lib/mutable.ts'
import { accountHoldingOf, pairKey } from '../book/book.ts'
import type { Core } from './core.ts'
import { openAccountCall } from './open-calls.ts'

const NOT_LISTED: KeptExitsWatch = {
  listedFor: '',
  listedAt: 0,
  askedAt: 0,
  isListing: false,
  missingSince: undefined,
  move: undefined,
  moveNotBefore: 0,
  failing: undefined,
}

/** Undefined unless a position is held on the side. */
export function keptExitsOn(core: Core, symbol: string, side: HoldSide): KeptExits | undefined {
  if (accountHoldingOf(core.book, symbol)[`${side}Lots`] === 0) return undefined
  return core.book.exits.get(pairKey(symbol, side))
}

export function keptWatchOf({ keptExits }: Core, symbol: string): KeptExitsWatch {
  return keptExits?.get(symbol) ?? NOT_LISTED
}

export function noteKeptExits(core: Core, symbol: string, change: Partial<KeptExitsWatch>): void {
  if (core.keptExits === undefined) return
  mutable(core.keptExits).set(symbol, { ...keptWatchOf(core, symbol), ...change })
}

/** A call on the wire is still answered. */
export function forgetKeptExits(core: Core, symbol: string): void {
  const { isListing, move } = keptWatchOf(core, symbol)
  if (core.keptExits && !isListing && move === undefined) mutable(core.keptExits).delete(symbol)
}

export function dropKeptExits({ keptExits }: Core, symbol: string): void {
  if (keptExits) mutable(keptExits).delete(symbol)
}

export function noteUnkeptExits({ unkeptExits }: Core, key: string): void {
  mutable(unkeptExits).add(key)
}

export function forgetUnkeptExits({ unkeptExits }: Core, key: string): void {
  mutable(unkeptExits).delete(key)
}

/** The pair begins with an empty name, since no strategy makes the call. */
export function openStopMove(core: Core, symbol: string, move: Omit<StopMove, 'callId'>): number {
  const callId = openAccountCall(core, pairKey('', symbol))
  noteKeptExits(core, symbol, { move: { ...move, callId } })
  return callId
}

export function symbolOfMove({ calls }: Core, callId: number): string | undefined {
  const pair = calls.accountCalls.get(callId)
  return pair?.startsWith('|') === true ? pair.slice(1) : undefined
}
