import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { fillKey } from '../../../src/domain/fill.ts'
import { unreachable } from '../../../src/lib/unreachable.ts'
import { type WireFill } from '../../../src/protocol/futures/order-fills.ts'
import { sequenceOfId } from '../../../src/simulator/futures/orders/order.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { NO_FEE } from '../months/broken-fills.ts'
import { type ExchangeTruth } from '../virtual/exchange-truth.ts'
import { type WirePosition } from '../../../src/protocol/futures/single-position.ts'
import { type WorldPlan } from '../world/world-plan.ts'
import { type VirtualFaults } from './virtual-faults.ts'

/** Factors of wrong mark prices, and forms of a missing profit. */
const MARKS = [0, 0.5, 2] as const
const BLANKS: readonly ((row: WirePosition) => WirePosition)[] = [
  (row) => ({ ...row, unrealizedPL: null }),
  (row) => ({ ...row, unrealizedPL: '' }),
  (row) => ({ ...row, unrealizedPL: 'NaN' }),
]
/** Half of the lies are stated once, the others for this long. */
const LIE_MS_MAX = 20_000
/** Two consecutive wrong answers would be two witnesses: between them this many rows are right. */
const RIGHT_ROWS_MIN = 2

const OF_A_FILL = ['price', 'profit', 'fee'] as const
type OfFill = (typeof OF_A_FILL)[number]

interface FillsPage {
  readonly fillList: WireFill[]
  readonly endId?: string | null | undefined
}

interface Lie {
  readonly until: number
  readonly state: (row: WirePosition) => WirePosition
}

export interface MoneyFaultsOptions {
  readonly faults: VirtualFaults
  readonly now: () => number
  /** Unix ms: when the market begins. */
  readonly startAt: number
  readonly crash: WorldPlan['crash'] | undefined
  readonly lieMsMax: number | undefined
}

export class MoneyFaults {
  readonly #faults: VirtualFaults
  readonly #now: () => number
  readonly #lies = new Map<string, Lie>()
  /** Keyed by symbol: error of prices until the next answer of tickers. */
  readonly #factors = new Map<string, number>()
  /** Rows of each symbol stated since its prices were wrong. */
  readonly #rightRows = new Map<string, number>()
  readonly #options: MoneyFaultsOptions
  /** Mark and index of each symbol when a crash began. */
  readonly #marksBefore = new Map<string, number>()
  readonly #indexBefore = new Map<string, number>()

  constructor(options: MoneyFaultsOptions) {
    this.#options = options
    this.#faults = options.faults
    this.#now = options.now
  }

  state(symbol: string, answered: readonly WirePosition[]): readonly WirePosition[] {
    if (!this.#faults.isOn) return answered
    this.#rightRows.set(symbol, (this.#rightRows.get(symbol) ?? RIGHT_ROWS_MIN) + 1)
    const rows = answered.map((row) => this.#lagBehind(symbol, row))
    if (this.#faults.strikes('markWrong', symbol))
      this.#begin(symbol, MARKS, (row, factor) => markAt(row, factor))
    if (this.#faults.strikes('profitBlank', symbol))
      this.#begin(symbol, BLANKS, (row, blank) => blank(row))
    if (this.#faults.strikes('counterWrong', symbol))
      return rows.map((row) => this.#withCounter(row))
    const lie = this.#lies.get(symbol)
    const factor = this.#factors.get(symbol)
    const stated = factor === undefined ? rows : rows.map((row) => markAt(row, factor))
    if (lie === undefined) return stated
    if (lie.until <= this.#now()) this.#lies.delete(symbol)
    return stated.map((row) => lie.state(row))
  }

  /** Keyed by `fillKey`. */
  readonly misstated = new Map<string, OfFill | undefined>()

  /** A fill is misstated at every read, or never. */
  showFills(reply: Reply<FillsPage>, truth: ExchangeTruth): Reply<FillsPage> {
    if (!reply.ok) return reply
    const fillList = reply.data.fillList.map((row) => {
      const key = fillKey(row)
      if (!this.misstated.has(key)) this.misstated.set(key, this.#drawOfFill())
      const { priceTicks = 0, direction = row.side } =
        truth.orders.get(String(sequenceOfId(row.orderId))) ?? {}
      // At any price everything can be.
      if (this.misstated.get(key) === 'price' && priceTicks === 0)
        this.misstated.set(key, undefined)
      return misstate(row, this.misstated.get(key), direction)
    })
    return { ok: true, data: { ...reply.data, fillList } }
  }

  #drawOfFill(): OfFill | undefined {
    if (!this.#faults.strikes('fillMisstated', 'fills')) return undefined
    return OF_A_FILL[this.#faults.severity(0, OF_A_FILL.length)]
  }

  /**
   * A payment of a third to three quarters of the position's value, with either sign, different
   * each time.
   */
  #withCounter(row: WirePosition): WirePosition {
    const drawn = this.#faults.severity(0, 1_000_000)
    const share = (0.3 + (drawn / 1_000_000) * 0.45) * (drawn % 2 === 0 ? 1 : -1)
    return { ...row, totalFee: (Number(row.markPrice) * Number(row.total) * share).toFixed(8) }
  }

  /** The price is wrong in one answer of the tickers, and in the rows read before the next. */
  spoilPrices(table: TickerTable, symbol: string): void {
    this.#holdIndex(table, symbol)
    if (this.#factors.delete(symbol)) this.#rightRows.set(symbol, 0)
    const isTooSoon = (this.#rightRows.get(symbol) ?? RIGHT_ROWS_MIN) < RIGHT_ROWS_MIN
    if (isTooSoon || !this.#faults.strikes('pricesWrong', symbol)) return
    const factor = this.#faults.severity(0, 2) === 0 ? 0.5 : 2
    this.#factors.set(symbol, factor)
    const row = table.rowOf(symbol)
    for (const name of ['bidPr', 'askPr', 'lastPr', 'indexPrice'] as const) {
      const column = table.columns[name]
      column[row] = (column[row] ?? Number.NaN) * factor
    }
  }

  /** Mark, and profit at it, stay where they were when the crash began. */
  #lagBehind(symbol: string, row: WirePosition): WirePosition {
    const mark = Number(row.markPrice)
    const before = this.#valueBefore(
      this.#marksBefore,
      symbol,
      mark,
      this.#options.crash?.markLagMs,
    )
    return before === mark ? row : markAt(row, before / mark)
  }

  #holdIndex(table: TickerTable, symbol: string): void {
    const row = table.rowOf(symbol)
    const { indexPrice } = table.columns
    const index = indexPrice[row] ?? Number.NaN
    indexPrice[row] = this.#valueBefore(
      this.#indexBefore,
      symbol,
      index,
      this.#options.crash?.indexLagMs,
    )
  }

  /** A value from before the crash, until `lagMs` after its start. */
  #valueBefore(known: Map<string, number>, symbol: string, value: number, lagMs = 0): number {
    const { crash, startAt } = this.#options
    const beganAt = startAt + (crash?.afterMs ?? Number.POSITIVE_INFINITY)
    if (crash === undefined || this.#now() < beganAt) known.set(symbol, value)
    return this.#now() < beganAt + lagMs ? (known.get(symbol) ?? value) : value
  }

  #begin<Way>(
    symbol: string,
    ways: readonly Way[],
    state: (row: WirePosition, way: Way) => WirePosition,
  ): void {
    const { lieMsMax = LIE_MS_MAX } = this.#options
    const drawn = this.#faults.severity(0, 2 * lieMsMax)
    const way = ways[drawn % ways.length]
    if (way === undefined) return
    const until = this.#now() + Math.max(0, drawn - lieMsMax)
    this.#lies.set(symbol, { until, state: (row) => state(row, way) })
  }
}

function markAt(row: WirePosition, factor: number): WirePosition {
  const mark = Number(row.markPrice)
  const size = Number(row.total) * (row.holdSide === 'long' ? 1 : -1)
  const unrealised = Number(row.unrealizedPL) + mark * (factor - 1) * size
  return { ...row, markPrice: String(mark * factor), unrealizedPL: unrealised.toFixed(8) }
}

/** @param direction side of the order; in hedge mode the row names the side of the position */
function misstate(row: WireFill, what: OfFill | undefined, direction: 'buy' | 'sell'): WireFill {
  const notional = Number(row.price) * Number(row.baseVolume)
  switch (what) {
    case undefined:
      return row
    case 'price':
      // Rounded to the grid, since a row off it would not be read.
      return {
        ...row,
        price: String(Math.round(Number(row.price) * (direction === 'buy' ? 2 : 0.5))),
      }
    case 'profit':
      return { ...row, profit: (-notional).toFixed(8) }
    case 'fee':
      return { ...row, feeDetail: [{ ...NO_FEE, totalFee: (-notional).toFixed(8) }] }
    default:
      return unreachable(what)
  }
}
