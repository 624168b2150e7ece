import type { Redis } from 'ioredis'
import type { Secret } from '../../../lib/secret.ts'
import { askOnce } from './redis-client.ts'
import { SHARE_SCRIPT, type ShareAnswer, type ShareReport } from './share-script.ts'
import { parseBoundedJson } from '../../../lib/text/bounded-json.ts'

export interface ProbedRedis {
  readonly version: string
  readonly isReplica: boolean
}

const KEY = 'intentd:limits:probe'

/** The script answers before it reads anything, because this report is always late. */
const LATE: ShareReport = {
  id: 'probe',
  sequence: 0,
  sentAt: 0,
  notAfter: 0,
  lastingMs: 0,
  slackMs: 0,
  members: 1,
  isLeaving: false,
  isNew: true,
  limits: [],
}

const WRITE_SCRIPT = `return {redis.call('GET', KEYS[1]), redis.call('SET', KEYS[1], '', 'PX', 1)}`

/**
 * Changes nothing.
 * @throws Error in the server's or client's words, with advice if the server refuses
 */
export function probeRedis(url: string, password: Secret | undefined): Promise<ProbedRedis> {
  return askOnce(url, password, async (redis) => {
    const info = `${await redis.info('server')}\n${await redis.info('replication')}`
    const isReplica = /^role:slave/m.test(info)
    if (!isReplica) await tryScripts(redis)
    return { version: /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? '?', isReplica }
  })
}

async function tryScripts(redis: Redis): Promise<void> {
  const text = await redis.eval(SHARE_SCRIPT, 1, KEY, JSON.stringify(LATE))
  const { kind } = parseBoundedJson(String(text)) as ShareAnswer
  if (kind !== 'late') throw new Error(`the script answered ${kind}`)
  await redis.eval(WRITE_SCRIPT, 1, KEY)
}
