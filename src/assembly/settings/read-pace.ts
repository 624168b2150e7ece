/** How long it takes to read the whole account once, and after how long what is known of it is too old. */
import type { DaemonConfig } from '../../config/load-config.ts'
import { OVERALL_CALLS, OVERALL_PER_MS } from '../../exchange/limiter/limiter.ts'
import type { RateLimit } from '../../protocol/endpoint.ts'
import { type EndpointName, endpointNamed } from '../../protocol/endpoints.ts'

/** Between two readings of the same, as polling and limits allow, where answers come at once; ms. */
export interface ReadRounds {
  readonly fillsMs: number
  readonly positionsMs: number
}

/** Readings that may be missed one after the other before nothing that adds risk leaves. */
const ROUNDS = 3

/** Below this age a slow answer or two would be taken for blindness, ms. */
const ACCOUNT_AGE_MS_MIN = 3000

/** Of the calls of an address that this account has, so much is left for positions at least, whatever else is read. */
const SHARE_MIN = 0.1

type PacedConfig = Pick<DaemonConfig, 'account' | 'exchange' | 'polling' | 'instruments' | 'risk'>

/** @param accounts How many accounts of this daemon call from the address. */
export interface AddressUse {
  readonly accounts: number
}

/** Three rounds of readings, and three seconds at least, ms. @param roundMs The time between two readings of the same. */
export function ageOfRounds(roundMs: number): number {
  return Math.max(ACCOUNT_AGE_MS_MIN, Math.ceil(ROUNDS * roundMs))
}

export function readRoundsOf(config: PacedConfig, use: AddressUse): ReadRounds {
  const fillsMs = Math.max(config.polling.fillsMs, 1000 / allowedPerSecond('orderFills', config))
  return { fillsMs, positionsMs: readRoundMs(config, use) }
}

/** The age in force, ms: that of three rounds, or the configuration's where it is stricter. */
export function accountAgeMaxOf(config: PacedConfig, use: AddressUse): number {
  return Math.min(
    ageOfRounds(readRoundMs(config, use)),
    config.risk.accountAgeMaxMs ?? Number.POSITIVE_INFINITY,
  )
}

/** How long it takes until each position, and the fills, have been read once more, ms. */
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

/** By the endpoint's own limit, and by what the address has left: other daemons and accounts call from it as well. */
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
