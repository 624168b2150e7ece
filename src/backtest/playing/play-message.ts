import { ConfigError, type Problem } from '../../config/yaml/problem.ts'
import { type ErrorCrossing, FAILURES_CROSSING, type PackedError } from '../../lib/packed-error.ts'
import type { PlayMarks } from './play-marks.ts'
import type { BacktestOptions } from '../opening/play-options.ts'

export interface BacktestTask {
  readonly config: string | undefined
  readonly options: BacktestOptions
  readonly version: string
}

/** It hears how far a run is. */
export interface PlayWatcher {
  readonly marks: PlayMarks
  readonly isTTY: boolean
  readonly post: (message: PlayMessage) => void
}

export type PlayMessage =
  /** The strategy file that is being loaded; absent: none any more. */
  | { readonly kind: 'loading'; readonly file?: string }
  | { readonly kind: 'begun'; readonly strategies: readonly string[] }
  /** To be removed when the thread is ended. */
  | { readonly kind: 'unfinished'; readonly directory: string }
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'report'; readonly text: string; readonly exit: number }

/** A configuration's problems keep their places; other errors as in `lib`. */
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
