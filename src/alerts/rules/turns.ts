import type { LogEvent } from '../../domain/log-events.ts'
import { BoundedMap } from './bounded-map.ts'
import { type LogFacts, showFact } from './facts.ts'

const FOLLOWED_MAX = 500

/** Events that reverse each other: hearing only the first of a day would mislead. */
interface Matter {
  readonly begins: readonly LogEvent[]
  readonly ends: readonly LogEvent[]
  /** The subject, which comes first in `by` of each rule. */
  readonly by: readonly string[]
  /**
   * It comes and goes by itself: within the time of a repeat it is news again only when it lasts.
   */
  readonly isVolatile?: true
}

/** Beginnings of the keys of both sides' alerts. */
export interface MatterChange {
  readonly own: readonly string[]
  readonly other: readonly string[]
  readonly isVolatile: boolean
}

const MATTERS: readonly Matter[] = [
  {
    begins: ['trading.halted', 'trading.reducing', 'limits.reached', 'flatten.done'],
    ends: ['trading.released', 'flatten.dropped'],
    by: ['scope'],
  },
  { begins: ['limits.warned', 'limits.reached'], ends: ['limits.ended'], by: ['scope'] },
  {
    begins: ['flatten.slow', 'flatten.left'],
    ends: ['flatten.done', 'trading.released'],
    by: ['scope'],
  },
  { begins: ['trading.killed', 'kill.clean', 'kill.unproved'], ends: ['kill.released'], by: [] },
  { begins: ['daemon.stopped'], ends: ['daemon.running', 'daemon.killed'], by: [] },
  { begins: ['data.stale'], ends: ['data.fresh'], by: ['symbol'], isVolatile: true },
  { begins: ['exchange.silent'], ends: ['exchange.answers'], by: [], isVolatile: true },
  { begins: ['disk.low'], ends: ['disk.enough'], by: [], isVolatile: true },
]

/** Which alerts are news again because the opposite happened in between. */
export class Turns {
  readonly #sides = new BoundedMap<'begins' | 'ends'>(FOLLOWED_MAX)

  /** @returns the changed sides */
  take(event: LogEvent, facts: LogFacts): readonly MatterChange[] {
    return MATTERS.flatMap((matter, index) => {
      const side = (['begins', 'ends'] as const).find((one) => matter[one].includes(event))
      if (side === undefined) return []
      const about = matter.by.map((name) => ` ${showFact(facts[name])}`).join('')
      const key = `${index}${about} ${showFact(facts['account'])}`
      const before = this.#sides.get(key)
      this.#sides.set(key, side)
      if (before === undefined || before === side) return []
      const keysOf = (one: 'begins' | 'ends') => matter[one].map((name) => `${name}${about}`)
      const { isVolatile = false } = matter
      return { own: keysOf(side), other: keysOf(side === 'begins' ? 'ends' : 'begins'), isVolatile }
    })
  }
}
