/** Kept contracts serve a start when the exchange does not answer. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { ContractRules, ContractsReading } from '../domain/contract-rules.ts'
import { writeDurably } from '../lib/durable-file.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'
import { positiveDecimal, stepDecimal } from './schema/setting-values.ts'

const CONTRACTS_FILE = 'contracts.json'

/** A contract that is no longer listed keeps the time of the last answer that had it. */
export interface KeptContract extends ContractRules {
  readonly readAt: number
}

export interface KeptContracts {
  readonly readAt: number
  readonly source: string
  readonly productType: string
  readonly contracts: ReadonlyMap<string, KeptContract>
}

const at = z.number().int()

const contractSchema = z.object({
  tickSize: stepDecimal(''),
  lotSize: stepDecimal(''),
  minSize: positiveDecimal(''),
  minNotional: positiveDecimal(''),
  quoteCoin: z.string().max(40).optional(),
  fundingHours: z.number().positive().optional(),
  leverageMax: z.number().positive().optional(),
  status: z.string().max(40).optional(),
  launchedAt: at.optional(),
  offAt: at.optional(),
  readAt: at,
})

const fileSchema = z.object({
  readAt: at,
  source: z.string(),
  productType: z.string(),
  contracts: z.record(z.string(), z.unknown()),
})

/** Undefined if the exchange must be asked. */
export function readKeptContracts(directory: string): KeptContracts | undefined {
  try {
    const text = readFileSync(join(directory, CONTRACTS_FILE), 'utf8')
    const { contracts, ...kept } = fileSchema.parse(parseBoundedJson(text))
    return { ...kept, contracts: usableContracts(Object.entries(contracts)) }
  } catch {
    return undefined
  }
}

/** Rules of another exchange or product type do not count. */
export function keptOf(
  directory: string,
  source: string,
  productType: string,
): KeptContracts | undefined {
  const kept = readKeptContracts(directory)
  return kept?.source === source && kept.productType === productType ? kept : undefined
}

function usableContracts(
  contracts: Iterable<readonly [string, unknown]>,
): ReadonlyMap<string, KeptContract> {
  const usable = new Map<string, KeptContract>()
  for (const [symbol, rules] of contracts) {
    const { data } = contractSchema.safeParse(rules)
    if (data !== undefined) usable.set(symbol, data as KeptContract)
  }
  return usable
}

export function mergeContracts(
  before: KeptContracts | undefined,
  { contracts, ...reading }: ContractsReading,
  configured: readonly string[],
): KeptContracts {
  const isSame = before?.source === reading.source && before.productType === reading.productType
  const gone = configured.flatMap((symbol) => {
    const contract = isSame && !contracts.has(symbol) ? before.contracts.get(symbol) : undefined
    return contract === undefined ? [] : [[symbol, contract] as const]
  })
  const listed = [...contracts].map(
    ([symbol, rules]) => [symbol, { ...rules, readAt: reading.readAt }] as const,
  )
  return { ...reading, contracts: new Map([...gone, ...usableContracts(listed)]) }
}

/** @throws the error of the file system */
export function keepContracts(directory: string, { contracts, ...kept }: KeptContracts): void {
  const text = JSON.stringify({ ...kept, contracts: Object.fromEntries(contracts) })
  writeDurably(join(directory, CONTRACTS_FILE), text)
}
