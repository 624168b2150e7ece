import type { Secret } from '../../lib/secret.ts'
import { askOnce } from '../limiter/shared/redis-client.ts'
import { HAND_ON_SCRIPT, LOOK_SCRIPT } from './ticker-scripts.ts'

const KEY = 'intentd:tickers:probe'

/**
 * Takes a turn and ends it, so nothing stays.
 * @throws Error in the server's or client's words, with advice if the server refuses
 */
export function probeTickers(url: string, password: Secret | undefined): Promise<void> {
  return askOnce(url, password, async (redis) => {
    await redis.eval(LOOK_SCRIPT, 1, KEY, 0, 0, 0, 'claim')
    await redis.eval(HAND_ON_SCRIPT, 1, KEY, 0, 0, '', '')
  })
}
