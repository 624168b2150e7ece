import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { RedisServer, redisMissing } from '../../support/redis-server.ts'
import { SharedWorld } from './shared-world.ts'

/** The document's limit of tickers. */
const CALLS = 20

describe.skipIf(redisMissing !== undefined)('limits of an address that daemons share', () => {
  let server: RedisServer
  let redis: Redis
  let worlds = 0

  beforeAll(async () => {
    server = await RedisServer.start()
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.kill()
  })

  const createWorld = (seed: string, members: number) =>
    new SharedWorld({ random: createRandom(seed), redis, key: `world ${worlds++}`, members })

  it('gives each its even share, and what the others do not need within two seconds', async () => {
    const world = createWorld('move', 4)
    const daemons = [1, 1, 1, 1].map((rate) => world.start(rate))
    await world.pass(10_000)
    for (const daemon of daemons.slice(1)) daemon.wants = false
    const [busy] = daemons

    await world.pass(4000)
    const before = busy?.made ?? 0
    await world.pass(5000)

    expect(((busy?.made ?? 0) - before) / 5).toBeGreaterThan(9)
    expect(busy?.shared.members).toBe(4)
    expect(world.most()).toBeLessThanOrEqual(CALLS)
  })

  it('[LIM1] falls to even shares without the server, and says so', async () => {
    const world = createWorld('down', 4)
    const daemons = [1, 1, 1, 1].map((rate) => world.start(rate))
    await world.pass(10_000)
    for (const daemon of daemons.slice(1)) daemon.wants = false
    await world.pass(4000)

    world.isServerUp = false
    for (const daemon of daemons) daemon.wants = true
    await world.pass(20_000)
    const before = daemons.map(({ made }) => made)
    await world.pass(5000)

    for (const [place, { made, said }] of daemons.entries()) {
      expect((made - (before[place] ?? 0)) / 5).toBeGreaterThan(3.5)
      expect(said).toEqual(['joined', 'no answer'])
    }
    expect(world.most()).toBeLessThanOrEqual(CALLS)
  })

  it('[LIM1] holds back one more than was said', async () => {
    const world = createWorld('many', 2)
    const daemons = [1, 1, 1].map((rate) => world.start(rate))

    await world.pass(15_000)
    const refused = daemons.filter(({ said }) => !said.includes('joined'))
    const before = refused.map(({ made }) => made)
    await world.pass(3000)

    expect(refused.map(({ said }) => said)).toEqual([
      ['as many daemons share the address already as exchange.shared.members says'],
    ])
    expect(refused.map(({ made }) => made)).toEqual(before)
    expect(world.most()).toBeLessThanOrEqual(CALLS)
  })

  it.each(['1', '2', '3', '4', '5', '6', '7', '8'])(
    '[LIM1] never more calls than the limit in any window, whatever happens: %s',
    async (seed) => {
      const world = createWorld(`any ${seed}`, 4)
      const { random } = world
      const daemons = Array.from({ length: 4 }, () => world.start(1 + 8e-4 * (random.next() - 0.5)))
      for (let step = 0; step < 40; step++) {
        const place = random.integer(4)
        const daemon = daemons[place]
        if (daemon === undefined) continue
        const what = random.integer(10)
        if (what < 3) daemon.wants = !daemon.wants
        else if (what === 3) daemon.isReached = !daemon.isReached
        else if (what === 4) daemon.sleep()
        else if (what === 5) for (const each of daemons) each.wake()
        else if (what === 6) world.isServerUp = !world.isServerUp
        else if (what === 7) await redis.flushall()
        else if (what === 8) world.run++
        else world.pausedUntil = world.time.monotonic() + 6000 * random.next()
        await world.pass(200 + 4000 * random.next() ** 2)
      }
      for (const daemon of daemons) daemon.wake()
      await world.pass(3000)

      expect(world.arrivals.length).toBeGreaterThan(100)
      expect(world.most()).toBeLessThanOrEqual(CALLS)
    },
  )
})
