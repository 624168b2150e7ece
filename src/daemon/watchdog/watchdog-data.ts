/** Indexes of the shared numbers: turns of the event loop, and the running strategy (0: none). */
export const BEAT = 0
export const RUNNING = 1

export interface WatchdogData {
  readonly shared: SharedArrayBuffer
  readonly checkMs: number
  readonly checksMax: number
  /** Number 1 is the first. Each account has its own notes. */
  readonly strategies: readonly { readonly id: string; readonly noteFile: string }[]
  readonly descriptor: 1 | 2
  readonly logName: string
  readonly noteFile: string
}
