// A new limit has one line in these tables; a test names only those that it is about.

import type { z } from 'zod'
import type { daemonFileSchema } from '../../src/config/schema/daemon-schema.ts'
import type { strategyFileSchema } from '../../src/config/schema/strategy-schema.ts'
import type { AccountLimits, StrategyLimits } from '../../src/risk/risk-context.ts'

/** They restrict no test unintentionally. */
const WIDE_LIMITS: AccountLimits = {
  dataAgeMaxMs: 2000,
  accountAgeMaxMs: 60_000,
  priceCollarRatio: 0.05,
  openOrdersMax: 1000,
  orderNotionalMax: 1e9,
  grossNotionalMax: 1e12,
}

const WIDE_OWN_LIMITS: StrategyLimits = {
  positionMax: 100_000,
  orderSizeMax: 1000,
  openOrdersMax: 400,
}

type RiskSection = Partial<z.input<typeof daemonFileSchema>['risk']>
type OwnRiskSection = Partial<z.input<typeof strategyFileSchema>['risk']>

/** Required keys of an account's section `risk`. */
const WIDE_RISK: RiskSection = {
  dataAgeMaxMs: 2000,
  priceCollarRatio: 0.05,
  openOrdersMax: 1000,
  orderNotionalMax: '1000000',
  grossNotionalMax: '100000000',
}

/** Required keys of a strategy's section `risk`. */
const WIDE_OWN_RISK: OwnRiskSection = {
  positionMax: '1',
  orderSizeMax: '1',
  openOrdersMax: 4,
}

export function makeLimits(changes: Partial<AccountLimits> = {}): AccountLimits {
  return { ...WIDE_LIMITS, ...changes }
}

export function makeOwnLimits(changes: Partial<StrategyLimits> = {}): StrategyLimits {
  return { ...WIDE_OWN_LIMITS, ...changes }
}

export function makeRisk(changes: RiskSection = {}): RiskSection {
  return { ...WIDE_RISK, ...changes }
}

export function makeOwnRisk(changes: OwnRiskSection = {}): OwnRiskSection {
  return { ...WIDE_OWN_RISK, ...changes }
}

export function writeRisk(changes: RiskSection = {}): string {
  const lines = Object.entries(makeRisk(changes)).map(
    ([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`,
  )
  return `risk:\n${lines.join('')}`
}

interface StrategySettings {
  readonly id: string
  readonly module: string
  readonly instruments: readonly string[]
  readonly risk?: OwnRiskSection
  readonly [section: string]: unknown
}

export function writeStrategy({ risk, ...settings }: StrategySettings): string {
  return Object.entries({ ...settings, risk: makeOwnRisk(risk) })
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')
}
