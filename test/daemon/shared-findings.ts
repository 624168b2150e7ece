import { type CallRate, usedShare } from './call-rates.ts'

/** Of a limit that is to be reached, in each part: a fifth is seen, and a machine with a load of 30 uses more. */
const USED_MIN = 0.4
/** Redis is killed twice; they share at the start, and after each time. */
const SAID_MIN = { 'limits.alone': 2, 'limits.shared': 3 }

/** Between two marks, Unix ms. */
export interface Part {
  readonly what: string
  readonly from: number
  readonly to: number
}

/** Where too little of a limit was used: calls waited for what was free, or the machine was too busy to make them. */
export function findUnused(rates: readonly CallRate[], parts: readonly Part[]): readonly string[] {
  return rates.flatMap((rate) =>
    parts.flatMap(({ what, from, to }) => {
      const used = usedShare(rate, from, to)
      if (used >= USED_MIN) return []
      return [
        `${rate.name}, ${what}: ${(100 * used).toFixed(1)} % of the limit used, less than ${100 * USED_MIN} %: a share stays unused, or the machine is too busy to show anything`,
      ]
    }),
  )
}

/** A share that does not run out when Redis is gone is found even where the machine is too busy to reach a limit. */
export function findUnsaid(said: readonly Readonly<Record<string, number>>[]): readonly string[] {
  return said.flatMap((events, place) =>
    Object.entries(SAID_MIN).flatMap(([event, least]) => {
      const times = events[event] ?? 0
      return times < least ? [`daemon ${place + 1} said ${event} ${times} times, not ${least}`] : []
    }),
  )
}
