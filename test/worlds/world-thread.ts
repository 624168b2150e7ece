import { Worker } from 'node:worker_threads'
import { Failure } from '../../src/lib/failure.ts'
import { type WorkerResult, type WorkerSetup, type WorkerTask } from './world-task.ts'

/** A task that takes longer hangs: no world and no shrinking needs a fraction of it. */
const TASK_MS_MAX = 900_000

/** A thread that runs worlds, one task after the other. */
export class WorldThread {
  readonly #worker: Worker

  constructor(setup: WorkerSetup = {}) {
    this.#worker = new Worker(new URL('./world-worker.ts', import.meta.url), {
      workerData: setup,
      // Worlds leave much behind at once: with room for it, it is collected seldom.
      resourceLimits: { maxYoungGenerationSizeMb: 128 },
    })
  }

  /** @throws Failure when the thread ends or hangs. */
  async perform<Kind extends WorkerTask['kind']>(
    task: Extract<WorkerTask, { kind: Kind }>,
  ): Promise<Extract<WorkerResult, { kind: ResultOf[Kind] }>> {
    const worker = this.#worker
    const { promise, resolve, reject } = Promise.withResolvers<WorkerResult>()
    const fail = (reason: unknown): void =>
      reject(
        new Failure({
          code: 'WORLD_THREAD_ENDED',
          sentence: 'a thread that runs worlds came to a bad end',
          facts: { task: JSON.stringify(task).slice(0, 200) },
          cause: reason,
        }),
      )
    const timer = setTimeout(() => fail(new Error(`no answer in ${TASK_MS_MAX} ms`)), TASK_MS_MAX)
    worker.once('message', resolve)
    worker.once('error', fail)
    worker.once('exit', fail)
    try {
      worker.postMessage(task)
      return (await promise) as Extract<WorkerResult, { kind: ResultOf[Kind] }>
    } finally {
      clearTimeout(timer)
      for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Each kind of task is answered in its own way. */
interface ResultOf {
  run: 'ran'
  replay: 'replayed'
  shrink: 'shrunk'
}
