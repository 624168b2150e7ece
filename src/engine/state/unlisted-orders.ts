import { type Fill, isOfOthers } from '../../domain/fill.ts'
import { own } from '../../lib/own.ts'
import { findFilledExit } from '../book/apply-fill.ts'
import type { Core } from './core.ts'

/**
 * With `foreignFills: adopt` a fill of nobody through the API halts nothing. It may be of an order
 * that a lost run left resting, until a cancel-all of this run has listed what rests from before.
 * So one is sent (`resolution/older-state.ts`), and nothing is placed meanwhile.
 */

/** It says no name: what rests beside it does. */
export function noteAdopted(core: Core, fill: Fill): void {
  const listedAt = core.unlisted.listedAt.get(fill.symbol) ?? Number.POSITIVE_INFINITY
  if (isOfOthers(fill) || fill.filledAt >= listedAt || findFilledExit(core.book, fill)) return
  own(core.unlisted).symbols.add(fill.symbol)
}

export function noteListing({ unlisted }: Core, symbol: string): void {
  own(unlisted).symbols.delete(symbol)
}

/** Nothing accepted before it rests there (A5). */
export function noteListed(core: Core, symbols: Iterable<string>, requestAt: number): void {
  const { run, clock, settings, unlisted } = core
  const acceptableUntil =
    run.startedAt + (clock.offsetMs ?? 0) + settings.execution.acceptanceWindowMs
  if (requestAt < acceptableUntil) return
  for (const symbol of symbols) own(unlisted).listedAt.set(symbol, requestAt)
}
