import { rmSync } from 'node:fs'
import { Failure } from '../../lib/failure.ts'
import { isOutOfMemory, SupervisedThread } from '../../lib/supervised-thread.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { strategyFailure } from '../../strategy/strategy-failure.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import {
  PlayMarks,
  type BacktestTask,
  PLAY_ERRORS,
  type PlayMessage,
  type PlayThreadData,
} from './thread-protocol.ts'
import { isUnfinished } from './report-directory.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const LOADING_PATIENCE_MS = 60_000
/** A year of ten instruments takes a tenth of this. */
export const HEAP_MB_MAX = 4096
/** Each look makes many short-lived objects. With a daemon's 2 MB a run takes a fifth longer. */
export const SEMI_SPACE_MB = 32
const STOPPING_PATIENCE_MS = 3000

export interface WatchedPlay {
  readonly file: string
  readonly askedBy: string
  readonly task: object
  readonly hungAfterMs: number
  /** After a signal the thread reports what was done; without this it is ended at once. */
  readonly endsWithReport?: boolean
  readonly heapMbMax?: number
}

interface ThreadState {
  strategies: readonly string[]
  unfinished?: string
  loading?: string | undefined
  exit: number
}

/** @returns the exit code @throws the error that ended the play */
export function playBacktest(task: BacktestTask, hungAfterMs: number): Promise<number> {
  const thread = { file: './backtest-thread', askedBy: import.meta.url }
  return playWatched({ ...thread, task, hungAfterMs, endsWithReport: true })
}

/**
 * Plays in a thread, and ends it when nothing happens in it any more.
 * @returns the exit code
 * @throws the error that ended the play; Failure STRATEGY_HANGS, STRATEGY_IMPORT_HANGS,
 * BACKTEST_HUNG, BACKTEST_MEMORY
 */
export async function playWatched(play: WatchedPlay): Promise<number> {
  const { file, askedBy, task, hungAfterMs, endsWithReport = false, heapMbMax = HEAP_MB_MAX } = play
  const marks = new PlayMarks()
  const { isTTY } = process.stderr
  const data: PlayThreadData<object> = { task, shared: marks.shared, isTTY }
  const known: ThreadState = { strategies: [], exit: 0 }
  const thread = new SupervisedThread<PlayMessage>({
    file,
    askedBy,
    task: data,
    heapMb: heapMbMax,
    semiSpaceMb: SEMI_SPACE_MB,
    beats: () => marks.beats,
    patienceMs: () => patienceOf(marks, hungAfterMs),
    isByCpu: true,
    errors: PLAY_ERRORS,
    onNews: (message) => take(message, known),
  })
  const forgetSignals = onStopSignals((signal) => {
    marks.stop(signal)
    if (!endsWithReport || marks.playedAt === 0)
      void thread.end({ kind: 'failed', error: stopped(signal, marks) })
  })
  try {
    const end = await thread.ended
    if (end.kind === 'late') throw hung(marks, known, end.silentMs)
    if (end.kind !== 'failed') return known.exit
    throw isOutOfMemory(end.error) ? full(marks, known, heapMbMax) : end.error
  } finally {
    forgetSignals()
    await thread.end()
    if (known.unfinished !== undefined) rmSync(known.unfinished, { recursive: true, force: true })
  }
}

function take(message: PlayMessage, known: ThreadState): void {
  if (message.kind === 'loading') known.loading = message.file
  else if (message.kind === 'begun') known.strategies = message.strategies
  else if (message.kind === 'unfinished') {
    if (isUnfinished(message.directory)) known.unfinished = message.directory
  } else if (message.kind === 'progress') writeAside(message.text)
  else {
    writeOut(message.text)
    known.exit = message.exit
  }
}

function patienceOf({ playedAt, stoppedBy }: PlayMarks, hungAfterMs: number): number {
  if (playedAt === 0) return Math.max(hungAfterMs, LOADING_PATIENCE_MS)
  return stoppedBy === undefined ? hungAfterMs : Math.min(hungAfterMs, STOPPING_PATIENCE_MS)
}

function stopped(signal: string, marks: PlayMarks): Failure {
  return new Failure({
    code: 'BACKTEST_STOPPED',
    sentence: `it was stopped ${marks.playedAt === 0 ? 'before the first price' : 'before its end'}`,
    facts: { by: signal },
  })
}

function full(marks: PlayMarks, { strategies }: ThreadState, heapMb: number): Failure {
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

function hung(marks: PlayMarks, { strategies, loading }: ThreadState, silentMs: number): Failure {
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
