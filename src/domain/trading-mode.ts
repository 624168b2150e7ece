import { type StrategyId } from './ids.ts'

/**
 * What may leave, from the laxest to the strictest.
 *
 * | mode       | what may leave                                                |
 * |------------|---------------------------------------------------------------|
 * | `active`   | everything that risk approves                                 |
 * | `reducing` | orders that only reduce, cancel-alls                          |
 * | `halted`   | cancel-alls, and the closing orders of an explicit flatten    |
 * | `killed`   | cancel-alls                                                   |
 *
 * The account, each strategy and each instrument has one; the strictest of the three counts for an order.
 */
export const TRADING_MODES = ['active', 'reducing', 'halted', 'killed'] as const

export type TradingMode = (typeof TRADING_MODES)[number]

/**
 * Why a mode is held, and how that ends. All but the last three are recorded, and hold over restarts until an
 * operator releases them; those three follow what they are measured by.
 */
export const MODE_REASONS = {
  operator: { mode: 'halted', ends: 'an operator releases it' },
  flatten: { mode: 'halted', ends: 'an operator releases it, once everything is closed' },
  kill: {
    mode: 'killed',
    ends: 'an operator releases the kill switch, once it is proved that nothing rests',
  },
  contradiction: { mode: 'halted', ends: 'an operator has compared orders and position, and releases it' },
  foreignFills: { mode: 'halted', ends: 'an operator has looked who traded, and releases it' },
  refused: { mode: 'halted', ends: 'an operator has mended keys or account, and releases it' },
  strategyFailed: { mode: 'halted', ends: 'an operator has looked at the strategy, and releases it' },
  repaired: {
    mode: 'halted',
    ends: 'an operator has compared the account with the journal, and releases it',
  },
  diskLow: { mode: 'reducing', ends: 'the disk of the journal has room again' },
  clockUnsynchronised: {
    mode: 'halted',
    ends: "the exchange's clock is measured again; not even closes leave before",
  },
  notRunning: { mode: 'halted', ends: 'the daemon has started' },
} as const satisfies Record<string, { readonly mode: TradingMode; readonly ends: string }>

export type ModeReason = keyof typeof MODE_REASONS

/** What a mode is held for: `*` is the account, a symbol its instrument, `strategy:ID` a strategy. */
export type Scope = string

export const ACCOUNT: Scope = '*'

export function strategyScope(strategyId: StrategyId | string): Scope {
  return `strategy:${strategyId}`
}

/** Every scope that a configuration has. */
export function listScopes(symbols: Iterable<string>, strategyIds: Iterable<string>): readonly Scope[] {
  return [ACCOUNT, ...symbols, ...[...strategyIds].map(strategyScope)]
}

/** A mode that is held until somebody releases it. An operator's may be `reducing` or `halted`. */
export interface Restriction {
  readonly scope: Scope
  readonly mode: TradingMode
  readonly code: ModeReason
  /** In words, for whoever looks. */
  readonly reason: string
  /** Who: a person at a machine, or a part of the daemon. */
  readonly by: string
  /** Unix ms, our clock. */
  readonly at: number
}
