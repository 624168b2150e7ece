import { describe, expect, it } from 'vitest'
import { VirtualTime } from '../../src/backtest/virtual-time.ts'

describe('virtual time', () => {
  it('lets things happen by their instants, and at one instant in the order in which they were scheduled', () => {
    const time = new VirtualTime(1000)
    const happened: string[] = []
    const note = (what: string) => () => happened.push(`${what} ${time.now}`)

    time.after(20, note('late'))
    time.after(10, note('first'))
    time.after(5, () => {
      time.after(5, note('third'))
      time.after(0, note('soon'))
    })
    time.after(10, note('second'))
    time.after(21, note('too late'))
    time.runUntil(1020)

    expect(happened).toEqual(['soon 1005', 'first 1010', 'second 1010', 'third 1010', 'late 1020'])
    expect(time.now).toBe(1020)
  })

  it('runs an object again and again, at the instants that it asks for', () => {
    const time = new VirtualTime(1000)
    const instants: number[] = []
    const beat = {
      run() {
        instants.push(time.now)
        if (instants.length < 3) time.after(10, this)
      },
    }

    time.after(5, beat)
    time.runUntil(Number.POSITIVE_INFINITY)

    expect(instants).toEqual([1005, 1015, 1025])
  })

  it('stops before the next thing once it is over', () => {
    const time = new VirtualTime(1000)
    let happened = 0
    for (const delayMs of [1, 2, 3]) time.after(delayMs, () => happened++)

    time.runUntil(2000, () => happened === 2)

    expect([happened, time.now]).toEqual([2, 1002])
  })
})
