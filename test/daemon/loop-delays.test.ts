import { expect, test } from 'vitest'
import { LoopDelays } from '../../src/daemon/control/metrics.ts'
import { ManualTime } from '../support/manual-time.ts'

const SECOND = 1e9

test('a delay of the event loop is shown to every reader, for half a minute at least', async () => {
  const time = new ManualTime(0)
  let heldUp = 0
  const delays = new LoopDelays(time, {
    enable: () => true,
    disable: () => true,
    percentile: (percent) => (percent === 100 ? heldUp : 0),
    reset: () => (heldUp = 0),
  })
  delays.start()
  const longest = (): number | undefined => new Map(delays.read()).get('1')

  await time.pass(29_000)
  heldUp = 2 * SECOND
  const readers = [longest(), longest()]
  await time.pass(30_000)
  const later = longest()
  await time.pass(30_000)
  const gone = longest()
  delays.stop()

  expect(readers).toEqual([2, 2])
  expect([later, gone]).toEqual([2, 0])
  expect(time.timersWaiting).toBe(0)
})
