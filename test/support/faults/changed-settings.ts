import { parseOnGrid } from '../../../src/lib/grid.ts'
import { type WirePosition } from '../../../src/protocol/futures/single-position.ts'
import { type BatchPlaceItem } from '../../../src/protocol/futures/batch-place-order.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { type ListedContract } from '../../../src/simulator/futures/instruments/instruments.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'

/** Differences of an instrument from the configuration: grids, or settings changed by hand. */
export interface ChangedSettings {
  /** The exchange accepts multiples of this many ticks and lots. */
  readonly priceSteps?: number
  readonly sizeSteps?: number
  readonly marginMode?: 'isolated'
  readonly leverage?: string
}

interface Change {
  /** Unix ms, exchange clock. */
  readonly since: number
  readonly until: number
  readonly is: ChangedSettings
}

/** Instruments whose settings differ at the exchange for a while. */
export class SettingChanges {
  readonly #bySymbol = new Map<string, Change>()
  readonly #now: () => number

  /** @param now Unix ms, exchange clock; infinite once the faults are over */
  constructor(now: () => number) {
    this.#now = now
  }

  change(symbol: string, change: Change): void {
    if (this.of(symbol) === undefined) this.#bySymbol.set(symbol, change)
  }

  of(symbol: string): Change | undefined {
    const change = this.#bySymbol.get(symbol)
    return change && this.#now() < change.until ? change : undefined
  }

  objectTo(
    { symbol, priceGrid, sizeGrid }: ListedContract,
    { price, size, clientOid = '' }: BatchPlaceItem,
  ): BatchResult['failureList'][number] | undefined {
    const { priceSteps = 1, sizeSteps = 1 } = this.of(symbol)?.is ?? {}
    const isOff = (steps: number | undefined, coarse: number): boolean =>
      (steps ?? 0) % coarse !== 0
    const failure = { orderId: '', clientOid }
    if (price !== undefined && isOff(parseOnGrid(priceGrid, price), priceSteps))
      return { ...failure, errorCode: '45115', errorMsg: `a multiple of ${priceSteps} ticks` }
    if (isOff(parseOnGrid(sizeGrid, size), sizeSteps))
      return {
        ...failure,
        errorCode: '22038',
        errorMsg: `an integral multiple of ${sizeSteps} lots`,
      }
    return undefined
  }

  /** A position has one margin mode; orders with another are refused. */
  objectToBatch(
    symbol: string,
    marginMode: string,
    isHeld: boolean,
  ): Extract<Reply<unknown>, { ok: false }> | undefined {
    const { marginMode: is = 'crossed' } = (isHeld ? this.of(symbol)?.is : undefined) ?? {}
    if (marginMode === is) return undefined
    return { ok: false, code: '45117', message: 'Currently holding positions or orders' }
  }

  show(rows: readonly WirePosition[]): WirePosition[] {
    return rows.map((row) => {
      const { marginMode = row.marginMode, leverage = row.leverage } = this.of(row.symbol)?.is ?? {}
      return { ...row, marginMode, leverage }
    })
  }
}
