import type { StrategyId } from '../../domain/ids.ts'
import { type Holding, isFlat } from '../../domain/position.ts'
import { unclaimedHolding } from '../book/allocation.ts'
import { holdingOf, pairOf } from '../book/book.ts'
import { hasUnownedFills } from '../resolution/evidence.ts'
import type { Core } from '../state/core.ts'
import type { ReleaseCommand } from '../state/trading-mode.ts'
import { describeSides, isPart } from './flatten.ts'

type ReleaseBasis = Pick<Core, 'book' | 'settings'>

/**
 * Keyed by symbol, in words: lots of no strategy count in no target. Undefined: none, or the
 * command allows it, or the release would end nothing.
 */
export function findOrderedAgain(
  core: ReleaseBasis,
  { scope, unclaimed }: Pick<ReleaseCommand, 'scope' | 'unclaimed'>,
): Readonly<Record<string, string>> | undefined {
  const isHeld = [...core.book.restrictions.values()].some(
    (one) => one.scope === scope && one.code !== 'kill',
  )
  if (unclaimed === true || !isHeld) return undefined
  const found = [...core.settings.instruments.keys()].flatMap((symbol) => {
    const left = unclaimedHolding(core.book, symbol)
    if (isFlat(left) || hasUnownedFills(core.book, symbol)) return []
    const wishes = [...core.settings.strategies.values()]
      .filter(({ id, symbols }) => symbols.includes(symbol) && isPart(scope, id, symbol))
      .flatMap(({ id }) => describeWish(core, { id, symbol, left }) ?? [])
    if (wishes.length === 0) return []
    const text = `no strategy holds ${describeSides(core.book, symbol, left)}, and ${wishes.join(', ')}`
    return [[symbol, text] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

interface PossibleWish {
  readonly id: StrategyId
  readonly symbol: string
  readonly left: Holding
}

/** A target beyond what the strategy has, on the side of unclaimed lots. */
function describeWish(
  { book }: ReleaseBasis,
  { id, symbol, left }: PossibleWish,
): string | undefined {
  const target = book.targets.get(pairOf(id, symbol)) ?? 0
  const held = holdingOf(book, id, symbol)
  const isLong = left.longLots > 0 && target > held.longLots
  const isShort = left.shortLots > 0 && -target > held.shortLots
  if (!isLong && !isShort) return undefined
  const wanted = { longLots: Math.max(0, target), shortLots: Math.max(0, -target) }
  const has = isFlat(held) ? 'none' : describeSides(book, symbol, held)
  return `${id} wants ${describeSides(book, symbol, wanted)} and has ${has}`
}
