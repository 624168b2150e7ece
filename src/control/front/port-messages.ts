import type { QueuedKind } from '../access/turn-queue.ts'
import type { ServedAgents } from '../powers.ts'
import type { ListeningTask } from './listening-thread.ts'

export interface PortTask extends ListeningTask {
  readonly tokens: {
    readonly full: string
    readonly read: string
    readonly agent?: string | undefined
  }
  readonly agents?: ServedAgents | undefined
}

export interface PassedRequest {
  readonly id: number
  readonly kind: Exclude<QueuedKind, 'head'>
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface RefusedNews {
  readonly kind: 'refused'
  readonly what: 'request' | 'connection'
  readonly why: string
  readonly count: number
}

export type PortNews =
  | RefusedNews
  | { readonly kind: 'passed'; readonly request: PassedRequest }
  /** No client waits for the answer any more. */
  | { readonly kind: 'left'; readonly id: number }
  /** The reader of a stream is slow, or has caught up. */
  | { readonly kind: 'slow'; readonly id: number; readonly isSlow: boolean }

export type ToPort =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: PassedAnswer }
  | { readonly kind: 'chunk'; readonly id: number; readonly chunk: Uint8Array }
  /** A look was refused, because too many wait. */
  | { readonly kind: 'full'; readonly id: number }
  /** A stream has ended; if no answer came before, the request has failed. */
  | { readonly kind: 'end'; readonly id: number }

export interface PassedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: a stream, whose chunks and end follow. */
  readonly body: string | undefined
}
