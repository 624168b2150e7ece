import { deriveClientOid } from '../../execution/client-oid.ts'
import { type ApprovedItem } from '../../execution/pack-batch.ts'
import { type StrategyId } from '../../domain/ids.ts'
import { type OrderIntent } from '../../domain/intent.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { pairKey } from '../book/book.ts'
import { type Core } from '../state/core.ts'
import { type BatchOrder } from './record-send.ts'

/** The order that an approved item becomes: the one that it was before, or a new one with a name of its own. */
export function nameOrder(core: Core, { intent, again }: ApprovedItem): BatchOrder | undefined {
  const { deadlineAt } = intent
  if (again === undefined) return { terms: toTerms(core, intent), isAgain: false, deadlineAt }
  const terms = core.book.orders.get(again)?.terms
  return terms && { terms, isAgain: true, deadlineAt }
}

/** Under a key that had orders before, the generation after the last one. */
function toTerms(core: Core, intent: OrderIntent): OrderTerms {
  const last = core.book.keys.get(pairKey(intent.strategyId, intent.key))
  const generation = last === undefined ? 0 : last.generation + 1
  const { ticks, takeProfitTicks, stopLossTicks, ...terms } = intent
  return {
    ...terms,
    strategyId: intent.strategyId as StrategyId,
    clientOid: deriveClientOid({
      salt: core.settings.salt,
      strategyId: intent.strategyId,
      key: intent.key,
      generation,
    }),
    generation,
    ...(ticks === undefined ? {} : { ticks }),
    ...(takeProfitTicks === undefined ? {} : { takeProfitTicks }),
    ...(stopLossTicks === undefined ? {} : { stopLossTicks }),
  }
}
