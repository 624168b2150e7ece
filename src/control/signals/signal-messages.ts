import type { ListeningTask } from '../front/listening-thread.ts'
import type { ProvedSignal, SignalAnswer, SignalKey, SignalResult } from './signal-guard.ts'

export interface SignalTask extends ListeningTask {
  readonly keys: readonly (Omit<SignalKey, 'secret'> & { readonly secret: string })[]
}

export interface AnsweredNews {
  readonly kind: 'answered'
  readonly name: string | undefined
  readonly result: SignalResult
  readonly why: string
  readonly count: number
}

export type SignalNews =
  | AnsweredNews
  | { readonly kind: 'proved'; readonly id: number; readonly signal: ProvedSignal }
  | { readonly kind: 'closed'; readonly why: string; readonly count: number }

export interface ToSignals {
  readonly id: number
  /** Undefined if taking the signal failed. */
  readonly answer: SignalAnswer | undefined
}
