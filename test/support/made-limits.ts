// Limits and configuration files for tests and benches. A new limit has one line in the tables here; a test names only
// those that it is about.

import type { z } from 'zod'
import type { daemonFileSchema } from '../../src/config/schema/daemon-schema.ts'
import type { strategyFileSchema } from '../../src/config/schema/strategy-schema.ts'
import type { AccountLimits, StrategyLimits } from '../../src/risk/risk-context.ts'

/** They stop nothing that a test does without meaning to. */
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

/** What the section `risk` of an account must name. */
const WIDE_RISK: RiskSection = {
  dataAgeMaxMs: 2000,
  priceCollarRatio: 0.05,
  openOrdersMax: 1000,
  orderNotionalMax: '1000000',
  grossNotionalMax: '100000000',
}

/** What the section `risk` of a strategy must name. */
const WIDE_OWN_RISK: OwnRiskSection = {
  positionMax: '1',
  orderSizeMax: '1',
  openOrdersMax: 4,
}

/** The limits of an account as the core has them. */
export function makeLimits(changes: Partial<AccountLimits> = {}): AccountLimits {
  return { ...WIDE_LIMITS, ...changes }
}

/** The limits of a strategy on an instrument as the core has them. */
export function makeOwnLimits(changes: Partial<StrategyLimits> = {}): StrategyLimits {
  return { ...WIDE_OWN_LIMITS, ...changes }
}

export function makeRisk(changes: RiskSection = {}): RiskSection {
  return { ...WIDE_RISK, ...changes }
}

export function makeOwnRisk(changes: OwnRiskSection = {}): OwnRiskSection {
  return { ...WIDE_OWN_RISK, ...changes }
}

/** The section `risk` of an account as YAML, a setting in each line. */
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

/** The file of a strategy as YAML, a section in each line. */
export function writeStrategy({ risk, ...settings }: StrategySettings): string {
  return Object.entries({ ...settings, risk: makeOwnRisk(risk) })
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')
}
