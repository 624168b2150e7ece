import { isClosing } from '../../../src/domain/order-action.ts'
import { restrictionOf } from '../../../src/engine/book/book.ts'
import type { Effect } from '../../../src/engine/effect.ts'
import type { EngineEvent } from '../../../src/engine/event.ts'
import { bodyOf, type World, type WorldWatcher, violate } from '../world/world.ts'
import { orderNamed } from './wire-invariants.ts'

/** "Currently holding positions or orders": the margin mode is not that of the position. */
const MODE_REFUSED = '45117'

/**
 * A batch names the configured margin mode. It may name the other one while the position is
 * restricted for its mode, and, if it only closes, after the exchange has refused the configured
 * mode and taken no order of it since, as long as something is held.
 */
export function watchMarginModes(world: World): WorldWatcher {
  const sent = new Map<number, { readonly symbol: string; readonly mode: string }>()
  const refused = new Map<string, string>()
  const note = (event: EngineEvent, effects: readonly Effect[]): void => {
    if (event.kind === 'positionRead') {
      const { rows, isSilent, symbol } = event.reading
      const isBelieved = !effects.some(
        (one) => one.kind === 'announce' && one.event === 'read.failed',
      )
      if (rows.length === 0 && !isSilent && isBelieved) refused.delete(symbol)
    }
    if (event.kind !== 'batchAnswered') return
    const batch = sent.get(event.batchId)
    // An answer that is heard twice says nothing new.
    if (!batch || !sent.delete(event.batchId)) return
    const { isTaken, codes } = readAnswer(event.answer)
    if (isTaken && refused.get(batch.symbol) === batch.mode) refused.delete(batch.symbol)
    if (!isTaken && codes.includes(MODE_REFUSED)) refused.set(batch.symbol, batch.mode)
  }
  return {
    onBirth() {
      sent.clear()
      refused.clear()
    },
    afterStep(event, effects) {
      note(event, effects)
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (!book || effect.kind !== 'sendBatch') continue
        const { batchId, symbol, clientOids } = effect.batch
        const { marginMode: mode } = bodyOf(effect.batch)
        sent.set(batchId, { symbol, mode })
        const configured = world.settings.marginMode
        const isHeldOtherwise = restrictionOf(book, symbol, 'marginMode') !== undefined
        if (mode === configured || isHeldOtherwise) continue
        const orders = clientOids.map((clientOid) => orderNamed(world, clientOid))
        if (refused.get(symbol) !== configured)
          violate(world, 'ORD6', `batch ${batchId} is ${mode}, and ${configured} was not refused`)
        else if (!orders.every((order) => order && isClosing(order.terms.action)))
          violate(world, 'ORD6', `batch ${batchId} is ${mode}, and does not only close`)
      }
    },
  }
}

type BatchAnswer = Extract<EngineEvent, { kind: 'batchAnswered' }>['answer']

function readAnswer(answer: BatchAnswer): {
  readonly isTaken: boolean
  readonly codes: readonly (string | null | undefined)[]
} {
  if (answer.kind !== 'accepted') return { isTaken: false, codes: [answer.code] }
  const { successList, failureList } = answer.data
  return {
    isTaken: successList.length > 0,
    codes: failureList.map(({ errorCode }) => errorCode),
  }
}
