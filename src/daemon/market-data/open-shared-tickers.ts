import type { DaemonConfig } from '../../config/load-config.ts'
import type {
  SharedTickers,
  SharedTickersOptions,
} from '../../exchange/shared-tickers/shared-tickers.ts'
import type { Secret } from '../../lib/secret.ts'

export interface OpenSharedTickersOptions extends Pick<
  SharedTickersOptions,
  'client' | 'limiter' | 'trusted' | 'timers'
> {
  readonly config: Pick<DaemonConfig, 'exchange' | 'polling'>
  readonly password: Secret | undefined
  readonly baseUrl: string
}

/** If tickers are not shared, no Redis client is loaded. */
export async function openSharedTickers(
  options: OpenSharedTickersOptions,
): Promise<SharedTickers | undefined> {
  const { config, password, baseUrl, client, limiter, trusted, timers } = options
  const { shared } = config.exchange
  if (shared?.marketData !== true) return undefined
  const tickers = await import('../../exchange/shared-tickers/shared-tickers.ts')
  const { RedisTickerStore } = await import('../../exchange/shared-tickers/ticker-store.ts')
  const { redis: url, group } = shared
  const store = new RedisTickerStore({
    url,
    password,
    group,
    baseUrl,
    answerMsMax: tickers.ANSWER_MS_MAX,
  })
  const { tickersMs } = config.polling
  return new tickers.SharedTickers({ store, client, limiter, trusted, timers, tickersMs })
}
