import type { Redis } from 'ioredis'
import { messageOf } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import { createRedis, explainRefusal } from '../limiter/shared/redis-client.ts'
import { HAND_ON_SCRIPT, LOOK_SCRIPT } from './ticker-scripts.ts'

/** Instants are by the server's clock. */
export interface TickerLook {
  readonly productType: string
  readonly has: number
  /** Earliest good request time; 0: `ageMsMax` before this look. */
  readonly since: number
  readonly ageMsMax: number
  /** `turn` takes the turn unless another daemon reads; `claim` in any case. */
  readonly otherwise: 'turn' | 'claim' | 'wait'
}

/**
 * - `reading`: an answer that another daemon received.
 * - `wait`: another daemon may be reading.
 * - `read`: it is our turn.
 */
export type TickerLooked = { readonly now: number } & (
  | {
      readonly kind: 'reading'
      readonly askedAt: number
      readonly contentEncoding: string
      readonly body: Buffer
    }
  | { readonly kind: 'wait'; readonly since: number; readonly waitMs: number }
  | { readonly kind: 'read' }
)

export interface HandedTickers {
  readonly productType: string
  readonly askedAt: number
  readonly tookMs: number
  readonly contentEncoding: string
  readonly body: Buffer
}

export interface TickerStore {
  look(look: TickerLook): Promise<TickerLooked>
  handOn(handed: HandedTickers): Promise<void>
  close(): void
}

export interface RedisTickerStoreOptions {
  readonly url: string
  readonly password: Secret | undefined
  readonly group: string
  readonly baseUrl: string
  readonly answerMsMax: number
}

const RETRY_MS = 250
const CONNECT_MS_MAX = 1000

/** Lists of tickers on a connection of their own hold up no share of a limit. */
export class RedisTickerStore implements TickerStore {
  readonly #redis: Redis
  readonly #keyOf: (productType: string) => string
  #trouble = 'not connected yet'

  constructor({ url, password, group, baseUrl, answerMsMax }: RedisTickerStoreOptions) {
    this.#keyOf = (productType) => `intentd:tickers:${group}:${baseUrl}:${productType}`
    this.#redis = createRedis(url, password, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: answerMsMax,
      connectTimeout: CONNECT_MS_MAX,
      retryStrategy: () => RETRY_MS,
    })
    this.#redis.on('error', (error) => {
      this.#trouble = messageOf(explainRefusal(error))
    })
  }

  async look({ productType, has, since, ageMsMax, otherwise }: TickerLook): Promise<TickerLooked> {
    const answer = await this.#run(LOOK_SCRIPT, productType, [has, since, ageMsMax, otherwise])
    const [word, server, number, more, body] = answer
    const [kind, now] = [String(word), Number(server)]
    if (kind === 'wait') return { kind, now, since: Number(number), waitMs: Number(more) }
    if (kind !== 'reading' || !Buffer.isBuffer(body)) return { kind: 'read', now }
    return { kind, now, askedAt: Number(number), contentEncoding: String(more), body }
  }

  async handOn({
    productType,
    askedAt,
    tookMs,
    contentEncoding,
    body,
  }: HandedTickers): Promise<void> {
    await this.#run(HAND_ON_SCRIPT, productType, [askedAt, tookMs, contentEncoding, body])
  }

  close(): void {
    this.#redis.disconnect()
  }

  async #run(
    script: string,
    productType: string,
    args: readonly (string | number | Buffer)[],
  ): Promise<readonly unknown[]> {
    if (this.#redis.status !== 'ready') throw new Error(this.#trouble)
    return (await this.#redis.callBuffer(
      'EVAL',
      script,
      1,
      this.#keyOf(productType),
      ...args,
    )) as unknown[]
  }
}
