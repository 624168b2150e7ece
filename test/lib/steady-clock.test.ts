import { describe, expect, test } from 'vitest'
import { SteadyClock } from '../../src/lib/clock.ts'
import { ManualTime } from '../support/manual-time.ts'

const AT = 1_700_000_000_000

function createSteady() {
  const machine = new ManualTime(AT)
  const clock = new SteadyClock(machine)
  const steps: number[] = []
  clock.onStep = (movedMs) => steps.push(movedMs)
  return { machine, clock, steps }
}

describe('a steady clock', () => {
  test('tells the time of the machine, as it passes', async () => {
    const { machine, clock, steps } = createSteady()

    await machine.pass(1234)

    expect([clock.now(), steps]).toEqual([AT + 1234, []])
  })

  test.each([600_000, -600_000, 251])(
    'does not follow a machine clock that is set by %i ms, and says so once',
    async (byMs) => {
      const { machine, clock, steps } = createSteady()

      machine.setClock(AT + byMs)
      await machine.pass(100)

      expect([clock.now(), clock.now()]).toEqual([AT + 100, AT + 100])
      expect(steps).toEqual([byMs])
    },
  )

  test('takes a little for the slewing of a time daemon', () => {
    const { machine, clock, steps } = createSteady()

    machine.setClock(AT + 250)

    expect([clock.now(), steps]).toEqual([AT, []])
  })

  test('takes it for no step when the process is held up between the two readings', () => {
    let elapsedMs = 0
    const clock = new SteadyClock({
      now: () => {
        elapsedMs += 300
        return AT + elapsedMs
      },
      monotonic: () => elapsedMs,
    })
    const steps: number[] = []
    clock.onStep = (movedMs) => steps.push(movedMs)

    for (let look = 0; look < 5; look++) clock.now()

    expect(steps).toEqual([])
  })

  test('catches up after a sleep when told, and takes that for no step of its own', async () => {
    const { machine, clock, steps } = createSteady()
    machine.setClock(AT + 60_000)
    clock.now()

    clock.advance(60_000)
    await machine.pass(10)

    expect([clock.now(), steps]).toEqual([AT + 60_010, [60_000]])
  })

  test('never goes back', () => {
    const { clock } = createSteady()

    clock.advance(-5000)

    expect(clock.now()).toBe(AT)
  })
})
