import type { ReadableFile } from './cross-checks.ts'
import type { KnownContracts } from './known-contracts.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import { RULE_NAMES } from './schema/exchange-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/salvage.ts'

type Instruments = DaemonFile['instruments']

export type TradedInstrument = Instruments[string] &
  Readonly<Record<(typeof RULE_NAMES)[number], string>>

type PartialInstruments = PartialSettings<Instruments>

export interface ResolvedRules {
  readonly instruments: PartialInstruments | undefined
  readonly problems: readonly Problem[]
}

/**
 * One with all four rules stays as written.
 * @param known is called only if one lacks a rule
 */
export function resolveRules(
  { source, settings: { instruments } }: ReadableFile<DaemonFile>,
  known: () => KnownContracts,
): ResolvedRules {
  if (instruments === undefined) return { instruments, problems: [] }
  let contracts: KnownContracts | undefined
  const problems: Problem[] = []
  const resolved = Object.entries(instruments).map(([symbol, own]) => {
    const missing = RULE_NAMES.filter((name) => !source.has(['instruments', symbol, name]))
    if (missing.length === 0 || own === undefined) return [symbol, own] as const
    contracts ??= known()
    const rules = contracts.find(symbol)?.rules
    if (rules === undefined) {
      const message = `${symbol} has no ${missing.join(', ')}, and ${contracts.lack}`
      problems.push(source.problemOfKey(['instruments', symbol], message))
      return [symbol, own] as const
    }
    const { tickSize, lotSize, minSize, minNotional } = rules
    const fundingHours = FUNDING_HOURS.find((hours) => hours === rules.fundingHours)
    const all = {
      tickSize,
      lotSize,
      minSize,
      minNotional,
      ...(fundingHours !== undefined && { fundingHours }),
      ...own,
    }
    return [symbol, all] as const
  })
  return { instruments: Object.fromEntries(resolved), problems }
}

/** As `fundingHours` takes them. */
const FUNDING_HOURS = [1, 2, 4, 8, 12, 24] as const

/** @param instruments without problems */
export function asTraded(
  instruments: PartialInstruments | undefined,
): Readonly<Record<string, TradedInstrument>> {
  return instruments as Readonly<Record<string, TradedInstrument>>
}
