import { type Fill, fillKey } from '../../domain/fill.ts'
import type { ClientOid, OrderId, StrategyId } from '../../domain/ids.ts'
import type { Intent } from '../../domain/intent.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import type { Restriction } from '../../domain/trading-mode.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { writeValue } from '../../lib/value-text.ts'

export interface WishInForce {
  readonly at: number
  /** Exchange clock of the prices that were decided on. */
  readonly readAt: number
  /** Bid, ask and last price of each of the strategy's instruments at that time. */
  readonly prices: string
  readonly intents: readonly Intent[]
  readonly text: string
  readonly fillsBefore: number
}

export interface TraceFrame {
  readonly fromAt: number
  /** Later decisions are ignored (`stopDecisions`); exchange clock. */
  readonly quietFrom?: number | undefined
  readonly restrictions?: Iterable<Restriction>
}

type TracedRestriction = Pick<Restriction, 'scope' | 'mode' | 'code'>

export class RunTrace {
  readonly wishes = new Map<string, WishInForce[]>()
  readonly fills: Fill[] = []
  /** Each restriction and release that was recorded; volatile ones are not. */
  readonly restricted: string[] = []
  /** Orders of trades by hand. */
  readonly byHand = new Set<OrderId>()
  readonly #handNames = new Set<ClientOid>()
  readonly #strategies: EngineSettings['strategies']
  readonly #fromAt: number
  readonly #quietFrom: number
  readonly #known = new Set<string>()
  #tickers: TickerTable | undefined
  #firstReadAt: number | undefined
  #offsetMs = 0

  constructor(
    { strategies }: Pick<EngineSettings, 'strategies'>,
    { fromAt, quietFrom = Number.POSITIVE_INFINITY, restrictions = [] }: TraceFrame,
  ) {
    this.#strategies = strategies
    this.#fromAt = fromAt
    this.#quietFrom = quietFrom
    for (const restriction of restrictions) this.#restrict(restriction)
  }

  get firstReadAt(): number | undefined {
    return this.#firstReadAt
  }

  /** Exchange clock: the prices read last; 0 for none. */
  get lastReadAt(): number {
    return this.#tickers?.requestTime ?? 0
  }

  take(at: number, event: EngineEvent): void {
    if (event.kind === 'snapshotTaken') this.#tickers = event.tickers
    else if (event.kind === 'clockSynchronised') this.#offsetMs = event.offsetMs
    else if (event.kind === 'decided') this.#decided(at, event)
    else if (event.kind === 'fillsRead') {
      for (const fill of event.reading.fills) {
        if (fill.filledAt < this.#fromAt || this.#known.has(fillKey(fill))) continue
        this.#known.add(fillKey(fill))
        this.fills.push(fill)
      }
    }
  }

  recorded(record: JournalRecord): void {
    if (record.kind === 'restricted') this.#restrict(record)
    if (record.kind === 'send')
      for (const { strategyId, clientOid } of record.orders)
        if (this.#strategies.get(strategyId)?.isByHand) this.#handNames.add(clientOid)
    if (record.kind === 'outcome')
      for (const { clientOid, orderId } of record.items)
        if (orderId !== undefined && this.#handNames.has(clientOid)) this.byHand.add(orderId)
    if (record.kind === 'released')
      this.restricted.push(`${record.scope} released${record.code ? ` (${record.code})` : ''}`)
  }

  #restrict({ scope, mode, code }: TracedRestriction): void {
    this.restricted.push(`${scope} ${mode} (${code})`)
  }

  #decided(
    at: number,
    { strategyId, intents }: Extract<EngineEvent, { readonly kind: 'decided' }>,
  ): void {
    if (at + this.#offsetMs >= this.#quietFrom) return
    this.#firstReadAt ??= this.#tickers?.requestTime
    const wishes = this.wishes.get(strategyId) ?? []
    this.wishes.set(strategyId, wishes)
    const text = writeValue(intents)
    if (wishes.at(-1)?.text === text) return
    const { lastReadAt: readAt, fills } = this
    const prices = this.#pricesOf(strategyId)
    wishes.push({ at, readAt, prices, intents, text, fillsBefore: fills.length })
  }

  #pricesOf(strategyId: StrategyId): string {
    const { symbols = [] } = this.#strategies.get(strategyId) ?? {}
    return symbols
      .map((symbol) => {
        const [bid, ask, last] = (['bidPr', 'askPr', 'lastPr'] as const).map(
          (column) => this.#tickers?.read(symbol, column) ?? Number.NaN,
        )
        return `${symbol} ${bid} / ${ask}, last ${last}`
      })
      .join('; ')
  }
}
