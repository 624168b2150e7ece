import { type Fill } from '../../domain/fill.ts'
import { type Intent } from '../../domain/intent.ts'
import { type EngineEvent } from '../../engine/event.ts'
import { writeValue } from '../../lib/value-text.ts'

/** A change of what a strategy wants. */
export interface Wish {
  /** Unix ms. */
  readonly at: number
  readonly intents: readonly Intent[]
  readonly text: string
  /** Bid and ask that it was shown, by symbol. */
  readonly shown: Readonly<Record<string, string>>
}

/** What strategies wanted in a run, and what was filled: from its events alone, recorded or of a backtest. */
export class RunTrace {
  /** By strategy, each change once. */
  readonly wishes = new Map<string, Wish[]>()
  readonly fills: Fill[] = []
  readonly #symbols: readonly string[]
  readonly #fromAt: number
  readonly #known = new Set<string>()
  #shown: Readonly<Record<string, string>> = {}

  /** @param fromAt Unix ms: what was filled before is no part of it. */
  constructor(symbols: readonly string[], fromAt: number) {
    this.#symbols = symbols
    this.#fromAt = fromAt
  }

  /** Unix ms of the first decision; undefined for none. */
  get firstAt(): number | undefined {
    const first = [...this.wishes.values()].flatMap(([wish]) => wish?.at ?? [])
    return first.length === 0 ? undefined : Math.min(...first)
  }

  take(at: number, event: EngineEvent): void {
    if (event.kind === 'snapshotTaken') {
      const { tickers } = event
      const show = (symbol: string) => `${tickers.read(symbol, 'bidPr')} / ${tickers.read(symbol, 'askPr')}`
      this.#shown = Object.fromEntries(this.#symbols.map((symbol) => [symbol, show(symbol)]))
    } else if (event.kind === 'decided') {
      const { strategyId, intents } = event
      const wishes = this.wishes.get(strategyId) ?? []
      this.wishes.set(strategyId, wishes)
      const text = writeValue(intents)
      if (wishes.at(-1)?.text !== text) wishes.push({ at, intents, text, shown: this.#shown })
    } else if (event.kind === 'fillsRead') {
      for (const fill of event.reading.fills) {
        if (fill.filledAt < this.#fromAt || this.#known.has(fill.tradeId)) continue
        this.#known.add(fill.tradeId)
        this.fills.push(fill)
      }
    }
  }
}

/** Where two lists part; undefined where they are the same. */
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

/** What one list has more of than another, wherever in it. */
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
