import type { DaemonConfig } from '../../config/load-config.ts'
import type { MaintenanceRules, MaintenanceTier } from '../../domain/liquidation.ts'
import type { SurvivalSettings } from '../../domain/worst-case.ts'
import type { LiquidationSettings } from '../../engine/settings.ts'
import { TAKER_FEE_RATE } from '../../config/schema/liquidation-schema.ts'
import { contractsOf, listInstruments } from '../instruments/listed-instruments.ts'

/** What the operator says of liquidations; the contracts of the simulator are known without a word. */
export function toLiquidationSettings(config: DaemonConfig): LiquidationSettings {
  const { liquidation } = config.risk
  const rules = new Map([...simulatedRules(config), ...configuredRules(config)])
  if (liquidation === 'none') return { rules }
  const { warn, reduce, flatten } = liquidation
  return { steps: { warn, reduce, flatten }, rules }
}

/** The moves that the account must survive; undefined where none is set. */
export function toSurvivalSettings({
  risk,
  instruments,
}: DaemonConfig): SurvivalSettings | undefined {
  if (risk.survives === undefined) return undefined
  const { move, joint, gap } = risk.survives
  const moves = new Map(
    Object.keys(instruments).map((symbol) => [
      symbol,
      typeof move === 'number' ? move : (move[symbol] ?? Number.NaN),
    ]),
  )
  const jointMoves =
    joint === undefined ? moves : new Map([...moves.keys()].map((symbol) => [symbol, joint]))
  return { moves, jointMoves, isGap: gap }
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
      const tiers = maintenanceTiers.map(({ notionalMax, rateFloat }) => ({
        notionalMax,
        rate: rateFloat,
      }))
      return [symbol, { tiers, takerFeeRate }] as const
    })
}

function takerFeeRateOf({ simulator, risk: { liquidation } }: DaemonConfig): number {
  if (simulator !== undefined) return Number(simulator.takerFeeRate)
  return Number(liquidation === 'none' ? TAKER_FEE_RATE : liquidation.takerFeeRate)
}
