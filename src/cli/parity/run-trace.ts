import { type CandleRow, candleKey, formatInterval, read } from '../../domain/candles.ts'
import { type Fill, fillKey } from '../../domain/fill.ts'
import type { Intent } from '../../domain/intent.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import type { Book } from '../../engine/book/book.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { showOnGrid } from '../../lib/grid.ts'
import { writeValue } from '../../lib/value-text.ts'
import { RestrictedTimes } from './restricted-times.ts'

/** Sorted so that earlier values explain later ones. */
export type ShownValues = ReadonlyMap<string, string>

export interface Wish {
  readonly at: number
  /** Exchange clock: the prices of the decision. */
  readonly readAt: number
  readonly intents: readonly Intent[]
  readonly text: string
  readonly shown: ShownValues
  readonly fillsBefore: number
}

/** The parts that a recorded effect contains too. */
export type SeenSnapshot = Pick<Snapshot, 'feeds'> & {
  readonly instruments: readonly (Pick<Snapshot['instruments'][number], 'holding' | 'orders'> & {
    readonly symbol: string
  })[]
}

interface SeenCandles {
  readonly count: number
  readonly last: CandleRow | undefined
}

export interface TraceFrame {
  readonly fromAt: number
  /** Exchange clock: decisions from then on are ignored, see `stopDecisions`. */
  readonly quietFrom?: number | undefined
  readonly book?: Pick<Book, 'candles' | 'strategyStates'>
}

/** Built from a run's steps alone. */
export class RunTrace {
  readonly wishes = new Map<string, Wish[]>()
  readonly fills: Fill[] = []
  readonly restricted = new RestrictedTimes()
  readonly #settings: Pick<EngineSettings, 'instruments' | 'strategies'>
  readonly #fromAt: number
  readonly #quietFrom: number
  readonly #known = new Set<string>()
  readonly #seen = new Map<string, () => SeenSnapshot>()
  readonly #states: Map<string, string>
  readonly #candles = new Map<string, SeenCandles>()
  #tickers: TickerTable | undefined
  #offsetMs = 0
  #firstReadAt: number | undefined

  constructor(
    settings: Pick<EngineSettings, 'instruments' | 'strategies'>,
    { fromAt, quietFrom, book }: TraceFrame,
  ) {
    this.#settings = settings
    this.#fromAt = fromAt
    this.#quietFrom = quietFrom ?? Number.POSITIVE_INFINITY
    this.#states = new Map(book?.strategyStates)
    for (const [key, series] of book?.candles ?? []) {
      const last = (['openAt', 'open', 'high', 'low', 'close', 'ticks'] as const).map((column) =>
        read(series, column, series.length - 1),
      )
      this.#candles.set(key, { count: series.length, last: last as unknown as CandleRow })
    }
  }

  get firstReadAt(): number | undefined {
    return this.#firstReadAt
  }

  /** Exchange clock: the prices read last; 0 for none. */
  get lastReadAt(): number {
    return this.#tickers?.requestTime ?? 0
  }

  take(at: number, event: EngineEvent): void {
    if (event.kind === 'snapshotTaken') {
      this.#tickers = event.tickers
    } else if (event.kind === 'clockSynchronised') {
      this.#offsetMs = event.offsetMs
    } else if (event.kind === 'decided') {
      const { strategyId, intents } = event
      const readAt = this.lastReadAt
      if (at + this.#offsetMs >= this.#quietFrom) return
      this.#firstReadAt ??= this.#tickers?.requestTime
      const wishes = this.wishes.get(strategyId) ?? []
      this.wishes.set(strategyId, wishes)
      const text = writeValue(intents)
      if (wishes.at(-1)?.text !== text)
        wishes.push({
          at,
          readAt,
          intents,
          text,
          shown: this.#shownTo(strategyId),
          fillsBefore: this.fills.length,
        })
      this.#states.set(strategyId, writeValue(event.state))
    } else if (event.kind === 'fillsRead') {
      for (const fill of event.reading.fills) {
        if (fill.filledAt < this.#fromAt || this.#known.has(fillKey(fill))) continue
        this.#known.add(fillKey(fill))
        this.fills.push(fill)
      }
    }
  }

  /** @param seen called when the next decision differs */
  asked(strategyId: string, seen: () => SeenSnapshot): void {
    this.#seen.set(strategyId, seen)
  }

  recorded(record: JournalRecord): void {
    this.restricted.recorded(record)
    if (record.kind !== 'candles') return
    const { symbol, intervalMs, capacity, candles, isAnew } = record
    const key = candleKey(symbol, intervalMs)
    const before = isAnew === true ? undefined : this.#candles.get(key)
    const count = Math.min(capacity, (before?.count ?? 0) + candles.length)
    this.#candles.set(key, { count, last: candles.at(-1) ?? before?.last })
  }

  #shownTo(strategyId: string): ShownValues {
    const settings = [...this.#settings.strategies.values()].find(({ id }) => id === strategyId)
    const seen = this.#seen.get(strategyId)?.()
    const symbols = settings?.symbols ?? []
    return new Map([
      ...symbols.flatMap((symbol) => this.#pricesOf(symbol)),
      ...symbols.flatMap((symbol) =>
        [...(settings?.candles?.keys() ?? [])].map((intervalMs) =>
          this.#candlesOf(symbol, intervalMs),
        ),
      ),
      ...(seen?.instruments ?? []).flatMap((moment) => this.#ownOf(moment)),
      ...[...(seen?.feeds ?? [])].map(
        ([name, { data }]) => [`feed ${name}`, writeValue(data)] as const,
      ),
      ['state', this.#states.get(strategyId) ?? 'none'],
    ])
  }

  #pricesOf(symbol: string): readonly (readonly [string, string])[] {
    const value = (column: 'bidPr' | 'askPr' | 'lastPr' | 'fundingRate') => {
      const number = this.#tickers?.read(symbol, column) ?? Number.NaN
      return Number.isNaN(number) ? 'none' : String(number)
    }
    return [
      [`prices of ${symbol}`, `${value('bidPr')} / ${value('askPr')}, last ${value('lastPr')}`],
      [`funding rate of ${symbol}`, value('fundingRate')],
    ]
  }

  #candlesOf(symbol: string, intervalMs: number): readonly [string, string] {
    const { count, last } = this.#candles.get(candleKey(symbol, intervalMs)) ?? {
      count: 0,
      last: undefined,
    }
    const [openAt, ...prices] = last ?? [0]
    const text =
      last === undefined
        ? ''
        : `, the last of ${new Date(openAt).toISOString()}: ${prices.slice(0, 4).join(' ')}`
    return [`${formatInterval(intervalMs)} candles of ${symbol}`, `${count}${text}`]
  }

  #ownOf({
    symbol,
    holding,
    orders,
  }: SeenSnapshot['instruments'][number]): readonly (readonly [string, string])[] {
    const instrument = this.#settings.instruments.get(symbol)
    if (instrument === undefined) return []
    const { tick, lot } = instrument
    const resting = orders.map(
      ({ terms: { action, lots, ticks } }) =>
        `${action} ${showOnGrid(lot, lots)} at ${ticks === undefined ? 'the market' : showOnGrid(tick, ticks)}`,
    )
    const held = `long ${showOnGrid(lot, holding.longLots)}, short ${showOnGrid(lot, holding.shortLots)}`
    return [
      [`position in ${symbol}`, held],
      [`own orders of ${symbol}`, resting.length === 0 ? 'none' : resting.toSorted().join('; ')],
    ]
  }
}
