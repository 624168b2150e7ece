import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  addToSums,
  addToTags,
  type ClosedTrade,
  type TagSums,
  type TradeSums,
} from '../../domain/closed-trade.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'

const SHOWN_MAX = 200

const TAGS_MAX = 100

export interface TradesReport {
  readonly count: number
  readonly last: readonly ClosedTrade[]
  readonly reasons: readonly TradeSums[]
  /** Absent in older reports, and if no order had a tag. */
  readonly tags?: readonly TagSums[]
}

const COLUMNS =
  'instrument_id,strategy_id,entry,peak_qty,avg_px_open,avg_px_close,gross_pnl,commissions,funding,net_pnl,currency,net_return,fills,reason,entry_tag,exit_tag,ts_opened,ts_closed,duration_ms,not_counted'

/** Trades go to a file; memory has the last ones and sums by reason. */
export class TradeTable {
  readonly #file: CsvFile
  readonly #last: ClosedTrade[] = []
  readonly #sums = new Map<string, TradeSums>()
  readonly #tags = new Map<string, TagSums>()

  constructor(directory: string | undefined) {
    this.#file = new CsvFile(directory && join(directory, 'trades.csv'), COLUMNS.split(','))
  }

  add(trade: ClosedTrade): void {
    addToSums(this.#sums, trade)
    addToTags(this.#tags, trade, TAGS_MAX)
    this.#last.push(trade)
    if (this.#last.length > 2 * SHOWN_MAX) this.#last.splice(0, SHOWN_MAX)
    this.#file.add([
      trade.symbol,
      trade.strategyId,
      trade.side === 'long' ? 'BUY' : 'SELL',
      trade.size,
      trade.entryPrice ?? '',
      trade.exitPrice ?? '',
      trade.gross,
      trade.fees,
      trade.funding,
      trade.net,
      trade.coin,
      trade.share ?? '',
      trade.fills,
      trade.reason,
      trade.entryTag,
      trade.exitTag,
      new Date(trade.openedAt).toISOString(),
      new Date(trade.closedAt).toISOString(),
      trade.closedAt - trade.openedAt,
      trade.uncounted,
    ])
  }

  finish(): TradesReport {
    this.#file.close()
    const tags = [...this.#tags.values()]
    return {
      ...(tags.some(({ tag }) => tag !== '') && {
        tags: tags.toSorted((one, other) => other.trades - one.trades),
      }),
      count: this.#file.rows,
      last: this.#last.slice(-SHOWN_MAX),
      reasons: [...this.#sums.values()].toSorted((one, other) => other.trades - one.trades),
    }
  }
}

const WAITING_MAX = 65_536

export class CsvFile {
  readonly #descriptor: number | undefined
  #waiting: string
  rows = 0

  constructor(path: string | undefined, columns: readonly string[]) {
    this.#descriptor = path === undefined ? undefined : openSync(path, 'w')
    this.#waiting = `${columns.join(',')}\n`
  }

  add(fields: readonly (string | number)[]): void {
    this.rows += 1
    this.#waiting += `${fields.map(toCsvCell).join(',')}\n`
    if (this.#waiting.length > WAITING_MAX) this.#flush()
  }

  close(): void {
    this.#flush()
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }

  #flush(): void {
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, this.#waiting)
    this.#waiting = ''
  }
}
