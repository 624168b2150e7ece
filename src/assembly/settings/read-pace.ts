/** The whole account is read in turn; from the pace follows when readings are too old. */
import type { DaemonConfig } from '../../config/load-config.ts'
import { OVERALL_CALLS, OVERALL_PER_MS } from '../../exchange/limiter/limiter.ts'
import type { RateLimit } from '../../protocol/endpoint.ts'
import { type EndpointName, endpointNamed } from '../../protocol/endpoints.ts'

/** From polling and limits, if answers come at once. */
export interface ReadRounds {
  readonly fillsMs: number
  readonly positionsMs: number
}

/** More missed readings let nothing leave that adds risk. */
const ROUNDS = 3

/** Below this age one or two slow answers would count as too old. */
const ACCOUNT_AGE_MS_MIN = 3000

/** Share of the account's calls left for positions. */
const SHARE_MIN = 0.1

type PacedConfig = Pick<DaemonConfig, 'account' | 'exchange' | 'polling' | 'instruments' | 'risk'>

export interface AddressUse {
  readonly accounts: number
}

/** @param roundMs interval of equal readings */
export function ageOfRounds(roundMs: number): number {
  return Math.max(ACCOUNT_AGE_MS_MIN, Math.ceil(ROUNDS * roundMs))
}

export function readRoundsOf(config: PacedConfig, use: AddressUse): ReadRounds {
  const fillsMs = Math.max(config.polling.fillsMs, 1000 / allowedPerSecond('orderFills', config))
  return { fillsMs, positionsMs: readRoundMs(config, use) }
}

export function accountAgeMaxOf(config: PacedConfig, use: AddressUse): number {
  return Math.min(
    ageOfRounds(readRoundMs(config, use)),
    config.risk.accountAgeMaxMs ?? Number.POSITIVE_INFINITY,
  )
}

export function readRoundMs(config: PacedConfig, use: AddressUse): number {
  const { fillsMs, positionsMs } = config.polling
  const instruments = Object.keys(config.instruments).length
  return Math.max(
    positionsMs,
    (instruments * 1000) / positionsPerSecond(config, use),
    fillsMs,
    1000 / allowedPerSecond('orderFills', config),
  )
}

/** Other daemons and accounts share the calls of the address. */
export function positionsPerSecond(config: PacedConfig, { accounts }: AddressUse): number {
  const { polling, exchange } = config
  const ofAddress = (OVERALL_CALLS * exchange.limitsUse * 1000) / OVERALL_PER_MS
  const ofDaemon = ofAddress / (exchange.shared?.members ?? 1)
  const tickers = 1000 / polling.tickersMs
  const ofAccount = Math.max(ofDaemon - tickers, ofDaemon * SHARE_MIN) / accounts
  const left = Math.max(ofAccount - 1000 / polling.fillsMs, ofAccount * SHARE_MIN)
  return Math.min(allowedPerSecond('singlePosition', config), left)
}

export function allowedPerSecond(
  endpoint: EndpointName,
  { account, exchange }: Pick<PacedConfig, 'account' | 'exchange'>,
): number {
  const { calls, perMs, copyTraderCalls }: RateLimit = endpointNamed(endpoint).limit
  const most = account.tier === 'copyTrader' ? (copyTraderCalls ?? calls) : calls
  return (most * exchange.limitsUse * 1000) / perMs
}
