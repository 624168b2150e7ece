import { Redis } from 'ioredis'
import { type Secret } from '../../../lib/secret.ts'
import { SHARE_SCRIPT, type ShareAnswer, type ShareReport } from './share-script.ts'

/** Where the members of an address meet. */
export interface ShareStore {
  /** The server's time, Unix ms. */
  readTime(): Promise<number>
  report(report: ShareReport): Promise<ShareAnswer>
  close(): void
}

export interface RedisStoreOptions {
  readonly url: string
  readonly password: Secret | undefined
  /** Names the address and the exchange among all that share the server. */
  readonly group: string
  /** An answer that takes longer has failed, ms. */
  readonly answerMsMax: number
}

/** To connect again after the connection was lost, ms. */
const RETRY_MS = 250

/** Over Redis or Valkey. Nothing is asked twice by itself, and nothing waits for a connection. */
export class RedisStore implements ShareStore {
  readonly #redis: Redis
  readonly #key: string

  constructor({ url, password, group, answerMsMax }: RedisStoreOptions) {
    this.#key = `intentd:limits:${group}`
    this.#redis = new Redis(url, {
      ...(password === undefined ? {} : { password: password.reveal() }),
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: answerMsMax,
      connectTimeout: answerMsMax,
      retryStrategy: () => RETRY_MS,
    })
    // What fails is said by whoever asked.
    this.#redis.on('error', () => undefined)
  }

  async readTime(): Promise<number> {
    const [seconds, micros] = await this.#redis.time()
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  async report(report: ShareReport): Promise<ShareAnswer> {
    const answer = await this.#redis.eval(SHARE_SCRIPT, 1, this.#key, JSON.stringify(report))
    return JSON.parse(String(answer)) as ShareAnswer
  }

  close(): void {
    this.#redis.disconnect()
  }
}
