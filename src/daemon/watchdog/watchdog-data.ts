/** Where in the shared numbers: how often the event loop has turned, and which strategy runs (0: none). */
export const BEAT = 0
export const RUNNING = 1

/** What the two threads of the watchdog have in common. */
export interface WatchdogData {
  readonly shared: SharedArrayBuffer
  readonly checkMs: number
  /** So many checks without a turn of the event loop are too many. */
  readonly checksMax: number
  /** Of strategies: number 1 is the first. */
  readonly names: readonly string[]
  /** Where the log goes. */
  readonly descriptor: 1 | 2
  readonly logName: string
  readonly noteFile: string
}
