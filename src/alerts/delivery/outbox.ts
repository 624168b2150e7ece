import { type Alert, rankOf } from '../alert.ts'

/** Alerts that wait for one target: hours of trouble, and some 200 KB. */
const WAITING_MAX = 100

/** What waits for one target: the most urgent first, of those the oldest. */
export class Outbox {
  readonly #waiting: Alert[] = []
  #dropped = 0

  /** Where there is no room, the oldest of the least urgent makes it. @returns whether one was dropped. */
  add(alert: Alert): boolean {
    this.#waiting.push(alert)
    if (this.#waiting.length <= WAITING_MAX) return false
    const least = Math.min(...this.#waiting.map(rankOf))
    this.drop(this.#waiting.find((one) => rankOf(one) === least))
    return true
  }

  /** The one to be sent next, of those that may be sent now. */
  next(isUrgentOnly: boolean): Alert | undefined {
    const ready = isUrgentOnly ? this.#waiting.filter(({ urgency }) => urgency === 'urgent') : this.#waiting
    const most = Math.max(...ready.map(rankOf))
    return ready.find((one) => rankOf(one) === most)
  }

  remove(alert: Alert): void {
    const index = this.#waiting.indexOf(alert)
    if (index >= 0) this.#waiting.splice(index, 1)
  }

  /** It was not sent and never will be. */
  drop(alert: Alert | undefined): void {
    if (alert === undefined) return
    this.remove(alert)
    this.#dropped += 1
  }

  get size(): number {
    return this.#waiting.length
  }

  /** How many were dropped since this was last asked. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }
}
