import type { DaemonConfig } from '../../config/load-config.ts'
import type { SharedLimits } from '../../exchange/limiter/shared/shared-limits.ts'
import type { Clock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface OpenSharedLimitsOptions {
  readonly config: Pick<DaemonConfig, 'exchange'>
  readonly password: Secret | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log' | 'hide'>
}

/** If limits are not shared, no Redis client is loaded. */
export async function openSharedLimits(
  options: OpenSharedLimitsOptions,
): Promise<SharedLimits | undefined> {
  const { config, password, clock, timers, logger } = options
  const { shared, requestTimeoutMs } = config.exchange
  if (shared === undefined) return undefined
  if (password) logger.hide(password)
  const limits = await import('../../exchange/limiter/shared/shared-limits.ts')
  const { RedisStore } = await import('../../exchange/limiter/shared/redis-store.ts')
  const { redis: url, group, members } = shared
  return new limits.SharedLimits({
    store: new RedisStore({
      url,
      password,
      group,
      answerMsMax: limits.ANSWER_MS_MAX,
    }),
    id: randomHex(8),
    members,
    lateMs: requestTimeoutMs,
    clock,
    timers,
    onLost: (reason, without) =>
      logger.log('warn', 'limits.alone', {
        reason,
        without,
      }),
    onRefused: (reason) => logger.log('error', 'limits.refused', { reason }),
    onJoined: (sharing) => logger.log('info', 'limits.shared', { members: sharing }),
  })
}
