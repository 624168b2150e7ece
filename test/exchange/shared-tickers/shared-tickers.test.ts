import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANSWER_MS_MAX } from '../../../src/exchange/shared-tickers/shared-tickers.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { bodyOf, type Member, TICKERS_MS, TickerScene } from './ticker-scene.ts'

let scene: TickerScene
beforeEach(() => {
  scene = new TickerScene()
})
afterEach(() => scene.close())

/** All of them poll at one moment, and then time passes. */
async function poll(
  members: readonly Member[],
  ms: number,
): Promise<readonly (string | undefined)[]> {
  const read: (string | undefined)[] = members.map(() => undefined)
  for (const [place, member] of members.entries())
    void member.read().then((what) => {
      read[place] = what
    })
  await scene.time.pass(0)
  await scene.time.pass(ms)
  return read
}

/** What a reading that is handed on might be. */
const hand = (body: Buffer, { contentEncoding = '', agoMs = 100 } = {}) =>
  scene.server.handOn({
    productType: 'USDT-FUTURES',
    askedAt: scene.server.now - agoMs,
    tookMs: 40,
    contentEncoding,
    body,
  })

describe('tickers that daemons read for each other', () => {
  it('[MKT1] are read once, and are as old as since their reader asked, whatever the clocks say', async () => {
    scene.server.tripMs = 6
    const members = [scene.open(), scene.open({ aheadMs: -3000 }), scene.open({ aheadMs: 90_000 })]
    const begunAt = members.map((member) => member.now())

    const read = await poll(members, 100)

    expect([read, scene.exchange.asked.length]).toEqual([['1', '1', '1'], 1])
    const counts = members.map(({ tickers }) => tickers.view())
    expect(counts).toMatchObject([
      { taken: 0, own: 1 },
      { taken: 1, own: 0 },
      { taken: 1, own: 0 },
    ])
    // It asked 3 ms after the poll at the earliest; the way here is 3 ms, and counts as 6.
    for (const place of [1, 2]) {
      const sinceMs = (members[place]?.table.readAt ?? 0) - (begunAt[place] ?? 0)
      expect(sinceMs).toBe(3 - 3 - 1)
    }
  })

  it('[MKT1] count from when they were asked for, though their reader had to wait for a grant', async () => {
    const [one, other] = [scene.open(), scene.open({ aheadMs: 4000 })]
    one.limiter.grantMs = 300
    const begunAt = other.now()
    await poll([one], 345)

    expect(await poll([other], 0)).toEqual(['1'])

    expect(other.table.readAt - begunAt).toBe(300 - 1)
    // What one has read oneself is not wanted again.
    expect(await poll([one], 400)).toEqual(['2'])
    expect(one.limiter.ended).toEqual(['released', 'released'])
  })

  it('are read by whoever has a call free, and taken by those who stand in line for one', async () => {
    const [one, other] = [scene.open(), scene.open()]
    one.limiter.grantMs = 300

    expect(await poll([one, other], 100)).toEqual(['1', '1'])

    expect(one.tickers.view()).toMatchObject({ taken: 1, own: 0 })
    expect([one.limiter.waiting, one.limiter.ended]).toEqual([0, []])
    expect([other.limiter.waiting, other.limiter.ended]).toEqual([0, ['released']])
  })

  it('are read by the first who is granted a call where nobody has one free', async () => {
    const members = [200, 300, 1e9].map((grantMs) => {
      const member = scene.open()
      member.limiter.grantMs = grantMs
      return member
    })

    expect(await poll(members, 300)).toEqual(['1', '1', '1'])

    expect(scene.exchange.asked.length).toBe(1)
    expect(members.map(({ limiter }) => limiter.waiting)).toEqual([0, 0, 0])
    expect(members.map(({ limiter }) => limiter.ended)).toEqual([['released'], [], []])
  })

  it.each([
    [16, 1, 250, 40],
    [4, 5, 50, 5],
  ])(
    'are had at nearly every poll by %i daemons that have %i calls a second each, and poll every %i ms',
    async (daemons, callsASecond, tickersMs, takesMs) => {
      scene.exchange.takesMs = takesMs
      scene.server.tripMs = 1
      const random = createRandom('scarce')
      const members = Array.from({ length: daemons }, () => scene.open({ tickersMs }))
      const { time } = scene
      async function run(member: Member): Promise<void> {
        const dueMs = tickersMs - (time.monotonic() % tickersMs) + random.integer(4)
        await new Promise<void>((resolve) => void time.after(dueMs, resolve))
        await member.read()
        if (time.monotonic() < 20_000) await run(member)
      }
      const polling = members.map((member) => {
        member.limiter.callsASecond = callsASecond
        return run(member)
      })
      for (let step = 0; step < 2100; step++) await time.pass(10)
      await Promise.all(polling)

      for (const { tickers } of members) {
        const { taken, own } = tickers.view()
        expect(taken + own).toBeGreaterThan((0.75 * 20_000) / tickersMs)
      }
    },
  )

  it('cost no call where a grant comes while another answer is looked at', async () => {
    const one = scene.open()
    one.limiter.grantMs = 40
    await poll([one], 20)
    await hand(bodyOf('7', scene.time.now()), { agoMs: 10 })
    scene.server.tripMs = 30

    await scene.time.pass(50)

    expect(one.tickers.view()).toMatchObject({ taken: 1, own: 0 })
    expect([one.limiter.open.size, one.limiter.ended]).toEqual([0, ['unused']])
  })

  it('are asked for again as soon as an answer is to be expected, and when waiting is over', async () => {
    const [one, other] = [scene.open({ tickersMs: 50 }), scene.open({ tickersMs: 50 })]
    scene.exchange.takesMs = 90
    await poll([one], 90)
    scene.exchange.state = 'hangs'
    void one.read()
    await scene.time.pass(0)
    scene.server.looks.length = 0
    const begunAt = scene.time.now()

    void other.read()
    await scene.time.pass(0)
    await scene.time.pass(50)

    expect(scene.server.looks.map(({ otherwise }) => otherwise)).toEqual(['turn', 'claim'])
    expect(scene.exchange.asked.at(-1)?.at).toBe(begunAt + 50)
  })

  it('are read at the next poll by another one when their reader is gone', async () => {
    const [gone, other] = [scene.open(), scene.open()]
    scene.exchange.state = 'hangs'
    await poll([gone], 1)
    scene.exchange.state = 'answers'

    const waiting = await poll([other], TICKERS_MS - 10)
    expect([waiting, scene.exchange.asked.length]).toEqual([[undefined], 1])
    await scene.time.pass(10 + scene.exchange.takesMs)

    expect(scene.exchange.asked.length).toBe(2)
    expect(await poll([other], 50)).toEqual(['3'])
    expect(other.tickers.view()).toEqual({ taken: 0, own: 2, refused: 0, failed: 0 })
  })

  it('are asked for by another one at once when the exchange has refused their reader', async () => {
    const members = [scene.open(), scene.open()]
    scene.exchange.state = 'refuses'

    const reading = poll(members, 100)
    scene.exchange.asked.push = function push(...asked) {
      if (this.length === 1) scene.exchange.state = 'answers'
      return Array.prototype.push.apply(this, asked)
    }

    expect(await reading).toEqual(['refused', '2'])
  })

  it('are not taken twice', async () => {
    const [one, other] = [scene.open(), scene.open()]
    await poll([one], 50)

    expect(await poll([other], 0)).toEqual(['1'])
    expect(await poll([other], 50)).toEqual(['2'])
    expect(await poll([one], 0)).toEqual(['2'])
  })

  it('may have been asked for half a poll before, a quarter of a second at most', async () => {
    const members = [100, 500, 5000].map((tickersMs) => scene.open({ tickersMs }))

    await poll(members, 2000)

    expect(scene.server.looks.slice(0, 3).map(({ ageMsMax }) => ageMsMax)).toEqual([50, 250, 250])
  })

  it('are those of one product type', async () => {
    const [one, other] = [scene.open(), scene.open()]
    await poll([one], 50)

    const read = other.read('COIN-FUTURES')
    await scene.time.pass(0)
    await scene.time.pass(50)

    expect(await read).toBe('2')
    expect(scene.exchange.asked.map(({ productType }) => productType)).toEqual([
      'USDT-FUTURES',
      'COIN-FUTURES',
    ])
  })

  it.each([
    ['no JSON', () => Buffer.from('garbage')],
    ['an error of the exchange', () => Buffer.from('{"code":"429","msg":"Too Many Requests"}')],
    ['one with its time', () => Buffer.from(`{"code":"429","requestTime":${scene.time.now()}}`)],
    ['no tickers', () => Buffer.from('{"code":"00000","requestTime":1,"data":{}}')],
    ['of a time a second before', () => bodyOf('7', scene.time.now() - 1110)],
    ['of a time a second ahead', () => bodyOf('7', scene.time.now() + 1010)],
  ])('[MKT1] are refused where they are %s: a poll asks the exchange then', async (_what, body) => {
    const [one, other] = [scene.open(), scene.open()]
    await hand(body())

    expect(await poll([one], 50)).toEqual(['1'])

    expect(one.tickers.view()).toEqual({ taken: 0, own: 1, refused: 1, failed: 0 })
    expect(await poll([other], 0)).toEqual(['1'])
  })

  it('are refused where they are packed in another way than they say', async () => {
    const one = scene.open()
    await hand(bodyOf('7', scene.time.now()), { contentEncoding: 'gzip' })

    expect(await poll([one], 50)).toEqual(['1'])
  })

  it('are read without Redis while it is slow or gone; after two failures it is left alone for a second', async () => {
    const one = scene.open()
    for (const [state, waitMs] of [
      ['slow', ANSWER_MS_MAX],
      ['gone', 0],
    ] as const) {
      scene.server.state = state
      scene.server.looks.length = 0
      scene.exchange.asked.length = 0
      const begunAt = scene.time.now()

      for (let polls = 0; polls < 3; polls++)
        expect(await poll([one], 450)).toEqual([String(polls + 1)])

      expect(scene.exchange.asked.map(({ at }) => at - begunAt)).toEqual([
        waitMs,
        450 + waitMs,
        900,
      ])
      expect(scene.server.looks.length).toBe(2)
      scene.server.state = 'answers'
      await scene.time.pass(1000)
      await poll([one], 450)
      expect(scene.server.looks.length).toBe(3)
    }
    expect(one.tickers.view()).toMatchObject({ taken: 0, own: 8, failed: 4 })
  })

  it('are read all the same where Redis goes away meanwhile', async () => {
    const one = scene.open()

    const reading = one.read()
    await scene.time.pass(10)
    expect(scene.exchange.asked.length).toBe(1)
    scene.server.state = 'gone'
    await scene.time.pass(40)

    expect(await reading).toBe('1')
    expect(one.tickers.view()).toEqual({ taken: 0, own: 1, refused: 0, failed: 1 })
  })

  it('are read here while it is not known what time the exchange has', async () => {
    const [one, other] = [scene.open(), scene.open()]
    await poll([one], 50)
    other.trusted.offset.loseSynchronisation(other.now())

    expect(await poll([other], 50)).toEqual(['2'])
    expect(scene.server.looks.length).toBe(1)
  })

  it('[MKT1] are refused by a machine that slept while it asked', async () => {
    const [one, other] = [scene.open(), scene.open()]
    await poll([one], 50)
    scene.server.tripMs = 20

    const reading = other.read()
    await scene.time.pass(10)
    scene.time.setClock(scene.time.now() + 600_000)
    await scene.time.pass(10)
    expect(other.tickers.view().refused).toBe(1)

    scene.server.aheadMs -= 600_000
    await scene.time.pass(100)
    expect(await reading).toBe('2')
  })
})
