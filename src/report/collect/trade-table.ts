import { join } from 'node:path'
import { addToSums, type ClosedTrade, type TradeSums } from '../../domain/closed-trade.ts'
import { CsvFile } from './csv-file.ts'

/** Last trades in the report; the file has all. */
const SHOWN_MAX = 200

export interface TradesReport {
  readonly count: number
  /** The oldest first. */
  readonly last: readonly ClosedTrade[]
  readonly reasons: readonly TradeSums[]
}

const COLUMNS =
  'instrument_id,strategy_id,entry,peak_qty,avg_px_open,avg_px_close,gross_pnl,commissions,funding,net_pnl,currency,net_return,fills,reason,ts_opened,ts_closed,duration_ms,not_counted'

/** Each trade goes to a file; the last ones and the sums by reason stay in memory. */
export class TradeTable {
  readonly #file: CsvFile
  readonly #last: ClosedTrade[] = []
  readonly #sums = new Map<string, TradeSums>()

  /** @param directory exists; undefined for no file */
  constructor(directory: string | undefined) {
    this.#file = new CsvFile(directory && join(directory, 'trades.csv'), COLUMNS.split(','))
  }

  add(trade: ClosedTrade): void {
    addToSums(this.#sums, trade)
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
      new Date(trade.openedAt).toISOString(),
      new Date(trade.closedAt).toISOString(),
      trade.closedAt - trade.openedAt,
      trade.uncounted,
    ])
  }

  finish(): TradesReport {
    this.#file.close()
    return {
      count: this.#file.rows,
      last: this.#last.slice(-SHOWN_MAX),
      reasons: [...this.#sums.values()].toSorted((one, other) => other.trades - one.trades),
    }
  }
}
