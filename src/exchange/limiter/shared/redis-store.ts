import type { Redis } from 'ioredis'
import { messageOf } from '../../../lib/failure.ts'
import type { Secret } from '../../../lib/secret.ts'
import { createRedis, explainRefusal } from './redis-client.ts'
import { SHARE_SCRIPT, type ShareAnswer, type ShareReport } from './share-script.ts'
import { parseBoundedJson } from '../../../lib/text/bounded-json.ts'

export interface ShareStore {
  readTime(): Promise<number>
  report(report: ShareReport): Promise<ShareAnswer>
  close(): void
}

export interface RedisStoreOptions {
  readonly url: string
  readonly password: Secret | undefined
  readonly group: string
  readonly answerMsMax: number
}

const RETRY_MS = 250

/** Nothing is repeated, and nothing waits for a connection. */
export class RedisStore implements ShareStore {
  readonly #redis: Redis
  readonly #key: string
  #trouble = 'not connected yet'

  constructor({ url, password, group, answerMsMax }: RedisStoreOptions) {
    this.#key = `intentd:limits:${group}`
    this.#redis = createRedis(url, password, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: answerMsMax,
      connectTimeout: answerMsMax,
      retryStrategy: () => RETRY_MS,
    })
    this.#redis.on('error', (error) => {
      this.#trouble = messageOf(explainRefusal(error))
    })
  }

  async readTime(): Promise<number> {
    const [seconds, micros] = await this.#ask(() => this.#redis.time())
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  async report(report: ShareReport): Promise<ShareAnswer> {
    const text = JSON.stringify(report)
    const answer = await this.#ask(() => this.#redis.eval(SHARE_SCRIPT, 1, this.#key, text))
    return parseBoundedJson(String(answer)) as ShareAnswer
  }

  close(): void {
    this.#redis.disconnect()
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    if (this.#redis.status !== 'ready') throw new Error(this.#trouble)
    try {
      return await question()
    } catch (error) {
      throw explainRefusal(error)
    }
  }
}
