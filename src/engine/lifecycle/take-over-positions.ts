import { FLAT, type Holding, isSameHolding } from '../../domain/position.ts'
import type { RepairedRecord } from '../../domain/record.ts'
import type { ModeReason } from '../../domain/trading-mode.ts'
import { accountHoldingOf } from '../book/book.ts'
import { beginStep, type Core, record } from '../state/core.ts'

export interface ExchangePositions {
  readonly holdings: ReadonlyMap<string, Holding>
  /** Unix ms, exchange clock: no holding was read before. */
  readonly exchangeAt: number
}

/**
 * Lets an older copy go on, as docs/operations.md tells. The fills of the lost run are not read, so
 * what they made stays unknown. Nothing else may run on the core.
 */
export function takeOverPositions(
  core: Core,
  { holdings, exchangeAt }: ExchangePositions,
  repaired: RepairedRecord,
): void {
  const { at } = repaired
  beginStep(core, at)
  record(core, repaired)
  for (const [orderId, [first]] of core.book.orphans)
    if (first) record(core, { kind: 'foreign', at, symbol: first.symbol, orderIds: [orderId] })
  record(core, {
    kind: 'prune',
    at,
    ordersBefore: 0,
    keysBefore: 0,
    tradesBefore: exchangeAt,
    fillsThroughAt: exchangeAt,
  })
  for (const symbol of core.instruments.keys()) {
    const holding = holdings.get(symbol) ?? FLAT
    const was = accountHoldingOf(core.book, symbol)
    if (isSameHolding(holding, was)) continue
    record(core, { kind: 'adopt', at, symbol, holding, was })
  }
  // The positions include the fills that these halts were for; the account itself is halted.
  const explained = [...core.book.restrictions.values()].filter(({ code }) => EXPLAINED.has(code))
  for (const { scope, code } of explained)
    record(core, { kind: 'released', at, scope, code, reason: repaired.reason, by: 'repair' })
}

const EXPLAINED: ReadonlySet<ModeReason> = new Set(['olderState', 'foreignFills'])
