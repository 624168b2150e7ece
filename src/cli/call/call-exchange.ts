import { resolve } from 'node:path'
import { type DaemonConfig } from '../../config/load-config.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { listInstruments } from '../../daemon/market-data/listed-instruments.ts'
import { toSimulatorOptions } from '../../daemon/embedded/simulated-exchange.ts'
import { type Credentials, type GatewayCredentials } from '../../exchange/client/signer.ts'
import { type Clock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import { Secret } from '../../lib/secret.ts'
import { type EndpointName, endpointNamed } from '../../protocol/endpoints.ts'
import type { RunningSimulator } from '../../simulator/start-simulator.ts'
import { defaultWireSettings } from '../../simulator/wire/settings.ts'
import { CallRefused } from './call-refused.ts'

/** The exchange that one call is made to. */
export interface CallExchange {
  readonly baseUrl: string
  readonly gatewayUrl: string | undefined
  /** Absent for a public endpoint: then no key is read at all. */
  readonly credentials: Credentials | undefined
  readonly gatewayCredentials: GatewayCredentials | undefined
  readonly platformCoin: string | undefined
  close(): Promise<void>
}

export interface CallExchangeOptions {
  readonly config: DaemonConfig
  readonly endpoint: EndpointName
  /** A file in which the simulator keeps orders, positions and balances from call to call. */
  readonly state: string | undefined
  readonly cwd: string
  readonly clock: Clock
}

const UID = '1000001'
const LOOPBACK = '127.0.0.1'

/** Whether the configuration names no exchange: the simulator is then started for the one call. */
function isEmbedded(config: DaemonConfig): boolean {
  return config.exchange.baseUrl === undefined
}

/** The ticker in the path of the conversion history: the configured one, or the simulator's own. */
export function platformCoinOf(config: DaemonConfig): string | undefined {
  if (isEmbedded(config)) return defaultWireSettings.platformCoin.toLowerCase()
  return config.exchange.platformCoin
}

/**
 * The configured exchange with its keys, or the simulator, which needs none.
 * @throws ConfigError for keys that are missing; CallRefused for a state where there is no simulator.
 */
export async function openCallExchange(options: CallExchangeOptions): Promise<CallExchange> {
  const { config, endpoint, state, cwd } = options
  const platformCoin = platformCoinOf(config)
  const { baseUrl, gatewayUrl } = config.exchange
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
    credentials: read && { apiKey: read.apiKey, secret: read.apiSecret, passphrase: read.passphrase },
    gatewayCredentials: undefined,
    platformCoin,
    close: async () => {},
  }
}

async function startForOneCall(options: CallExchangeOptions): Promise<Omit<CallExchange, 'platformCoin'>> {
  const { config, state, cwd, clock, endpoint } = options
  const { simulator: settings, account } = config
  if (settings === undefined) {
    throw new Failure({
      code: 'DAEMON_EXCHANGE_MISSING',
      sentence: 'the configuration has neither an exchange nor a simulator',
      hint: 'set exchange.baseUrl, or environment: simulator with a simulator section',
    })
  }
  const { startSimulator } = await import('../../simulator/start-simulator.ts')
  const simulator = await startSimulator({
    ...toSimulatorOptions(settings, { files: [], speed: undefined }),
    instruments: listInstruments({ ...account, instruments: config.instruments }, clock.now()),
    accounts: [
      {
        uid: UID,
        label: config.name,
        positionMode: account.positionMode,
        balances: { [account.marginCoin]: settings.startingBalance },
        leverage: settings.leverage,
        // As each endpoint wants its caller: a trader with followers, a key bound to an address, a gateway key.
        role: endpoint.startsWith('copy') ? 'copyTrader' : 'ordinary',
        boundToIps: [LOOPBACK],
        gateway: {},
      },
    ],
    host: LOOPBACK,
    ...(state === undefined ? {} : { storeFile: resolve(cwd, state) }),
    clock,
  })
  return {
    baseUrl: simulator.baseUrl,
    gatewayUrl: undefined,
    ...keysOf(simulator),
    close: () => simulator.stop(),
  }
}

function keysOf({ accounts }: RunningSimulator): Pick<CallExchange, 'credentials' | 'gatewayCredentials'> {
  const account = accounts.find(({ uid }) => uid === UID)
  if (account === undefined) return { credentials: undefined, gatewayCredentials: undefined }
  const { key, secret, passphrase, gateway } = account
  return {
    credentials: {
      apiKey: new Secret(key),
      secret: new Secret(secret),
      passphrase: new Secret(passphrase),
    },
    gatewayCredentials: gateway && { apiKey: new Secret(gateway.key), secret: new Secret(gateway.secret) },
  }
}
