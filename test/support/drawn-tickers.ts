import type { TickerTable } from '../../src/domain/ticker-table.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'

const DAY_MINUTES = 1440
const YEAR_MINUTES = 365 * DAY_MINUTES

interface DrawnInstrument {
  readonly symbol: string
  readonly decimals: number
  readonly sizeDecimals: number
  /** Quote coin a day. */
  readonly turnover: number
  readonly volatility: number
  readonly spreadTicks: number
  /** The last day, minute by minute; a ring. */
  readonly past: Float64Array
  high: number
  low: number
  price: number
  last: number
  openUtc: number
  base: number
  quote: number
  holding: number
  funding: number
  listedAtMinute: number
  delistedAtMinute: number
}

/**
 * An instrument that is hardly traded keeps its last price; all other numbers change each minute.
 * The first instruments are always listed; of the others some come and some go.
 */
export class DrawnTickers {
  readonly #random: Random
  readonly #instruments: readonly DrawnInstrument[]
  #minute = 0

  constructor({
    count,
    seed,
    churn = 0,
  }: {
    readonly count: number
    readonly seed: number
    readonly churn?: number
  }) {
    this.#random = createRandom(seed)
    this.#instruments = Array.from({ length: count }, (_, index) =>
      this.#draw(index, { count, churn }),
    )
  }

  get symbols(): readonly string[] {
    return this.#instruments.map(({ symbol }) => symbol)
  }

  /** Where instruments with a turn of listing are listed in a minute. */
  isListed(symbol: string, minute = this.#minute): boolean {
    const found = this.#instruments.find((one) => one.symbol === symbol)
    return found !== undefined && minute >= found.listedAtMinute && minute < found.delistedAtMinute
  }

  /** @param at Unix ms, exchange clock */
  next(table: TickerTable, at: number): void {
    const random = this.#random
    table.clear()
    table.requestTime = at
    table.readAt = at + 20 + random.integer(200)
    for (const one of this.#instruments) {
      this.#move(one, at)
      if (this.#minute < one.listedAtMinute || this.#minute >= one.delistedAtMinute) continue
      this.#fill(table, one, at)
    }
    this.#minute += 1
  }

  #draw(
    index: number,
    { count, churn }: { readonly count: number; readonly churn: number },
  ): DrawnInstrument {
    const random = this.#random
    let price = 10 ** (random.next() * 9 - 5)
    const turnover = 10 ** (5 + random.next() * 4)
    const volatility = 0.6 + random.next() * 1.2
    const past = new Float64Array(DAY_MINUTES)
    for (let minute = 0; minute < DAY_MINUTES; minute++) {
      past[minute] = price
      price *= Math.exp(random.normal() * volatility * Math.sqrt(1 / YEAR_MINUTES))
    }
    const turn = index - (count - 2 * churn)
    return {
      symbol: `C${String(index).padStart(3, '0')}USDT`,
      decimals: Math.min(9, Math.max(0, 4 - Math.floor(Math.log10(price)) - random.integer(2))),
      sizeDecimals: price > 1000 ? 3 : price > 10 ? 1 : 0,
      turnover,
      volatility,
      spreadTicks: 1 + random.integer(4),
      past,
      high: past.reduce((a, b) => Math.max(a, b)),
      low: past.reduce((a, b) => Math.min(a, b)),
      price,
      last: price,
      openUtc: price,
      base: turnover / price,
      quote: turnover,
      holding: (turnover * 0.5) / price,
      funding: Number((random.normal() * 1e-4).toFixed(6)),
      listedAtMinute: turn >= 0 && turn < churn ? 7 + 11 * turn : 0,
      delistedAtMinute: turn >= churn ? 13 + 17 * (turn - churn) : Number.POSITIVE_INFINITY,
    }
  }

  #move(one: DrawnInstrument, at: number): void {
    const random = this.#random
    const minutely = one.turnover / DAY_MINUTES
    this.#remember(one)
    one.price *= Math.exp(random.normal() * one.volatility * Math.sqrt(1 / YEAR_MINUTES))
    if (at % (DAY_MINUTES * 60_000) < 60_000) one.openUtc = one.price
    one.holding *= 1 + random.normal() * 1e-4
    if (random.integer(10) === 0) one.funding += Number((random.normal() * 5e-6).toFixed(6))
    if (random.next() > 1 - Math.exp(-minutely / 3000)) return
    const [traded, leaving] = [
      minutely * Math.exp(random.normal()),
      minutely * Math.exp(random.normal()),
    ]
    one.last = one.price
    one.base = Math.abs(one.base + (traded - leaving) / one.price)
    one.quote = Math.abs(one.quote + traded - leaving)
  }

  #remember(one: DrawnInstrument): void {
    const place = this.#minute % DAY_MINUTES
    const leaving = one.past[place]
    one.past[place] = one.price
    const isEdge = leaving === one.high || leaving === one.low
    one.high = isEdge ? one.past.reduce((a, b) => Math.max(a, b)) : Math.max(one.high, one.price)
    one.low = isEdge ? one.past.reduce((a, b) => Math.min(a, b)) : Math.min(one.low, one.price)
  }

  #fill(table: TickerTable, one: DrawnInstrument, at: number): void {
    const random = this.#random
    const round = (value: number, decimals: number) => Number(value.toFixed(decimals)) + 0
    const price = (value: number) => round(value, one.decimals)
    const drawSize = () =>
      round(
        Math.max(
          10 ** -one.sizeDecimals,
          ((one.turnover / 1e4) * Math.exp(random.normal())) / one.price,
        ),
        one.sizeDecimals,
      )
    const tick = 10 ** -one.decimals
    const [last, open24h, openUtc] = [
      price(one.last),
      price(one.past[(this.#minute + 1) % DAY_MINUTES] as number),
      price(one.openUtc),
    ]
    const bid = price(Math.max(tick, one.price - random.integer(2) * one.spreadTicks * tick))
    const row = table.claimRow(one.symbol)
    const quoteVolume = round(one.quote, 4)
    const cells = {
      lastPr: last,
      askPr: price(bid + one.spreadTicks * tick * (1 + random.integer(2))),
      bidPr: bid,
      bidSz: drawSize(),
      askSz: drawSize(),
      high24h: price(one.high),
      low24h: price(one.low),
      ts: at - Math.floor(random.next() * random.next() * 400),
      change24h: round(last / open24h - 1, 5),
      baseVolume: round(one.base, one.sizeDecimals),
      quoteVolume,
      usdtVolume: quoteVolume,
      openUtc,
      changeUtc24h: round(last / openUtc - 1, 5),
      indexPrice: round(one.price * (1 + random.normal() * 2e-4), one.decimals + 1),
      fundingRate: round(one.funding, 6),
      holdingAmount: round(one.holding, one.sizeDecimals),
      open24h,
      deliveryStartTime: Number.NaN,
      deliveryTime: Number.NaN,
      deliveryStatus: 1,
    }
    for (const [column, value] of Object.entries(cells))
      table.columns[column as keyof typeof cells][row] = value
  }
}
