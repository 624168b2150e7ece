// Ticker answers as an exchange sends them: each instrument has prices, sizes and volumes of its own, and all of them
// change from answer to answer. That matters: where all rows say the same, JSON.parse makes each text once and takes
// half the time.

import { createRandom, type Random } from '../src/lib/random.ts'

/** The answer of all futures, some 300 KB. */
export const ROWS = 600
/** Texts of the rows after the first; they are sent in turn. */
const VARIANTS = 16

/** One row of an answer, some 500 bytes. */
export type TickerRow = Readonly<Record<string, string | null>>

/** Makes answers without an end, the first row of each at the bid that is asked for. */
export class TickerAnswers {
  readonly #first: TickerRow
  readonly #others: readonly string[]
  #sent = 0

  constructor(rows = ROWS) {
    const random = createRandom('ticker answers')
    const instruments = Array.from({ length: rows }, (_, index) => ({
      symbol: `S${index}USDT`,
      // From a thousandth to a hundred thousand USDT.
      price: 10 ** (random.next() * 8 - 3),
      sizeDigits: random.integer(5),
    }))
    const variantOf = () =>
      JSON.stringify(instruments.slice(1).map((one) => tickerRow(one, random))).slice(1)
    this.#others = Array.from({ length: VARIANTS }, variantOf)
    this.#first = tickerRow({ symbol: 'S0USDT', price: 42_000, sizeDigits: 3 }, random)
  }

  next(bid: number): string {
    const now = Date.now()
    const prices = { bidPr: `${bid}.0`, askPr: `${bid}.5`, lastPr: `${bid}.0`, ts: String(now) }
    const others = this.#others[this.#sent++ % VARIANTS] as string
    const first = JSON.stringify({ ...this.#first, ...prices })
    return `{"code":"00000","msg":"success","requestTime":${now},"data":[${first}${others === ']' ? '' : ','}${others}}`
  }
}

interface Instrument {
  readonly symbol: string
  readonly price: number
  readonly sizeDigits: number
}

function tickerRow({ symbol, price, sizeDigits }: Instrument, random: Random): TickerRow {
  const digits = Math.max(0, 5 - Math.ceil(Math.log10(price)))
  const near = (reach: number) => (price * (1 + (random.next() - 0.5) * reach)).toFixed(digits)
  const size = (scale: number) => (random.next() * scale).toFixed(sizeDigits)
  const change = () => (random.next() / 10 - 0.05).toFixed(5)
  const last = near(0.002)
  return {
    symbol,
    lastPr: last,
    askPr: (Number(last) * 1.0001).toFixed(digits),
    bidPr: (Number(last) * 0.9999).toFixed(digits),
    bidSz: size(1000),
    askSz: size(1000),
    high24h: near(0.1),
    low24h: near(0.1),
    ts: String(1_700_000_000_000 + random.integer(1_000_000)),
    change24h: change(),
    baseVolume: size(1e7),
    quoteVolume: (random.next() * 1e9).toFixed(5),
    usdtVolume: (random.next() * 1e9).toFixed(5),
    openUtc: near(0.1),
    changeUtc24h: change(),
    indexPrice: (price * (1 + random.next() / 1000)).toFixed(digits + 4),
    fundingRate: (random.next() / 10_000).toFixed(6),
    holdingAmount: size(1e6),
    deliveryStartTime: null,
    deliveryTime: null,
    deliveryStatus: '',
    open24h: near(0.1),
  }
}
