import type { EngineSettings } from '../../engine/settings.ts'
import { writeValue } from '../../lib/value-text.ts'
import type { ShownValues } from './run-trace.ts'

export function firstOther<Item>(
  one: readonly Item[],
  other: readonly Item[],
  textOf: (item: Item) => string,
): number | undefined {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [left, right] = [one[index], other[index]]
    if (left === undefined || right === undefined || textOf(left) !== textOf(right)) return index
  }
  return undefined
}

export function unmatched<Item>(
  items: readonly Item[],
  others: readonly Item[],
  textOf: (item: Item) => string,
): readonly Item[] {
  const counts = new Map<string, number>()
  for (const other of others) counts.set(textOf(other), (counts.get(textOf(other)) ?? 0) + 1)
  return items.filter((item) => {
    const left = counts.get(textOf(item)) ?? 0
    counts.set(textOf(item), left - 1)
    return left <= 0
  })
}

export function firstShownOther(was: ShownValues, is: ShownValues): string | undefined {
  for (const name of new Set([...was.keys(), ...is.keys()])) {
    const [recorded = 'none', played = 'none'] = [was.get(name), is.get(name)]
    if (recorded !== played)
      return `${name}: ${shorten(recorded)} recorded, ${shorten(played)} in the backtest`
  }
  return undefined
}

const VALUE_CHARACTERS = 120

function shorten(value: string): string {
  return value.length > VALUE_CHARACTERS ? `${value.slice(0, VALUE_CHARACTERS)}…` : value
}

const OF_ACCOUNT = [
  'positionMode',
  'marginMode',
  'capital',
  'limits',
  'losses',
  'foreignFills',
] as const
const OF_STRATEGY = ['limits', 'candles', 'decides', 'onFailure'] as const

/** Such as `limits` or `grid-btc limits`; params are not compared. */
export function otherSettings(recorded: EngineSettings, played: EngineSettings): readonly string[] {
  const isOther = (one: unknown, other: unknown): boolean => writeValue(one) !== writeValue(other)
  const ofStrategies = [...recorded.strategies].flatMap(([id, strategy]) => {
    const other = played.strategies.get(id)
    return OF_STRATEGY.filter((name) => isOther(strategy[name], other?.[name])).map(
      (name) => `${id} ${name}`,
    )
  })
  return [...OF_ACCOUNT.filter((name) => isOther(recorded[name], played[name])), ...ofStrategies]
}
