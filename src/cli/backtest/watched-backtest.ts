import { rmSync } from 'node:fs'
import { type Worker } from 'node:worker_threads'
import { Failure } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { showDuration } from '../../report/text/figures.ts'
import { openProgramThread } from '../process/program-thread.ts'
import { onStopSignals } from '../process/signals.ts'
import { PlayMarks } from './play-marks.ts'
import { type PlayMessage, type PlayTask, unpackError } from './play-message.ts'

const CHECK_MS = 200
/** The program, strategies and prices are loaded in this time at least, ms. */
const BEGIN_PATIENCE_MS = 60_000
/** A signal waits so long for something to happen before it ends what stands still, ms. */
const STOP_PATIENCE_MS = 3000

export interface WatchedOptions extends Omit<PlayTask, 'shared' | 'isTTY'> {
  /** Real time without any progress after which it counts as hung, ms. */
  readonly hungAfterMs: number
}

/**
 * Plays a backtest in a thread, prints how far it is and what it came to, and ends it when nothing happens any more.
 * @throws what it ended with; Failure BACKTEST_HUNG.
 */
export async function playWatched({ hungAfterMs, ...task }: WatchedOptions): Promise<void> {
  const marks = new PlayMarks()
  const { isTTY } = process.stderr
  const thread = openProgramThread('./backtest-thread', import.meta.url, {
    task: { ...task, shared: marks.shared, isTTY } satisfies PlayTask,
  })
  const begun: { strategies: readonly string[]; unfinished?: string } = { strategies: [] }
  const forgetSignals = onStopSignals((signal) => {
    marks.stop(signal)
    if (marks.playedAt === 0) thread.emit('error', stopped(signal))
  })
  const forgetHang = watchHang(marks, hungAfterMs, (silentMs) => {
    thread.emit('error', hung(marks, begun.strategies, silentMs))
  })
  try {
    await hear(thread, begun)
  } finally {
    forgetHang()
    forgetSignals()
    await thread.terminate()
    if (begun.unfinished !== undefined) rmSync(begun.unfinished, { recursive: true, force: true })
  }
}

function hear(thread: Worker, begun: { strategies: readonly string[]; unfinished?: string }): Promise<void> {
  return new Promise((done, fail) => {
    thread.on('message', (message: PlayMessage) => {
      if (message.kind === 'begun') Object.assign(begun, message)
      else if (message.kind === 'progress') process.stderr.write(message.text)
      else if (message.kind === 'report') process.stdout.write(message.text)
      else fail(unpackError(message.error))
    })
    thread.once('error', fail)
    thread.once('exit', done)
  })
}

/** Checks are counted, not time: a process that was stopped for a while wakes both threads. */
function watchHang(marks: PlayMarks, hungAfterMs: number, onHung: (silentMs: number) => void): () => void {
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

function stopped(signal: string): Failure {
  return new Failure({
    code: 'BACKTEST_STOPPED',
    sentence: 'the backtest was stopped before the first price',
    facts: { by: signal },
  })
}

function hung(marks: PlayMarks, strategies: readonly string[], silentMs: number): Failure {
  const strategy = strategies[marks.deciding - 1]
  const { playedAt, stoppedBy } = marks
  return new Failure({
    code: strategy === undefined ? 'BACKTEST_HUNG' : 'STRATEGY_HANGS',
    sentence:
      strategy === undefined
        ? 'the backtest did not go on, and was ended'
        : 'decide of the strategy did not come back in its time',
    facts: {
      ...(strategy !== undefined && { strategy }),
      ...{ at: playedAt === 0 ? 'before the first price' : new Date(playedAt).toISOString() },
      waited: showDuration(silentMs),
      ...(stoppedBy !== undefined && { ended: `by ${stoppedBy}` }),
    },
    hint:
      strategy === undefined
        ? 'a strategy file that loops while it is loaded, or a slow disk: --hung-after waits longer'
        : 'no report can be written; look for an endless loop, or wait longer with --hung-after',
  })
}
