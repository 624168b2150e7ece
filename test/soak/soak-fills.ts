import { type FillsPageQuery } from '../../src/backtest/direct-exchange.ts'
import { type Instrument } from '../../src/domain/instrument.ts'
import { formatOnGrid } from '../../src/lib/grid.ts'
import { type ResponseOf } from '../../src/protocol/endpoints.ts'
import { type WireFill } from '../../src/protocol/futures/order-fills.ts'
import { type Booked, type SoakFill, toCoins } from './soak-ledger.ts'

interface BookedFill extends SoakFill, Booked {
  readonly orderId: string
  /** Unix ms. */
  readonly at: number
}

/** So long a fill can be asked for, ms: who does not trade reads a minute back. */
const KEPT_MS = 180_000
/** Old fills go when there are so many more. */
const DROP_EVERY = 1000
const FIRST_TRADE = 2_000_000_000_000_000

/** The last minutes of an account's fills. */
export class SoakFills {
  #fills: { readonly at: number; readonly row: WireFill }[] = []
  /** The number of the first that is kept. */
  #first = FIRST_TRADE
  /** Unix ms: fills up to here are forgotten. */
  #forgottenAt = 0

  add(instrument: Instrument, fill: BookedFill): void {
    const tradeId = String(this.#first + this.#fills.length)
    this.#fills.push({ at: fill.at, row: toWireFill(instrument, fill, tradeId) })
    if (this.#fills.length % DROP_EVERY === 0) this.#dropBefore(fill.at - KEPT_MS)
  }

  /** Newest first. @throws Error when it is asked for what is forgotten. */
  page({ sinceAt, limit, idLessThan }: FillsPageQuery): ResponseOf<'orderFills'> {
    if (sinceAt <= this.#forgottenAt) throw new Error(`fills since ${sinceAt} are forgotten`)
    const fillList: WireFill[] = []
    const end = idLessThan === undefined ? this.#fills.length : Number(idLessThan) - this.#first
    for (let index = end - 1; index >= 0 && fillList.length < limit; index--) {
      const fill = this.#fills[index]
      if (!fill || fill.at < sinceAt) break
      fillList.push(fill.row)
    }
    return { fillList, endId: fillList.at(-1)?.tradeId ?? null }
  }

  #dropBefore(at: number): void {
    const kept = this.#fills.findIndex((fill) => fill.at >= at)
    const last = this.#fills[kept - 1]
    if (!last) return
    this.#forgottenAt = last.at
    this.#first += kept
    this.#fills = this.#fills.slice(kept)
  }
}

function toWireFill(instrument: Instrument, fill: BookedFill, tradeId: string): WireFill {
  const { symbol, orderId, side, ticks, lots, fee, profit, isMaker, at } = fill
  const row: Partial<WireFill> = {
    tradeId,
    symbol,
    orderId,
    side,
    price: formatOnGrid(instrument.tick, ticks),
    baseVolume: formatOnGrid(instrument.lot, lots),
    feeDetail: [
      {
        deduction: 'no',
        feeCoin: instrument.marginCoin,
        totalDeductionFee: null,
        totalFee: toCoins(-fee),
      },
    ],
    profit: toCoins(profit),
    enterPointSource: 'API',
    tradeSide: 'open',
    tradeScope: isMaker ? 'maker' : 'taker',
    cTime: String(at),
  }
  return row as WireFill
}
