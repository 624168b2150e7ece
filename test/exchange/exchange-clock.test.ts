import { describe, expect, test } from 'vitest'
import { type ClocksApart, ExchangeClock } from '../../src/exchange/clock/exchange-clock.ts'

const AT = 1_700_000_000_000
const HOUR_MS = 3_600_000

/** An exchange clock that has heard so many answers, each of them so far ahead of ours. */
function createClock() {
  const said: (ClocksApart | undefined)[] = []
  const clock = new ExchangeClock({ onApart: (apart) => said.push(apart) })
  let now = AT
  const hear = (origin: 'signed' | 'public', aheadMs: number, times = 1): void => {
    for (let time = 0; time < times; time++) {
      now += 250
      clock.observe({ requestTime: now + aheadMs, sentAt: now, receivedAt: now }, origin)
    }
  }
  return { clock, said, hear }
}

describe('the time that signs', () => {
  test.each([3000, HOUR_MS, -HOUR_MS])(
    'is not moved by public answers that are %i ms off',
    (offMs) => {
      const { clock, hear } = createClock()
      hear('public', 0, 2)
      hear('signed', 0, 2)
      hear('public', offMs, 100)
      expect([clock.offsetMs, clock.isSynchronised, clock.origin]).toEqual([0, true, 'signed'])
    },
  )

  test('is that of public answers until the first signed one, and no order leaves on it', () => {
    const { clock, hear } = createClock()
    hear('public', HOUR_MS, 2)
    expect([clock.offsetMs, clock.isMeasured, clock.isSynchronised]).toEqual([HOUR_MS, true, false])
    hear('signed', 40)
    expect([clock.offsetMs, clock.isSynchronised]).toEqual([40, false])
    hear('signed', 40)
    expect([clock.offsetMs, clock.isSynchronised]).toEqual([40, true])
  })

  test('is not moved by one signed answer, but by two that agree', () => {
    const { clock, hear } = createClock()
    hear('signed', 0, 2)
    hear('signed', 90_000)
    expect([clock.offsetMs, clock.isSynchronised]).toEqual([0, false])
    hear('signed', 0)
    expect([clock.offsetMs, clock.isSynchronised]).toEqual([0, true])
    hear('signed', 90_000, 2)
    expect([clock.offsetMs, clock.isSynchronised]).toEqual([90_000, true])
  })

  test('needs signed answers again once our own clock may have moved, however often public ones agree', () => {
    const { clock, hear } = createClock()
    hear('public', 0, 2)
    hear('signed', 0, 2)
    clock.loseSynchronisation(AT)
    hear('public', 0, 10)
    expect([clock.isMeasured, clock.isSynchronised]).toEqual([false, false])
    hear('signed', 0, 2)
    expect([clock.isMeasured, clock.isSynchronised]).toEqual([true, true])
  })
})

describe('two clocks that disagree', () => {
  test('are said once with both values, and once when they agree again', () => {
    const { clock, said, hear } = createClock()
    hear('signed', 100, 2)
    hear('public', HOUR_MS, 50)
    expect([said, clock.apart]).toEqual([
      [{ publicMs: HOUR_MS, signedMs: 100 }],
      { publicMs: HOUR_MS, signedMs: 100 },
    ])
    hear('public', 100, 50)
    expect([said.length, said[1], clock.apart]).toEqual([2, undefined, undefined])
  })

  test('are not said for an answer or two', () => {
    const { said, hear } = createClock()
    hear('signed', 0, 2)
    for (let round = 0; round < 10; round++) {
      hear('public', HOUR_MS, 2)
      hear('public', 0)
    }
    expect(said).toEqual([])
  })

  test('are converted: the time of a public answer is read by the public clock', () => {
    const { clock, hear } = createClock()
    hear('signed', 100, 2)
    expect(clock.fromPublic(AT)).toBe(AT)
    hear('public', -HOUR_MS, 5)
    expect(clock.fromPublic(AT)).toBe(AT + HOUR_MS + 100)
    expect(clock.publicNow(AT)).toBe(AT - HOUR_MS)
  })
})
