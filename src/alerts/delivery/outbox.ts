import { type Alert, rankOf } from '../alert.ts'

/** Maximum alerts that wait for one target: hours of trouble, and some 200 KB. */
const WAITING_MAX = 100

/** The alerts that wait for one target: the most urgent first, among equals the oldest. */
export class Outbox {
  readonly #waiting: Alert[] = []
  #dropped = 0

  /** When it is full, the oldest of the least urgent alerts is dropped. */
  add(alert: Alert): void {
    this.#waiting.push(alert)
    if (this.#waiting.length <= WAITING_MAX) return
    this.drop(this.#waiting.reduce((least, one) => (rankOf(one) < rankOf(least) ? one : least)))
  }

  /** The next alert to send, among those that may be sent now. */
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

  /** Removes an alert that was not sent and never will be. */
  drop(alert: Alert): void {
    this.remove(alert)
    this.#dropped += 1
  }

  get size(): number {
    return this.#waiting.length
  }

  /** How many alerts were dropped unreported. */
  get dropped(): number {
    return this.#dropped
  }

  noteHeard(dropped: number): void {
    this.#dropped -= dropped
  }
}
