import type { ResponseOf } from '../../protocol/endpoints.ts'

export interface RefusedReply {
  readonly ok: false
  readonly code: string
  readonly message: string
}

export type Reply<Data> = { readonly ok: true; readonly data: Data } | RefusedReply

export interface OrderReference {
  readonly orderId: string
  readonly clientOid: string
}

export function accept<Data>(data: Data): { readonly ok: true; readonly data: Data } {
  return { ok: true, data }
}

export function acceptAll<Fields>(replies: {
  readonly [Name in keyof Fields]: Reply<Fields[Name]>
}): Reply<Fields> {
  const fields: Partial<Fields> = {}
  for (const name in replies) {
    const reply: Reply<Fields[typeof name]> = replies[name]
    if (!reply.ok) return reply
    fields[name] = reply.data
  }
  return accept(fields as Fields)
}

export function acceptUnless<Data>(refused: RefusedReply | undefined, data: Data): Reply<Data> {
  return refused ?? accept(data)
}

type BatchPlaceResult = ResponseOf<'batchPlaceOrder'>

export function eachOf<
  Item extends { readonly orderId?: string | undefined; readonly clientOid?: string | undefined },
>(
  items: Iterable<Item>,
  handle: (item: Item) => Reply<OrderReference>,
): { readonly ok: true; readonly data: BatchPlaceResult } {
  const result: BatchPlaceResult = { successList: [], failureList: [] }
  for (const item of items) {
    const reply = handle(item)
    if (reply.ok) result.successList.push(reply.data)
    else {
      const { orderId = '', clientOid = '' } = item
      result.failureList.push({
        orderId,
        clientOid,
        errorMsg: reply.message,
        errorCode: reply.code,
      })
    }
  }
  return accept(result)
}
