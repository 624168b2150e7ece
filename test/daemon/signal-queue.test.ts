import { expect, test } from 'vitest'
import type { SignalOutcome } from '../../src/control/signals/signal-gate.ts'
import { SignalQueue } from '../../src/daemon/control/signal-queue.ts'
import type { Signal } from '../../src/domain/signal.ts'

const TICKERS_MS = 200
const COMMIT_MS = 8

/** Its clock moves with the timers that are due, and with each commit. */
class QueueBench {
  now = 0
  readonly taken: string[] = []
  readonly outcomes = new Map<string, SignalOutcome>()
  #due: { readonly at: number; readonly call: () => void }[] = []
  readonly queue = new SignalQueue({
    tickersMs: TICKERS_MS,
    clock: { monotonic: () => this.now },
    timers: {
      after: (delayMs, call) => {
        const timer = { at: this.now + delayMs, call }
        this.#due.push(timer)
        return () => void (this.#due = this.#due.filter((one) => one !== timer))
      },
    },
    take: ({ id }) => {
      this.taken.push(`${id} at ${this.now}`)
      this.now += COMMIT_MS
      return Promise.resolve('taken')
    },
  })

  send(...ids: readonly string[]): void {
    for (const id of ids) {
      const signal = { feed: 'signal:tv', id, value: {} } as unknown as Signal
      void this.queue.take(signal).then((outcome) => this.outcomes.set(id, outcome))
    }
  }

  async until(at: number): Promise<void> {
    for (;;) {
      const [next] = this.#due.filter((one) => one.at <= at).toSorted((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#due = this.#due.filter((one) => one !== next)
      this.now = Math.max(this.now, next.at)
      next.call()
    }
    this.now = Math.max(this.now, at)
    await Promise.resolve()
    await Promise.resolve()
  }
}

test('a signal alone is taken at once; of many at once the others are, some at a time, half way between two readings of prices', async () => {
  const bench = new QueueBench()
  bench.send('a', 'b', 'c', 'd', 'e', 'f')
  expect(bench.taken).toEqual(['a at 0'])

  await bench.until(200)
  bench.queue.hearPrices()
  await bench.until(299)
  expect(bench.taken).toHaveLength(1)
  await bench.until(390)
  // Commits of 8 ms: the third begins within 20 ms, and no fourth.
  expect(bench.taken).toEqual(['a at 0', 'b at 300', 'c at 308', 'd at 316'])
  bench.queue.hearPrices()
  await bench.until(600)
  expect(bench.taken.slice(4)).toEqual(['e at 490', 'f at 498'])
  expect([...bench.outcomes.values()]).toEqual(Array.from({ length: 6 }, () => 'taken'))
  bench.send('g')
  expect(bench.taken).toHaveLength(6)
  await bench.until(3000)
  bench.send('h')
  expect(bench.taken.slice(6)).toEqual(['g at 1600', 'h at 3000'])
})

test('[BND1] one that waited too long, one too many, and those that wait at the end are not taken, and their senders are told', async () => {
  const bench = new QueueBench()
  const ids = Array.from({ length: 66 }, (_, index) => String(index))
  bench.send(...ids)
  await bench.until(1)
  expect([...bench.outcomes]).toEqual([
    ['0', 'taken'],
    ['65', undefined],
  ])

  await bench.until(3500)
  expect(bench.taken.map((one) => one.split(' ')[0])).toEqual(ids.slice(0, 7))
  expect(bench.outcomes.get('7')).toBeUndefined()
  expect(bench.outcomes.has('7')).toBe(true)
  bench.send('alone', 'late')
  bench.queue.close()
  await bench.until(3501)
  expect(bench.outcomes.has('late')).toBe(true)
  expect(bench.outcomes.get('late')).toBeUndefined()
  await bench.until(20_000)
  expect(bench.taken).toHaveLength(8)
})
