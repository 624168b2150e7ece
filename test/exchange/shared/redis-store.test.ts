import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { Limiter } from '../../../src/exchange/limiter/limiter.ts'
import { explainRefusal } from '../../../src/exchange/limiter/shared/redis-client.ts'
import { RedisStore } from '../../../src/exchange/limiter/shared/redis-store.ts'
import { type ShareReport } from '../../../src/exchange/limiter/shared/share-script.ts'
import { ANSWER_MS_MAX, SharedLimits } from '../../../src/exchange/limiter/shared/shared-limits.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { messageOf } from '../../../src/lib/failure.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { RedisServer, redisMissing } from '../../support/redis-server.ts'

/** What a member said, and who waits for it. */
class Heard {
  #waiting: { readonly words: string; readonly resolve: () => void } | undefined

  say(words: string): void {
    if (this.#waiting?.words === words) this.#waiting.resolve()
  }

  next(words: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { words, resolve }
    })
  }
}

function startMember(url: string, id: string, arrivals: number[]) {
  const heard = new Heard()
  const shared = new SharedLimits({
    store: new RedisStore({
      url,
      password: undefined,
      group: 'test',
      answerMsMax: ANSWER_MS_MAX,
    }),
    id,
    members: 2,
    lateMs: 100,
    clock: systemClock,
    timers: systemTimers,
    onLost: () => heard.say('lost'),
    onRefused: () => undefined,
    onJoined: () => heard.say('joined'),
  })
  const limiter = new Limiter({ clock: systemClock, timers: systemTimers, shared })
  const ask = (): void => {
    limiter.request('tickers', 2, (grant) => {
      arrivals.push(performance.now())
      grant.release()
      ask()
    })
  }
  ask()
  return { heard, shared, limiter }
}

it.skipIf(redisMissing !== undefined)(
  '[LIM1] two daemons share a limit, and keep it while the server is killed and started again',
  async () => {
    const server = await RedisServer.start()
    const arrivals: number[] = []
    const members = ['one', 'other'].map((id) => startMember(server.url, id, arrivals))
    const all = (words: string) => Promise.all(members.map(({ heard }) => heard.next(words)))

    await all('joined')
    const lost = all('lost')
    await server.kill()
    await lost
    expect(members.map(({ shared }) => shared.members)).toEqual([0, 0])
    const again = all('joined')
    await server.start()
    await again
    expect(Math.max(...members.map(({ shared }) => shared.members))).toBe(2)

    for (const { limiter } of members) await limiter.stop()
    const redis = new Redis(server.url)
    const [state] = await redis.mget('intentd:limits:test')
    redis.disconnect()
    await server.kill()
    const { who } = JSON.parse(String(state)) as { who: Record<string, { ends: number }> }
    expect(Object.values(who).map(({ ends }) => ends < Date.now())).toEqual([true, true])
    const inWindow = arrivals.map(
      (at) => arrivals.filter((other) => other > at - 1000 && other <= at).length,
    )
    expect(arrivals.length).toBeGreaterThan(10)
    expect(Math.max(...inWindow)).toBeLessThanOrEqual(20)
  },
)

const REPORT: ShareReport = {
  id: 'one',
  sequence: 1,
  sentAt: 0,
  notAfter: Number.MAX_SAFE_INTEGER,
  lastingMs: 1e3,
  slackMs: 0,
  members: 1,
  isLeaving: false,
  isNew: true,
  limits: [],
}

/** What it says once it knows more than that there is no connection yet. */
async function hearTrouble(store: RedisStore): Promise<string> {
  for (;;) {
    const said = await store.readTime().then(
      () => 'the time',
      (error: unknown) => messageOf(error),
    )
    if (said !== 'not connected yet') return said
    await new Promise(setImmediate)
  }
}

it.each([
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    /^if nobody known has signed .* NODE_EXTRA_CA_CERTS \(no trust\)$/,
  ],
  ['CERT_HAS_EXPIRED', /^renew the certificate of the server \(no trust\)$/],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    /^name the server in the address as its certificate does.*\(no trust\)$/,
  ],
  ['ECONNREFUSED', /^no trust$/],
])('a certificate that is refused (%s) is said with what to do', (code, said) => {
  expect(messageOf(explainRefusal(Object.assign(new Error('no trust'), { code })))).toMatch(said)
})

it.skipIf(redisMissing !== undefined)('a server that refuses is said with what to do', async () => {
  const server = await RedisServer.start({ password: 'right' })
  const url = server.url
  const said = []
  for (const password of [undefined, new Secret('wrong'), new Secret('right')]) {
    const store = new RedisStore({ url, password, group: 'test', answerMsMax: ANSWER_MS_MAX })
    said.push(await hearTrouble(store))
    store.close()
  }
  const redis = new Redis(url, { password: 'right' })
  await redis.acl('SETUSER', 'limits', 'on', '>word', '~other:*', '+@all')
  const user = url.replace('redis://', 'redis://limits@')
  const store = new RedisStore({
    url: user,
    password: new Secret('word'),
    group: 'test',
    answerMsMax: 1000,
  })
  await hearTrouble(store)
  const refused = await store.report(REPORT).catch((error: unknown) => messageOf(error))
  store.close()
  redis.disconnect()
  await server.kill()

  expect(said).toEqual([
    expect.stringMatching(/^it asks for a password: set INTENTD_LIMITS_PASSWORD, .*NOAUTH/),
    expect.stringMatching(
      /^it refuses user or password: look at INTENTD_LIMITS_PASSWORD, .*WRONGPASS/,
    ),
    'the time',
  ])
  expect(refused).toMatch(/^its user may not do what is needed: .* intentd:\*/)
})
