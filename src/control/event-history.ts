import { type EventView } from './views.ts'

/** What is remembered for whoever comes late or was away: minutes of a busy day, hours of a quiet one. */
const EVENTS_MAX = 2000

/** The last events of the log, for those who follow it. */
export class EventHistory {
  readonly #events: EventView[] = []
  readonly #waiting = new Set<() => void>()
  readonly #beforeFirst: number
  #lastId: number

  /** @param beforeFirst Ids go on from here, so that those of an earlier run are not met again. */
  constructor(beforeFirst: number) {
    this.#beforeFirst = beforeFirst
    this.#lastId = beforeFirst
  }

  add(event: Omit<EventView, 'id'>): void {
    this.#events.push({ id: ++this.#lastId, ...event })
    // In one go now and then: to shift each time would move them all.
    if (this.#events.length >= 2 * EVENTS_MAX) this.#events.splice(0, EVENTS_MAX)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  get lastId(): number {
    return this.#lastId
  }

  /** Those after an id, the oldest first, and how many between are not remembered any more. */
  after(id: number, max: number): { readonly events: readonly EventView[]; readonly missed: number } {
    // One of another run: everything is new.
    const isOurs = id >= this.#beforeFirst && id <= this.#lastId
    const from = isOurs ? id : this.#beforeFirst
    const first = this.#events[0]?.id ?? this.#lastId + 1
    const index = Math.max(0, from + 1 - first)
    return {
      events: this.#events.slice(index, index + max),
      missed: isOurs ? Math.max(0, first - 1 - from) : 0,
    }
  }

  /** Calls back once, with the next event. Returns how to take that back. */
  onNext(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }
}
