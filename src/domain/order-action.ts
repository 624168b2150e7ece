import type { PositionMode } from './instrument.ts'

export type OrderAction = 'openLong' | 'closeLong' | 'openShort' | 'closeShort'

export interface WireDirection {
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close' | undefined
  readonly reduceOnly: 'YES' | undefined
}

/**
 * In hedge mode `side` is that of the position, not of the trade: `buy` and `close` close a long.
 * Document: Direction rules in hedge mode.
 */
export const WIRE_DIRECTIONS: Readonly<
  Record<PositionMode, Readonly<Record<OrderAction, WireDirection>>>
> = {
  one_way_mode: {
    openLong: { side: 'buy', tradeSide: undefined, reduceOnly: undefined },
    closeLong: { side: 'sell', tradeSide: undefined, reduceOnly: 'YES' },
    openShort: { side: 'sell', tradeSide: undefined, reduceOnly: undefined },
    closeShort: { side: 'buy', tradeSide: undefined, reduceOnly: 'YES' },
  },
  hedge_mode: {
    openLong: { side: 'buy', tradeSide: 'open', reduceOnly: undefined },
    closeLong: { side: 'buy', tradeSide: 'close', reduceOnly: undefined },
    openShort: { side: 'sell', tradeSide: 'open', reduceOnly: undefined },
    closeShort: { side: 'sell', tradeSide: 'close', reduceOnly: undefined },
  },
}

export function tradesAs(action: OrderAction): 'buy' | 'sell' {
  return action === 'openLong' || action === 'closeShort' ? 'buy' : 'sell'
}

export function isClosing(action: OrderAction): boolean {
  return action === 'closeLong' || action === 'closeShort'
}
