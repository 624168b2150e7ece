import { expect, test } from 'vitest'
import { RunStop } from '../../src/cli/process/run-stop.ts'
import { ManualTime } from '../support/manual-time.ts'

/** @param rests an earlier run has left something that the stop has to end */
function openRun(rests: boolean) {
  const time = new ManualTime(0)
  const stops: number[] = []
  let hasBegun = false
  const daemon = {
    stop: () => void stops.push(time.monotonic()),
    hasToBegin: () => rests && !hasBegun,
  }
  const stop = new RunStop({ daemon, timers: time })
  const begin = () => {
    hasBegun = true
    stop.noteStarted()
  }
  return { time, stops, stop, begin }
}

test.each<{ rests: boolean; at: number }>([
  { rests: false, at: 0 },
  { rests: true, at: 30_000 },
])(
  'a run that does not begin (something rests: $rests) is stopped after $at ms',
  async ({ rests, at }) => {
    const { time, stops, stop } = openRun(rests)
    stop.ask()
    await time.pass(60_000)
    expect(stops).toEqual([at])
  },
)

test('what an earlier run has left is taken away once this one has begun', async () => {
  const { time, stops, stop, begin } = openRun(true)
  stop.ask()
  stop.ask()
  await time.pass(5000)
  expect(stops).toEqual([])
  begin()
  stop.close()
  await time.pass(60_000)
  expect(stops).toEqual([5000])
  stop.ask()
  expect(stops).toEqual([5000, 65_000])
})

test('a stop that was not asked for is not made when the run begins', async () => {
  const { time, stops, begin } = openRun(true)
  begin()
  await time.pass(60_000)
  expect(stops).toEqual([])
})
