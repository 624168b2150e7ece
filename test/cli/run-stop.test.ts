import { expect, test } from 'vitest'
import { RunStop } from '../../src/cli/process/run-stop.ts'
import { type StopPolicy } from '../../src/engine/event.ts'
import { ManualTime } from '../support/manual-time.ts'

function openRun(policies: readonly StopPolicy[], isReloaded: boolean) {
  const time = new ManualTime(0)
  const stops: number[] = []
  const daemon = { stop: () => stops.push(time.monotonic()) }
  return { time, stops, stop: new RunStop({ daemon, policies, isReloaded, timers: time }) }
}

test.each<{ policies: StopPolicy[]; isReloaded: boolean; at: number }>([
  { policies: ['leave', 'leave'], isReloaded: true, at: 0 },
  { policies: ['cancel'], isReloaded: false, at: 0 },
  { policies: ['leave', 'cancel'], isReloaded: true, at: 30_000 },
  { policies: ['flatten'], isReloaded: true, at: 30_000 },
])(
  'a run of $policies that does not begin (after a reload: $isReloaded) is stopped after $at ms',
  async ({ policies, isReloaded, at }) => {
    const { time, stops, stop } = openRun(policies, isReloaded)
    stop.ask()
    await time.pass(60_000)
    expect(stops).toEqual([at])
  },
)

test('what a run before a reload has left is taken away once the new one has begun', async () => {
  const { time, stops, stop } = openRun(['cancel'], true)
  stop.ask()
  await time.pass(5000)
  expect(stops).toEqual([])
  stop.noteBegun(true)
  stop.close()
  await time.pass(60_000)
  expect(stops).toEqual([5000])
  stop.ask()
  expect(stops).toEqual([5000, 65_000])
})
