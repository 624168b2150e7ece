import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { Limiter } from '../../exchange/limiter/limiter.ts'
import { type TrustedClock } from '../../exchange/clock/trusted-clock.ts'
import { type DaemonConfig } from '../../config/load-config.ts'
import { type EngineSettings } from '../../engine/settings.ts'
import { type Clock } from '../../lib/clock.ts'
import { type Timers } from '../../lib/timers.ts'
import { type EmbeddedExchange } from '../embedded/embedded-exchange.ts'
import { type ExchangeAccess } from '../../exchange/client/exchange-access.ts'
import { type DaemonLogger } from '../reporting/logger.ts'
import { simulatorCoin } from '../embedded/simulated-exchange.ts'

/** What a daemon knows that its calls depend on. */
interface CallingDaemon {
  readonly config: DaemonConfig
  readonly settings: EngineSettings
  readonly access: ExchangeAccess
  readonly embedded: EmbeddedExchange | undefined
  readonly logger: DaemonLogger
  readonly clock: Clock
  readonly trusted: TrustedClock
  readonly timers: Timers
}

/** How often a daemon may call its exchange. */
export function createLimiter(options: CallingDaemon): Limiter {
  const { config, embedded, clock, timers, logger } = options
  // An exchange of our own has forgotten the calls of the run before. Elsewhere there may have been one even
  // where the journal knows of none: its disk was full, or it died before it could write.
  const hasPreviousRun = embedded === undefined
  return new Limiter({
    clock,
    timers,
    tier: config.account.tier,
    use: config.exchange.limitsUse,
    previousRunEndedAt: hasPreviousRun ? clock.monotonic() : undefined,
    onCoolDown: (restMs) => logger.log('warn', 'limits.coolingDown', { restMs }),
  })
}

/** What a daemon calls its exchange with. */
export function createClient(options: CallingDaemon, limiter: Limiter): ExchangeClient {
  const { config, settings, access, embedded, clock, trusted, timers } = options
  return new ExchangeClient({
    baseUrl: access.baseUrl,
    credentials: access.credentials,
    platformCoin: embedded ? simulatorCoin() : config.exchange.platformCoin,
    positionMode: settings.positionMode,
    clock,
    timers,
    offset: trusted.offset,
    limiter,
    requestTimeoutMs: config.exchange.requestTimeoutMs,
    answerBytesMax: config.exchange.answerBytesMax,
    locale: config.exchange.locale,
  })
}
