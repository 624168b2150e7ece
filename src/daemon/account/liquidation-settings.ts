import type { DaemonConfig } from '../../config/load-config.ts'
import type { MaintenanceRules, MaintenanceTier } from '../../domain/liquidation.ts'
import type { LiquidationSettings } from '../../engine/settings.ts'
import { contractsOf, listInstruments } from '../embedded/listed-instruments.ts'

/** What the operator says of liquidations; the contracts of the simulator are known without a word. */
export function toLiquidationSettings(config: DaemonConfig): LiquidationSettings {
  const { liquidation } = config.risk
  const rules = new Map([...simulatedRules(config), ...configuredRules(config)])
  if (liquidation === 'none') return { rules }
  const { warn, reduce, flatten } = liquidation
  return { steps: { warn, reduce, flatten }, rules }
}

function configuredRules(config: DaemonConfig): readonly (readonly [string, MaintenanceRules])[] {
  const takerFeeRate = takerFeeRateOf(config)
  return Object.entries(config.instruments).flatMap(([symbol, { maintenance }]) => {
    if (maintenance === undefined) return []
    const tiers = maintenance.map(({ upTo, rate }): MaintenanceTier => ({
      notionalMax: Number(upTo ?? Number.POSITIVE_INFINITY),
      rate,
    }))
    return [[symbol, { tiers, takerFeeRate }] as const]
  })
}

/** Tiers do not change with time, so any instant does. */
function simulatedRules(config: DaemonConfig): readonly (readonly [string, MaintenanceRules])[] {
  if (config.simulator === undefined) return []
  const takerFeeRate = takerFeeRateOf(config)
  return listInstruments(contractsOf(config), 0)
    .filter(({ symbol }) => config.instruments[symbol] !== undefined)
    .map(({ symbol, maintenanceTiers }) => {
      const tiers = maintenanceTiers.map(({ notionalMax, rateFloat }) => ({ notionalMax, rate: rateFloat }))
      return [symbol, { tiers, takerFeeRate }] as const
    })
}

function takerFeeRateOf({ simulator, risk: { liquidation } }: DaemonConfig): number {
  if (simulator !== undefined) return Number(simulator.takerFeeRate)
  return liquidation === 'none' ? 0 : Number(liquidation.takerFeeRate)
}
