import { ConfigError, type Problem } from '../../config/yaml/problem.ts'
import { Failure, type FailureDetails } from '../../lib/failure.ts'
import type { PlayMarks } from './play-marks.ts'
import type { BacktestOptions } from '../opening/play-options.ts'

/** A backtest, as the thread is to play it. */
export interface BacktestTask {
  readonly config: string | undefined
  readonly options: BacktestOptions
  readonly version: string
}

/** Who watches what is played. */
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
  | { readonly kind: 'failed'; readonly error: ThrownThere }
  /** Everything is done: timers that a strategy left may keep the thread alive, and are not waited for. */
  | { readonly kind: 'ended' }

/** An error on its way between threads, which keeps no class. */
export type ThrownThere =
  | { readonly problems: readonly Problem[]; readonly again: string | undefined }
  | { readonly failure: FailureDetails }
  | { readonly error: unknown }

export function packError(error: unknown): ThrownThere {
  if (error instanceof ConfigError) return { problems: error.problems, again: error.again }
  if (!(error instanceof Failure)) return { error }
  const { code, message, facts, hint } = error
  const sentence = message.split('\n', 1)[0]?.slice(`${code}: `.length) ?? ''
  return { failure: { code, sentence, facts, ...(hint !== undefined && { hint }) } }
}

export function unpackError(packed: ThrownThere): Error {
  if ('problems' in packed) return new ConfigError(packed.problems, packed.again)
  if ('failure' in packed) return new Failure(packed.failure)
  return packed.error instanceof Error ? packed.error : new Error(String(packed.error))
}
