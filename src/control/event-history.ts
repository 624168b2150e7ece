import type { EventView } from './views.ts'

/** Some minutes of a busy day, or hours of a quiet one. */
const EVENTS_MAX = 2000
/** Warnings and errors are kept longer: on a busy day other events are gone in a minute. */
const ALERTS_MAX = 200
const ALERTING: ReadonlySet<string> = new Set(['warn', 'error', 'fatal'])

export class EventHistory {
  readonly #events: EventView[] = []
  readonly #alerts: EventView[] = []
  readonly #waiting = new Set<() => void>()
  readonly #beforeFirst: number
  #lastId: number

  /** @param beforeFirst ids continue after this one, so that no id of an earlier run recurs */
  constructor(beforeFirst: number) {
    this.#beforeFirst = beforeFirst
    this.#lastId = beforeFirst
  }

  add(event: Omit<EventView, 'id'>): void {
    const added = { id: ++this.#lastId, ...event }
    this.#events.push(added)
    if (ALERTING.has(event.level)) this.#alerts.push(added)
    if (this.#alerts.length > ALERTS_MAX) this.#alerts.shift()
    // Removing many at once avoids moving all events each time.
    if (this.#events.length >= 2 * EVENTS_MAX) this.#events.splice(0, EVENTS_MAX)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  get lastId(): number {
    return this.#lastId
  }

  /** Oldest first: at most `max`, plus warnings and errors that outlived others. */
  after(
    id: number,
    max: number,
  ): { readonly events: readonly EventView[]; readonly missed: number } {
    // After an id of another run, all events are new.
    const isOurs = id >= this.#beforeFirst && id <= this.#lastId
    const from = isOurs ? id : this.#beforeFirst
    const first = this.#events[0]?.id ?? this.#lastId + 1
    const index = Math.max(0, from + 1 - first)
    const older = this.#alerts.filter((alert) => alert.id > from && alert.id < first)
    const events = [...older, ...this.#events.slice(index, index + max)]
    const last = events.at(-1)?.id ?? from
    return { events, missed: isOurs ? last - from - events.length : 0 }
  }

  /** @returns a function that cancels */
  onNext(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }
}
