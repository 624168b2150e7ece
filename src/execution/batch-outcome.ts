import { type Answer, isClockRefused, type RefusalClass } from '../domain/answer.ts'
import { type ClientOid, toOrderId } from '../domain/ids.ts'
import type { ItemOutcome } from '../domain/record.ts'
import { unreachable } from '../lib/unreachable.ts'
import { errorCode } from '../protocol/error-codes.ts'
import type { BatchResult } from '../protocol/values.ts'

/**
 * Outcomes by item, in the order sent. `00000` with a failure list is no success, and an item that
 * neither list names is unknown (ORD3, ORD6).
 */
export function readBatchOutcome(
  clientOids: readonly ClientOid[],
  answer: Answer<BatchResult>,
): readonly ItemOutcome[] {
  switch (answer.kind) {
    case 'unknown':
      return clientOids.map((clientOid) =>
        unknownItem(clientOid, answer.code || answer.cause, answer.message),
      )
    case 'refused': {
      const { code, message } = answer
      if (isClockRefused(answer))
        return clientOids.map((clientOid) => ({
          clientOid,
          outcome: 'clockRefused',
          code,
          message,
        }))
      return clientOids.map((clientOid) => ({
        ...refusedItem(clientOid, answer.class, clientOids.length === 1),
        code,
        message,
      }))
    }
    case 'accepted':
      return readLists(clientOids, answer.data)
    default:
      return unreachable(answer)
  }
}

/**
 * A 429 usually means not accepted. If it was, and was filled meanwhile, sending it again would
 * double it, since the exchange recognises only open orders. So it is unknown until its fate is
 * proved.
 */
const NOT_ACCEPTED_NOW = { outcome: 'unknown', isAnswered: true } as const

function refusedItem(clientOid: ClientOid, refusal: RefusalClass, isAlone: boolean): ItemOutcome {
  switch (refusal) {
    case 'definite':
    case 'invalid':
      return { clientOid, outcome: 'rejected' }
    case 'retry':
      return { clientOid, ...NOT_ACCEPTED_NOW }
    case 'notSent':
      return { clientOid, outcome: 'notSent' }
    case 'exists':
      // Which one existed the answer does not say, nor what happened to the others.
      return { clientOid, outcome: 'unknown', ...(isAlone && { isDuplicate: true }) }
    default:
      return unreachable(refusal)
  }
}

function readLists(clientOids: readonly ClientOid[], data: BatchResult): readonly ItemOutcome[] {
  const accepted = new Map(data.successList.map((item) => [item.clientOid ?? '', item.orderId]))
  const failed = new Map(data.failureList.map((item) => [item.clientOid ?? '', item]))
  return clientOids.map((clientOid): ItemOutcome => {
    // As refused, an item in both lists could be doubled.
    if (accepted.has(clientOid)) {
      const orderId = accepted.get(clientOid)
      return { clientOid, outcome: 'accepted', ...(orderId ? { orderId: toOrderId(orderId) } : {}) }
    }
    const failure = failed.get(clientOid)
    if (!failure)
      return unknownItem(clientOid, 'ITEM_MISSING', 'the answer names it in neither list')
    return readFailure(
      clientOid,
      failure.errorCode ?? '',
      failure.errorMsg ?? '',
      failure.orderId ?? '',
    )
  })
}

function readFailure(
  clientOid: ClientOid,
  code: string,
  message: string,
  orderId: string,
): ItemOutcome {
  switch (errorCode(code).class) {
    case 'definite':
      return { clientOid, outcome: 'rejected', code, message }
    case 'exists':
      return {
        clientOid,
        outcome: 'exists',
        code,
        message,
        ...(orderId && { orderId: toOrderId(orderId) }),
      }
    case 'retry':
      if (errorCode(code).topic === 'clock')
        return { clientOid, outcome: 'clockRefused', code, message }
      return { clientOid, ...NOT_ACCEPTED_NOW, code, message }
    case 'ambiguous':
      return unknownItem(clientOid, code, message)
    default:
      return unreachable(errorCode(code).class as never)
  }
}

function unknownItem(clientOid: ClientOid, code: string, message: string): ItemOutcome {
  return { clientOid, outcome: 'unknown', code, message }
}
