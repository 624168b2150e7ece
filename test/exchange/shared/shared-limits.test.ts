import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { type EndpointName } from '../../../src/protocol/endpoints.ts'
import { RedisServer, redisMissing } from '../../support/redis-server.ts'
import { SharedWorld } from './shared-world.ts'

/** The document's limit of tickers. */
const CALLS = 20
/** Of all endpoints together, a minute. */
const OVERALL = 6000
/** More than that, in four daemons: 50 a second each, and 20 of them all. */
const ALL = [
  'tickers',
  'singlePosition',
  'orderFills',
  'spotHistoryOrders',
  'convertRecords',
] as const

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

  const createWorld = (seed: string, members: number, endpoints?: readonly EndpointName[]) =>
    new SharedWorld({
      random: createRandom(seed),
      redis,
      key: `world ${worlds++}`,
      members,
      endpoints,
    })

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
    const [daemon] = daemons
    expect(daemon?.without).toEqual(['longShortRatio'])
    expect(daemon?.shared.view()).toMatchObject({
      state: 'alone',
      reason: 'no answer',
      members: 0,
      membersMax: 4,
      limits: [
        {
          name: 'all endpoints',
          calls: 6e3,
          mayMake: 750,
        },
        {
          name: 'tickers',
          calls: 20,
          mayMake: 5,
        },
        {
          name: 'longShortRatio',
          calls: 1,
          mayMake: 0,
        },
        {
          name: 'spotSymbols',
          calls: 20,
          mayMake: 5,
        },
      ],
    })
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
      ['refused: as many daemons share the address already as exchange.shared.members says'],
    ])
    expect(refused.map(({ made }) => made)).toEqual(before)
    // The others go on with even shares: nothing is left for it.
    world.isServerUp = false
    await world.pass(20_000)
    expect(refused.map(({ made }) => made)).toEqual(before)
    expect(refused.map(({ shared }) => shared.view())).toMatchObject([
      {
        state: 'refused',
        reason: expect.stringMatching(/^as many daemons .*; and now: no answer$/),
      },
    ])
    world.isServerUp = true
    daemons.find((daemon) => !refused.includes(daemon))?.kill()
    await world.pass(10_000)
    expect(refused.map(({ said, made }) => [said.at(-1), made > 0])).toEqual([['joined', true]])
    expect(world.most()).toBeLessThanOrEqual(CALLS)
  })

  it('frees at once what one that stops in good order did not use, however often', async () => {
    const world = createWorld('stops', 3)
    world.start()
    let other = world.start()
    await world.pass(100_000)

    const may: unknown[] = []
    for (let stops = 0; stops < 4; stops++) {
      void other.stop()
      await world.pass(1500)
      other = world.start(1, true)
      await world.pass(2000)
      may.push(other.shared.view().limits[0]?.mayMake)
    }

    // Of an even share of 2000 what the ones before it have called, some ten a second.
    for (const calls of may) expect(calls).toBeGreaterThan(1000)
    await world.pass(5000)
    expect(world.most()).toBeLessThanOrEqual(CALLS)
  })

  it('[LIM1] [LIM2] leaves calls to cancel with to one that is killed and started again and again', async () => {
    const world = createWorld('kills', 3)
    world.start()
    let other = world.start()
    await world.pass(100_000)

    const may: unknown[] = []
    for (let kills = 0; kills < 10; kills++) {
      other.kill()
      await world.pass(4000)
      other = world.start(1, true)
      await world.pass(2000)
      let cancels = 0
      for (let call = 0; call < 3; call++)
        other.limiter.request('cancelAllOrders', 0, (grant) => {
          cancels++
          grant.release({})
        })
      await world.pass(3000)
      may.push(cancels)
    }

    expect(may).toEqual(Array.from({ length: 10 }, () => 3))
    expect(world.most(60_000)).toBeLessThanOrEqual(OVERALL)
  })

  it.each(['stopped', 'killed'])(
    '[LIM1] nor where one is %s and started again while another is cut off',
    async (how) => {
      const world = createWorld(`silent ${how}`, 3, ALL)
      const [, silent, other] = [world.start(), world.start(), world.start()]
      await world.pass(80_000)
      // Its lease and everything that it made under it is over, and it has its even share by itself.
      silent.isReached = false
      await world.pass(85_000)
      if (how === 'killed') other.kill()
      else void other.stop()
      await world.pass(1000)
      world.start(1, true)
      await world.pass(60_000)

      expect(world.countSince(80_000)).toBeGreaterThan(7000)
      expect(world.most(60_000)).toBeLessThanOrEqual(OVERALL)
    },
  )

  it.each(['1', '2'])(
    '[LIM1] nor of the limit over all endpoints, whoever is killed and started again: %s',
    async (seed) => {
      const world = createWorld(`overall ${seed}`, 4, ALL)
      const { random } = world
      const started = Array.from({ length: 4 }, () => world.start(1 + 8e-4 * (random.next() - 0.5)))
      await world.pass(140_000)
      const before = world.countSince(80_000) / OVERALL
      const killed = started[random.integer(4)]
      killed?.kill()
      await world.pass(10_000 * random.next())
      const again = world.start(1, true)
      const [at, made] = [world.time.monotonic(), started.map((daemon) => daemon.made)]
      await world.pass(10_000)
      const rates = started.map((daemon, place) => (daemon.made - (made[place] ?? 0)) / 10)
      const since = world.countSince(at) / (OVERALL / 6)
      await world.pass(30_000)
      const isEmptied = random.integer(2) === 0
      if (isEmptied) await redis.flushall()
      await world.pass(30_000)

      expect(before).toBeGreaterThan(0.95)
      // Its own ghost may hold its place for as long as a lease lasts.
      expect(again.said[0]).toBe('joined')
      expect(since).toBeGreaterThan(0.5)
      expect(again.made).toBeGreaterThan(isEmptied ? 100 : 300)
      // Nobody stands still while shares move.
      for (const [place, rate] of rates.entries())
        if (started[place] !== killed) expect(rate).toBeGreaterThan(9)
      expect(world.most(60_000)).toBeLessThanOrEqual(OVERALL)
    },
  )

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
        const what = random.integer(12)
        if (what < 3) daemon.wants = !daemon.wants
        else if (what === 3) daemon.isReached = !daemon.isReached
        else if (what === 4) daemon.sleep()
        else if (what === 5) for (const each of daemons) each.wake()
        else if (what === 6) world.isServerUp = !world.isServerUp
        else if (what === 7) await redis.flushall()
        else if (what === 8) world.run++
        else if (what === 9) world.pausedUntil = world.time.monotonic() + 6000 * random.next()
        else {
          if (what === 10) daemon.kill()
          else {
            daemon.wake()
            void daemon.stop()
            await world.pass(1100)
          }
          daemons[place] = world.start(1 + 8e-4 * (random.next() - 0.5), true)
        }
        await world.pass(200 + 4000 * random.next() ** 2)
      }
      for (const daemon of daemons) daemon.wake()
      await world.pass(3000)

      expect(world.arrivals.length).toBeGreaterThan(100)
      expect(world.most()).toBeLessThanOrEqual(CALLS)
    },
  )
})
