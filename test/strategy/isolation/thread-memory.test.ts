import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const THREADS = 4
const CODE = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData).then(({ createMemoryCheck }) => {
    for (let round = 0; round < 40; round++) createMemoryCheck(1000)
    parentPort.postMessage([createMemoryCheck(0)(), createMemoryCheck(1000)(), typeof globalThis.gc])
  })
`

test('threads that begin at the same time can each look at their memory, and strategies cannot collect', async () => {
  const workerData = new URL('../../../src/strategy/isolation/thread-memory.ts', import.meta.url)
    .href
  // As a thread finds it that begins while another one is at work.
  setFlagsFromString('--expose-gc')
  const threads = Array.from(
    { length: THREADS },
    () => new Worker(CODE, { eval: true, workerData }),
  )

  const looks = await Promise.all(threads.map((thread) => once(thread, 'message')))
  await Promise.all(threads.map((thread) => thread.terminate()))

  expect(looks.flat()).toEqual(threads.map(() => [true, false, 'undefined']))
})
