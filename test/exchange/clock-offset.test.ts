import { describe, expect, it } from 'vitest'
import { type ClockJump, ClockOffset } from '../../src/exchange/clock/exchange-clock.ts'

/** An answer of an exchange whose clock is ahead by `aheadMs`; the way out and back take that long. */
function sampleAt(now: number, aheadMs: number, { outMs = 10, backMs = 10 } = {}) {
  return { requestTime: now + outMs + aheadMs, sentAt: now, receivedAt: now + outMs + backMs }
}

describe('the offset of the exchange clock', () => {
  it('is zero before the first answer', () => {
    const offset = new ClockOffset()
    expect(offset.exchangeNow(5)).toBe(5)
    expect(offset.isSynchronised).toBe(false)
  })

  it('lies within half a round trip of the truth, whatever way is the slower', () => {
    for (const ways of [
      { outMs: 1, backMs: 90 },
      { outMs: 90, backMs: 1 },
      { outMs: 40, backMs: 40 },
    ]) {
      const offset = new ClockOffset()
      offset.observe(sampleAt(1_000_000, 700, ways))
      expect(Math.abs(offset.offsetMs - 700)).toBeLessThanOrEqual(
        (ways.outMs + ways.backMs) / 2 + 1,
      )
    }
  })

  it('follows the quickest of the last answers', () => {
    const offset = new ClockOffset()
    offset.observe(sampleAt(1_000_000, 700, { outMs: 2, backMs: 2 }))
    for (let call = 0; call < 20; call++) {
      offset.observe(sampleAt(1_001_000 + call, 700, { outMs: 200, backMs: 2 }))
    }
    expect(offset.offsetMs).toBe(700)
  })

  it('does not drift by itself: the same answers a million times give the same offset', () => {
    const offset = new ClockOffset()
    for (let call = 0; call < 1_000_000; call++) offset.observe(sampleAt(1_000_000 + call * 10, 3))
    expect(offset.offsetMs).toBe(3)
  })

  it('follows a clock that is slow, as old answers slide out', () => {
    const offset = new ClockOffset()
    for (let call = 0; call < 1000; call++) offset.observe(sampleAt(1_000_000 + call * 100, -call))
    expect(Math.abs(offset.offsetMs + 1000)).toBeLessThan(80)
  })

  it('does not believe one wrong answer', () => {
    const jumps: ClockJump[] = []
    const offset = new ClockOffset({ onJump: (jump) => jumps.push(jump) })
    offset.observe(sampleAt(1_000_000, 0))
    offset.observe({ requestTime: 21_312_312_312_321, sentAt: 1_000_100, receivedAt: 1_000_120 })
    offset.observe(sampleAt(1_000_200, 0))
    offset.observe({ requestTime: 1, sentAt: 1_000_300, receivedAt: 1_000_320 })
    expect(offset.offsetMs).toBe(0)
    expect(jumps).toEqual([])
  })

  it('believes two wrong answers that agree, and reports the jump', () => {
    const jumps: ClockJump[] = []
    const offset = new ClockOffset({ onJump: (jump) => jumps.push(jump) })
    offset.observe(sampleAt(1_000_000, 0))
    offset.observe(sampleAt(1_000_100, -5000))
    offset.observe(sampleAt(1_000_200, -5000))
    expect(offset.offsetMs).toBe(-5000)
    expect(jumps).toEqual([{ movedMs: -5000, offsetMs: -5000 }])
  })

  it('follows a small step without a report', () => {
    const jumps: ClockJump[] = []
    const offset = new ClockOffset({ onJump: (jump) => jumps.push(jump) })
    offset.observe(sampleAt(1_000_000, 0))
    offset.observe(sampleAt(1_000_100, 900))
    offset.observe(sampleAt(1_000_200, 900))
    expect(offset.offsetMs).toBe(900)
    expect(jumps).toEqual([])
  })

  it('ignores an answer that came before it was asked for', () => {
    const offset = new ClockOffset()
    offset.observe({ requestTime: 1000, sentAt: 2000, receivedAt: 1000 })
    offset.observe({ requestTime: Number.NaN, sentAt: 1000, receivedAt: 1000 })
    expect(offset.offsetMs).toBe(0)
  })
})
