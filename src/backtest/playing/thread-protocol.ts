import { ConfigError, type Problem } from '../../config/yaml/problem.ts'
import { type ErrorCrossing, FAILURES_CROSSING, type PackedError } from '../../lib/packed-error.ts'
import type { BacktestCommandOptions } from '../opening/play-options.ts'
import { runTask } from '../../lib/supervised-thread.ts'
import { guardFiles } from '../../strategy/isolation/guard-thread.ts'

const BEATS = 0
const DECIDING = 1
const STOP = 2
/** The time in the prices is a float64; three int32 follow. */
const BYTES = 24

const SIGNALS = ['', 'SIGINT', 'SIGTERM'] as const

/**
 * Memory that the playing thread shares with its watcher, because a busy thread reads no messages.
 */
export class PlayMarks {
  readonly shared: SharedArrayBuffer
  readonly #time: Float64Array
  readonly #numbers: Int32Array

  constructor(shared = new SharedArrayBuffer(BYTES)) {
    this.shared = shared
    this.#time = new Float64Array(shared, 0, 1)
    this.#numbers = new Int32Array(shared, 8, 3)
  }

  get beats(): number {
    return Atomics.load(this.#numbers, BEATS)
  }

  /** Unix ms, in the prices; 0 before they begin. */
  get playedAt(): number {
    return this.#time[0] ?? 0
  }

  /** Number of the strategy whose code runs, from 1; 0: none. */
  get deciding(): number {
    return Atomics.load(this.#numbers, DECIDING)
  }

  get stoppedBy(): string | undefined {
    return SIGNALS[Atomics.load(this.#numbers, STOP)] || undefined
  }

  /** @param playedAt Unix ms, in the prices */
  beat(playedAt = this.playedAt): void {
    this.#time[0] = playedAt
    Atomics.add(this.#numbers, BEATS, 1)
  }

  decides(number: number): void {
    Atomics.store(this.#numbers, DECIDING, number)
  }

  stop(signal: string): void {
    Atomics.store(this.#numbers, STOP, signal === 'SIGINT' ? 1 : 2)
  }
}

export interface BacktestTask {
  readonly config: string | undefined
  readonly options: BacktestCommandOptions
  readonly version: string
}

export interface PlayWatcher {
  readonly marks: PlayMarks
  readonly isTTY: boolean
  readonly post: (message: PlayMessage) => void
}

export type PlayMessage =
  /** Without a file: no strategy is being loaded any more. */
  | { readonly kind: 'loading'; readonly file?: string }
  | { readonly kind: 'begun'; readonly strategies: readonly string[] }
  /** The watcher removes this directory when it ends the thread. */
  | { readonly kind: 'unfinished'; readonly directory: string }
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'report'; readonly text: string; readonly exit: number }

export const PLAY_ERRORS: ErrorCrossing<PackedError | PackedProblems> = {
  pack(error) {
    if (!(error instanceof ConfigError)) return FAILURES_CROSSING.pack(error)
    return { problems: error.problems, again: error.again }
  },
  unpack(packed) {
    if (!('problems' in packed)) return FAILURES_CROSSING.unpack(packed)
    return new ConfigError(packed.problems, packed.again)
  },
}

interface PackedProblems {
  readonly problems: readonly Problem[]
  readonly again: string | undefined
}

export interface PlayThreadData<Task> {
  readonly task: Task
  readonly shared: SharedArrayBuffer
  readonly isTTY: boolean
}

export async function playForWatcher<Task>(
  play: (task: Task, watcher: PlayWatcher) => Promise<void>,
): Promise<void> {
  await runTask<PlayThreadData<Task>, PlayMessage>(({ task, shared, isTTY }, post) => {
    guardFiles()
    return play(task, { marks: new PlayMarks(shared), isTTY, post })
  }, PLAY_ERRORS)
}
