import type { Clock } from '../lib/clock.ts'
import type { Timers } from '../lib/timers.ts'

interface Due {
  readonly at: number
  readonly sequence: number
  readonly run: () => void
}

/**
 * Virtual time: things are due at instants of the exchange's clock (Unix ms), and happen one after the
 * other, at one instant in the order in which they were scheduled.
 */
export class VirtualTime {
  readonly #heap: Due[] = []
  #sequence = 0
  #now: number
  /** A machine whose clock is the exchange's. */
  readonly clock: Clock

  /** @param startAt Unix ms. */
  constructor(startAt: number) {
    this.#now = startAt
    this.clock = { now: () => this.#now, monotonic: () => this.#now - startAt }
  }

  /** Unix ms, exchange clock. */
  get now(): number {
    return this.#now
  }

  /** Timers that can be cancelled, for what is written against the daemon's. */
  readonly timers: Timers = {
    after: (delayMs, callback) => {
      let isCancelled = false
      this.after(delayMs, () => {
        if (!isCancelled) callback()
      })
      return () => {
        isCancelled = true
      }
    },
  }

  after(delayMs: number, run: () => void): void {
    const heap = this.#heap
    const due = { at: this.#now + Math.max(0, Math.round(delayMs)), sequence: ++this.#sequence, run }
    let index = heap.push(due) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (!above || !isBefore(due, above)) break
      heap[index] = above
      heap[parent] = due
      index = parent
    }
  }

  /** Lets time pass until an instant; stops early when there is nothing left, or `isOver` says so. */
  runUntil(endAt: number, isOver: () => boolean = () => false): void {
    for (let next = this.#heap[0]; next && next.at <= endAt; next = this.#heap[0]) {
      if (isOver()) return
      this.#removeFirst()
      this.#now = next.at
      next.run()
    }
    this.#now = Math.max(this.#now, endAt)
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const [one, other] = [heap[left], heap[left + 1]]
      if (!one) break
      const child = other && isBefore(other, one) ? left + 1 : left
      const below = heap[child]
      if (!below || !isBefore(below, last)) break
      heap[index] = below
      index = child
    }
    heap[index] = last
  }
}

function isBefore(left: Due, right: Due): boolean {
  return left.at < right.at || (left.at === right.at && left.sequence < right.sequence)
}
