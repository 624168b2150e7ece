/** What the core answers to a request: the data of a success, or an error of the whole request. */
export type Reply<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly code: string; readonly message: string }

/** Why one order, or a whole request, is refused: a code of the exchange's table and its message. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** What an order that was taken is known by. */
export interface OrderReference {
  readonly orderId: string
  readonly clientOid: string
}

export function accept<Data>(data: Data): Reply<Data> {
  return { ok: true, data }
}

export function refuse({ code, message }: Refusal): { ok: false; code: string; message: string } {
  return { ok: false, code, message }
}
