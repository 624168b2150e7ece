import type { Alert } from '../alert.ts'
import { BoundedMap } from './bounded-map.ts'

/** Different alerts that are remembered at a time: beyond any real trouble. */
const KEYS_MAX = 500

interface Sent {
  /** Unix ms. */
  readonly sentAt: number
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
    this.#sent.set(alert.key, {
      sentAt: now,
      untilAt: now + this.#repeatMs,
      latest: undefined,
      repeats: 0,
    })
    return alert
  }

  /** Those are news when they come next. @param beginnings Of their keys. */
  forget(beginnings: readonly string[]): void {
    for (const [key] of this.#listOf(beginnings)) this.#sent.delete(key)
  }

  /** What was counted of them does not hold any more. */
  drop(beginnings: readonly string[]): void {
    for (const [key, sent] of this.#listOf(beginnings))
      this.#sent.set(key, { ...sent, latest: undefined, repeats: 0 })
  }

  /** What is counted of them from now on is due at this time at the latest. */
  hasten(beginnings: readonly string[], at: number): void {
    for (const [key, sent] of this.#listOf(beginnings))
      this.#sent.set(key, { ...sent, untilAt: Math.min(sent.sentAt + this.#repeatMs, at) })
  }

  #listOf(beginnings: readonly string[]): readonly (readonly [string, Sent])[] {
    return this.#sent
      .list(() => true)
      .filter(([key]) => beginnings.some((beginning) => key.startsWith(beginning)))
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
