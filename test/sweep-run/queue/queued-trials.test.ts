import { expect, test } from 'vitest'
import { type QueueOfSweep, QueuedTrials } from '../../../src/sweep-run/queue/queued-trials.ts'
import { type QueuedState, type TrialRequest } from '../../../src/sweep-run/queue/trial-queue.ts'
import { type Trial } from '../../../src/sweep/trial.ts'
import { hastyTimers } from './hasty-timers.ts'

const DONE: QueuedState = { outcome: { failed: 'done' } }

/** A queue in memory. */
class FakeQueue implements QueueOfSweep {
  readonly states = new Map<string, QueuedState>()
  readonly requests: TrialRequest[] = []
  /** What becomes of one that was put. */
  next: QueuedState = DONE
  workers = 1
  most = 0
  looks = 0
  failures = 0

  openQueue = () => this.#answer(undefined)
  dropOldQueues = () => this.#answer(undefined)
  countWorkers = () => this.#answer(this.workers)
  close = () => Promise.resolve()

  put(_queue: string, trials: ReadonlyMap<string, TrialRequest>) {
    this.most = Math.max(this.most, trials.size)
    for (const [id, request] of trials) {
      this.requests.push(request)
      this.states.set(id, this.next)
    }
    return this.#answer(undefined)
  }

  look(_queue: string, ids: readonly string[]) {
    this.looks += 1
    const known = ids.flatMap((id) => {
      const state = this.states.get(id)
      return state === undefined ? [] : [[id, state] as const]
    })
    return this.#answer(new Map(known))
  }

  remove(_queue: string, ids: readonly string[]) {
    for (const id of ids) this.states.delete(id)
    return this.#answer(undefined)
  }

  withdraw() {
    for (const [id, state] of this.states) if (state === 'waiting') this.states.delete(id)
    return this.#answer(undefined)
  }

  #answer<Answer>(answer: Answer): Promise<Answer> {
    if (this.failures === 0) return Promise.resolve(answer)
    this.failures -= 1
    return Promise.reject(new Error('connection terminated'))
  }
}

const trials = (count: number): readonly Trial[] =>
  Array.from({ length: count }, (_, number) => ({
    params: { 'a.b': String(number) },
    fromAt: 0,
    toAt: 1e3,
  }))

/** Runs a round to its end, or until `look` stops it. */
async function run(
  queue: FakeQueue,
  round: readonly Trial[],
  onTurn?: (stop: AbortController) => void,
) {
  const said: string[] = []
  const sweep = { name: 'paper', recipe: '{}', periodMs: 1, param: ['a.c=1'], limitMs: 1000 }
  const queued = new QueuedTrials(queue, sweep, {
    say: (text) => said.push(text),
    timers: hastyTimers,
  })
  const stop = new AbortController()
  const heard: string[] = []
  const isOver = queued.run({
    trials: round,
    orderOf: ({ params }) => ({
      config: 'main.yaml',
      version: '1',
      periodMs: 1,
      options: {
        market: ['a.csv'],
        set: [],
        param: ['a.c=1', `a.b=${params['a.b']}`],
        seed: undefined,
      },
    }),
    hear: ({ params }, outcome) =>
      heard.push(`${params['a.b']} ${'failed' in outcome ? outcome.failed : 'played'}`),
    stop: stop.signal,
  })
  let isRunning = true
  void isOver.then(() => (isRunning = false))
  while (isRunning) {
    onTurn?.(stop)
    await new Promise(setImmediate)
  }
  return { heard, said, label: queued.describe() }
}

test('each trial of a round is heard of once, however many there are', async () => {
  const queue = new FakeQueue()
  const { heard, label } = await run(queue, trials(2500))

  expect(heard).toHaveLength(2500)
  expect(new Set(heard).size).toBe(2500)
  expect([queue.most, label]).toEqual([2000, ', 1 worker'])
  expect(queue.requests[0]).toEqual({
    format: 1,
    name: 'paper',
    recipe: '{}',
    param: ['a.c=1'],
    periodMs: 1,
    limitMs: 1e3,
    config: 'main.yaml',
    options: {
      market: ['a.csv'],
      set: [],
      param: ['a.c=1', 'a.b=0'],
    },
  })
})

test('results that wait in the queue are collected, and nothing is put there again', async () => {
  const queue = new FakeQueue()
  await run(queue, trials(3))
  const { heard } = await run(queue, trials(3))

  expect(heard).toHaveLength(3)
  expect(queue.requests).toHaveLength(3)
})

test('what ran out of time, or was given up, is tried anew by the next run, and by that one once', async () => {
  const queue = new FakeQueue()
  queue.next = { outcome: { failed: 'too slow', isTimeOut: true } }
  const first = await run(queue, trials(1))
  queue.next = 'lost'
  const second = await run(queue, trials(1))
  queue.next = DONE
  const third = await run(queue, trials(1))

  expect([first, second, third].map(({ heard }) => heard)).toEqual([
    ['0 too slow'],
    ['0 its worker was lost while it ran, 5 times'],
    ['0 done'],
  ])
})

test('what vanishes from the queue is put there again', async () => {
  const queue = new FakeQueue()
  queue.next = 'waiting'
  let turn = 0
  const { heard } = await run(queue, trials(2), () => {
    turn += 1
    if (turn === 20) queue.states.clear()
    if (turn === 40) queue.next = DONE
    if (turn === 60) for (const id of queue.states.keys()) queue.states.set(id, DONE)
  })

  expect(heard).toHaveLength(2)
  expect(queue.requests).toHaveLength(4)
})

test('a server that is away is asked until it is back', async () => {
  const queue = new FakeQueue()
  queue.failures = 30
  const { heard, said } = await run(queue, trials(3))

  expect(heard).toHaveLength(3)
  expect(said).toEqual([
    expect.stringMatching(/asked again: connection terminated/),
    'the queue answers again',
  ])
})

test('a sweep that is ended takes out what waits', async () => {
  const queue = new FakeQueue()
  queue.next = 'waiting'
  const { heard } = await run(queue, trials(3), (stop) => {
    if (queue.looks > 5) stop.abort()
  })

  expect([heard, queue.requests.length, queue.states.size]).toEqual([[], 3, 0])
})
