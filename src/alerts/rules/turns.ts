import { type LogEvent } from '../../domain/log-events.ts'
import { BoundedMap } from './bounded-map.ts'
import { type Facts, showFact } from './facts.ts'

/** Matters that are followed at a time. */
const FOLLOWED_MAX = 500

/** Events that take each other back: whoever hears only the first of a day would believe the wrong thing. */
interface Matter {
  readonly begins: readonly LogEvent[]
  readonly ends: readonly LogEvent[]
  /** The fields of what it is about; they come first in `by` of each rule. */
  readonly by: readonly string[]
}

const MATTERS: readonly Matter[] = [
  {
    begins: ['trading.halted', 'trading.reducing', 'limits.reached', 'flatten.done'],
    ends: ['trading.released', 'flatten.dropped'],
    by: ['scope'],
  },
  { begins: ['limits.warned', 'limits.reached'], ends: ['limits.ended'], by: ['scope'] },
  { begins: ['trading.killed', 'kill.clean', 'kill.unproved'], ends: ['kill.released'], by: [] },
  { begins: ['daemon.stopped'], ends: ['daemon.running', 'daemon.killed'], by: [] },
]

/** Which alerts are news, however soon they come again, since the opposite happened in between. */
export class Turns {
  readonly #sides = new BoundedMap<'begins' | 'ends'>(FOLLOWED_MAX)

  /** @returns the beginnings of the keys whose alerts are news from this event on. */
  take(event: LogEvent, facts: Facts): readonly string[] {
    return MATTERS.flatMap((matter, index) => {
      const side = (['begins', 'ends'] as const).find((one) => matter[one].includes(event))
      if (side === undefined) return []
      const about = matter.by.map((name) => ` ${showFact(facts[name])}`).join('')
      const name = `${index}${about} ${showFact(facts['account'])}`
      const before = this.#sides.get(name)
      this.#sides.set(name, side)
      return before === undefined || before === side ? [] : matter[side].map((one) => `${one}${about}`)
    })
  }
}
