import type { ClosedTradesQuery, ClosedTradesView } from '../../control/detail-views.ts'
import type { ClosedTrade } from '../../domain/closed-trade.ts'
import type { Holding } from '../../domain/position.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Book } from '../../engine/book/book.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface ClosedTradeLogOptions {
  /** Reads the journal elsewhere, so that trading does not wait. */
  readonly read: (query: ClosedTradesQuery) => Promise<ClosedTradesView>
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly timers: Timers
  /** As the run begins. */
  readonly book: Book
}

/** The fill is durable by then, and several that close a ladder are read together. */
const READ_MS = 1000
/** Attempts until the journal shows a trade that a holding has shown to be over. */
const TRIES_MAX = 5
const TRADES_MAX = 100
/** Limits the wait for the last trades of a run. */
const FINISH_MS = 3000

/** Logs each closed trade once, with the figures of `intentd trades`. */
export class ClosedTradeLog {
  readonly #options: ClosedTradeLogOptions
  /** Whether a side is held, by strategy and symbol, as of the last record. */
  readonly #held = new Map<string, readonly boolean[]>()
  readonly #logged = new Set<string>()
  /** Unix ms, exchange clock: trades that ended earlier belong to the last run, or are logged. */
  #since: number
  #reading: Promise<void> | undefined
  #triesLeft = 0
  #cancel = (): void => undefined
  #isFinished = false

  constructor(options: ClosedTradeLogOptions) {
    this.#options = options
    this.#since = options.book.fillsThroughAt + 1
    for (const [pair, holding] of options.book.holdings) this.#held.set(pair, sidesOf(holding))
  }

  /** Must be called after the record was applied to the book. */
  observe({ kind }: JournalRecord, { holdings }: Pick<Book, 'holdings'>): void {
    if (kind !== 'fills' && kind !== 'adopt' && kind !== 'assigned') return
    let hasClosed = false
    for (const [pair, before] of this.#held) {
      const now = sidesOf(holdings.get(pair))
      if (before.some((held, side) => held && now[side] !== true)) hasClosed = true
    }
    this.#held.clear()
    for (const [pair, holding] of holdings) this.#held.set(pair, sidesOf(holding))
    if (hasClosed) this.#ask(TRIES_MAX)
  }

  /** Logs what has closed and is not logged yet, within {@link FINISH_MS}. */
  async finish(): Promise<void> {
    this.#isFinished = true
    this.#cancel()
    if (this.#triesLeft === 0 && this.#reading === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.timers.after(FINISH_MS, resolve)
    await Promise.race([this.#read(), promise])
    cancel()
  }

  #ask(tries: number): void {
    this.#triesLeft = tries
    if (this.#isFinished) return
    this.#cancel()
    this.#cancel = this.#options.timers.after(READ_MS, () => void this.#read())
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
    const triesLeft = this.#triesLeft - 1
    this.#triesLeft = 0
    try {
      const { trades } = await read({ since: this.#since, limit: TRADES_MAX })
      const fresh = trades.filter((trade) => !this.#logged.has(keyOf(trade)))
      for (const trade of fresh) this.#log(trade)
      this.#forget()
      if (fresh.length === 0 && triesLeft > 0) this.#ask(triesLeft)
    } catch (error) {
      if (triesLeft > 0) this.#ask(triesLeft)
      else logger.log('warn', 'trade.unread', { reason: messageOf(error) })
    }
  }

  #log(trade: ClosedTrade): void {
    const { openedAt, closedAt, uncounted } = trade
    this.#logged.add(keyOf(trade))
    this.#since = Math.max(this.#since, closedAt)
    this.#options.logger.log('info', 'trade.closed', {
      strategy: trade.strategyId,
      symbol: trade.symbol,
      side: trade.side,
      size: trade.size,
      entryPrice: trade.entryPrice,
      exitPrice: trade.exitPrice,
      heldMs: closedAt - openedAt,
      reason: trade.reason,
      net: trade.net,
      coin: trade.coin,
      share: trade.share,
      fees: trade.fees,
      funding: trade.funding,
      uncounted: uncounted === '' ? undefined : uncounted,
    })
  }

  /** Older trades are not read again. */
  #forget(): void {
    for (const key of this.#logged)
      if (Number(key.slice(0, key.indexOf(' '))) < this.#since) this.#logged.delete(key)
  }
}

const sidesOf = (holding: Holding | undefined): readonly boolean[] => [
  (holding?.longLots ?? 0) > 0,
  (holding?.shortLots ?? 0) > 0,
]

function keyOf({ closedAt, openedAt, strategyId, symbol, side }: ClosedTrade): string {
  return `${closedAt} ${openedAt} ${strategyId} ${symbol} ${side}`
}
