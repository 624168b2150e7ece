import { inNextTurn } from '../../lib/timers.ts'

/** The last of them waits for so many turns. */
const LOOKS_WAITING_MAX = 64

export type Lane = 'command' | 'look'

/**
 * Serves at most one request in a turn of the event loop, commands first. Prices, answers and grants
 * of the exchange that came meanwhile are handled between two of them, so many requests at once hold
 * up no order for longer than one does. Commands are bounded by the connections that bring them.
 */
export class TurnQueue {
  readonly #waiting: Record<Lane, (() => void)[]> = { command: [], look: [] }
  #isDue = false

  /** False: too many wait. */
  add(lane: Lane, serve: () => void): boolean {
    const waiting = this.#waiting[lane]
    if (lane === 'look' && waiting.length >= LOOKS_WAITING_MAX) return false
    waiting.push(serve)
    this.#plan()
    return true
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.command.length + this.#waiting.look.length === 0) return
    this.#isDue = true
    inNextTurn(() => {
      this.#isDue = false
      const serve = this.#waiting.command.shift() ?? this.#waiting.look.shift()
      this.#plan()
      serve?.()
    })
  }
}
