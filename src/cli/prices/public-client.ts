import { join } from 'node:path'
import process from 'node:process'
import type { DaemonConfig } from '../../config/load-config.ts'
import { followedBy } from '../../config/known-contracts.ts'
import { loadProxies } from '../../config/proxy.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { Limiter } from '../../exchange/limiter/limiter.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import type { CallableName } from '../../protocol/endpoints.ts'
import { openCallExchange } from '../call/call-exchange.ts'

export interface PublicClient {
  readonly client: ExchangeClient
  close(): Promise<void>
}

export const SIMULATED = 'simulator'
const SIMULATOR_FILE = 'simulator.sqlite'
/** @returns undefined for a simulator with made-up prices */
export function publicSourceOf(config: DaemonConfig): string | undefined {
  const address = config.exchange.baseUrl ?? followedBy(config)
  return address === undefined ? undefined : new URL(address).host
}

/** The other half is for a daemon at the same address. */
const LIMITS_USE_MAX = 0.5
/** No daemon is at the simulator inside, so it need not be as slow as an exchange. */
const SIMULATED_LIMITS_TIMES = 100

export async function openPublicClient({
  config,
  directory,
  endpoint,
}: {
  readonly config: DaemonConfig
  readonly directory: string
  readonly endpoint: CallableName
}): Promise<PublicClient> {
  const isSimulated = publicSourceOf(config) === undefined
  const limitsTimes = isSimulated ? SIMULATED_LIMITS_TIMES : 1
  const exchange = await openCallExchange({
    config,
    endpoint,
    limitsTimes,
    state: isSimulated ? join(directory, SIMULATOR_FILE) : undefined,
    cwd: process.cwd(),
    clock: systemClock,
  })
  const limiter = new Limiter({
    clock: systemClock,
    timers: systemTimers,
    beyondDocument: true,
    use: limitsTimes * Math.min(config.exchange.limitsUse, LIMITS_USE_MAX),
  })
  const { requestTimeoutMs, answerBytesMax, locale } = config.exchange
  const client = new ExchangeClient({
    ...exchange,
    requestTimeoutMs,
    answerBytesMax,
    locale,
    positionMode: config.account.positionMode,
    proxyFor: loadProxies(config),
    clock: systemClock,
    timers: systemTimers,
    offset: new ExchangeClock(),
    limiter,
  })
  return {
    client,
    close: async () => {
      await client.close()
      await limiter.stop()
      await exchange.close()
    },
  }
}
