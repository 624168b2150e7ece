import { type DeliveryState } from '../../../src/domain/ticker-table.ts'
import { type BatchPlaceItem } from '../../../src/protocol/futures/batch-place-order.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'

type Failure = BatchResult['failureList'][number]

/** Ways to suspend an instrument, and whether its tickers show it. */
const WAYS: readonly {
  readonly state: DeliveryState | undefined
  /** Codes that refuse an order that opens, one that closes, and a cancel. */
  readonly opening: string
  readonly closing: string | undefined
  readonly cancelling: string | undefined
}[] = [
  { state: 'delivery_before', opening: '22039', closing: undefined, cancelling: undefined },
  { state: 'delivery_period', opening: '22040', closing: '22041', cancelling: '45043' },
  { state: undefined, opening: '40844', closing: '40844', cancelling: '45043' },
]

interface Suspension {
  /** Unix ms. */
  readonly until: number
  readonly way: (typeof WAYS)[number]
}

export class Suspensions {
  readonly #bySymbol = new Map<string, Suspension>()
  readonly #now: () => number

  /** @param now Unix ms, exchange clock; infinite once the faults are over */
  constructor(now: () => number) {
    this.#now = now
  }

  /** @param draw any whole number, which selects the way */
  suspend(symbol: string, until: number, draw: number): void {
    const way = WAYS[draw % WAYS.length]
    if (way) this.#bySymbol.set(symbol, { until, way })
  }

  /** Undefined for the usual state. */
  stateOf(symbol: string): DeliveryState | undefined {
    return this.#wayOf(symbol)?.state
  }

  objectTo(
    symbol: string,
    { tradeSide, reduceOnly, clientOid }: BatchPlaceItem,
  ): Failure | undefined {
    const way = this.#wayOf(symbol)
    const closes = tradeSide === 'close' || reduceOnly === 'YES'
    const code = closes ? way?.closing : way?.opening
    return code === undefined
      ? undefined
      : failure({ orderId: '', clientOid: clientOid ?? '' }, code)
  }

  objectToCancel(order: NamedOrder): Failure | undefined {
    const code = this.#wayOf(order.symbol)?.cancelling
    return code === undefined ? undefined : failure(order, code)
  }

  #wayOf(symbol: string): Suspension['way'] | undefined {
    const suspension = this.#bySymbol.get(symbol)
    return suspension && this.#now() < suspension.until ? suspension.way : undefined
  }
}

interface NamedOrder {
  readonly symbol: string
  readonly orderId: string
  readonly clientOid: string
}

export interface CancelAround {
  readonly suspensions: Suspensions
  readonly open: readonly NamedOrder[]
  readonly symbols: readonly string[]
  readonly cancel: (symbol: string) => Reply<BatchResult>
}

/** Undefined if none is suspended. */
export function cancelAround(around: CancelAround): Reply<BatchResult> | undefined {
  const { suspensions, open, symbols, cancel } = around
  const failureList = open.flatMap((order) => suspensions.objectToCancel(order) ?? [])
  if (failureList.length === 0) return undefined
  const stuck = new Set(
    open.filter((order) => suspensions.objectToCancel(order)).map(({ symbol }) => symbol),
  )
  const successList = symbols.flatMap((symbol) => {
    const reply = stuck.has(symbol) ? undefined : cancel(symbol)
    return reply?.ok ? reply.data.successList : []
  })
  return { ok: true, data: { successList, failureList } }
}

function failure(
  { orderId, clientOid }: Pick<NamedOrder, 'orderId' | 'clientOid'>,
  code: string,
): Failure {
  return { orderId, clientOid, errorMsg: 'not tradable for now', errorCode: code }
}
