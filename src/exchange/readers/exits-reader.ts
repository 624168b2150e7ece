import type { Answer } from '../../domain/answer.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { HoldSide, ListedExit, ListedExits } from '../../domain/position.ts'
import { parseOnGrid } from '../../lib/grid.ts'
import { PLAN_ORDERS_PAGE_MAX } from '../../protocol/beyond/plan-orders-pending.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import type { ResponseOf } from '../../protocol/endpoints.ts'
import { PRIORITY } from '../limiter/grant.ts'
import type { BeyondCaller } from './candles-reader.ts'

type PlanRow = NonNullable<ResponseOf<'ordersPlanPending'>['entrustedList']>[number]

const KINDS: Readonly<Record<string, ListedExit['kind']>> = {
  pos_loss: 'stopLoss',
  loss_plan: 'stopLoss',
  pos_profit: 'takeProfit',
  profit_plan: 'takeProfit',
}

/**
 * Lists the take-profits and stop-losses of an instrument's positions, without trailing stops. If
 * one cannot be read, the whole answer is unknown, because none must count as absent by mistake.
 */
export async function listExits(
  caller: BeyondCaller,
  instrument: Instrument,
): Promise<Answer<ListedExits>> {
  const { productType, symbol } = instrument
  const request = {
    planType: 'profit_loss',
    productType,
    symbol,
    limit: String(PLAN_ORDERS_PAGE_MAX),
  } as const
  const answer = await caller.call('ordersPlanPending', request, { priority: PRIORITY.background })
  if (answer.kind !== 'accepted') return answer
  const listed = toListedExits(instrument, answer.data.entrustedList ?? [])
  if (typeof listed !== 'string') return { ...answer, data: listed }
  const { data: _, ...times } = answer
  const unknown = { kind: 'unknown', cause: 'unreadableRow', code: SUCCESS_CODE } as const
  return { ...times, ...unknown, message: listed, status: 200 }
}

export function toListedExits(
  instrument: Instrument,
  rows: readonly PlanRow[],
): ListedExits | string {
  const { symbol } = instrument
  const exits: Record<HoldSide, ListedExit[]> = { long: [], short: [] }
  for (const row of rows) {
    const kind = KINDS[row.planType ?? '']
    if (kind === undefined || row.symbol.toUpperCase() !== symbol) continue
    const holdSide = sideOf(row)
    if (holdSide === undefined) return `${symbol}: the side of trigger order ${row.orderId}`
    const ticks = parseOnGrid(instrument.tick, row.triggerPrice ?? '')
    if (ticks === undefined || ticks <= 0)
      return `${symbol}: the trigger price "${row.triggerPrice}" of ${row.orderId}`
    exits[holdSide].push({ kind, orderId: row.orderId, ticks, ...repeatedOf(row) })
  }
  return { symbol, ...exits }
}

/** A move has to repeat these fields where they differ from the usual ones. */
function repeatedOf({ planType, size, triggerType, executePrice }: PlanRow): Partial<ListedExit> {
  const isPart = planType === 'loss_plan' || planType === 'profit_plan'
  const isLimit = Number(executePrice ?? '') > 0
  return {
    ...(isPart && typeof size === 'string' && { size }),
    ...(triggerType === 'mark_price' && { triggerType }),
    ...(isLimit && typeof executePrice === 'string' && { executePrice }),
  }
}

/** In one-way mode an order that sells closes a long position. */
function sideOf({ posSide, side }: PlanRow): HoldSide | undefined {
  if (posSide === 'long' || posSide === 'short') return posSide
  if (side === 'sell') return 'long'
  return side === 'buy' ? 'short' : undefined
}
