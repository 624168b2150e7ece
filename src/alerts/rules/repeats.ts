import type { Alert } from '../alert.ts'
import { BoundedMap } from './bounded-map.ts'

const KEYS_MAX = 500

interface SentAlert {
  /** Unix ms. */
  readonly sentAt: number
  readonly untilAt: number
  readonly latest: Alert | undefined
  readonly repeats: number
}

/** Passes an alert, counts equal ones within `repeatMs`, and passes those once. */
export class Repeats {
  readonly #repeatMs: number
  readonly #sent = new BoundedMap<SentAlert>(KEYS_MAX)

  constructor(repeatMs: number) {
    this.#repeatMs = repeatMs
  }

  pass(alert: Alert, now: number): Alert | undefined {
    const sent = this.#sent.get(alert.key)
    if (sent) {
      this.#sent.set(alert.key, { ...sent, latest: alert, repeats: sent.repeats + 1 })
      return undefined
    }
    this.#sent.set(alert.key, {
      sentAt: now,
      untilAt: now + this.#repeatMs,
      latest: undefined,
      repeats: 0,
    })
    return alert
  }

  forget(beginnings: readonly string[]): void {
    for (const [key] of this.#listOf(beginnings)) this.#sent.delete(key)
  }

  drop(beginnings: readonly string[]): void {
    for (const [key, sent] of this.#listOf(beginnings))
      this.#sent.set(key, { ...sent, latest: undefined, repeats: 0 })
  }

  hasten(beginnings: readonly string[], at: number): void {
    for (const [key, sent] of this.#listOf(beginnings))
      this.#sent.set(key, { ...sent, untilAt: Math.min(sent.sentAt + this.#repeatMs, at) })
  }

  #listOf(beginnings: readonly string[]): readonly (readonly [string, SentAlert])[] {
    return this.#sent
      .list(() => true)
      .filter(([key]) => beginnings.some((beginning) => key.startsWith(beginning)))
  }

  due(now: number): readonly Alert[] {
    return this.#sent
      .list(({ untilAt }) => untilAt <= now)
      .flatMap(([key, { latest, repeats }]) => {
        if (latest === undefined) {
          this.#sent.delete(key)
          return []
        }
        this.#sent.set(key, {
          sentAt: now,
          untilAt: now + this.#repeatMs,
          latest: undefined,
          repeats: 0,
        })
        return { ...latest, repeats }
      })
  }
}
