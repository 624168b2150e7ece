import type { DaemonConfig } from '../../config/load-config.ts'
import { COOL_DOWN_MS } from '../../config/schema/risk-schema.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { DRAWDOWN_STEPS, type LossLimits } from '../../domain/loss-limits.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import type { LossSettings } from '../../engine/settings.ts'

type Amounts = { readonly [name in string]?: string | number | undefined }

interface ConfiguredLosses {
  readonly daily?: string | undefined
  readonly drawdown?: Amounts | undefined
  readonly streak?: number | undefined
}

export function toLossSettings(config: DaemonConfig): LossSettings | undefined {
  const scopes = listScopes(config).map(([scope, losses]) => [scope, toLimits(losses)] as const)
  const limits = new Map(scopes.filter(([, limit]) => Object.keys(limit).length > 0))
  if (limits.size === 0 && config.risk.leverageMax === undefined) return undefined
  const { losses } = config.risk
  const coolDownMs = losses === 'none' ? COOL_DOWN_MS : losses.coolDownMs
  return { timeZone: config.calendar.timezone, coolDownMs, limits }
}

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

function findUnlimited(config: DaemonConfig): Readonly<Record<string, readonly ScopeKind[]>> {
  const { leverageMax, selfTrade, unknownOrdersMax, pace, survives } = config.risk
  const paces = config.strategies.filter(({ enabled }) => enabled).map(({ risk }) => risk.pace)
  const losses = listScopes(config).map(
    ([scope, limits]) => [kindOf(scope), toLimits(limits)] as const,
  )
  const lacking = (name: keyof LossLimits): readonly ScopeKind[] =>
    losses.filter(([, limits]) => !(name in limits)).map(([kind]) => kind)
  const lackingPace = (name: keyof (typeof paces)[number]): readonly ScopeKind[] =>
    paces.filter((limits) => limits[name] === undefined).map(() => 'strategy')
  const account = (isOff: boolean): readonly ScopeKind[] => (isOff ? ['account'] : [])
  return {
    leverageMax: account(leverageMax === undefined),
    survives: account(survives === undefined),
    selfTrade: account(selfTrade === 'allow'),
    unknownOrdersMax: account(unknownOrdersMax === undefined),
    positionNotionalMax: config.strategies
      .filter(({ enabled, risk }) => enabled && risk.positionNotionalMax === undefined)
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
    'losses.streak': lacking('streak').filter((kind) => kind === 'strategy'),
  }
}

type ScopeKind = 'account' | 'instrument' | 'strategy'

function kindOf(scope: Scope): ScopeKind {
  if (scope === ACCOUNT) return 'account'
  return scope.startsWith(strategyScope('')) ? 'strategy' : 'instrument'
}

const PLURALS = { instrument: 'instruments', strategy: 'strategies' } as const

function nameOff(name: string, scopes: readonly ScopeKind[]): string {
  const others = (['instrument', 'strategy'] as const).flatMap((kind) => {
    const count = scopes.filter((scope) => scope === kind).length
    return count === 0 ? [] : [`${count} ${count === 1 ? kind : PLURALS[kind]}`]
  })
  if (others.length === 0) return name
  return `${name} (${[...(scopes.includes('account') ? ['account'] : []), ...others].join(', ')})`
}

function listScopes({
  risk,
  instruments,
  strategies,
  manual,
}: DaemonConfig): readonly [Scope, ConfiguredLosses][] {
  return [
    [ACCOUNT, risk.losses === 'none' ? {} : risk.losses],
    ...Object.keys(instruments).map((symbol): [Scope, ConfiguredLosses] => [
      symbol,
      risk.instruments[symbol]?.losses ?? {},
    ]),
    ...strategies
      .filter(({ enabled }) => enabled)
      .map((strategy): [Scope, ConfiguredLosses] => [
        strategyScope(strategy.id),
        strategy.risk.losses,
      ]),
    ...(manual ? [[strategyScope(MANUAL), manual.losses] as [Scope, ConfiguredLosses]] : []),
  ]
}

function toLimits({ daily, drawdown, streak }: ConfiguredLosses): LossLimits {
  const steps = DRAWDOWN_STEPS.flatMap((step) => {
    const limit = drawdown?.[step]
    return limit === undefined ? [] : [[step, Number(limit)] as const]
  })
  return {
    ...(daily !== undefined && { daily: Number(daily) }),
    ...(steps.length > 0 && { drawdown: Object.fromEntries(steps) }),
    ...(streak !== undefined && { streak }),
  }
}
