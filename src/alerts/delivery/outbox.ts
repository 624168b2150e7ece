import { type Alert, rankOf } from '../alert.ts'

/** Alerts that wait for one target: hours of trouble, and some 200 KB. */
const WAITING_MAX = 100

/** What waits for one target: the most urgent first, of those the oldest. */
export class Outbox {
  readonly #waiting: Alert[] = []
  #dropped = 0

  /** Where there is no room, the oldest of the least urgent makes it. */
  add(alert: Alert): void {
    this.#waiting.push(alert)
    if (this.#waiting.length <= WAITING_MAX) return
    this.drop(this.#waiting.reduce((least, one) => (rankOf(one) < rankOf(least) ? one : least)))
  }

  /** The one to be sent next, of those that may be sent now. */
  next(isUrgentOnly: boolean): Alert | undefined {
    const ready = isUrgentOnly
      ? this.#waiting.filter(({ urgency }) => urgency === 'urgent')
      : this.#waiting
    const [first] = ready
    return first && ready.reduce((most, one) => (rankOf(one) > rankOf(most) ? one : most), first)
  }

  remove(alert: Alert): void {
    const index = this.#waiting.indexOf(alert)
    if (index >= 0) this.#waiting.splice(index, 1)
  }

  /** It was not sent and never will be. */
  drop(alert: Alert): void {
    this.remove(alert)
    this.#dropped += 1
  }

  get size(): number {
    return this.#waiting.length
  }

  /** How many were dropped, of those that nobody has heard of. */
  get dropped(): number {
    return this.#dropped
  }

  noteHeard(dropped: number): void {
    this.#dropped -= dropped
  }
}
