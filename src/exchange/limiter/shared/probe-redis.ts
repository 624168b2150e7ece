import { Redis } from 'ioredis'
import { messageOf } from '../../../lib/failure.ts'
import { type Secret } from '../../../lib/secret.ts'
import { SHARE_SCRIPT, type ShareAnswer, type ShareReport } from './share-script.ts'

export interface ProbedRedis {
  readonly version: string
  /** A replica takes no report. */
  readonly isReplica: boolean
}

/** An answer that takes longer is none, ms. */
const ANSWER_MS_MAX = 5000

/** It comes too late whatever the time is: the script answers before it looks at anything. */
const LATE: ShareReport = {
  ...{ id: 'probe', sequence: 0, notAfter: 0, lastingMs: 0, slackMs: 0, members: 1 },
  ...{ isLeaving: false, isNew: true, limits: [] },
}

/**
 * Looks whether limits can be shared there, and changes nothing.
 * @throws Error in the server's or the client's words
 */
export async function probeRedis(url: string, password: Secret | undefined): Promise<ProbedRedis> {
  const redis = new Redis(url, {
    ...(password === undefined ? {} : { password: password.reveal() }),
    ...{ lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null },
    ...{ commandTimeout: ANSWER_MS_MAX, connectTimeout: ANSWER_MS_MAX },
  })
  let trouble: string | undefined
  redis.on('error', (error) => {
    trouble = messageOf(error)
  })
  try {
    await redis.connect()
    const info = `${await redis.info('server')}\n${await redis.info('replication')}`
    const text = await redis.eval(SHARE_SCRIPT, 1, 'intentd:limits:probe', JSON.stringify(LATE))
    const { kind } = JSON.parse(String(text)) as ShareAnswer
    if (kind !== 'late') throw new Error(`the script answered ${kind}`)
    return {
      version: /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? '?',
      isReplica: /^role:slave/m.test(info),
    }
  } catch (error) {
    // The client's own says only that the connection is closed.
    throw new Error(trouble ?? messageOf(error), { cause: error })
  } finally {
    redis.disconnect()
  }
}
