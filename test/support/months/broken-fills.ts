import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { fillKey } from '../../../src/domain/fill.ts'
import { type ResponseOf } from '../../../src/protocol/endpoints.ts'
import { orderFills, type WireFill } from '../../../src/protocol/futures/order-fills.ts'
import { singlePosition } from '../../../src/protocol/futures/single-position.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'

interface FillsPage {
  readonly fillList: WireFill[]
  readonly endId?: string | null | undefined
}

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]

/** Values off every grid, in one answer. */
const WAYS: readonly ((row: WireFill) => Partial<WireFill>)[] = [
  ({ price }) => ({ price: `${price}1`.replace(/^(\d+)1$/, '$1.00001') }),
  () => ({ price: '-1' }),
  () => ({ price: '1e999' }),
  () => ({ price: '' }),
  ({ baseVolume }) => ({ baseVolume: `${baseVolume}001` }),
  () => ({ baseVolume: '0' }),
  () => ({ baseVolume: '9'.repeat(40) }),
  () => ({ cTime: '' }),
  () => ({ cTime: '1e300' }),
  ({ cTime }) => ({ cTime: String(Number(cTime) + 40 * DAY_MS) }),
  () => ({ profit: 'NaN' }),
]

/** One coin with a configured price, and one without. */
const FEE_COINS = ['POINT', 'TOKEN'] as const
export const FEE_COIN_PRICES: ReadonlyMap<string, string> = new Map([['POINT', '2']])

export const NO_FEE = { deduction: null, feeCoin: 'USDT', totalDeductionFee: null }

export interface ShownMoney {
  readonly fee: 'booked' | 'missing' | { readonly coin: string; readonly amount: string }
  readonly isProfitMissing: boolean
  /** Form of a missing value. */
  readonly nothing: null | '' | undefined
}

type Row = Readonly<Record<string, unknown>>
type PositionRows = ResponseOf<'singlePosition'>

/** Rows of undocumented types: the newest one, in every answer for a while. */
const ODD_WAYS: readonly ((row: Row) => unknown)[] = [
  () => null,
  () => [],
  () => 'row',
  (row) => ({ symbol: row['symbol'] }),
  (row) => ({ ...row, symbol: 7 }),
  (row) => ({ ...row, tradeId: 2 ** 53 + 2, orderId: 2 ** 53 + 2, total: 1 }),
  (row) => ({ ...row, side: 'sideways', holdSide: 'both' }),
  (row) => ({ ...row, price: null, total: null }),
]
const ODD_MS_MAX = 6000

const AHEAD_MS: readonly number[] = [10_000, 5 * MINUTE_MS, 2 * DAY_MS, 100 * DAY_MS]

/** Pages with an unreadable row once, and with fills that are always dated ahead. */
export class BrokenFills {
  readonly #faults: VirtualFaults
  /** Keyed by `fillKey`; undefined: unchanged. */
  readonly #ahead = new Map<string, WireFill | undefined>()

  /** Keyed by `fillKey`: shown at every read. */
  readonly #money = new Map<string, ShownMoney>()

  /** Instruments with a row that was unreadable once. */
  readonly #late = new Set<string>()
  /** Keyed by `fillKey`: those that were unreadable once. */
  readonly #broken = new Set<string>()

  readonly #time: VirtualTime
  /**
   * Unix ms until which each answer of fills has an odd row, and by instrument each of its
   * position.
   */
  #oddFills = { until: 0, way: 0 }
  readonly #oddPositions = new Map<string, { readonly until: number; readonly way: number }>()

  constructor(faults: VirtualFaults, time: VirtualTime) {
    this.#faults = faults
    this.#time = time
  }

  /** Replaces a good row by an odd one, as the schema of the wire reads it; on a full page any. */
  makeOdd(reply: Reply<FillsPage>, limit: number): Reply<FillsPage> {
    if (!reply.ok) return reply
    const { fillList } = reply.data
    const faults = this.#faults
    if (faults.strikes('rowsOdd', 'orderFills')) this.#oddFills = this.#drawOdd()
    const { until, way } = this.#oddFills
    if (!faults.isOn || this.#time.now >= until || fillList.length === 0) return reply
    const place = fillList.length < limit ? 0 : Math.floor(way / ODD_WAYS.length) % limit
    const row = fillList[place]
    if (row) this.#late.add(row.symbol)
    const odd = ODD_WAYS[way % ODD_WAYS.length]?.({ ...row })
    return {
      ok: true,
      data: orderFills.response.parse({
        ...reply.data,
        fillList: fillList.with(place, odd as never),
      }),
    }
  }

  makePositionOdd(reply: Reply<PositionRows>, symbol: string): Reply<PositionRows> {
    if (!reply.ok || reply.data === null) return reply
    const faults = this.#faults
    if (faults.strikes('rowsOdd', `position/${symbol}`))
      this.#oddPositions.set(symbol, this.#drawOdd())
    const { until, way } = this.#oddPositions.get(symbol) ?? { until: 0, way: 0 }
    if (!faults.isOn || this.#time.now >= until) return reply
    const [row = { symbol }] = reply.data
    const odd = ODD_WAYS[way % ODD_WAYS.length]?.({ ...row })
    return { ok: true, data: singlePosition.response.parse([odd, ...reply.data.slice(1)]) }
  }

  #drawOdd(): { readonly until: number; readonly way: number } {
    const way = this.#faults.severity(0, 1_000_000)
    return { until: this.#time.now + 500 + (way % ODD_MS_MAX), way }
  }

  break(reply: Reply<FillsPage>): Reply<FillsPage> {
    if (!reply.ok || reply.data.fillList.length === 0) return reply
    const faults = this.#faults
    const fillList = reply.data.fillList.map((row) => this.#hideMoney(this.#dateAhead(row)))
    const { length } = fillList
    if (faults.strikes('fillBroken', 'orderFills')) {
      const drawn = faults.severity(0, WAYS.length * length)
      const row = fillList[drawn % length]
      // A permanently unreadable one would need a person.
      if (row && !this.#broken.has(fillKey(row)))
        fillList[drawn % length] = { ...row, ...WAYS[Math.floor(drawn / length)]?.(row) }
      if (row) this.#broken.add(fillKey(row))
      if (row) this.#late.add(row.symbol)
    }
    return { ok: true, data: { ...reply.data, fillList } }
  }

  /** Undefined if shown as booked. */
  shownMoney(key: string): ShownMoney | undefined {
    return this.#money.get(key)
  }

  /**
   * A fill of the instrument is dated ahead or was read late, so fills are applied in another
   * order.
   */
  isOutOfOrder(symbol: string): boolean {
    return this.#late.has(symbol) || [...this.#ahead.values()].some((row) => row?.symbol === symbol)
  }

  #hideMoney(row: WireFill): WireFill {
    const key = fillKey(row)
    const shown = this.#money.get(key) ?? this.#drawMoney(row)
    this.#money.set(key, shown)
    return {
      ...row,
      ...(shown.fee === 'missing' && {
        feeDetail: shown.nothing === undefined ? null : [{ ...NO_FEE, totalFee: shown.nothing }],
      }),
      ...(typeof shown.fee === 'object' && {
        feeDetail: [{ ...NO_FEE, feeCoin: shown.fee.coin, totalFee: `-${shown.fee.amount}` }],
      }),
      ...(shown.isProfitMissing && { profit: shown.nothing }),
    }
  }

  #drawMoney({ tradeId, feeDetail }: WireFill): ShownMoney {
    const faults = this.#faults
    const nothing = ([undefined, null, ''] as const)[Number(tradeId.slice(-2)) % 3]
    const isProfitMissing = faults.strikes('profitMissing', 'fills')
    if (faults.strikes('feeMissing', 'fills')) return { fee: 'missing', isProfitMissing, nothing }
    const paid = Number(feeDetail?.[0]?.totalFee ?? 0)
    if (paid >= 0 || !faults.strikes('feeElsewhere', 'fills'))
      return { fee: 'booked', isProfitMissing, nothing }
    const coin = FEE_COINS[faults.severity(0, FEE_COINS.length)] ?? FEE_COINS[0]
    return { fee: { coin, amount: (-paid / 2).toFixed(8) }, isProfitMissing, nothing }
  }

  #dateAhead(row: WireFill): WireFill {
    const { cTime } = row
    const key = fillKey(row)
    if (!this.#ahead.has(key)) {
      const isAhead = this.#faults.strikes('fillAhead', 'fills')
      const aheadMs = isAhead ? (AHEAD_MS[this.#faults.severity(0, AHEAD_MS.length)] ?? 0) : 0
      this.#ahead.set(key, isAhead ? { ...row, cTime: String(Number(cTime) + aheadMs) } : undefined)
    }
    return this.#ahead.get(key) ?? row
  }
}
