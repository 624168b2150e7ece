import { messageOf } from '../../lib/failure.ts'
import { type PostgresConnection, sqlStateOf } from '../postgres/connection.ts'
import { type KillOrderRow, orderKill } from '../postgres/kill-order.ts'

/** The server may be near its own maximum. */
const CONNECTIONS_MAX = 8

/** SQLSTATEs of a missing object or right: repeating gives the same. */
const REFUSED = '42'

/** `refused` for good; `moved`: the journal is elsewhere. */
export type KillOrderResult =
  | { readonly kind: 'ordered'; readonly number: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'moved' }

export interface OrderKillsOptions {
  readonly schemas: readonly string[]
  readonly order: Pick<KillOrderRow, 'reason' | 'by'>
  /** Already open, so that the first order does not wait. */
  readonly connection: Pick<PostgresConnection, 'open' | 'query'>
  readonly createConnection: () => Pick<PostgresConnection, 'open' | 'query' | 'close'>
  /** An order counts as soon as the server has accepted it. */
  readonly onOrdered: (schema: string, ordered: KillOrderResult) => void
}

/**
 * Several connections, so that trouble with one account, or a connection that is not granted,
 * delays no other order.
 * @returns the trouble that kept some orders back, which must then be repeated
 */
export async function orderKills(options: OrderKillsOptions): Promise<unknown> {
  const { schemas, connection, createConnection } = options
  const waiting = [...schemas]
  const troubles: unknown[] = []
  const noteTrouble = (error: unknown): void => void troubles.push(error)
  const first = orderWaiting(connection, waiting, { ...options, noteTrouble })
  const others = Array.from({ length: Math.min(CONNECTIONS_MAX, schemas.length) - 1 }, async () => {
    const other = createConnection()
    try {
      await orderWaiting(other, waiting, { ...options, noteTrouble })
    } finally {
      await other.close()
    }
  })
  const ends = await Promise.allSettled([first, ...others])
  // A failed connection is no trouble if the others did its work.
  const lost = ends.find((end) => end.status === 'rejected')
  return troubles[0] ?? (waiting.length > 0 ? lost?.reason : undefined)
}

interface KillOrdering extends Pick<OrderKillsOptions, 'order' | 'onOrdered'> {
  readonly noteTrouble: (error: unknown) => void
}

/** @throws if there is no connection; no account has then been taken */
async function orderWaiting(
  connection: Pick<PostgresConnection, 'open' | 'query'>,
  waiting: string[],
  { order, onOrdered, noteTrouble }: KillOrdering,
): Promise<void> {
  while (waiting.length > 0) {
    await connection.open()
    const schema = waiting.shift()
    if (schema === undefined) return
    try {
      const number = await orderKill(connection, schema, order)
      onOrdered(schema, number === 'moved' ? { kind: 'moved' } : { kind: 'ordered', number })
    } catch (error) {
      if (sqlStateOf(error)?.startsWith(REFUSED))
        onOrdered(schema, { kind: 'refused', reason: messageOf(error) })
      else noteTrouble(error)
    }
  }
}
