import type { ClosedTradesQuery, ClosedTradesView } from '../../control/detail-views.ts'
import type { ClosedTrade } from '../../domain/closed-trade.ts'
import type { Holding } from '../../domain/position.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Book } from '../../engine/book/book.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface ClosedTradeLogOptions {
  /** Reads in a thread, so that trading does not wait. */
  readonly read: (query: ClosedTradesQuery) => Promise<ClosedTradesView>
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly timers: Timers
  readonly book: Book
}

/** After this time the fill is durable, and several fills that close a ladder are read together. */
const READ_MS = 1000
/** A holding may show the end of a trade before the journal does. */
const TRIES_MAX = 5
/** A reading of the journal returns so many at most. */
const TRADES_MAX = 500
/** A fill may become known so long after others that followed it. */
const LATE_MS = 300_000
const FINISH_MS = 3000

/** Logs each closed trade once, with the figures of `intentd trades`. */
export class ClosedTradeLog {
  readonly #options: ClosedTradeLogOptions
  readonly #held = new Map<string, readonly boolean[]>()
  readonly #logged = new Set<string>()
  /** Earlier trades belong to the last run; exchange clock. */
  readonly #beginAt: number
  /** The end of the newest logged trade; exchange clock. */
  #newestAt: number
  #awaited = 0
  #triesLeft = 0
  #reading: Promise<void> | undefined
  #cancel: (() => void) | undefined
  #isFinished = false

  constructor(options: ClosedTradeLogOptions) {
    this.#options = options
    this.#beginAt = options.book.fillsThroughAt + 1
    this.#newestAt = this.#beginAt
    for (const [pair, holding] of options.book.holdings) this.#held.set(pair, sidesOf(holding))
  }

  /** Must be called after the record was applied to the book. */
  observe(record: JournalRecord, { holdings }: Pick<Book, 'holdings'>): void {
    const { kind } = record
    if (kind !== 'fills' && kind !== 'adopt' && kind !== 'assigned') return
    let closed = 0
    for (const [pair, before] of this.#held) {
      const now = sidesOf(holdings.get(pair))
      closed += before.filter((held, side) => held && now[side] !== true).length
    }
    this.#held.clear()
    for (const [pair, holding] of holdings) this.#held.set(pair, sidesOf(holding))
    // A position may have been closed and opened again in one record.
    const mayHide = kind === 'fills' && new Set(record.fills.map(({ side }) => side)).size > 1
    if (closed === 0 && !mayHide) return
    this.#awaited += closed
    if (closed > 0) this.#triesLeft = TRIES_MAX
    this.#plan()
  }

  async finish(): Promise<void> {
    this.#isFinished = true
    this.#cancel?.()
    if (this.#awaited === 0 && this.#reading === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.timers.after(FINISH_MS, resolve)
    await Promise.race([this.#read(), promise])
    cancel()
  }

  /** A planned reading keeps its time, however many trades follow. */
  #plan(): void {
    if (this.#isFinished || this.#cancel !== undefined) return
    this.#cancel = this.#options.timers.after(READ_MS, () => {
      this.#cancel = undefined
      void this.#read()
    })
  }

  async #read(): Promise<void> {
    await this.#reading
    this.#reading = this.#logNew().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #logNew(): Promise<void> {
    const { read, logger } = this.#options
    this.#triesLeft -= 1
    let failure: unknown
    try {
      const { trades } = await read({ since: this.#readFrom, limit: TRADES_MAX })
      for (const trade of trades) if (!this.#logged.has(keyOf(trade))) this.#log(trade)
      this.#forget()
    } catch (error) {
      failure = error
    }
    if (this.#awaited === 0) return
    if (this.#triesLeft > 0) return this.#plan()
    this.#awaited = 0
    if (failure !== undefined) logger.log('warn', 'trade.unread', { reason: messageOf(failure) })
  }

  #log(trade: ClosedTrade): void {
    const { openedAt, closedAt, uncounted } = trade
    this.#logged.add(keyOf(trade))
    this.#awaited = Math.max(0, this.#awaited - 1)
    this.#newestAt = Math.max(this.#newestAt, closedAt)
    this.#options.logger.log('info', 'trade.closed', {
      strategy: trade.strategyId,
      symbol: trade.symbol,
      side: trade.side,
      size: trade.size,
      entryPrice: trade.entryPrice,
      exitPrice: trade.exitPrice,
      heldMs: closedAt - openedAt,
      reason: trade.reason,
      entryTag: trade.entryTag === '' ? undefined : trade.entryTag,
      exitTag: trade.exitTag === '' ? undefined : trade.exitTag,
      net: trade.net,
      coin: trade.coin,
      share: trade.share,
      fees: trade.fees,
      funding: trade.funding,
      uncounted: uncounted === '' ? undefined : uncounted,
    })
  }

  get #readFrom(): number {
    return Math.max(this.#beginAt, this.#newestAt - LATE_MS)
  }

  #forget(): void {
    for (const key of this.#logged)
      if (Number(key.slice(0, key.indexOf(' '))) < this.#readFrom) this.#logged.delete(key)
  }
}

const sidesOf = (holding: Holding | undefined): readonly boolean[] => [
  (holding?.longLots ?? 0) > 0,
  (holding?.shortLots ?? 0) > 0,
]

function keyOf({ closedAt, openedAt, strategyId, symbol, side }: ClosedTrade): string {
  return `${closedAt} ${openedAt} ${strategyId} ${symbol} ${side}`
}
