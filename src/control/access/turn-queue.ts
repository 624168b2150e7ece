import { inNextTurn } from '../../lib/timers.ts'

/** The last look waits for so many turns. */
const LOOKS_WAITING_MAX = 64

/** In the order of serving. The head of a command may be that of a kill, so it comes early. */
const KINDS = ['kill', 'head', 'halt', 'command', 'look'] as const

export type QueuedKind = (typeof KINDS)[number]

/**
 * Serves at most one request in a turn of the event loop, so that many at once delay no order for
 * longer than one does. Commands are bounded by their connections.
 */
export class TurnQueue {
  readonly #waiting: Record<QueuedKind, (() => void)[]> = {
    kill: [],
    head: [],
    halt: [],
    command: [],
    look: [],
  }
  #isDue = false

  /** False if too many wait. */
  add(kind: QueuedKind, serve: () => void): boolean {
    const waiting = this.#waiting[kind]
    if (kind === 'look' && waiting.length >= LOOKS_WAITING_MAX) return false
    waiting.push(serve)
    this.#plan()
    return true
  }

  #plan(): void {
    if (this.#isDue || KINDS.every((kind) => this.#waiting[kind].length === 0)) return
    this.#isDue = true
    inNextTurn(() => {
      this.#isDue = false
      const next = KINDS.find((kind) => this.#waiting[kind].length > 0)
      const serve = next && this.#waiting[next].shift()
      this.#plan()
      serve?.()
    })
  }
}
