import { readFileSync, readlinkSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { parentPort, type Transferable, Worker, workerData } from 'node:worker_threads'
import { type ErrorCrossing, FAILURES_CROSSING } from './packed-error.ts'
import { systemTimers } from './timers.ts'

/**
 * Passing V8's own limit in one step (a Map that doubles its table) ends the whole process, so this
 * is far above what any thread keeps.
 */
const HEAP_MB_MAX = 4096
const LOOK_MS = 50
/** So much the process may grow besides the thread. */
const OWN_GROWTH_MB = 64
/** A thread ends within milliseconds, if it does at all. */
const END_MS_MAX = 1000

export type ThreadEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'exited' }
  | { readonly kind: 'late'; readonly silentMs: number }
  | { readonly kind: 'grown' }
  | { readonly kind: 'stopped' }

export interface SupervisedThreadOptions<News> {
  /** The ending is left out: `.ts` here, `.js` when built. */
  readonly file: string
  readonly askedBy: string
  readonly task: object
  readonly transfer?: readonly Transferable[]
  readonly onNews?: (news: News) => void
  /** Without it the thread is waited for. */
  readonly patienceMs?: number | (() => number)
  readonly beats?: () => number
  /** A thread that gets no processor is not late. */
  readonly isByCpu?: boolean
  readonly heapMb?: number
  readonly youngHeapMb?: number
  /** All later threads of the process have the same. */
  readonly semiSpaceMb?: number
  /** No limit of V8 counts everything. */
  readonly growthMb?: number
  readonly isBackground?: boolean
  readonly isSilent?: boolean
  readonly errors?: ErrorCrossing
}

type ThreadMessage<News> =
  | { readonly kind: 'begun'; readonly threadId: number | undefined }
  | { readonly kind: 'news'; readonly news: News }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'done' }

const running = new Set<SupervisedThread<never>>()

/**
 * Ended when it does not do its task in its time or memory.
 *
 *     running ──news, beats──► running
 *     running ──done, failed, exited, late, grown, end()──► ending ──it has exited──► gone
 *
 * `ended` resolves when it leaves `running`, never rejects, and nothing is heard afterwards. `gone`
 * resolves when it has exited: code that loops in built-in functions alone stays `ending`.
 *
 * The thread gets none of the process's secrets, only where compiled code is kept: compiling again
 * would double its start.
 */
export class SupervisedThread<News = never> {
  readonly ended: Promise<ThreadEnd>
  readonly gone: Promise<void>
  readonly #options: SupervisedThreadOptions<News>
  readonly #worker: Worker
  readonly #patience: Patience
  readonly #isGrown: () => boolean
  #patienceMs: number | (() => number) | undefined
  #threadId: number | undefined
  #signs = 0
  #isLookedAt = false
  #isEnding = false
  #cancelLook = (): void => undefined
  #settle: (end: ThreadEnd) => void = () => undefined

  constructor(options: SupervisedThreadOptions<News>) {
    this.#options = options
    const { isByCpu = false, growthMb = Number.POSITIVE_INFINITY } = options
    this.#patience = new Patience(LOOK_MS, () =>
      isByCpu && Number.isInteger(this.#threadId)
        ? readThreadTime(Number(this.#threadId))
        : undefined,
    )
    this.#isGrown = watchGrowth(growthMb)
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
    const worker = openWorker(options)
    this.#worker = worker
    running.add(this)
    this.gone = new Promise((resolve) => {
      worker.once('exit', () => {
        running.delete(this)
        void this.end({ kind: 'exited' })
        resolve()
      })
    })
    worker.on('message', (message: ThreadMessage<News>) => this.#hear(message))
    worker.on('error', (error) => void this.end({ kind: 'failed', error: toError(error) }))
    this.wait(options.patienceMs)
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  post(message: unknown): void {
    this.#worker.postMessage(message)
  }

  wait(patienceMs: number | (() => number) | undefined): void {
    this.#patienceMs = patienceMs
    this.#signs += 1
    const isToBeLookedAt = patienceMs !== undefined || this.#options.growthMb !== undefined
    if (isToBeLookedAt && !this.#isLookedAt && !this.#isEnding) this.#look()
  }

  end(end: ThreadEnd = { kind: 'stopped' }): Promise<void> {
    if (this.#isEnding) return this.gone
    this.#isEnding = true
    this.#cancelLook()
    this.#settle(end)
    void this.#worker.terminate()
    return this.gone
  }

  #hear(message: ThreadMessage<News>): void {
    if (this.#isEnding) return
    this.#signs += 1
    if (message.kind === 'begun') this.#threadId = message.threadId
    else if (message.kind === 'news') this.#options.onNews?.(message.news)
    else if (message.kind === 'done') void this.end(message)
    else void this.end({ kind: 'failed', error: this.#unpack(message.error) })
  }

  /** Foreign code may have written it. */
  #unpack(packed: unknown): Error {
    try {
      return (this.#options.errors ?? FAILURES_CROSSING).unpack(packed)
    } catch {
      return new Error('it failed, and did not say how')
    }
  }

  #look(): void {
    const { beats, growthMb } = this.#options
    const limit = this.#patienceMs
    this.#isLookedAt = limit !== undefined || growthMb !== undefined
    if (!this.#isLookedAt) return
    const silentMs = this.#patience.check(this.#signs + (beats?.() ?? 0))
    const patienceMs = typeof limit === 'function' ? limit() : limit
    if (this.#isGrown()) return void this.end({ kind: 'grown' })
    if (patienceMs !== undefined && silentMs >= patienceMs)
      return void this.end({ kind: 'late', silentMs })
    this.#cancelLook = systemTimers.after(LOOK_MS, () => this.#look())
  }
}

/** Strategies may replace what it calls, so it runs before them. */
export async function runTask<Task, News>(
  work: (task: Task, report: (news: News) => void) => Promise<void> | void,
  errors: ErrorCrossing = FAILURES_CROSSING,
): Promise<void> {
  const port = parentPort
  const post = (message: ThreadMessage<News>): void => port?.postMessage(message)
  post({ kind: 'begun', threadId: readThreadId() })
  try {
    await work(workerData as Task, (news) => post({ kind: 'news', news }))
    post({ kind: 'done' })
  } catch (error) {
    post({ kind: 'failed', error: errors.pack(error) })
  }
}

export function hearPosted<Message>(hear: (message: Message) => void): Promise<never> {
  parentPort?.on('message', hear)
  return new Promise(() => undefined)
}

/**
 * False if a thread loops in built-in functions alone: `process.exit` would wait for it for ever.
 */
export async function endThreads(): Promise<boolean> {
  const ends = [...running].map((thread) => thread.end())
  const late = new Promise<void>((resolve) => systemTimers.after(END_MS_MAX, resolve))
  await Promise.race([Promise.all(ends), late])
  return running.size === 0
}

export function watchGrowth(maxMb: number): () => boolean {
  let rssBefore: number | undefined
  return () => {
    if (maxMb === Number.POSITIVE_INFINITY) return false
    const rss = process.memoryUsage.rss()
    rssBefore ??= rss
    return rss - rssBefore > (maxMb + OWN_GROWTH_MB) * 1_000_000
  }
}

export function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function openWorker<News>(options: SupervisedThreadOptions<News>): Worker {
  const { file, askedBy, task, transfer = [], isSilent = false, isBackground = false } = options
  const { heapMb = HEAP_MB_MAX, youngHeapMb, semiSpaceMb } = options
  if (semiSpaceMb !== undefined) setFlagsFromString(`--max-semi-space-size=${semiSpaceMb}`)
  const ofThisVersion = getCompileCacheDir()
  const worker = new Worker(new URL(`${file}${askedBy.slice(askedBy.lastIndexOf('.'))}`, askedBy), {
    workerData: task,
    transferList: [...transfer],
    env: ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) },
    argv: [],
    execArgv: [],
    stdout: isSilent,
    stderr: isSilent,
    resourceLimits: {
      maxOldGenerationSizeMb: heapMb,
      ...(youngHeapMb !== undefined && { maxYoungGenerationSizeMb: youngHeapMb }),
    },
  })
  if (isSilent) {
    worker.stdout.resume()
    worker.stderr.resume()
  }
  if (isBackground) worker.unref()
  return worker
}

function readThreadId(): number | undefined {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return undefined
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

interface ThreadTime {
  /** False: the thread waits for something else than a processor, such as the reader of its log. */
  readonly isRunnable: boolean
  readonly cpuMs: number
}

const TICK_MS = 10

/**
 * @param threadId the kernel's; the main thread's is the process's @returns undefined where the
 * machine does not tell
 */
export function readThreadTime(threadId: number): ThreadTime | undefined {
  try {
    return parseStat(readFileSync(`/proc/${process.pid}/task/${threadId}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/** The name, which stands before, may hold spaces and brackets. */
export function parseStat(stat: string): ThreadTime | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS
  return Number.isNaN(cpuMs) ? undefined : { isRunnable: fields[0] === 'R', cpuMs }
}

/**
 * A runnable thread is silent only for its own processor time, so a busy machine does not make it
 * hang; a waiting one for all the time between two checks.
 */
export function silentMsOf(
  checkMs: number,
  before: ThreadTime | undefined,
  now: ThreadTime | undefined,
): number {
  if (before === undefined || now?.isRunnable !== true) return checkMs
  return Math.min(checkMs, now.cpuMs - before.cpuMs)
}

/** After a sleep or a stop, patience is whole. */
export class Patience {
  readonly #checkMs: number
  readonly #readTime: () => ThreadTime | undefined
  #signs: number | undefined
  #silentMs = 0
  #time: ThreadTime | undefined

  /** @param readTime for a thread judged by its processor time */
  constructor(checkMs: number, readTime: () => ThreadTime | undefined = () => undefined) {
    this.#checkMs = checkMs
    this.#readTime = readTime
  }

  /** @param signs undefined where none is due @returns the time without one */
  check(signs: number | undefined): number {
    const time = this.#readTime()
    const isAlive = signs === undefined || signs !== this.#signs
    this.#silentMs = isAlive ? 0 : this.#silentMs + silentMsOf(this.#checkMs, this.#time, time)
    this.#signs = signs
    this.#time = time
    return this.#silentMs
  }
}
