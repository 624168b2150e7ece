import { resolve } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { followedBy } from '../../config/known-contracts.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { contractsOf, listInstruments } from '../../assembly/instruments/listed-instruments.ts'
import {
  credentialsOf,
  SIMULATED_UID,
  simulatorCoin,
  toAccount,
  toRateLimits,
  toSimulatorOptions,
} from '../../assembly/simulator/simulated-exchange.ts'
import type { ExchangeClientOptions } from '../../exchange/exchange-client.ts'
import type { Clock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import { Secret } from '../../lib/secret.ts'
import { type CallableName, endpointNamed } from '../../protocol/endpoints.ts'
import { CallRefused } from './call-refused.ts'

export interface CallExchange extends Pick<
  ExchangeClientOptions,
  'baseUrl' | 'gatewayUrl' | 'credentials' | 'gatewayCredentials' | 'platformCoin'
> {
  close(): Promise<void>
}

export interface CallExchangeOptions {
  readonly config: DaemonConfig
  readonly endpoint: CallableName
  readonly state: string | undefined
  readonly cwd: string
  readonly clock: Clock
  /** The limits of a simulator inside, as a multiple of the exchange's. Default 1. */
  readonly limitsTimes?: number
}

const LOOPBACK = '127.0.0.1'

export function platformCoinOf({ exchange }: DaemonConfig): string | undefined {
  return exchange.baseUrl === undefined ? simulatorCoin() : exchange.platformCoin
}

/**
 * If the simulator follows prices of an exchange, that exchange answers public calls.
 * @throws ConfigError for missing keys; CallRefused for a state without a simulator
 */
export async function openCallExchange(options: CallExchangeOptions): Promise<CallExchange> {
  const { config, endpoint, state, cwd } = options
  const platformCoin = platformCoinOf(config)
  const { baseUrl, gatewayUrl } = config.exchange
  const followed = state === undefined ? followedBy(config) : undefined
  if (followed !== undefined && endpointNamed(endpoint).auth === 'public')
    return { baseUrl: followed, platformCoin, close: async () => {} }
  if (baseUrl === undefined) return { ...(await startForOneCall(options)), platformCoin }
  if (state !== undefined) {
    throw new CallRefused({
      code: 'CALL_STATE_UNUSABLE',
      sentence: '--state is for the simulator; this configuration names an exchange',
      facts: { 'exchange.baseUrl': baseUrl },
    })
  }
  const isPublic = endpointNamed(endpoint).auth === 'public'
  const read = isPublic ? undefined : loadCredentials(config, { cwd })
  return {
    baseUrl,
    gatewayUrl,
    credentials: read && {
      apiKey: read.apiKey,
      secret: read.apiSecret,
      passphrase: read.passphrase,
    },
    platformCoin,
    close: async () => {},
  }
}

async function startForOneCall(
  options: CallExchangeOptions,
): Promise<Omit<CallExchange, 'platformCoin'>> {
  const { config, state, cwd, clock, endpoint, limitsTimes: times = 1 } = options
  const { simulator: settings } = config
  if (settings === undefined) {
    throw new Failure({
      code: 'DAEMON_EXCHANGE_MISSING',
      sentence: 'the configuration has neither an exchange nor a simulator',
      hint: 'set exchange.baseUrl, or environment: simulator with a simulator section',
    })
  }
  const { startSimulator } = await import('../../simulator/start-simulator.ts')
  const { wire, ...others } = toSimulatorOptions(settings, { files: [], speed: undefined })
  const simulator = await startSimulator({
    ...others,
    wire: { ...wire, rateLimits: { ...toRateLimits(settings), times } },
    instruments: listInstruments(contractsOf(config), clock.now()),
    accounts: [
      {
        ...toAccount(config, settings),
        // Some endpoints need a copy trader, a key bound to an address, or a gateway key.
        role: endpoint.startsWith('copy') ? 'copyTrader' : 'ordinary',
        boundToIps: [LOOPBACK],
        gateway: {},
      },
    ],
    host: LOOPBACK,
    ...(state === undefined ? {} : { storeFile: resolve(cwd, state) }),
    clock,
  })
  const gateway = simulator.accounts.find(({ uid }) => uid === SIMULATED_UID)?.gateway
  return {
    baseUrl: simulator.baseUrl,
    credentials: credentialsOf(simulator),
    gatewayCredentials: gateway && {
      apiKey: new Secret(gateway.key),
      secret: new Secret(gateway.secret),
    },
    close: () => simulator.stop(),
  }
}
