import type { Fill } from '../../domain/fill.ts'
import type { ClientOid, StrategyId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { Holding, HoldSide } from '../../domain/position.ts'
import { pairKey, type Book, type WritableBook } from './book.ts'

/** An exit that the exchange kept for us, as a fill of the system shows it. */
export interface FilledExit {
  readonly kind: 'takeProfit' | 'stopLoss'
  readonly ticks: number
  readonly clientOid: ClientOid
  readonly strategyId: StrategyId
}

/** Fills may be a little short of the price that fired an exit. */
const EXIT_TOLERANCE = 0.01

/**
 * Keeps what an order's fill has set. A position that begins has no exit but those of the fill that opens it. Each of
 * the two stays until another order sets it anew.
 */
export function keepExits(
  book: WritableBook,
  fill: Fill,
  {
    order,
    was,
    is,
  }: { readonly order: Order | undefined; readonly was: Holding; readonly is: Holding },
): void {
  for (const side of ['long', 'short'] as const) {
    const [before, after] = [was[`${side}Lots`], is[`${side}Lots`]]
    if (after <= before) continue
    const key = pairKey(fill.symbol, side)
    if (before === 0) book.exits.delete(key)
    const { takeProfitTicks, stopLossTicks, clientOid, strategyId } = order?.terms ?? {}
    if (clientOid === undefined || strategyId === undefined) continue
    if (takeProfitTicks === undefined && stopLossTicks === undefined) continue
    const { takeProfitTicks: profitBefore, stopLossTicks: lossBefore } = book.exits.get(key) ?? {}
    const [profit, loss] = [takeProfitTicks ?? profitBefore, stopLossTicks ?? lossBefore]
    book.exits.set(key, {
      clientOid,
      strategyId,
      ...(profit !== undefined && { takeProfitTicks: profit }),
      ...(loss !== undefined && { stopLossTicks: loss }),
    })
  }
}

/**
 * The exit of ours that an ordinary close by the system was: by what we set, and by the price. Undefined where none was
 * set, or its price was not reached.
 */
export function findFilledExit(book: Book, fill: Fill): FilledExit | undefined {
  const { source, symbol, ticks, fillKind = 'trade' } = fill
  if (source !== 'SYS' || fillKind !== 'trade') return undefined
  const side = sideClosedBy(book, fill)
  const exits = side && book.exits.get(pairKey(symbol, side))
  if (!exits) return undefined
  const { clientOid, strategyId, takeProfitTicks, stopLossTicks } = exits
  const sign = side === 'long' ? 1 : -1
  const isReached = (level: number, direction: number): boolean =>
    (ticks - level) * sign * direction >= -level * EXIT_TOLERANCE
  const found = [
    ...(takeProfitTicks !== undefined && isReached(takeProfitTicks, 1)
      ? [{ kind: 'takeProfit' as const, ticks: takeProfitTicks }]
      : []),
    ...(stopLossTicks !== undefined && isReached(stopLossTicks, -1)
      ? [{ kind: 'stopLoss' as const, ticks: stopLossTicks }]
      : []),
  ].sort((one, other) => Math.abs(one.ticks - ticks) - Math.abs(other.ticks - ticks))
  const [nearest] = found
  return nearest && { ...nearest, clientOid, strategyId }
}

function sideClosedBy(
  { positionMode }: Book,
  { side, tradeSide }: Pick<Fill, 'side' | 'tradeSide'>,
): HoldSide | undefined {
  if (positionMode === 'one_way_mode') return side === 'sell' ? 'long' : 'short'
  if (tradeSide === 'open') return undefined
  return side === 'buy' ? 'long' : 'short'
}
