import { messageOf } from '../../lib/failure.ts'
import { type Connection, sqlStateOf } from '../postgres/connection.ts'
import { type KillOrderRow, orderKill } from '../postgres/kill-order.ts'

/** Connections at a time: the server may be near the most that it takes. */
const CONNECTIONS_MAX = 8

/** Class of SQLSTATEs: what was asked for is not there, or this user has no right to it. Asked again it is the same. */
const REFUSED = '42'

/** What became of the order of one account: `refused` by the server for good, `moved`: its journal lies elsewhere. */
export type KillOrdered =
  | { readonly kind: 'ordered'; readonly number: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'moved' }

export interface OrderKillsOptions {
  readonly schemas: readonly string[]
  readonly order: Pick<KillOrderRow, 'reason' | 'by'>
  /** There already, so that the first order waits for nothing. */
  readonly connection: Pick<Connection, 'open' | 'query'>
  readonly createConnection: () => Pick<Connection, 'open' | 'query' | 'close'>
  /** An order counts as soon as the server has taken it, whatever becomes of the others. */
  readonly onOrdered: (schema: string, ordered: KillOrdered) => void
}

/**
 * Orders the kill of each account, over several connections side by side. What is wrong with one account, or a
 * connection that the server does not give, keeps no other from its order.
 * @returns what kept some of them from their order, so that they have to be asked for again
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
  // A connection that there was not is no trouble where the others have done its work.
  const lost = ends.find((end) => end.status === 'rejected')
  return troubles[0] ?? (waiting.length > 0 ? lost?.reason : undefined)
}

interface Ordering extends Pick<OrderKillsOptions, 'order' | 'onOrdered'> {
  readonly noteTrouble: (error: unknown) => void
}

/** @throws where there is no connection: nobody has been taken out of those that wait then */
async function orderWaiting(
  connection: Pick<Connection, 'open' | 'query'>,
  waiting: string[],
  { order, onOrdered, noteTrouble }: Ordering,
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
