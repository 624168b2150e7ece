import { expect, test } from 'vitest'
import { startTicking } from '../../../src/simulator/wire/server.ts'

/** A clock and its timers, moved by hand; a wake-up is as late as it is told. */
class HandTimers {
  at: number
  readonly #waiting = new Set<{ readonly dueAt: number; readonly callback: () => void }>()

  constructor(at: number) {
    this.at = at
  }

  get waiting(): number {
    return this.#waiting.size
  }

  now(): number {
    return this.at
  }

  monotonic(): number {
    return this.at
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueAt: this.at + delayMs, callback }
    this.#waiting.add(timer)
    return () => void this.#waiting.delete(timer)
  }

  /** Fires the next timer, `lateMs` after it was due. */
  fire(lateMs: number): void {
    const [timer] = this.#waiting
    if (timer === undefined) throw new Error('nothing waits')
    this.#waiting.delete(timer)
    this.at = timer.dueAt + lateMs
    timer.callback()
  }
}

test('ticks fall on whole multiples of the step, and a late one does not push the later ones back', () => {
  const timers = new HandTimers(1_000_013)
  const ticks: number[] = []
  const stop = startTicking({ clock: timers, timers, stepMs: 50, tick: (now) => ticks.push(now) })

  for (const lateMs of [0, 7, 0, 120, 0]) timers.fire(lateMs)
  stop()

  expect(ticks).toEqual([1_000_050, 1_000_107, 1_000_150, 1_000_320, 1_000_350])
})

test('nothing waits after a stop, not even when the tick itself stops it', () => {
  const timers = new HandTimers(0)
  const stopFromOutside = startTicking({ clock: timers, timers, stepMs: 50, tick: () => {} })
  stopFromOutside()
  expect(timers.waiting).toBe(0)

  const stop: () => void = startTicking({ clock: timers, timers, stepMs: 50, tick: () => stop() })
  timers.fire(0)
  expect(timers.waiting).toBe(0)
})
