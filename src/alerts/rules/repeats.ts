import { type Alert } from '../alert.ts'
import { BoundedMap } from './bounded-map.ts'

/** Different alerts that are remembered at a time: beyond any real trouble. */
const KEYS_MAX = 500

interface Sent {
  readonly untilAt: number
  /** The last one that was counted instead of sent. */
  readonly latest: Alert | undefined
  readonly repeats: number
}

/** An alert is let through once; the same again within `repeatMs` is counted, and let through once with its count. */
export class Repeats {
  readonly #repeatMs: number
  readonly #sent = new BoundedMap<Sent>(KEYS_MAX)

  constructor(repeatMs: number) {
    this.#repeatMs = repeatMs
  }

  /** @returns the alert where it is to be sent now. */
  pass(alert: Alert, now: number): Alert | undefined {
    const sent = this.#sent.get(alert.key)
    if (sent) {
      this.#sent.set(alert.key, { ...sent, latest: alert, repeats: sent.repeats + 1 })
      return undefined
    }
    this.#sent.set(alert.key, { untilAt: now + this.#repeatMs, latest: undefined, repeats: 0 })
    return alert
  }

  /** Those of these keys are news when they come next. */
  forget(isOf: (key: string) => boolean): void {
    for (const [key] of this.#sent.list(() => true)) if (isOf(key)) this.#sent.delete(key)
  }

  /** What was counted and is due at this time; forever as `now`: everything that was counted. */
  due(now: number): readonly Alert[] {
    return this.#sent
      .list(({ untilAt }) => untilAt <= now)
      .flatMap(([key, { latest, repeats }]) => {
        if (latest === undefined) {
          this.#sent.delete(key)
          return []
        }
        this.#sent.set(key, { untilAt: now + this.#repeatMs, latest: undefined, repeats: 0 })
        return { ...latest, repeats }
      })
  }
}
