import type { DaemonConfig } from '../../config/load-config.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import type { LossLimits } from '../../domain/loss-limits.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import type { OptionalLimit } from '../../risk/risk-context.ts'
import { listScopes, toLimits } from './engine-settings.ts'

export function countUnlimited(config: DaemonConfig): {
  account: readonly string[]
  others: number
} {
  const kinds = Object.entries(findUnlimited(config))
  return {
    account: kinds.flatMap(([name, scopes]) => (scopes.includes('account') ? [name] : [])),
    others: kinds.flatMap(([, scopes]) => scopes.filter((scope) => scope !== 'account')).length,
  }
}

/** `losses.daily (2 instruments, 4 strategies)`. */
export function listUnlimited(config: DaemonConfig): readonly string[] {
  return Object.entries(findUnlimited(config)).flatMap(([name, scopes]) =>
    scopes.length === 0 ? [] : [nameOff(name, scopes)],
  )
}

/** Does not compile if a limit that may be off is missing. */
type Unlimited = Readonly<Record<string, readonly ScopeKind[]>> &
  Readonly<Record<OptionalLimit, readonly ScopeKind[]>>

function findUnlimited(config: DaemonConfig): Unlimited {
  const { risk } = config
  const { pace } = risk
  const paces = config.strategies.filter(({ enabled }) => enabled).map((one) => one.risk.pace)
  const losses = listScopes(config).map(
    ([scope, limits]) => [kindOf(scope), toLimits(limits)] as const,
  )
  const lacking = (name: keyof LossLimits): readonly ScopeKind[] =>
    losses.filter(([, limits]) => !(name in limits)).map(([kind]) => kind)
  const lackingPace = (name: keyof (typeof paces)[number]): readonly ScopeKind[] =>
    paces.filter((limits) => limits[name] === undefined).map(() => 'strategy')
  const account = (isOff: boolean): readonly ScopeKind[] => (isOff ? ['account'] : [])
  return {
    leverageMax: account(risk.leverageMax === undefined),
    survives: account(risk.survives === undefined),
    ...nameBlindSteps(config),
    selfTrade: account(risk.selfTrade === 'allow'),
    unknownOrdersMax: account(risk.unknownOrdersMax === undefined),
    positionNotionalMax: config.strategies
      .filter((one) => one.enabled && one.risk.positionNotionalMax === undefined)
      .map(() => 'strategy'),
    'pace.ordersPerMinute': [
      ...account(pace.ordersPerMinute === undefined),
      ...lackingPace('ordersPerMinute'),
    ],
    'pace.identicalPerMinute': [
      ...account(pace.identicalPerMinute === undefined),
      ...lackingPace('identicalPerMinute'),
    ],
    'pace.rateLimitedPerMinute': account(pace.rateLimitedPerMinute === undefined),
    'pace.rejectionsPerMinute': lackingPace('rejectionsPerMinute'),
    'losses.daily': lacking('daily'),
    'losses.drawdown': lacking('drawdown'),
    'losses.streak': lacking('streak').filter((kind) => kind === 'strategy' || kind === MANUAL),
  }
}

/**
 * Names the steps before a liquidation that are off, or only warn because the daemon has no figure
 * of its own.
 */
function nameBlindSteps(config: DaemonConfig): Readonly<Record<string, readonly ScopeKind[]>> {
  const { risk, account, instruments, simulator } = config
  if (risk.liquidation === 'none') return { liquidation: ['account'] }
  // With the embedded simulator, balance and tiers are known.
  if (simulator !== undefined) return {}
  const withoutTiers = Object.entries(instruments).flatMap(([symbol, { maintenance }]) =>
    maintenance === undefined ? [symbol] : [],
  )
  const missing = [
    ...(account.capital === undefined ? ['account.capital'] : []),
    ...(withoutTiers.length > 0 ? [`maintenance of ${withoutTiers.join(', ')}`] : []),
  ]
  if (missing.length === 0) return {}
  return { [`liquidation (only warns without ${missing.join(' and ')})`]: ['account'] }
}

/** Trades by hand are limited as a strategy is, but count as a kind of their own. */
type ScopeKind = 'account' | 'instrument' | 'strategy' | typeof MANUAL

function kindOf(scope: Scope): ScopeKind {
  if (scope === ACCOUNT) return 'account'
  if (scope === strategyScope(MANUAL)) return MANUAL
  return scope.startsWith(strategyScope('')) ? 'strategy' : 'instrument'
}

const PLURALS = { instrument: 'instruments', strategy: 'strategies' } as const

function nameOff(name: string, scopes: readonly ScopeKind[]): string {
  const others = (['instrument', 'strategy'] as const).flatMap((kind) => {
    const count = scopes.filter((scope) => scope === kind).length
    return count === 0 ? [] : [`${count} ${count === 1 ? kind : PLURALS[kind]}`]
  })
  const named = (kind: ScopeKind): readonly string[] => (scopes.includes(kind) ? [kind] : [])
  const byHand = named(MANUAL)
  if (others.length + byHand.length === 0) return name
  return `${name} (${[...named('account'), ...others, ...byHand].join(', ')})`
}
