import type { StrategyId } from '../../domain/ids.ts'
import { FLAT, type Holding, isFlat } from '../../domain/position.ts'
import type { AssignedRecord } from '../../domain/record.ts'
import { ACCOUNT, type Scope } from '../../domain/trading-mode.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import {
  unclaimedHolding,
  type Book,
  holdingOf,
  killOf,
  restrictionOf,
  hasUnownedFills,
} from '../book/book.ts'
import { assignHolding, paidPricesOf } from '../resolution/reconcile.ts'
import type { EngineCommand } from '../event.ts'
import { announce, type Core } from '../state/core.ts'
import { holdAllWishes } from '../state/decision-state.ts'
import { tradersOf } from '../state/roster.ts'
import { forgetReduction } from '../state/trading-mode.ts'

export type AdoptCommand = Extract<EngineCommand, { kind: 'adopt' }>

/**
 * Every fill must have its order, and the position must have been read since the last one.
 * @returns undefined where nothing stands against it
 */
export function objectToAdoption(
  core: Core,
  { symbol, strategyId }: AdoptCommand,
): string | undefined {
  const { book, settings } = core
  const instrument = core.instruments.get(symbol)
  if (instrument === undefined) return `${symbol} is not an instrument of this configuration`
  const traders = tradersOf(settings, symbol)
  if (!traders.includes(strategyId as StrategyId))
    return `${strategyId} does not trade ${symbol}; these strategies do: ${traders.join(', ') || 'none'}`
  if (core.run.phase !== 'running')
    return 'the run does not trade now: the start has yet to read what the account holds, or a stop has begun'
  if (hasUnownedFills(book, symbol))
    return `fills of ${symbol} wait for their order: again in a minute`
  if (!instrument.position.isConfirmed)
    return `the position in ${symbol} has not been read since its last fill, or does not agree with the fills: again in some seconds`
  const unclaimed = unclaimedHolding(book, symbol)
  if (isFlat(unclaimed)) return `nothing of ${symbol} is without a strategy`
  const { longTicks, shortTicks } = paidPricesOf(book, symbol)
  const held = holdingOf(book, strategyId, symbol)
  const isOneWay = book.positionMode === 'one_way_mode'
  const opensLong = unclaimed.longLots > (isOneWay ? held.shortLots : 0)
  const opensShort = unclaimed.shortLots > (isOneWay ? held.longLots : 0)
  if ((opensLong && longTicks === undefined) || (opensShort && shortTicks === undefined))
    return `nobody knows yet what was paid for the position in ${symbol}: two readings of it have to state the same price; again in some seconds, or flatten it`
  return undefined
}

/**
 * A position beyond `positionMax` is handed over all the same, or only a flatten could close it.
 * Orders that add are denied then.
 */
export function describeBeyondLimit(
  { book, settings }: Pick<Core, 'book' | 'settings'>,
  { symbol, strategyId }: Pick<AdoptCommand, 'symbol' | 'strategyId'>,
): string | undefined {
  const max = settings.strategies.get(strategyId as StrategyId)?.limits.get(symbol)?.positionMax
  if (max === undefined) return undefined
  const lot = settings.instruments.get(symbol)?.lot
  const sizeOf = (lots: number): string => (lot ? formatOnGrid(lot, lots) : `${lots} lots`)
  const { longLots, shortLots } = holdingAfter(book, symbol, strategyId)
  const sides = [
    ...(longLots > max ? [`long ${sizeOf(longLots)}`] : []),
    ...(shortLots > max ? [`short ${sizeOf(shortLots)}`] : []),
  ]
  if (sides.length === 0) return undefined
  return `${strategyId} holds ${sides.join(' and ')} of ${symbol} with it, beyond its risk.positionMax of ${sizeOf(max)}: it can only reduce that until it is within`
}

function holdingAfter(book: Book, symbol: string, strategyId: string): Holding {
  const held = holdingOf(book, strategyId, symbol)
  const taken = unclaimedHolding(book, symbol)
  const longLots = held.longLots + taken.longLots
  const shortLots = held.shortLots + taken.shortLots
  if (book.positionMode !== 'one_way_mode') return { longLots, shortLots }
  return {
    longLots: Math.max(0, longLots - shortLots),
    shortLots: Math.max(0, shortLots - longLots),
  }
}

export function adoptUnclaimed(core: Core, command: AdoptCommand): void {
  const { symbol, strategyId, reason, by } = command
  const why = objectToAdoption(core, command)
  if (why !== undefined)
    return announce(core, 'warn', 'position.notAssigned', { symbol, strategyId, why, by })
  const beyondLimit = describeBeyondLimit(core, command)
  assignHolding(
    core,
    { symbol, strategyId, holding: unclaimedHolding(core.book, symbol), reason, by },
    beyondLimit,
  )
  // Wishes were decided while the strategy did not hold this.
  holdAllWishes(core)
}

/**
 * A flatten of account or instrument also closes what no strategy holds. Strategies on the other
 * side take it over first, which closes both without an order; the first that trades the instrument
 * takes the rest. This comes before planning.
 */
export function adoptForFlatten(core: Core): void {
  const { book, run, instruments, reductions } = core
  if (run.phase !== 'running' || killOf(book) !== undefined) return
  for (const { symbol, phase, position } of instruments.values()) {
    const order = flattenOf(core, symbol)
    if (order === undefined || phase !== 'idle' || !position.isConfirmed) continue
    if (!hasClosableRest(core, symbol) || hasUnownedFills(book, symbol)) continue
    for (const [strategyId, holding] of shareOut(core, symbol)) {
      assignHolding(core, { symbol, strategyId, holding, reason: order.reason, by: order.by })
    }
    if (reductions.get(symbol)?.adopts !== true) continue
    // Strategies decided while they did not hold this, and only a part of it is to be closed.
    forgetReduction(core, symbol)
    holdAllWishes(core)
  }
}

function flattenOf(
  { book, run, reductions }: Core,
  symbol: string,
): Pick<AssignedRecord, 'reason' | 'by'> | undefined {
  if (run.flatBeforeStop !== undefined) return { reason: 'a stop closes everything', by: 'intentd' }
  const flatten = restrictionOf(book, ACCOUNT, 'flatten') ?? restrictionOf(book, symbol, 'flatten')
  const reduction = reductions.get(symbol)
  return (
    flatten ??
    (reduction?.adopts === true ? { reason: reduction.reason, by: 'intentd' } : undefined)
  )
}

/** There is enough for an order, or something to close against strategies. */
export function hasClosableUnclaimed(core: Pick<Core, 'book' | 'settings'>, scope: Scope): boolean {
  if (scope !== ACCOUNT) return core.settings.instruments.has(scope) && hasClosableRest(core, scope)
  return [...core.settings.instruments.keys()].some((symbol) => hasClosableRest(core, symbol))
}

function hasClosableRest(
  { book, settings }: Pick<Core, 'book' | 'settings'>,
  symbol: string,
): boolean {
  // Most instruments hold nothing more.
  const { longLots, shortLots } = unclaimedHolding(book, symbol)
  if (longLots === 0 && shortLots === 0) return false
  const traders = tradersOf(settings, symbol)
  if (traders.length === 0) return false
  const lots = Math.max(longLots, shortLots)
  return (
    lots >= (settings.instruments.get(symbol)?.lotsMin ?? 1) ||
    opposing(book, traders, symbol) !== undefined
  )
}

/** Only in one-way mode can the two close each other. */
function opposing(
  book: Book,
  traders: readonly StrategyId[],
  symbol: string,
): StrategyId | undefined {
  if (book.positionMode !== 'one_way_mode') return undefined
  const { longLots, shortLots } = unclaimedHolding(book, symbol)
  return traders.find((id) => {
    const held = holdingOf(book, id, symbol)
    return Math.min(longLots, held.shortLots) > 0 || Math.min(shortLots, held.longLots) > 0
  })
}

function shareOut(
  { book, settings }: Core,
  symbol: string,
): readonly (readonly [StrategyId, Holding])[] {
  const traders = tradersOf(settings, symbol)
  let { longLots, shortLots } = unclaimedHolding(book, symbol)
  const shares: (readonly [StrategyId, Holding])[] = []
  if (book.positionMode === 'one_way_mode') {
    for (const id of traders) {
      const held = holdingOf(book, id, symbol)
      const share = {
        longLots: Math.min(longLots, held.shortLots),
        shortLots: Math.min(shortLots, held.longLots),
      }
      longLots -= share.longLots
      shortLots -= share.shortLots
      if (!isFlat(share)) shares.push([id, share])
    }
  }
  const [first] = traders
  const rest = { longLots, shortLots }
  if (first === undefined || isFlat(rest)) return shares
  const known = shares.find(([id]) => id === first)?.[1] ?? FLAT
  const all = { longLots: known.longLots + longLots, shortLots: known.shortLots + shortLots }
  return [...shares.filter(([id]) => id !== first), [first, all]]
}
