import { expect, test } from 'vitest'
import { type TrialAnswer } from '../../../src/sweep-run/play-trial.ts'
import { type QueueOfWorker, SweepWorker } from '../../../src/sweep-run/queue/sweep-worker.ts'
import { type TakenTrial, TRY_ALONE } from '../../../src/sweep-run/queue/trial-queue.ts'
import { type TrialOutcome } from '../../../src/sweep/trial.ts'
import { hastyTimers } from './hasty-timers.ts'

/** A queue in memory: what is in it is taken once, from the left. */
class FakeQueue implements QueueOfWorker {
  readonly events: string[] = []
  readonly settled = new Map<string, TrialOutcome>()
  waiting: TakenTrial[]
  lost: string[] = []
  failures = 0

  constructor(waiting: readonly TakenTrial[]) {
    this.waiting = [...waiting]
  }

  async take(refused: readonly string[]) {
    await this.#answer()
    const taken = this.waiting.find(({ queue }) => !refused.includes(queue))
    this.waiting = this.waiting.filter((one) => one !== taken)
    if (taken) this.events.push(`take ${taken.id}`)
    return taken
  }

  async beat(taken: readonly TakenTrial[]) {
    await this.#answer()
    return taken.filter(({ id }) => this.lost.includes(id))
  }

  async settle({ id }: TakenTrial, outcome: TrialOutcome) {
    await this.#answer()
    this.settled.set(id, outcome)
    this.events.push(`settle ${id}`)
  }

  async giveBack({ id }: TakenTrial) {
    await this.#answer()
    this.events.push(`give back ${id}`)
  }

  close = () => Promise.resolve()

  #answer(): Promise<void> {
    if (this.failures === 0) return Promise.resolve()
    this.failures -= 1
    return Promise.reject(new Error('connection terminated'))
  }
}

const trial = (id: string, more: Partial<TakenTrial> = {}): TakenTrial => ({
  queue: 'sweep-a',
  id,
  retryCount: 0,
  request: {
    format: 1,
    name: 'paper',
    recipe: '{}',
    param: [],
    periodMs: 1,
    limitMs: 1,
    config: id,
    options: {
      market: [],
      set: [],
      param: [],
    },
  },
  ...more,
})

/** A worker whose trials end when the test says so. */
class Stage {
  readonly queue: FakeQueue
  readonly said: string[] = []
  readonly shown: object[] = []
  isShownRefused = false
  readonly #stop = new AbortController()
  readonly #computing = new Map<string, (answer: TrialAnswer | undefined) => void>()
  readonly #run: Promise<void>

  constructor(threads: number, ...waiting: readonly TakenTrial[]) {
    this.queue = new FakeQueue(waiting)
    const worker = new SweepWorker({
      queue: this.queue,
      threads,
      version: '1',
      timers: hastyTimers,
      say: (text) => this.said.push(text),
      show: (state) => {
        this.shown.push(state)
        return this.isShownRefused
          ? Promise.reject(new Error('permission denied'))
          : Promise.resolve()
      },
      compute: ({ config = '' }, _limitMs, stop) =>
        new Promise((resolve) => {
          this.queue.events.push(`compute ${config}`)
          this.#computing.set(config, resolve)
          stop.addEventListener('abort', () => resolve(undefined))
        }),
    })
    this.#run = worker.run(this.#stop.signal)
  }

  answer(id: string, answer: TrialAnswer = { failed: `of ${id}` }): void {
    this.#computing.get(id)?.(answer)
  }

  async until(event: string): Promise<void> {
    while (!this.queue.events.includes(event)) await new Promise(setImmediate)
  }

  /** Long enough for whatever would happen by itself. */
  async turns(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#run
  }
}

test('a worker computes as many trials at a time as it has threads', async () => {
  const stage = new Stage(2, trial('a'), trial('b'), trial('c'))
  await stage.until('compute b')
  await stage.turns()
  const before = [...stage.queue.events]
  stage.answer('a')
  await stage.until('compute c')
  await stage.stop()

  expect(before).not.toContain('take c')
  expect([...stage.queue.settled]).toEqual([['a', { failed: 'of a' }]])
})

test('a signal gives all trials back', async () => {
  const stage = new Stage(2, trial('a'), trial('b'), trial('c'))
  await stage.until('compute b')
  await stage.stop()

  expect(stage.queue.events.slice(-2).toSorted()).toEqual(['give back a', 'give back b'])
  expect(stage.queue.settled.size).toBe(0)
})

test('a trial that was lost twice is computed alone: it may be what ended its workers', async () => {
  const stage = new Stage(3, trial('a'), trial('suspect', { retryCount: TRY_ALONE }), trial('b'))
  await stage.until('take suspect')
  await stage.turns()
  const waiting = [...stage.queue.events]
  stage.answer('a')
  await stage.until('compute suspect')
  await stage.turns()
  const alone = [...stage.queue.events]
  stage.answer('suspect')
  await stage.until('compute b')
  await stage.stop()

  expect(waiting).toEqual(['take a', 'compute a', 'take suspect'])
  expect(alone).toEqual([...waiting, 'settle a', 'compute suspect'])
})

test('a sweep that was begun with other files is refused once, and its trials are given back', async () => {
  const stage = new Stage(2, trial('a'), trial('b'), trial('c', { queue: 'sweep-b' }), trial('d'))
  await stage.until('compute b')
  stage.answer('a', { refused: 'version is "2" here, "1" there' })
  stage.answer('b', { refused: 'version is "2" here, "1" there' })
  await stage.until('compute c')
  await stage.turns()
  await stage.stop()

  expect(stage.said.filter((text) => text.includes('left to others'))).toEqual([
    'paper (sweep-a): its trials are left to others, until this worker is started again: version is "2" here, "1" there',
  ])
  expect(stage.queue.events).toEqual(expect.arrayContaining(['give back a', 'give back b']))
  expect(stage.queue.events).not.toContain('take d')
})

test('one that another version has put there is given back unread', async () => {
  const stage = new Stage(1, trial('a', { request: { unreadable: 'another version' } }))
  await stage.until('give back a')
  await stage.stop()

  expect(stage.queue.events).toEqual(['take a', 'give back a'])
  expect(stage.said).toEqual([expect.stringMatching(/^sweep-a: .* another version$/)])
})

test('one that is not this worker’s any more is ended', async () => {
  const stage = new Stage(1, trial('a'))
  await stage.until('compute a')
  stage.queue.lost = ['a']
  await stage.until('give back a')
  await stage.stop()

  expect(stage.queue.settled.size).toBe(0)
})

test('what was computed is kept while the server is away, and said once', async () => {
  const stage = new Stage(1, trial('a'))
  await stage.until('compute a')
  stage.queue.failures = 20
  stage.answer('a')
  await stage.until('settle a')
  await stage.stop()

  expect(stage.said.filter((text) => text.startsWith('the queue'))).toEqual([
    'the queue does not answer, and is asked again: connection terminated',
    'the queue answers again',
  ])
})

test('a worker ends although its trial cannot be given back', async () => {
  const stage = new Stage(1, trial('a'))
  await stage.until('compute a')
  stage.queue.failures = Number.POSITIVE_INFINITY
  await stage.stop()

  expect(stage.queue.events).toEqual(['take a', 'compute a'])
})

test('a worker shows which sweep it computes, and says once that it cannot', async () => {
  const stage = new Stage(3, trial('a'), trial('b'))
  await stage.until('compute b')
  await stage.turns()
  stage.answer('a')
  await stage.until('settle a')
  await stage.turns()
  const shown = [...stage.shown]
  stage.isShownRefused = true
  await stage.turns()
  await stage.stop()

  expect(shown).toContainEqual({ sweep: 'paper', computes: '2 of 3', computed: 0 })
  expect(shown.at(-1)).toEqual({ sweep: 'paper', computes: '1 of 3', computed: 1 })
  expect(stage.said.slice(1)).toEqual(['fleet status does not show this worker: permission denied'])
})
