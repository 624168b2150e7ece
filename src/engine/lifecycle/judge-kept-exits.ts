import { type ExitLevels, type HoldSide, netLots } from '../../domain/position.ts'
import { formatOnGrid, showOnGrid } from '../../lib/grid.ts'
import { accountHoldingOf, type Book, hasUnownedFills, pairKey, splitPair } from '../book/book.ts'
import { listUnkeptExits, type UnkeptExits } from '../book/ordered-exits.ts'
import type { EngineSettings } from '../settings.ts'
import { announce, type Core } from '../state/core.ts'
import { exitRulesOf } from '../state/exits.ts'
import { forgetUnkeptExits, noteUnkeptExits } from '../state/kept-exits.ts'

interface Known {
  readonly settings: EngineSettings
  readonly book: Book
}

/**
 * A person, or a strategy, counts on the levels that its order asked for. The API document has no
 * call that sets one later, and to close could enlarge what the account holds, so a person decides.
 */
export function judgeKeptExits(core: Core): void {
  const unkept = new Map(findUnkeptExits(core).map((exits) => [keyOf(exits), exits]))
  for (const key of core.unkeptExits) {
    const { strategyId: strategy, symbol, side } = partsOf(key)
    if (unkept.has(key) || hasUnownedFills(core.book, symbol)) continue
    forgetUnkeptExits(core, key)
    const stands = core.book.orderedExits.get(pairKey(strategy, symbol))?.[side] !== undefined
    announce(core, 'info', 'exit.notKeptEnded', { symbol, strategy, side, stands })
  }
  for (const [key, exits] of unkept) {
    const { symbol, strategyId: strategy, side, clientOid } = exits
    if (core.unkeptExits.has(key) || hasUnownedFills(core.book, symbol)) continue
    noteUnkeptExits(core, key)
    const { stopLoss, takeProfit } = showLevels(core, symbol, exits)
    const reason = describeWhy(core, exits)
    const facts = { symbol, strategy, side, stopLoss, takeProfit, reason, clientOid }
    announce(core, 'error', 'exit.notKept', facts)
  }
}

/** Exits of its own move a strategy's stop and act below it, so any stop at the exchange is one. */
export function findUnkeptExits({ settings, book }: Known): readonly UnkeptExits[] {
  if (book.orderedExits.size === 0) return []
  return listUnkeptExits(book).filter(
    ({ strategyId, symbol, kept }) =>
      settings.instruments.has(symbol) &&
      (kept?.stopLossTicks === undefined || exitRulesOf({ settings }, strategyId) === undefined),
  )
}

/** `the stop-loss 9800 of manual (long) does not stand at the exchange: …` */
export function describeUnkept(known: Known, exits: UnkeptExits): string {
  const { symbol, strategyId, side } = exits
  return `${symbol}: ${nameLevels(known, symbol, exits)} of ${strategyId}, which is ${side}, is not what the exchange keeps: ${describeWhy(known, exits)}`
}

function describeWhy({ settings, book }: Known, { symbol, side, kept }: UnkeptExits): string {
  const holding = accountHoldingOf(book, symbol)
  if (holding[`${side}Lots`] === 0) {
    const net = netLots(holding)
    const lot = settings.instruments.get(symbol)?.lot
    const held =
      net === 0 || !lot ? 'flat' : `${net > 0 ? 'long' : 'short'} ${showOnGrid(lot, Math.abs(net))}`
    return `the account is ${held}, since others hold the opposite, and the exchange keeps exits of the account's position alone`
  }
  if (kept === undefined) return 'no order that opened what the account holds has set one'
  return `an order of ${kept.strategyId} has set ${nameLevels({ settings, book }, symbol, kept)} since`
}

function showLevels(
  { settings }: Pick<Known, 'settings'>,
  symbol: string,
  { stopLossTicks, takeProfitTicks }: ExitLevels,
): { readonly stopLoss?: string; readonly takeProfit?: string } {
  const tick = settings.instruments.get(symbol)?.tick
  if (tick === undefined) return {}
  return {
    ...(stopLossTicks !== undefined && { stopLoss: formatOnGrid(tick, stopLossTicks) }),
    ...(takeProfitTicks !== undefined && { takeProfit: formatOnGrid(tick, takeProfitTicks) }),
  }
}

function nameLevels(known: Known, symbol: string, levels: ExitLevels): string {
  const { stopLoss, takeProfit } = showLevels(known, symbol, levels)
  return [
    ...(stopLoss === undefined ? [] : [`the stop-loss ${stopLoss}`]),
    ...(takeProfit === undefined ? [] : [`the take-profit ${takeProfit}`]),
  ].join(' and ')
}

function keyOf({ strategyId, symbol, side }: UnkeptExits): string {
  return pairKey(strategyId, pairKey(symbol, side))
}

function partsOf(key: string): {
  readonly strategyId: string
  readonly symbol: string
  readonly side: HoldSide
} {
  const [strategyId, rest] = splitPair(key)
  const [symbol, side] = splitPair(rest)
  return { strategyId, symbol, side: side === 'long' ? 'long' : 'short' }
}
