import { type Differences } from '../support/invariants/book-comparison.ts'

/** A signed request as the exchange saw it. Instants are Unix ms. */
export interface SignedRequest {
  readonly machine: string
  readonly path: string
  readonly status: number
  readonly signedAt: number
  readonly arrivedAt: number
}

/** When a machine could run a process that had no right to sign: another had the lease. */
export interface Barred {
  readonly machine: string
  readonly from: number
  /** When that process had ended. */
  readonly to: number
}

/** @param lines as `count-arrivals.ts` writes them. @param machines by their addresses. */
export function readSigned(
  lines: readonly string[],
  machines: ReadonlyMap<string, string>,
): readonly SignedRequest[] {
  return lines.flatMap((line) => {
    const [arrivedAt, path = '', status, from = '', signedAt = '-'] = line.split(' ')
    const machine = machines.get(from.replace('::ffff:', ''))
    if (signedAt === '-' || machine === undefined) return []
    const times = { signedAt: Number(signedAt), arrivedAt: Number(arrivedAt) }
    return [{ machine, path, status: Number(status), ...times }]
  })
}

/**
 * What was signed, order or not, while another had the lease. What was signed before may come after: it was in a socket
 * already, and is valid for no longer than the next one has waited.
 */
export function findSignedWithoutLease(
  requests: readonly SignedRequest[],
  barred: readonly Barred[],
): Differences {
  return barred.flatMap(({ machine, from, to }) =>
    requests
      .filter(
        (request) =>
          request.machine === machine && request.signedAt > from && request.signedAt <= to,
      )
      .map(
        ({ path, status, signedAt }) =>
          `${machine} signed ${path} ${Math.round(signedAt - from)} ms after another had the lease (answer ${status})`,
      ),
  )
}
