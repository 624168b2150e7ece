import { inNextTurn } from '../../lib/timers.ts'

/** The last of them waits for so many turns. */
const LOOKS_WAITING_MAX = 64

/** As they are served. Heads of commands come before what is not urgent, since they may be a kill. */
const KINDS = ['kill', 'head', 'halt', 'command', 'look'] as const

export type QueuedKind = (typeof KINDS)[number]

/**
 * Serves at most one request in a turn of the event loop, kills and commands first. Prices, answers
 * and grants of the exchange that came meanwhile are handled between two of them, so many requests
 * at once hold up no order for longer than one does. Commands are bounded by the connections that bring them.
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

  /** False: too many wait. */
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
