/** Positions are read in turn, so the pace decides when a reading is too old. */
import type { DaemonConfig } from '../../config/load-config.ts'
import { LEAVING_TIMES } from '../../domain/universe.ts'
import { OVERALL_CALLS, OVERALL_PER_MS } from '../../exchange/limiter/limiter.ts'
import type { RateLimit } from '../../protocol/endpoint.ts'
import { type EndpointName, endpointNamed } from '../../protocol/endpoints.ts'

/** The pace that polling and limits allow if every answer comes at once. */
export interface ReadRounds {
  readonly fillsMs: number
  readonly positionsMs: number
}

/** After so many missed rounds nothing that adds risk leaves. */
const ROUNDS = 3

/** A smaller value would make readings too old after one or two slow answers. */
const ACCOUNT_AGE_MS_MIN = 3000

/** At least this share of the account's calls is left for positions. */
const SHARE_MIN = 0.1

type PacedConfig = Pick<
  DaemonConfig,
  'account' | 'exchange' | 'polling' | 'instruments' | 'risk' | 'strategies'
>

export interface AddressUse {
  readonly accounts: number
}

/** @param roundMs time between two readings of the same thing */
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
  const instruments = instrumentsMax(config, use)
  return Math.max(
    positionsMs,
    (instruments * 1000) / positionsPerSecond(config, use),
    fillsMs,
    1000 / allowedPerSecond('orderFills', config),
  )
}

/**
 * Universes choose so few instruments that each is read at least so often, unless
 * `risk.accountAgeMaxMs` is set.
 */
const ROUND_MS_MAX = 10_000

/** So many instruments can be read before readings are too old. */
export function readableMax(config: PacedConfig, use: AddressUse): number {
  const { accountAgeMaxMs } = config.risk
  const roundMs = accountAgeMaxMs === undefined ? ROUND_MS_MAX : accountAgeMaxMs / ROUNDS
  return Math.floor((positionsPerSecond(config, use) * roundMs) / 1000)
}

export function instrumentsMax(config: PacedConfig, use: AddressUse): number {
  const fixed = Object.keys(config.instruments).length
  const chosen = config.strategies
    .filter(({ enabled }) => enabled)
    .reduce((sum, { universe }) => sum + (universe?.top.count ?? 0) * LEAVING_TIMES, 0)
  return chosen === 0 ? fixed : Math.max(fixed, Math.min(fixed + chosen, readableMax(config, use)))
}

/** Other daemons and accounts share the address's calls. */
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
