import { type DaemonConfig } from '../../config/load-config.ts'
import { DRAWDOWN_STEPS, type LossLimits } from '../../domain/loss-limits.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { type LossSettings } from '../../engine/settings.ts'

type Amounts = { readonly [name in string]?: string | number | undefined }

interface ConfiguredLosses {
  readonly daily?: string | undefined
  readonly drawdown?: Amounts | undefined
  readonly streak?: number | undefined
}

/** The limits on losses, of the scopes that have one; undefined where none has. */
export function toLossSettings(config: DaemonConfig): LossSettings | undefined {
  const scopes = listScopes(config).map(([scope, losses]) => [scope, toLimits(losses)] as const)
  const limits = new Map(scopes.filter(([, limit]) => Object.keys(limit).length > 0))
  if (limits.size === 0 && config.risk.leverageMax === undefined) return undefined
  return { timeZone: config.calendar.timezone, coolDownMs: config.risk.losses.coolDownMs, limits }
}

/** The limits that are not set, each as its setting: `risk.losses.daily`. */
export function listUnlimited(config: DaemonConfig): readonly string[] {
  const { leverageMax, selfTrade, pace } = config.risk
  const others = [
    ...(leverageMax === undefined ? ['risk.leverageMax'] : []),
    ...(selfTrade === 'allow' ? ['risk.selfTrade'] : []),
    ...(pace.ordersPerMinute === undefined ? ['risk.pace.ordersPerMinute'] : []),
  ]
  const ofScopes = listScopes(config).flatMap(([scope, losses]) => {
    const path = scope === ACCOUNT ? 'risk.losses' : `${scope} risk.losses`
    const names = scope.startsWith(strategyScope(''))
      ? ['daily', 'drawdown', 'streak']
      : ['daily', 'drawdown']
    const limits: LossLimits = toLimits(losses)
    return names.filter((name) => !(name in limits)).map((name) => `${path}.${name}`)
  })
  return [...others, ...ofScopes]
}

function listScopes({ risk, instruments, strategies }: DaemonConfig): readonly [Scope, ConfiguredLosses][] {
  return [
    [ACCOUNT, risk.losses],
    ...Object.keys(instruments).map((symbol): [Scope, ConfiguredLosses] => [
      symbol,
      risk.instruments[symbol]?.losses ?? {},
    ]),
    ...strategies
      .filter(({ enabled }) => enabled)
      .map((strategy): [Scope, ConfiguredLosses] => [strategyScope(strategy.id), strategy.risk.losses]),
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
