import { pairKey } from '../../../src/engine/book/book.ts'
import { type ExchangeTruth, isForeign } from '../virtual/exchange-truth.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** The exchange's memory of a clientOid: a later use is a second order. */
const REMEMBERED_MS = 20 * 60_000

/**
 * A key names one order for ever, whatever the book has forgotten: it is used once, and the
 * exchange never makes two orders of a clientOid that it has forgotten.
 */
export function watchKeys(world: World): WorldWatcher {
  /** Keyed by strategy and key: recorded generations of its order. */
  const used = new Map<string, number>()
  /** Keyed by clientOid: when its first copy was signed and left, Unix ms, exchange clock. */
  const signedAt = new Map<string, number>()
  const isFirst = new Set<string>()
  return {
    onRecord(record) {
      if (record.kind === 'outcome') {
        for (const { clientOid, outcome } of record.items)
          if (outcome === 'notSent' && isFirst.has(clientOid)) signedAt.delete(clientOid)
      }
      if (record.kind !== 'send') return
      for (const { clientOid } of record.orders) {
        signedAt.set(clientOid, record.requestAt)
        isFirst.add(clientOid)
      }
      for (const clientOid of record.again) {
        if (signedAt.has(clientOid)) isFirst.delete(clientOid)
        const age = record.requestAt - (signedAt.get(clientOid) ?? record.requestAt)
        signedAt.set(clientOid, record.requestAt - age)
        if (age >= REMEMBERED_MS)
          violate(world, 'ORD2', `${clientOid} is sent again ${age} ms after its first copy`)
      }
      for (const { purpose, strategyId, key, generation } of record.orders) {
        if (purpose !== 'place') continue
        const name = pairKey(strategyId, key)
        const generations = used.get(name) ?? 0
        if (generation < generations) violate(world, 'ORD2', `${name} names a second order`)
        used.set(name, generation + 1)
      }
    },
    atEnd() {
      for (const clientOid of forgottenAndMade(world.exchange.truth))
        violate(world, 'ORD2', `${clientOid} was made again when the exchange had forgotten it`)
    },
  }
}

function forgottenAndMade({ orders }: ExchangeTruth): readonly string[] {
  const ours = [...orders.values()].filter((order) => !isForeign(order))
  const byName = Map.groupBy(ours, ({ clientOid }) => clientOid)
  return [...byName].flatMap(([clientOid, copies]) => {
    const times = copies.map(({ createdAt }) => createdAt)
    return Math.max(...times) - Math.min(...times) >= REMEMBERED_MS ? [clientOid] : []
  })
}
