import { fillKey } from '../../../src/domain/fill.ts'
import { type WireFill } from '../../../src/protocol/futures/order-fills.ts'
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

/** How far ahead a fill is dated, ms. */
const AHEAD_MS: readonly number[] = [10_000, 5 * MINUTE_MS, 2 * DAY_MS, 100 * DAY_MS]

/** A page with a row that cannot be read, once; and with fills that are dated ahead whenever they are read. */
export class BrokenFills {
  readonly #faults: VirtualFaults
  /** By `fillKey`, as it is shown; undefined as it is. */
  readonly #ahead = new Map<string, WireFill | undefined>()

  /** Instruments of which a row could not be read once. */
  readonly #late = new Set<string>()
  /** By `fillKey`, those that could not be read once. */
  readonly #broken = new Set<string>()

  constructor(faults: VirtualFaults) {
    this.#faults = faults
  }

  break(reply: Reply<FillsPage>): Reply<FillsPage> {
    if (!reply.ok || reply.data.fillList.length === 0) return reply
    const faults = this.#faults
    const fillList = reply.data.fillList.map((row) => this.#dateAhead(row))
    const { length } = fillList
    if (faults.strikes('fillBroken', 'orderFills')) {
      const drawn = faults.severity(0, WAYS.length * length)
      const row = fillList[drawn % length]
      // One that could never be read would have to be explained by a person.
      if (row && !this.#broken.has(fillKey(row)))
        fillList[drawn % length] = { ...row, ...WAYS[Math.floor(drawn / length)]?.(row) }
      if (row) this.#broken.add(fillKey(row))
      if (row) this.#late.add(row.symbol)
    }
    return { ok: true, data: { ...reply.data, fillList } }
  }

  /** Whether a fill of the instrument is dated ahead, or was read behind later ones: they are taken in another order. */
  isOutOfOrder(symbol: string): boolean {
    return this.#late.has(symbol) || [...this.#ahead.values()].some((row) => row?.symbol === symbol)
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
