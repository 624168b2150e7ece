import { ConfigError, type Problem } from '../../config/yaml/problem.ts'
import { type ErrorCrossing, FAILURES_CROSSING, type PackedError } from '../../lib/packed-error.ts'
import type { PlayMarks } from './play-marks.ts'
import type { BacktestOptions } from '../opening/play-options.ts'

/** A backtest, as the thread is to play it. */
export interface BacktestTask {
  readonly config: string | undefined
  readonly options: BacktestOptions
  readonly version: string
}

/** The side that is told how far a run is. */
export interface PlayWatcher {
  readonly marks: PlayMarks
  /** Whether somebody sees how far it is. */
  readonly isTTY: boolean
  readonly post: (message: PlayMessage) => void
}

/** What the thread says. */
export type PlayMessage =
  /** The strategy file that is loaded from now on; absent: none any more. */
  | { readonly kind: 'loading'; readonly file?: string }
  /** Ids of the strategies, by number from 1. */
  | { readonly kind: 'begun'; readonly strategies: readonly string[] }
  /** Where unfinished files are: to be removed when the thread is ended. */
  | { readonly kind: 'unfinished'; readonly directory: string }
  /** For the terminal: how far it is. */
  | { readonly kind: 'progress'; readonly text: string }
  /** For standard output: what it came to, and the exit code. */
  | { readonly kind: 'report'; readonly text: string; readonly exit: number }

/** The problems of a configuration arrive as they were found, with their places; any other error as in `lib`. */
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
