import { type JournalRecord } from '../../src/domain/record.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { type ExchangeTruth } from '../support/virtual/exchange-truth.ts'

/** When a run had the lease, Unix ms, by the epoch that it began. */
export type TakenAt = ReadonlyMap<number, number>

/** Orders that the exchange took from a writer after the next had the lease. */
export function findLateOrders(
  records: readonly JournalRecord[],
  truth: ExchangeTruth,
  takenAt: TakenAt,
): Differences {
  const epochs = new Map<string, number>()
  let epoch = 0
  for (const record of records) {
    if (record.kind === 'boot') epoch = record.epoch
    if (record.kind !== 'send') continue
    for (const clientOid of [...record.orders.map((order) => order.clientOid), ...record.again])
      epochs.set(clientOid, epoch)
  }
  return [...truth.orders.values()].flatMap(({ clientOid, createdAt }) => {
    const own = epochs.get(clientOid)
    if (own === undefined) return []
    const after = [...takenAt].filter(([other, at]) => other > own && at < createdAt)
    return after.length > 0 ? [`${clientOid} of epoch ${own} came when another had the lease`] : []
  })
}

/** From the last order that the exchange took before the moment until the first after it, ms; undefined without one. */
export function timeWithoutOrder(truth: ExchangeTruth, at: number): number | undefined {
  const times = [...truth.orders.values()].map(({ createdAt }) => createdAt)
  const before = times.filter((time) => time <= at)
  const after = times.filter((time) => time > at)
  if (before.length === 0 || after.length === 0) return undefined
  return Math.min(...after) - Math.max(...before)
}
