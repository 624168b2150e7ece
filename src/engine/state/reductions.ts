import type { StrategyId } from '../../domain/ids.ts'
import type { HoldSide } from '../../domain/position.ts'
import type { ModeReason } from '../../domain/trading-mode.ts'
import type { Reduction } from '../../domain/worst-case.ts'
import { own } from '../../lib/own.ts'
import { closableHolding } from '../book/allocation.ts'
import { type Book, holdingOf } from '../book/book.ts'
import { noteChanged } from './changes.ts'
import type { Core } from './core.ts'

interface ReductionsOwner {
  readonly book: Book
  readonly reductions: ReadonlyMap<string, Reduction>
}

/** The lots that a strategy keeps on the side of which a part is closed; undefined: nothing is to be closed of it. */
export interface StrategyReduction {
  readonly holdSide: HoldSide
  readonly keptLots: number
}

export function reductionOf(
  { book, reductions }: ReductionsOwner,
  symbol: string,
  id: StrategyId | string,
): StrategyReduction | undefined {
  if (reductions.size === 0) return undefined
  const reduction = reductions.get(symbol)
  const keptLots = reduction?.keeps.get(id as StrategyId)
  if (reduction === undefined || keptLots === undefined) return undefined
  const { holdSide } = reduction
  return holdingOf(book, id, symbol)[`${holdSide}Lots`] > keptLots
    ? { holdSide, keptLots }
    : undefined
}

/** Closes lots of an instrument: of the strategies that trade it, in their order. Returns whether anything is new in that. */
export function reduceTo(
  core: Core,
  order: { readonly symbol: string; readonly lots: number } & Pick<
    Reduction,
    'code' | 'holdSide' | 'reason'
  >,
): boolean {
  const { symbol, lots, code, holdSide, reason } = order
  const { book, settings, changes } = core
  const lotsMin = settings.instruments.get(symbol)?.lotsMin ?? 1
  const keeps = new Map<StrategyId, number>()
  let left = lots
  for (const { id, symbols } of settings.strategies.values()) {
    if (left <= 0 || !symbols.includes(symbol)) continue
    const held = holdingOf(book, id, symbol)[`${holdSide}Lots`]
    const closable = Math.min(held, closableHolding(book, id, symbol)[`${holdSide}Lots`])
    if (closable < lotsMin) continue
    const closed = Math.min(closable, Math.max(left, lotsMin))
    keeps.set(id, held - closed)
    left -= closed
  }
  const before = core.reductions.get(symbol)
  own(core.reductions).set(symbol, { code, holdSide, keeps, adopts: left >= lotsMin, reason })
  noteChanged(changes, symbol)
  return before === undefined
}

/** Nothing is to be closed any more: of one instrument, or of all that a reason had reduced. */
export function endReductions(
  core: Core,
  ended: { readonly code: ModeReason; readonly symbols?: readonly string[] },
): void {
  for (const [symbol, { code }] of core.reductions) {
    if (code !== ended.code || ended.symbols?.includes(symbol) === false) continue
    own(core.reductions).delete(symbol)
    noteChanged(core.changes, symbol)
  }
}

/** Another strategy holds what was to be closed now: the next reading says anew what that is. */
export function forgetReduction(core: Core, symbol: string): void {
  own(core.reductions).delete(symbol)
}
