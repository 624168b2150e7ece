// The floor of a thread of its own: numbers are written into shared memory, another thread is woken, reads them all, and
// wakes the first. Nothing is decided.

import { Worker } from 'node:worker_threads'
import { systemClock } from '../src/lib/clock.ts'

const [ASKED, ANSWERED, SUM] = [0, 1, 2]

const OTHER = `
const { workerData: { control, numbers } } = require('node:worker_threads')
const [words, values] = [new Int32Array(control), new Float64Array(numbers)]
for (let asked = 0; ;) {
  Atomics.wait(words, ${ASKED}, asked)
  asked = Atomics.load(words, ${ASKED})
  let sum = 0
  for (const value of values) sum += value
  words[${SUM}] = sum
  Atomics.store(words, ${ANSWERED}, asked)
  Atomics.notify(words, ${ANSWERED})
}`

/** Two threads that hand over so many numbers. */
export class HandOver {
  readonly #words = new Int32Array(new SharedArrayBuffer(16))
  readonly #values: Float64Array
  readonly #worker: Worker

  constructor(count: number) {
    const numbers = new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT)
    this.#values = new Float64Array(numbers)
    const workerData = { control: this.#words.buffer, numbers }
    this.#worker = new Worker(OTHER, { eval: true, workerData })
  }

  /** There and back. @param spinMs How long the answer is looked for before this thread sleeps. */
  run(value: number, spinMs: number): void {
    const words = this.#words
    this.#values.fill(value)
    const asked = Atomics.add(words, ASKED, 1) + 1
    Atomics.notify(words, ASKED)
    const until = systemClock.monotonic() + spinMs
    while (Atomics.load(words, ANSWERED) !== asked && systemClock.monotonic() < until);
    for (;;) {
      const answered = Atomics.load(words, ANSWERED)
      if (answered === asked) return
      Atomics.wait(words, ANSWERED, answered)
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}
