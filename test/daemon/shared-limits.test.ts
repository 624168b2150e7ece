import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { formatStatus } from '../../src/cli/control/status.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { StatusView } from '../../src/control/views.ts'
import { Metrics } from '../../src/daemon/control/metrics.ts'
import { openSharedLimits, openDaemon } from '../../src/daemon/open-daemon.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { RedisServer, redisMissing } from '../support/redis-server.ts'
import { Projects } from './project.ts'
import { writeRemote } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const PASSWORD = 'canary-1d7c0a55'
const time = { clock: systemClock, timers: systemTimers }

/** What is logged, who waits for it, and what no line may hold. */
function listenTo() {
  const said: { readonly event: string; readonly fields: object }[] = []
  const hidden: Secret[] = []
  let [wanted, resume] = ['', (): void => undefined]
  return {
    said,
    hidden,
    isTerminal: false,
    descriptor: 1 as const,
    setLevel: () => undefined,
    listen: () => undefined,
    hide: (secret: Secret) => void hidden.push(secret),
    log(_level: string, event: string, fields: object = {}) {
      said.push({
        event,
        fields,
      })
      if (event === wanted) resume()
    },
    heard: (event: string): Promise<void> =>
      new Promise((resolve) => {
        ;[wanted, resume] = [event, resolve]
        if (said.some((line) => line.event === event)) resolve()
      }),
  }
}

describe.skipIf(redisMissing !== undefined)('limits that are shared', () => {
  it('a start that fails behind them leaves no connection and no timer', async () => {
    const server = await RedisServer.start()
    const project = projects.open()
    writeRemote(project)
    project.write('exposed.token', `${'x'.repeat(40)}\n`)
    chmodSync(join(project.directory, 'exposed.token'), 0o644)
    const loaded = loadConfig({
      file: 'config/remote.yaml',
      overrides: [
        'exchange.baseUrl=http://127.0.0.1:1',
        `exchange.shared.redis=${server.url}`,
        'exchange.shared.members=2',
        'control.tokenFile=../exposed.token',
      ],
      cwd: project.directory,
    })
    const credentials = {
      apiKey: new Secret('k'),
      apiSecret: new Secret('s'),
      passphrase: new Secret('p'),
    }

    const opening = openDaemon({
      ...time,
      loaded,
      credentials,
      market: {
        files: [],
        speed: undefined,
      },
      version: '0',
      logger: listenTo(),
    })

    await expect(opening).rejects.toMatchObject({ code: 'CONTROL_TOKEN_EXPOSED' })
    const redis = new Redis(server.url)
    expect(String(await redis.client('LIST')).match(/^id=/gm)).toHaveLength(1)
    redis.disconnect()
    await server.kill()
  })

  it('[SEC1] say why Redis refuses them, and never their password', async () => {
    const server = await RedisServer.start({ password: PASSWORD })
    const open = async (word: string) => {
      const logger = listenTo()
      const shared = { redis: server.url, members: 2, group: 'default' }
      const config = { exchange: { shared, requestTimeoutMs: 100 } } as never
      const limits = await openSharedLimits({ ...time, config, password: new Secret(word), logger })
      return { logger, limits }
    }

    const [wrong, right] = [await open('canary-of-another'), await open(PASSWORD)]
    await Promise.all([wrong.logger.heard('limits.alone'), right.logger.heard('limits.shared')])

    expect(wrong.logger.said).toMatchObject([
      { fields: { reason: expect.stringContaining('WRONGPASS') } },
    ])
    expect(right.logger.said).toMatchObject([{ event: 'limits.shared' }])
    for (const { logger, limits } of [wrong, right]) {
      expect(logger.hidden.map((secret) => secret.reveal())).toEqual([
        expect.stringContaining('canary'),
      ])
      expect(JSON.stringify([logger.said, limits?.view()])).not.toContain('canary')
      await limits?.stop()
    }
    await server.kill()
  })
})

it('status and /metrics show what is held of the limits of the address', () => {
  const limits = [
    { name: 'all endpoints', calls: 6000, perMs: 60_000, mayMake: 1500, gone: 1200 },
    { name: 'longShortRatio', calls: 1, perMs: 1000, mayMake: 0, gone: 0 },
  ]
  const show = (sharedLimits: StatusView['sharedLimits']) => {
    const status = {
      name: 'a',
      version: '0',
      environment: 'demo',
      speed: 1,
      isReadOnly: false,
      exchange: 'e',
      configOption: '',
      pid: 1,
      processStartedAt: 0,
      startedAt: 0,
      now: 9e4,
      accounts: [],
      off: [],
      ...(sharedLimits && { sharedLimits }),
    }
    const metrics = new Metrics(systemTimers)
    const summary = { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }
    const polls = { lateness: summary } as never
    const text = metrics.render({ status, accounts: [], isReady: true, polls })
    metrics.stop()
    return { text: formatStatus(status, true), metrics: text }
  }
  const common = { since: 30_000, membersMax: 4, limits }

  const shared = show({ ...common, state: 'shared', reason: null, members: 3 })
  const alone = show({ ...common, state: 'alone', reason: 'no answer', members: 0 })
  const refused = show({ ...common, state: 'refused', reason: 'too many', members: 0 })

  expect(shared.text).toMatch(
    /with 2 other daemons \(at most 3\) for 60 s: all endpoints 1500 of\s+6000/,
  )
  expect(shared.metrics).toContain('intentd_shared_limits_state{state="shared"} 1\n')
  expect(shared.metrics).toContain('intentd_shared_limits_members 3\n')
  expect(shared.text).toMatch(
    /\n +of daemons that ended, and may count still: all endpoints 1200\n/,
  )
  expect(shared.metrics).toContain('intentd_shared_limit_gone{limit="all endpoints"} 1200\n')
  expect(shared.metrics).toContain('intentd_shared_limit_held{limit="longShortRatio"} 0\n')
  expect(alone.text).toMatch(/! without Redis for 60 s, at most an even share of 4[^]*! no answer/)
  expect(alone.metrics).toContain('intentd_shared_limits_since_seconds 30\n')
  expect(refused.text).toMatch(
    /! REFUSED for 60 s: no call leaves, not even a cancel[^]*! too many/,
  )
  expect(show({ ...common, state: 'joining', reason: null, members: 0 }).text).toContain(
    'waits for',
  )
})
