/** Where in the shared numbers: how often the event loop has turned, and which strategy runs (0: none). */
export const BEAT = 0
export const RUNNING = 1

/** What the two threads of the watchdog have in common. */
export interface WatchdogData {
  readonly shared: SharedArrayBuffer
  readonly checkMs: number
  /** So many checks without a turn of the event loop are too many. */
  readonly checksMax: number
  /** Number 1 is the first. Of several accounts each has notes of its own. */
  readonly strategies: readonly { readonly id: string; readonly noteFile: string }[]
  /** Where the log goes. */
  readonly descriptor: 1 | 2
  readonly logName: string
  /** Where it was no strategy's code. */
  readonly noteFile: string
}
