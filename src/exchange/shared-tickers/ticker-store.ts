import type { Redis } from 'ioredis'
import { messageOf } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import { createRedis, explainRefusal } from '../limiter/shared/redis-client.ts'
import { HAND_ON_SCRIPT, LOOK_SCRIPT } from './ticker-scripts.ts'

/** Instants are Unix ms by the server's clock. */
export interface TickerLook {
  readonly productType: string
  /** When the reading was asked for that we have: that one is not wanted again. */
  readonly has: number
  /** Wanted is what was asked for at this instant or later; 0: `ageMsMax` before this look. */
  readonly since: number
  readonly ageMsMax: number
  /** Where there is none: `turn` waits for whoever is reading, or takes the turn; `claim` takes it in any case. */
  readonly otherwise: 'turn' | 'claim' | 'wait'
}

/**
 * - `reading`: what another daemon was answered.
 * - `wait`: another daemon may be reading, for whoever wants what was asked for since then.
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
  /** The exchange was asked at this instant at the earliest. */
  readonly askedAt: number
  /** From then until its answer was there, ms. */
  readonly tookMs: number
  readonly contentEncoding: string
  /** The answer as it came; empty: there was none that is good for anything. */
  readonly body: Buffer
}

/** Where daemons hand tickers on. */
export interface TickerStore {
  look(look: TickerLook): Promise<TickerLooked>
  handOn(handed: HandedTickers): Promise<void>
  close(): void
}

export interface RedisTickerStoreOptions {
  readonly url: string
  readonly password: Secret | undefined
  readonly group: string
  /** Daemons that call the same exchange share what it says. */
  readonly baseUrl: string
  /** An answer that takes longer has failed, ms. */
  readonly answerMsMax: number
}

/** To connect again after the connection was lost, ms. */
const RETRY_MS = 250
const CONNECT_MS_MAX = 1000

/** Over Redis or Valkey, on a connection of its own: lists of tickers hold up no share of a limit. */
export class RedisTickerStore implements TickerStore {
  readonly #redis: Redis
  readonly #keyOf: (productType: string) => string
  /** Why there is no connection. */
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

  /** @throws Error with the reason, where there is no connection: the client's own says only that there is none */
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
