import { type Alert, rankOf } from '../alert.ts'

/** Hours of trouble, some 200 KB. */
const WAITING_MAX = 100

/** Most urgent first, then oldest. */
export class Outbox {
  readonly #waiting: Alert[] = []
  #dropped = 0

  /** When full, it drops the oldest of the least urgent. */
  add(alert: Alert): void {
    this.#waiting.push(alert)
    if (this.#waiting.length <= WAITING_MAX) return
    this.drop(this.#waiting.reduce((least, one) => (rankOf(one) < rankOf(least) ? one : least)))
  }

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

  drop(alert: Alert): void {
    this.remove(alert)
    this.#dropped += 1
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Not reported yet. */
  get dropped(): number {
    return this.#dropped
  }

  noteHeard(dropped: number): void {
    this.#dropped -= dropped
  }
}
