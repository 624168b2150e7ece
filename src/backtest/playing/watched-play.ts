import { rmSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { Failure } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { showDuration } from '../../report/text/figures.ts'
import { strategyFailure } from '../../strategy/strategy-failure.ts'
import { openProgramThread } from '../../lib/program-thread.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { PlayMarks } from './play-marks.ts'
import { type BacktestTask, type PlayMessage, unpackError } from './play-message.ts'
import type { ThreadData } from './watched-thread.ts'
import { isUnfinished } from './report-directory.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const CHECK_MS = 200
/** The program, strategies and prices are loaded in this time at least, ms. */
const BEGIN_PATIENCE_MS = 60_000
/** What a run and its strategies may keep, MB, on every machine the same: a year of ten instruments takes a tenth of it. */
export const HEAP_MB_MAX = 4096
/** A signal waits so long for something to happen before it ends what stands still, ms. */
const STOP_PATIENCE_MS = 3000

export interface WatchedPlay {
  /** File of the thread, without its ending, and who asks: see {@link openProgramThread}. */
  readonly file: string
  readonly askedBy: string
  /** What the thread is given. */
  readonly task: object
  /** Real time without any progress after which it counts as hung, ms. */
  readonly hungAfterMs: number
  /** Whether it ends at a signal with what was done until then; else at once. */
  readonly endsWithReport?: boolean
  /** Default: {@link HEAP_MB_MAX}. */
  readonly heapMbMax?: number
}

/** What the thread has said of itself. */
interface Known {
  strategies: readonly string[]
  unfinished?: string
  /** The strategy file that is being loaded. */
  loading?: string | undefined
  exit: number
}

/** In a thread that is watched. @returns the exit code. @throws what it ended with. */
export function playBacktest(task: BacktestTask, hungAfterMs: number): Promise<number> {
  const thread = { file: './backtest-thread', askedBy: import.meta.url }
  return playWatched({ ...thread, task, hungAfterMs, endsWithReport: true })
}

/**
 * Plays prices in a thread, prints how far it is and what it came to, and ends it when nothing happens any more.
 * @returns the exit code. @throws what it ended with; Failure STRATEGY_HANGS, STRATEGY_IMPORT_HANGS, BACKTEST_HUNG,
 * BACKTEST_MEMORY.
 */
export async function playWatched(play: WatchedPlay): Promise<number> {
  const { file, askedBy, task, hungAfterMs, endsWithReport = false, heapMbMax = HEAP_MB_MAX } = play
  const marks = new PlayMarks()
  const { isTTY } = process.stderr
  const data: ThreadData<object> = { task, shared: marks.shared, isTTY }
  const thread = openProgramThread(file, askedBy, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  })
  const known: Known = { strategies: [], exit: 0 }
  const forgetSignals = onStopSignals((signal) => {
    marks.stop(signal)
    if (!endsWithReport || marks.playedAt === 0) thread.emit('error', stopped(signal, marks))
  })
  const forgetHang = watchHang(marks, hungAfterMs, (silentMs) => {
    thread.emit('error', hung(marks, known, silentMs))
  })
  try {
    await hear(thread, known)
    return known.exit
  } catch (error) {
    throw isOutOfMemory(error) ? full(marks, known, heapMbMax) : error
  } finally {
    forgetHang()
    forgetSignals()
    await thread.terminate()
    if (known.unfinished !== undefined) rmSync(known.unfinished, { recursive: true, force: true })
  }
}

function hear(thread: Worker, known: Known): Promise<void> {
  return new Promise((done, fail) => {
    thread.on('message', (message: PlayMessage) => {
      if (message.kind === 'loading') known.loading = message.file
      else if (message.kind === 'begun') known.strategies = message.strategies
      else if (message.kind === 'unfinished') {
        if (isUnfinished(message.directory)) known.unfinished = message.directory
      } else if (message.kind === 'progress') writeAside(message.text)
      else if (message.kind === 'failed') fail(unpackError(message.error))
      else if (message.kind === 'ended') done()
      else {
        writeOut(message.text)
        known.exit = message.exit
      }
    })
    thread.once('error', fail)
    thread.once('exit', done)
  })
}

/** Checks are counted, not time: a process that was stopped for a while wakes both threads. */
function watchHang(
  marks: PlayMarks,
  hungAfterMs: number,
  onHung: (silentMs: number) => void,
): () => void {
  let [beats, silentMs] = [marks.beats, 0]
  let cancel = (): void => undefined
  const check = (): void => {
    silentMs = marks.beats === beats ? silentMs + CHECK_MS : 0
    beats = marks.beats
    const patienceMs = patienceOf(marks, hungAfterMs)
    if (silentMs >= patienceMs) return onHung(silentMs)
    cancel = systemTimers.after(CHECK_MS, check)
  }
  cancel = systemTimers.after(CHECK_MS, check)
  return () => cancel()
}

function patienceOf({ playedAt, stoppedBy }: PlayMarks, hungAfterMs: number): number {
  if (playedAt === 0) return Math.max(hungAfterMs, BEGIN_PATIENCE_MS)
  return stoppedBy === undefined ? hungAfterMs : Math.min(hungAfterMs, STOP_PATIENCE_MS)
}

function stopped(signal: string, marks: PlayMarks): Failure {
  return new Failure({
    code: 'BACKTEST_STOPPED',
    sentence: `it was stopped ${marks.playedAt === 0 ? 'before the first price' : 'before its end'}`,
    facts: { by: signal },
  })
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function full(marks: PlayMarks, { strategies }: Known, heapMb: number): Failure {
  const strategy = strategies[marks.deciding - 1]
  return new Failure({
    code: 'BACKTEST_MEMORY',
    sentence: 'it ran out of memory and was ended',
    facts: { ...(strategy !== undefined && { strategy }), at: timeOf(marks), heapMb },
    hint: 'look for data that a strategy never drops: variables of its module, lists in its state',
  })
}

function timeOf({ playedAt }: PlayMarks): string {
  return playedAt === 0 ? 'before the first price' : new Date(playedAt).toISOString()
}

function hung(marks: PlayMarks, { strategies, loading }: Known, silentMs: number): Failure {
  const strategy = strategies[marks.deciding - 1]
  const { stoppedBy } = marks
  const waited = {
    waited: showDuration(silentMs),
    ...(stoppedBy !== undefined && { ended: `by ${stoppedBy}` }),
  }
  const at = timeOf(marks)
  if (strategy !== undefined)
    return strategyFailure('STRATEGY_HANGS', {
      facts: { strategy, at, ...waited },
      hint: 'no report can be written; look for an endless loop, or wait longer with --hung-after',
    })
  if (loading !== undefined)
    return strategyFailure('STRATEGY_IMPORT_HANGS', {
      facts: { file: loading, ...waited },
      hint: 'look for an endless loop outside of decide',
    })
  return new Failure({
    code: 'BACKTEST_HUNG',
    sentence: 'it made no progress and was ended',
    facts: { at, ...waited },
    hint: 'a timer or a promise of a strategy may loop; on a slow disk use a longer --hung-after',
  })
}
