import type { ContractRules } from '../domain/contract-rules.ts'
import { isSameData } from '../lib/plain-data.ts'

type Contracts = ReadonlyMap<string, ContractRules>

export interface HeardContracts {
  readonly heard: Contracts
  readonly believed: Contracts
}

/**
 * One answer may lack contracts, or state them wrongly, so a contract counts as two answers in a
 * row state it; a new one counts at once.
 */
export function believeContracts(
  { heard, believed }: HeardContracts,
  answer: Contracts,
): HeardContracts {
  const contracts = new Map<string, ContractRules>()
  for (const symbol of new Set([...answer.keys(), ...believed.keys()])) {
    const stated = answer.get(symbol)
    const isAgreed = isSameData(stated ?? null, heard.get(symbol) ?? null)
    const rules = isAgreed ? stated : (believed.get(symbol) ?? stated)
    if (rules) contracts.set(symbol, rules)
  }
  return { heard: answer, believed: contracts }
}
