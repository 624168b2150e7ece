import { Redis, type RedisOptions } from 'ioredis'
import { messageOf } from '../../../lib/failure.ts'
import { adviseCertificate, COPY_IN_VARIABLE } from '../../../lib/net/certificate.ts'
import type { Secret } from '../../../lib/secret.ts'

type RedisSettings = Omit<RedisOptions, 'replyMapping'>

/**
 * With an empty password the library uses the user in the address
 * (`redis://limits@cache.example:6379`) instead of the given one.
 */
export function createRedis(
  url: string,
  password: Secret | undefined,
  options: RedisSettings,
): Redis {
  const bare = new URL(url)
  bare.username = ''
  return new Redis(bare.href, { ...loginOf(url, password), ...options })
}

const ANSWER_MS_MAX = 5000

/**
 * Opens a connection for the question.
 * @throws Error in the server's or client's words, with advice if the server refuses; for a refused
 * certificate Node's own error, for {@link adviseCertificate}
 */
export async function askOnce<T>(
  url: string,
  password: Secret | undefined,
  question: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = createRedis(url, password, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    commandTimeout: ANSWER_MS_MAX,
    connectTimeout: ANSWER_MS_MAX,
  })
  let trouble: unknown
  redis.on('error', (error) => {
    trouble = error
  })
  try {
    await redis.connect()
    return await question(redis)
  } catch (error) {
    // The client's own error only says that the connection is closed.
    const found = trouble ?? error
    throw isCertificateRefused(found) ? found : new Error(messageOf(explainRefusal(found)))
  } finally {
    redis.disconnect()
  }
}

function isCertificateRefused(error: unknown): error is Error {
  return adviseCertificate(error, COPY_IN_VARIABLE) !== undefined
}

function loginOf(url: string, password: Secret | undefined): RedisSettings {
  if (password === undefined) return {}
  const username = decodeURIComponent(new URL(url).username)
  return { password: password.reveal(), ...(username === '' ? {} : { username }) }
}

const PASSWORD = 'INTENTD_LIMITS_PASSWORD, or the file that INTENTD_LIMITS_PASSWORD_FILE names'

const RIGHTS = '+time +info +eval +get +set'

const ADVICE: Readonly<Record<string, string>> = {
  NOAUTH: `it asks for a password: set ${PASSWORD}`,
  WRONGPASS: `it refuses user or password: look at ${PASSWORD}`,
  NOPERM: `its user may not do what is needed: give it ${RIGHTS} on the keys intentd:*`,
  DENIED: 'it takes no other machines (protected mode): set requirepass there, and bind',
}

/** Redis 7.0 words NOPERM within a script in one way; Redis 7.2 and Valkey in another. */
const NOT_IN_SCRIPT = /script can't run this command|ACL failure in script/

export function explainRefusal(error: unknown): unknown {
  const found = messageOf(error)
  const advice = adviseCertificate(error, COPY_IN_VARIABLE)
  if (advice !== undefined) return new Error(`${advice} (${found})`)
  const word = NOT_IN_SCRIPT.test(found)
    ? 'NOPERM'
    : Object.keys(ADVICE).find((one) => new RegExp(`\\b${one}\\b`).test(found))
  // The server's text about protected mode fills a page.
  return word === undefined ? error : new Error(`${ADVICE[word]} (${word})`)
}
