import { describe, expect, test } from 'vitest'
import { createSteadyClock } from '../../src/lib/clock.ts'

describe('a steady clock', () => {
  test('starts at the time of the other one and goes on as time passes', () => {
    const source = { wallAt: 1_700_000_000_000, elapsedMs: 40.5 }
    const clock = createSteadyClock({ now: () => source.wallAt, monotonic: () => source.elapsedMs })

    source.elapsedMs += 250.25

    expect(clock.now()).toBe(1_700_000_000_250)
  })

  test('does not step when the other one is set', () => {
    const source = { wallAt: 1_700_000_000_000, elapsedMs: 0 }
    const clock = createSteadyClock({ now: () => source.wallAt, monotonic: () => source.elapsedMs })

    source.wallAt -= 600_000

    expect(clock.now()).toBe(1_700_000_000_000)
  })
})
