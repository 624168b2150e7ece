import { type Clock } from '../../src/lib/clock.ts'
import { type Timers } from '../../src/lib/timers.ts'

export class ManualTime implements Clock, Timers {
  #now: number
  #elapsedMs = 0
  readonly #waiting = new Set<{ dueMs: number; callback: () => void }>()

  constructor(now: number) {
    this.#now = now
  }

  now(): number {
    return Math.floor(this.#now)
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), callback }
    this.#waiting.add(timer)
    return () => this.#waiting.delete(timer)
  }

  get timersWaiting(): number {
    return this.#waiting.size
  }

  /** Each timer is called at its own instant, and what it started is settled. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms
    for (let next = this.#nextUntil(endMs); next !== undefined; next = this.#nextUntil(endMs)) {
      this.#moveTo(next.dueMs)
      this.#waiting.delete(next)
      next.callback()
      await settle()
    }
    this.#moveTo(endMs)
    await settle()
  }

  /** Time passes while the process is held up, and timers run afterwards. */
  async block(ms: number): Promise<void> {
    this.#moveTo(this.#elapsedMs + ms)
    await this.pass(0)
  }

  setClock(now: number): void {
    this.#now = now
  }

  #nextUntil(endMs: number) {
    const due = [...this.#waiting].filter(({ dueMs }) => dueMs <= endMs)
    return due.toSorted((a, b) => a.dueMs - b.dueMs)[0]
  }

  #moveTo(elapsedMs: number): void {
    if (elapsedMs <= this.#elapsedMs) return
    this.#now += elapsedMs - this.#elapsedMs
    this.#elapsedMs = elapsedMs
  }
}

/** Lets ready promises continue; more turns than any chain in the tests has. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
