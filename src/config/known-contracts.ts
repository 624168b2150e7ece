/**
 * Contract rules that the configuration leaves out come from the exchange, from what is kept, or
 * from the simulator.
 */
import type { ContractRules } from '../domain/contract-rules.ts'
import type { ReadableFile } from './cross-checks.ts'
import { type KeptContracts, keptOf } from './kept-contracts.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import { RULE_NAMES } from './schema/exchange-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/checked-file.ts'

export interface ContractsAnswer {
  readonly before: KeptContracts | undefined
  readonly now?: KeptContracts
  readonly reason?: string
  /** True if the contracts were kept with recorded tickers. */
  readonly isPlayed?: true
}

/** Keyed by the absolute path of the main file. */
export type ContractAnswers = ReadonlyMap<string, ContractsAnswer>

export type RulesOrigin = 'exchange' | 'kept' | 'simulator'

export interface KnownContract {
  readonly rules: ContractRules
  readonly origin: RulesOrigin
  /** Unix ms; absent for contracts of the simulator. */
  readonly readAt?: number
}

export interface KnownContracts {
  /** The contracts of the simulator come last. */
  readonly symbols: readonly string[]
  find(symbol: string): KnownContract | undefined
  readonly lack: string
}

type ContractSettings = PartialSettings<
  Pick<DaemonFile, 'environment' | 'account' | 'exchange' | 'simulator'>
>

export function followedBy({ exchange, simulator }: ContractSettings): string | undefined {
  return exchange?.baseUrl === undefined ? simulator?.market?.live?.baseUrl : undefined
}

/** Undefined if only the simulator has contracts. */
export function contractsAddressOf(settings: ContractSettings): string | undefined {
  const address = settings.exchange?.baseUrl ?? followedBy(settings)
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined
}

/** @param directory of the state */
export function findKnownContracts(
  settings: ContractSettings,
  {
    answer,
    directory,
  }: { readonly answer: ContractsAnswer | undefined; readonly directory: string },
): KnownContracts {
  const productType = settings.account?.productType ?? ''
  const address = contractsAddressOf(settings)
  const isRead = settings.exchange?.beyondDocument === true && address !== undefined
  const played = answer?.isPlayed === true ? answer.now : undefined
  const kept = isRead ? (answer?.before ?? keptOf(directory, address, productType)) : undefined
  const stated =
    played === undefined ? (isRead ? (answer?.now ?? kept) : undefined) : withKept(played, kept)
  const isEmbedded = settings.exchange?.baseUrl === undefined && settings.simulator !== undefined
  const simulated = isEmbedded ? simulatedContracts(productType) : new Map<string, ContractRules>()
  return {
    symbols: [...new Set([...(stated?.contracts.keys() ?? []), ...simulated.keys()])],
    find(symbol) {
      const contract = stated?.contracts.get(symbol)
      if (contract !== undefined) {
        const { readAt, ...rules } = contract
        const origin =
          answer?.now !== undefined && readAt === answer.now.readAt ? 'exchange' : 'kept'
        return { rules, origin, readAt }
      }
      const rules = simulated.get(symbol)
      return rules && { rules, origin: 'simulator' }
    },
    lack:
      played === undefined
        ? explainLack({ settings, address, isRead, stated, answer, simulated })
        : `neither ${played.source} listed such a contract while its tickers were kept, nor is it known otherwise: ${WRITE_THEM}`,
  }
}

/** A contract that was not listed while tickers were kept may have prices of its own. */
function withKept(played: KeptContracts, kept: KeptContracts | undefined): KeptContracts {
  if (kept === undefined) return played
  return { ...played, contracts: new Map([...kept.contracts, ...played.contracts]) }
}

const WRITE_THEM = 'write them as the contract page of the exchange says'

function explainLack({
  settings,
  address,
  isRead,
  stated,
  answer,
  simulated,
}: {
  readonly settings: ContractSettings
  readonly address: string | undefined
  readonly isRead: boolean
  readonly stated: KeptContracts | undefined
  readonly answer: ContractsAnswer | undefined
  readonly simulated: ReadonlyMap<string, ContractRules>
}): string {
  if (address === undefined)
    return `the simulator inside the daemon has only ${[...simulated.keys()].join(', ')} of its own: write them`
  if (!isRead) return `nothing reads them: ${WRITE_THEM}, or set exchange.beyondDocument: true`
  if (stated !== undefined)
    return `${address} lists no such contract of ${settings.account?.productType}: take it out of instruments, or ${WRITE_THEM}`
  if (answer?.reason !== undefined)
    return `${address} did not say them (${answer.reason}), nor were they kept by an earlier start: ${WRITE_THEM}, or try again`
  return `no start has read them yet: intentd instruments reads and keeps them, or ${WRITE_THEM}`
}

/** A test compares these with the embedded simulator's. */
const BTC: ContractRules = {
  tickSize: '0.1',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '5',
  leverageMax: 125,
}
const ETH: ContractRules = {
  tickSize: '0.01',
  lotSize: '0.01',
  minSize: '0.01',
  minNotional: '5',
  leverageMax: 100,
}

const SIMULATED: Readonly<Record<string, Readonly<Record<string, ContractRules>>>> = {
  'USDT-FUTURES': { BTCUSDT: BTC, ETHUSDT: ETH },
  'COIN-FUTURES': { BTCUSD: BTC },
  'USDC-FUTURES': { BTCPERP: BTC },
  'SUSDT-FUTURES': { SBTCSUSDT: BTC },
  'SCOIN-FUTURES': { SBTCSUSD: BTC },
  'SUSDC-FUTURES': { SBTCSPERP: BTC },
}

export function simulatedContracts(productType: string): ReadonlyMap<string, ContractRules> {
  return new Map(Object.entries(SIMULATED[productType] ?? {}))
}

export type TradedInstrument = DaemonFile['instruments'][string] &
  Readonly<Record<(typeof RULE_NAMES)[number], string>>

type PartialInstruments = PartialSettings<DaemonFile['instruments']>

interface ResolvedRules {
  readonly instruments: PartialInstruments | undefined
  readonly problems: readonly Problem[]
}

/**
 * An instrument with all four rules stays as written.
 * @param known is only called if one is missing
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

const FUNDING_HOURS = [1, 2, 4, 8, 12, 24] as const

export function asTraded(
  instruments: PartialInstruments | undefined,
): Readonly<Record<string, TradedInstrument>> {
  return instruments as Readonly<Record<string, TradedInstrument>>
}
