import { type ResponseOf } from '../../protocol/endpoints.ts'
import { accept, type OrderReference, type Reply } from './reply.ts'

type BatchResult = ResponseOf<'batchPlaceOrder'>

/** Document: Batch result item. Does something for each item; what is wrong with one of them leaves the others alone. */
export function eachOf<
  Item extends { readonly orderId?: string | undefined; readonly clientOid?: string | undefined },
>(
  items: Iterable<Item>,
  handle: (item: Item) => Reply<OrderReference>,
): { readonly ok: true; readonly data: BatchResult } {
  const result: BatchResult = { successList: [], failureList: [] }
  for (const item of items) {
    const reply = handle(item)
    if (reply.ok) result.successList.push(reply.data)
    else {
      const { orderId = '', clientOid = '' } = item
      result.failureList.push({ orderId, clientOid, errorMsg: reply.message, errorCode: reply.code })
    }
  }
  return accept(result)
}
