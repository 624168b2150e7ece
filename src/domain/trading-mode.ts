import { unreachable } from '../lib/unreachable.ts'
import { MANUAL } from './hand-order.ts'
import type { StrategyId } from './ids.ts'

/**
 * From the laxest to the strictest; docs/trading-modes.md says what may leave in each. Account,
 * strategy and instrument have one each, and the strictest counts.
 */
export const TRADING_MODES = ['active', 'reducing', 'halted', 'killed'] as const

export type TradingMode = (typeof TRADING_MODES)[number]

export type RestrictedMode = Exclude<TradingMode, 'active'>

/**
 * The last five are volatile: they follow a measurement. Others last until a release, except the
 * flatten of a stop, `unreadable` until it has lasted, and `olderState` until it is proved.
 */
export const MODE_REASONS = {
  operator: { mode: 'halted', ends: 'an operator releases it' },
  flatten: { mode: 'halted', ends: 'an operator releases it, once everything is closed' },
  close: {
    mode: 'reducing',
    ends: 'an operator releases it',
  },
  kill: {
    mode: 'killed',
    ends: 'an operator releases the kill switch, once it is proved that nothing rests',
  },
  contradiction: {
    mode: 'halted',
    ends: 'an operator has compared orders and position, and releases it',
  },
  unreadable: {
    mode: 'halted',
    ends: 'two readings in a row are whole; after a quarter of an hour it is recorded, and an operator has compared orders and position, and releases it',
  },
  foreignFills: {
    mode: 'halted',
    ends: 'an operator has looked what was filled, an exit that the exchange keeps or a trade of somebody else, and releases it',
  },
  positionMode: {
    mode: 'halted',
    ends: 'two readings of the position say the position mode of the configuration, or an operator has set it at the exchange and releases it',
  },
  marginMode: {
    mode: 'reducing',
    ends: 'two readings of the position say the margin mode of the configuration or show that nothing is held, or an operator releases it',
  },
  leverage: {
    mode: 'reducing',
    ends: 'two readings of the position say the leverage of the configuration, or an operator has set it at the exchange and releases it',
  },
  maintenance: {
    mode: 'reducing',
    ends: 'two readings of the position say no higher maintenance rate than the configured tiers, or an operator has corrected them and releases it',
  },
  refused: { mode: 'halted', ends: 'an operator has mended keys or account, and releases it' },
  strategyFailed: {
    mode: 'halted',
    ends: 'an operator has looked at the strategy, and releases it',
  },
  repaired: {
    mode: 'halted',
    ends: 'an operator has compared the account with the journal, and releases it',
  },
  olderState: {
    mode: 'halted',
    ends: '`intentd repair --from-exchange` takes over the positions of the exchange',
  },
  dailyLoss: { mode: 'reducing', ends: 'an operator releases it; losses count from then on' },
  drawdown: {
    mode: 'reducing',
    ends: 'an operator releases it, risk.losses.coolDownMs after it at the earliest; the peak is taken anew, but for the last step',
  },
  drawdownFlatten: {
    mode: 'halted',
    ends: 'an operator releases it, risk.losses.coolDownMs after it at the earliest, above its level or with a new peak',
  },
  liquidationNear: {
    mode: 'reducing',
    ends: 'an operator releases it, once its position is smaller or there is more margin behind it',
  },
  liquidationFlatten: {
    mode: 'halted',
    ends: 'an operator has looked at the margin, and releases it',
  },
  worstCase: {
    mode: 'reducing',
    ends: 'a worst case of risk.survives takes 80 % of the equity or less again, or an operator releases it',
  },
  losingStreak: { mode: 'halted', ends: 'an operator has looked at the strategy, and releases it' },
  rejections: {
    mode: 'halted',
    ends: 'an operator has looked why orders are rejected, and releases it',
  },
  recount: {
    mode: 'reducing',
    ends: 'an operator has compared the account with the journal, and releases it; it is counted anew from then on',
  },
  equityDisputed: { mode: 'reducing', ends: 'our own figure and that of the exchange agree again' },
  rateLimited: { mode: 'reducing', ends: 'fewer answers 429 come within a minute' },
  unknownOrders: { mode: 'reducing', ends: 'it is known what became of the orders' },
  diskLow: { mode: 'reducing', ends: 'the disk of the journal has room again' },
  clockUnsynchronised: {
    mode: 'halted',
    ends: "the exchange's clock is measured again; not even closes leave before",
  },
} as const satisfies Record<string, { readonly mode: RestrictedMode; readonly ends: string }>

export type ModeReason = keyof typeof MODE_REASONS

/** A close of trades by hand ends by itself, because no strategy would open them again. */
export function endsOf({ code, scope }: Pick<Restriction, 'code' | 'scope'>): string {
  if (code === 'close' && scope === strategyScope(MANUAL))
    return 'everything that was to be closed is closed, or an operator releases it'
  return MODE_REASONS[code].ends
}

/** `*` is the account, a symbol its instrument, `strategy:ID` a strategy. */
export type Scope = string

export const ACCOUNT: Scope = '*'

export function strategyScope(strategyId: StrategyId | string): Scope {
  return `strategy:${strategyId}`
}

export function listScopes(
  symbols: Iterable<string>,
  strategyIds: Iterable<string>,
): readonly Scope[] {
  return [ACCOUNT, ...symbols, ...[...strategyIds].map(strategyScope)]
}

export interface Restriction {
  readonly scope: Scope
  readonly mode: RestrictedMode
  readonly code: ModeReason
  readonly reason: string
  readonly by: string
  readonly at: number
  /** The restriction ends with its cause, although others with this code are recorded. */
  readonly isVolatile?: true
  /** Lots that a partial close leaves. */
  readonly keeps?: readonly KeptLots[]
  /** Names a close, so that it is not carried out twice. */
  readonly key?: string
}

export interface KeptLots {
  readonly strategyId: string
  readonly symbol: string
  readonly longLots: number
  readonly shortLots: number
}

export interface TradingState {
  readonly mode: TradingMode
  readonly restrictions: readonly Restriction[]
}

export function toTradingState(restrictions: readonly Restriction[]): TradingState {
  const sorted = restrictions.toSorted((left, right) => strictnessOf(right) - strictnessOf(left))
  return { mode: sorted[0]?.mode ?? 'active', restrictions: sorted }
}

/** An unsynchronised clock is the strictest halt, because it holds closing orders back, too. */
function strictnessOf({ mode, code }: Restriction): number {
  return TRADING_MODES.indexOf(mode) + (code === 'clockUnsynchronised' ? 0.5 : 0)
}

export interface LeavingOrder {
  readonly isFlatten: boolean
  readonly reduces: () => boolean
}

/**
 * Returns the restriction that holds the order back (RSK2). Only this function knows what the modes
 * allow.
 */
export function heldBackBy(
  { restrictions }: TradingState,
  { isFlatten, reduces }: LeavingOrder,
): Restriction | undefined {
  return restrictions.find(({ mode, code }) => {
    switch (mode) {
      case 'reducing':
        return !reduces()
      case 'halted':
        return code === 'clockUnsynchronised' || !isFlatten || !reduces()
      case 'killed':
        return true
      default:
        return unreachable(mode)
    }
  })
}
