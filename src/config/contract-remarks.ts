import { type ContractRules, TRADABLE_STATUS } from '../domain/contract-rules.ts'
import { fundingMinutesOf } from './funding-minutes.ts'
import type { KeptContract, KeptContracts } from './kept-contracts.ts'
import type { ContractsAnswer } from './known-contracts.ts'
import type { DaemonConfig, LoadedConfig } from './load-config.ts'
import { RULE_NAMES } from './schema/exchange-schema.ts'
import { isSameDecimal } from './schema/setting-values.ts'
import type { Problem } from './yaml/problem.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

export interface ContractRemark {
  readonly event: 'contracts.notRead' | 'contract.changed' | 'contract.differs'
  readonly symbol?: string
  readonly problem: Problem
}

/** A start succeeds with all these remarks. @param answer absent if no exchange was asked */
export function listContractRemarks(
  { config, documents: { main: source } }: LoadedConfig,
  answer: ContractsAnswer | undefined,
): readonly ContractRemark[] {
  if (answer === undefined) return []
  const { now, before } = answer
  const symbols = Object.keys(config.instruments)
  if (now === undefined) {
    const isNeeded = symbols.some((symbol) =>
      RULE_NAMES.some((name) => !source.has(['instruments', symbol, name])),
    )
    return isNeeded ? [{ event: 'contracts.notRead', problem: blameSilence(source, answer) }] : []
  }
  return symbols.flatMap((symbol): readonly ContractRemark[] => {
    const contract = now.contracts.get(symbol)
    const place = { config, source, symbol }
    if (contract?.readAt !== now.readAt) return [remarkOnUnlisted(place, now)]
    return [
      ...listChanges(place, before?.contracts.get(symbol), contract),
      ...listDifferences(place, contract),
    ]
  })
}

/**
 * A rule by age then counts from the first sight. With the simulator inside it chooses among the
 * instruments of the main file.
 */
export function warnOfUnknownAges(
  { config, documents }: LoadedConfig,
  answer: ContractsAnswer | undefined,
): readonly Problem[] {
  const listed = answer?.now?.contracts
  const isInside = config.exchange.baseUrl === undefined
  if (listed === undefined && !isInside) return []
  const symbols = isInside ? Object.keys(config.instruments) : [...(listed?.keys() ?? [])]
  const unknown = symbols.filter((symbol) => listed?.get(symbol)?.launchedAt === undefined)
  if (unknown.length === 0) return []
  return config.strategies.flatMap(({ id, enabled, universe }) => {
    if (!enabled || universe?.age === undefined) return []
    const { min } = universe.age
    const message = `of ${symbols.length} contracts ${unknown.length} state no time of their listing (${nameSome(unknown)}): their age counts from the first look of this state directory, so for ${min} they are not chosen; include names those that are wanted before`
    return documents.strategies.get(id)?.problem(['universe', 'age', 'min'], message) ?? []
  })
}

const NAMED_MAX = 4

function nameSome(symbols: readonly string[]): string {
  return `${symbols.slice(0, NAMED_MAX).join(', ')}${symbols.length > NAMED_MAX ? ', …' : ''}`
}

interface InstrumentPlace {
  readonly config: DaemonConfig
  readonly source: YamlSource
  readonly symbol: string
}

function blameSilence(source: YamlSource, { before, reason }: ContractsAnswer): Problem {
  const instead =
    before === undefined ? "the simulator's own" : `those of ${showTime(before.readAt)}`
  const message = `the exchange did not say the rules of its contracts (${reason ?? 'no answer'}): rules that are not written are ${instead}`
  return source.problem(['exchange', 'beyondDocument'], message)
}

function remarkOnUnlisted({ source, symbol }: InstrumentPlace, now: KeptContracts): ContractRemark {
  const message = `${now.source} does not list ${symbol} among its contracts of ${now.productType}: orders would be rejected`
  const problem = source.problemOfKey(['instruments', symbol], message)
  return { event: 'contract.differs', symbol, problem }
}

const COMPARED = [...RULE_NAMES, 'fundingHours', 'leverageMax', 'status'] as const

function listChanges(
  { source, symbol }: InstrumentPlace,
  was: KeptContract | undefined,
  is: ContractRules,
): readonly ContractRemark[] {
  if (was === undefined) return []
  return COMPARED.filter((name) => was[name] !== is[name]).map((name) => {
    const message = `the exchange has changed ${name} of ${symbol}: ${was[name] ?? 'not said'} on ${showTime(was.readAt)}, ${is[name] ?? 'not said'} now`
    const problem = source.problemOfKey(['instruments', symbol], message)
    return { event: 'contract.changed', symbol, problem }
  })
}

function listDifferences(
  place: InstrumentPlace,
  contract: ContractRules,
): readonly ContractRemark[] {
  const { source, symbol } = place
  const problems = [
    ...listWrittenOtherwise(place, contract),
    ...listFunding(place, contract),
    ...listLeverage(place, contract),
    ...describeStatus(contract).map((message) =>
      source.problemOfKey(['instruments', symbol], `${symbol} ${message}`),
    ),
  ]
  return problems.map((problem) => ({ event: 'contract.differs', symbol, problem }))
}

/** The daemon trades by the configuration, so the exchange may reject what follows from it. */
function listWrittenOtherwise(
  { config, source, symbol }: InstrumentPlace,
  contract: ContractRules,
): readonly Problem[] {
  return RULE_NAMES.flatMap((name) => {
    const [own, theirs] = [config.instruments[symbol]?.[name], contract[name]]
    const path = ['instruments', symbol, name]
    if (own === undefined || !source.has(path) || isSameDecimal(own, theirs)) return []
    const message = `${own} here, ${theirs} at the exchange, which may reject orders: leave it out, or write what the exchange says`
    return [source.problem(path, message)]
  })
}

function listFunding(
  { config, source, symbol }: InstrumentPlace,
  { fundingHours }: ContractRules,
): readonly Problem[] {
  const payments = fundingMinutesOf(config, symbol).length
  if (fundingHours === undefined || payments === 24 / fundingHours) return []
  const message = `funding is paid every ${fundingHours} h at the exchange, ${payments} times a day here: write instruments.${symbol}.fundingHours: ${fundingHours}`
  return [source.problem(['instruments', symbol, 'fundingHours'], message)]
}

function listLeverage(
  { config, source, symbol }: InstrumentPlace,
  { leverageMax }: ContractRules,
): readonly Problem[] {
  const own = config.instruments[symbol]?.leverage
  const leverage = own ?? config.account.leverage
  if (leverage === undefined || leverageMax === undefined || leverage <= leverageMax) return []
  const path = own === undefined ? ['account', 'leverage'] : ['instruments', symbol, 'leverage']
  const message = `${leverage} is above the ${leverageMax} that ${symbol} has at most at the exchange: no position can have it`
  return [source.problem(path, message)]
}

const STATUS_WORDS: Readonly<Record<string, string>> = {
  listed: 'is listed and cannot be traded yet',
  maintain: 'is under maintenance: nothing can be opened or closed',
  limit_open: 'can only be closed',
  restrictedAPI: 'cannot be traded through the API',
  off: 'is removed',
}

function describeStatus({ status, offAt }: ContractRules): readonly string[] {
  const word =
    status === undefined || status === TRADABLE_STATUS
      ? []
      : [`${STATUS_WORDS[status] ?? 'has a status that is not known here'} (${status})`]
  return offAt === undefined ? word : [...word, `is to be removed on ${showTime(offAt)}`]
}

function showTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`
}
