import { expect, onTestFinished, test } from 'vitest'
import { Failure, messageOf } from '../../src/lib/failure.ts'
import { FAILURES_CROSSING } from '../../src/lib/packed-error.ts'
import {
  endThreads,
  isOutOfMemory,
  SupervisedThread,
  type SupervisedThreadOptions,
} from '../../src/lib/supervised-thread.ts'
import type { Order } from './obeying-thread.ts'

function open(order: Order, options: Partial<SupervisedThreadOptions<unknown>> = {}) {
  const news: unknown[] = []
  const thread = new SupervisedThread<unknown>({
    file: './obeying-thread',
    askedBy: import.meta.url,
    task: { order },
    onNews: (one) => news.push(one),
    ...options,
  })
  onTestFinished(() => thread.end())
  return { thread, news }
}

test('a thread that has done its task is done, and knew nothing of the process', async () => {
  const { thread, news } = open('finish')
  expect(await thread.ended).toEqual({ kind: 'done' })
  const [variables, options] = news
  expect([[], ['NODE_COMPILE_CACHE']]).toContainEqual(variables)
  expect(options).toEqual([[], []])
  await thread.gone
})

test('what its task throws arrives as it was thrown, with the words of its cause', async () => {
  const end = await open('fail').thread.ended
  if (end.kind !== 'failed') throw new Error(`it is ${end.kind}`)
  const { error } = end
  if (!(error instanceof Failure)) throw new Error('its class was lost')
  expect([error.code, error.facts, error.hint]).toEqual(['MADE_UP', { at: 7 }, 'ask again'])
  expect(messageOf(error)).toBe(
    'MADE_UP: it does not: want to\n  at    7\n  hint  ask again: deeper',
  )
})

test.each([
  new TypeError('of another class'),
  'a text',
  new Error('uncloneable', { cause: () => undefined }),
])('any error crosses: %s', (error) => {
  const crossed = structuredClone(FAILURES_CROSSING.pack(error))
  expect(messageOf(FAILURES_CROSSING.unpack(crossed))).toContain(messageOf(error))
})

test('what nothing waited for, and an exit, are ends of their own', async () => {
  const [late, exited] = await Promise.all([
    open('throw later').thread.ended,
    open('exit').thread.ended,
  ])
  expect(late).toMatchObject({ kind: 'failed', error: { message: 'nothing waits for it' } })
  expect(exited).toEqual({ kind: 'exited' })
})

test.each([false, true])(
  'one that is silent too long is late, by its processor time: %s',
  async (isByCpu) => {
    const waiting = open('wait', { isByCpu })
    const looping = open('loop', { isByCpu, patienceMs: 300 })
    await expect.poll(() => waiting.news, { timeout: 60_000 }).toEqual(['begun'])
    waiting.thread.wait(100)
    for (const { thread } of [waiting, looping])
      expect(await thread.ended).toMatchObject({ kind: 'late', silentMs: expect.any(Number) })
  },
)

test('a beat is a sign of life, as news are', async () => {
  let beats = 0
  const { thread } = open('wait', {
    patienceMs: () => (beats < 40 ? 100 : 50),
    beats: () => beats++,
  })
  // Each look finds another beat; were it late, it would be so after two.
  await expect.poll(() => beats, { timeout: 60_000 }).toBeGreaterThan(20)
  expect(thread.isEnding).toBe(false)
})

test('one that fills the process, or its own heap, is ended', async () => {
  const grown = await open('grow', { growthMb: 64 }).thread.ended
  expect(grown).toEqual({ kind: 'grown' })
  const filled = await open('fill', { heapMb: 32 }).thread.ended
  expect(filled.kind === 'failed' && isOutOfMemory(filled.error)).toBe(true)
})

test('young objects take what was said, whatever threads before had', async () => {
  const taken: number[] = []
  for (const semiSpaceMb of [1, 16]) {
    const { thread, news } = open('discard', { semiSpaceMb })
    expect(await thread.ended).toEqual({ kind: 'done' })
    taken.push(Number(news[0]))
  }

  expect(taken[0]).toBeLessThan(8_000_000)
  expect(taken[1]).toBeGreaterThan(12_000_000)
})

test('one that is ended says nothing any more, and nothing is left of it', async () => {
  const { thread, news } = open('echo')
  thread.post('heard')
  await expect.poll(() => news, { timeout: 60_000 }).toEqual(['heard'])
  thread.post('not heard')
  await thread.end()
  expect([await thread.ended, news]).toEqual([{ kind: 'stopped' }, ['heard']])
  expect(await endThreads()).toBe(true)
})
