import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { TrustedClock } from '../../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../../src/exchange/exchange-client.ts'
import { Limiter } from '../../../src/exchange/limiter/limiter.ts'
import { SharedTickers } from '../../../src/exchange/shared-tickers/shared-tickers.ts'
import {
  RedisTickerStore,
  type RedisTickerStoreOptions,
  type TickerLook,
} from '../../../src/exchange/shared-tickers/ticker-store.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { startSimulator } from '../../../src/simulator/start-simulator.ts'
import { RedisServer, redisMissing } from '../../support/redis-server.ts'
import { CALLING } from '../client-fixture.ts'

const productType = 'USDT-FUTURES'
const AT = 'http://exchange.test'
const KEY = `intentd:tickers:office:${AT}:${productType}`
const LOOK: TickerLook = { productType, has: 0, since: 0, ageMsMax: 60_000, otherwise: 'turn' }
/** Nothing of it depends on how fast the machine is. */
const PATIENT_MS = 30_000
type Opening = Partial<RedisTickerStoreOptions>
const BODY = Buffer.from([0, 255, 13, 10, 36, 128])

describe.skipIf(redisMissing !== undefined)('tickers that are handed on through Redis', () => {
  let server: RedisServer
  let redis: Redis
  beforeAll(async () => {
    server = await RedisServer.start()
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.kill()
  })
  beforeEach(async () => void (await redis.flushall()))

  /** The server's time, ms. */
  async function readNow(): Promise<number> {
    const [seconds, micros] = await redis.time()
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  /** Connected already, but for one that cannot be. */
  async function open({
    answerMsMax = PATIENT_MS,
    baseUrl = AT,
    url = server.url,
    password,
  }: Opening = {}) {
    const store = new RedisTickerStore({ url, password, group: 'office', baseUrl, answerMsMax })
    if (url.endsWith(`:${server.port}`)) {
      for (;;) {
        const isThere = await store.handOn({ ...handed(0), body: Buffer.alloc(0) }).then(
          () => true,
          () => false,
        )
        if (isThere) break
        await new Promise<void>((resolve) => void systemTimers.after(1, resolve))
      }
    }
    return store
  }

  const handed = (askedAt: number) => ({
    productType,
    askedAt,
    tookMs: 40,
    contentEncoding: 'gzip',
    body: BODY,
  })

  it('are claimed by whoever looks first, waited for by the others, and taken byte for byte', async () => {
    const [one, other] = [await open(), await open()]

    const turn = await one.look(LOOK)
    const waiting = await other.look(LOOK)
    await one.handOn(handed(turn.now))

    expect(turn.kind).toBe('read')
    expect(waiting).toMatchObject({ kind: 'wait', waitMs: 5 })
    const since = waiting.kind === 'wait' ? waiting.since : 0
    expect(await other.look({ ...LOOK, since })).toMatchObject({
      kind: 'reading',
      askedAt: turn.now,
      contentEncoding: 'gzip',
      body: BODY,
    })
    // What one has is not wanted again, and the turn is over.
    expect(await other.look({ ...LOOK, has: turn.now })).toMatchObject({ kind: 'read' })
    // Whoever waits now looks again when the answer is to be expected.
    const next = await one.look({ ...LOOK, has: turn.now })
    expect(next.kind === 'wait' ? next.waitMs : 0).toBeGreaterThanOrEqual(5)
    expect(next.kind === 'wait' ? next.waitMs : 0).toBeLessThanOrEqual(40)
    // Nobody waits for ever.
    expect(await one.look({ ...LOOK, has: turn.now, otherwise: 'claim' })).toMatchObject({
      kind: 'read',
    })
    // Whoever only waits takes no turn.
    await one.handOn({ ...handed(turn.now), body: Buffer.alloc(0) })
    for (let looks = 0; looks < 2; looks++)
      expect(await one.look({ ...LOOK, has: turn.now, otherwise: 'wait' })).toMatchObject({
        waitMs: 25,
      })
    for (const store of [one, other]) store.close()
  })

  it('are handed on by a user of its own', async () => {
    await redis.acl('SETUSER', 'limits', 'on', '>word', '~intentd:*', '+@all')
    const one = await open({
      url: server.url.replace('redis://', 'redis://limits@'),
      password: new Secret('word'),
    })

    expect(await one.look(LOOK)).toMatchObject({ kind: 'read' })
    one.close()
  })

  it('are another exchange’s own, and those of another product type', async () => {
    const [one, other] = [await open(), await open({ baseUrl: 'http://other.test' })]
    await one.handOn(handed(await readNow()))

    expect(await other.look(LOOK)).toMatchObject({ kind: 'read' })
    expect(await one.look({ ...LOOK, productType: 'COIN-FUTURES' })).toMatchObject({ kind: 'read' })
    expect(await one.look(LOOK)).toMatchObject({ kind: 'reading' })
    for (const store of [one, other]) store.close()
  })

  it('that are too old, or of a clock that was set back, are not taken, nor is such a claim waited for', async () => {
    const one = await open()
    for (const apartMs of [-61_000, 60_000]) {
      const at = (await readNow()) + apartMs
      await redis.hset(KEY, { asked: at, claimed: at, took: 5, encoding: '', body: 'x' })

      const looked = await one.look(LOOK)

      expect(looked).toMatchObject({ kind: 'read' })
      await one.handOn({ ...handed(looked.now), contentEncoding: '' })
      expect(await one.look(LOOK)).toMatchObject({ kind: 'reading', askedAt: looked.now })
    }
    one.close()
  })

  it('are kept where an older answer comes later, and for some seconds alone', async () => {
    const one = await open()
    const now = await readNow()

    await one.handOn(handed(now))
    await one.handOn({ ...handed(now - 1), body: Buffer.from('older') })

    expect(await one.look(LOOK)).toMatchObject({ kind: 'reading', askedAt: now, body: BODY })
    expect(await redis.pttl(KEY)).toBeGreaterThan(0)
    one.close()
  })

  it('are not waited for where no connection is, or no answer comes', async () => {
    const [away, slow] = [
      await open({ url: 'redis://127.0.0.1:1' }),
      await open({ answerMsMax: 50 }),
    ]

    await expect(away.look(LOOK)).rejects.toThrow(/not connected yet|ECONNREFUSED/)
    process.kill(server.pid, 'SIGSTOP')
    await expect(slow.look(LOOK)).rejects.toThrow('timed out')
    process.kill(server.pid, 'SIGCONT')
    for (const store of [away, slow]) store.close()
  })

  it('cost an exchange one call for two daemons', async () => {
    const simulator = await startSimulator({ market: { kind: 'seeded' }, seed: 1, accounts: [] })
    const members = await Promise.all(
      ['one', 'other'].map(async () => {
        const trusted = new TrustedClock(systemClock)
        const client = new ExchangeClient({
          baseUrl: simulator.baseUrl,
          positionMode: 'one_way_mode',
          ...CALLING,
          clock: trusted.clock,
          timers: systemTimers,
          offset: trusted.offset,
        })
        const limiter = new Limiter({ clock: systemClock, timers: systemTimers })
        const table = new TickerTable()
        await client.readTickers(table, productType)
        await client.readTickers(table, productType)
        const store = await open({ baseUrl: simulator.baseUrl })
        const tickers = new SharedTickers({
          store,
          client,
          limiter,
          trusted,
          timers: systemTimers,
          tickersMs: 5e3,
        })
        return { client, limiter, table, tickers }
      }),
    )

    const before = simulator.counters().requests.tickers
    for (let polls = 0; polls < 3; polls++) {
      const read = await Promise.all(
        members.map(({ table, tickers }) => tickers.readTickers(table, productType)),
      )

      expect(read.map(({ kind }) => kind)).toEqual(['accepted', 'accepted'])
      const [one, other] = members.map(({ table }) => table)
      expect(one?.columns.bidPr).toEqual(other?.columns.bidPr)
      expect([one?.requestTime, one?.symbols]).toEqual([other?.requestTime, other?.symbols])
    }

    expect(simulator.counters().requests.tickers - before).toBe(3)
    for (const { tickers, client, limiter } of members) {
      tickers.close()
      await limiter.stop()
      await client.close()
    }
    await simulator.stop()
  })
})
