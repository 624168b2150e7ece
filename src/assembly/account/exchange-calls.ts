import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { Limiter } from '../../exchange/limiter/limiter.ts'
import type { SharedLimits } from '../../exchange/limiter/shared/shared-limits.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import { loadProxies } from '../../config/proxy.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { simulatorCoin } from '../simulator/simulated-exchange.ts'

export interface ExchangeCallsOptions {
  readonly config: Pick<DaemonConfig, 'account' | 'exchange'>
  readonly access: Pick<ExchangeAccess, 'baseUrl'> & Partial<ExchangeAccess>
  readonly isEmbedded: boolean
  readonly signingObjection?: (() => string | undefined) | undefined
  readonly address?: Limiter
  readonly shared?: SharedLimits | undefined
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly trusted: TrustedClock
  readonly timers: Timers
}

export interface ExchangeCalls {
  readonly client: ExchangeClient
  readonly limiter: Limiter
}

export function createCalls(options: ExchangeCallsOptions): ExchangeCalls {
  const { config, access, isEmbedded, trusted, timers } = options
  const limiter = createLimiter(options)
  const client = new ExchangeClient({
    baseUrl: access.baseUrl,
    credentials: access.credentials,
    proxyFor: loadProxies(config),
    signingObjection: options.signingObjection,
    platformCoin: isEmbedded ? simulatorCoin() : config.exchange.platformCoin,
    positionMode: config.account.positionMode,
    clock: trusted.clock,
    timers,
    offset: trusted.offset,
    limiter,
    requestTimeoutMs: config.exchange.requestTimeoutMs,
    answerBytesMax: config.exchange.answerBytesMax,
    locale: config.exchange.locale,
    isDemo: config.exchange.demo,
  })
  return { client, limiter }
}

function createLimiter({
  config,
  isEmbedded,
  address,
  shared,
  trusted,
  timers,
  logger,
}: ExchangeCallsOptions): Limiter {
  const { clock } = trusted
  return new Limiter({
    clock,
    timers,
    address,
    shared,
    tier: config.account.tier,
    use: config.exchange.limitsUse,
    beyondDocument: config.exchange.beyondDocument,
    beyondDocumentPrivate: config.exchange.beyondDocumentPrivate,
    // An embedded exchange forgets earlier calls. At any other, calls may have been made that the
    // journal lacks, because the disk was full or the run died.
    previousRunEndedAt: isEmbedded ? undefined : clock.monotonic(),
    onCoolDown: (restMs) => logger.log('warn', 'limits.coolingDown', { restMs }),
  })
}
