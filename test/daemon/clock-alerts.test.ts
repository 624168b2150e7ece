import { expect, test } from 'vitest'
import { SYMBOL } from '../engine/engine-bench.ts'
import { LASTING_MS, MarketScene, POLL_MS } from './market-scene.ts'

const FIVE_MINUTES = 300_000

/** The exchange's clock is known, and nothing is wanted. */
async function openQuietScene(): Promise<MarketScene> {
  const scene = new MarketScene((event) => event.startsWith('clock.'))
  await scene.poll()
  await scene.poll()
  scene.logged.length = 0
  return scene
}

test.each([FIVE_MINUTES, -FIVE_MINUTES])(
  '[MKT1] the clock of the machine jumps by %d ms: nothing leaves before the exchange was asked again, and it trades on',
  async (jumpMs) => {
    const scene = await openQuietScene()
    const { bench, time, trusted } = scene
    time.setClock(time.now() + jumpMs)

    // The last look before a first byte is the first to see it.
    expect(trusted.isSynchronised).toBe(false)
    await time.pass(0)
    expect(scene.logged).toEqual(['clock.moved', 'clock.unsynchronised'])
    scene.wanted.push({ kind: 'target', symbol: SYMBOL, lots: 10 })
    await scene.poll()
    expect([scene.asksToPlace(), scene.alerts]).toEqual([false, []])

    await scene.poll()
    expect(scene.asksToPlace()).toBe(true)
    expect(bench.grantBatch().clientOids).toHaveLength(1)
    expect(scene.elapsedMs()).toBe(4 * POLL_MS)
    expect(scene.logged.slice(2)).toEqual(['clock.stepped', 'clock.synchronised'])
    expect(scene.alerts).toEqual(['warning: clock.stepped'])
  },
)

test('[MKT1] the clocks of machine and exchange go apart: nothing leaves on one answer, and it is urgent', async () => {
  const scene = await openQuietScene()
  scene.exchange.aheadMs = 10_000
  scene.wanted.push({ kind: 'target', symbol: SYMBOL, lots: 10 })

  await scene.poll()
  expect([scene.trusted.isSynchronised, scene.asksToPlace()]).toEqual([false, false])

  await scene.poll()
  expect(scene.asksToPlace()).toBe(true)
  expect(scene.logged).toEqual(['clock.unsynchronised', 'clock.jumped', 'clock.synchronised'])
  expect(scene.alerts).toEqual(['urgent: clock.jumped'])
})

test('a clock that stays in doubt is urgent when it lasts, and its end is said', async () => {
  const scene = await openQuietScene()
  scene.exchange.answers = false
  scene.time.setClock(scene.time.now() + FIVE_MINUTES)
  await scene.poll()
  expect(scene.lasting()).toEqual([])

  await scene.time.pass(LASTING_MS)
  expect(scene.lasting()).toEqual(["urgent: no order is sent: the exchange's clock is not known"])

  scene.exchange.answers = true
  await scene.poll()
  await scene.poll()
  expect(scene.alerts).toEqual(['warning: clock.stepped', 'info: clock.synchronised'])
})
