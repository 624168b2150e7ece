import { openOrdersOf } from '../../../src/engine/book/book.ts'
import { symbolsNow, violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * Without its journal a daemon creates nothing. `cancelled` means that every instrument was asked
 * and no known order rests; it does not give up while the exchange would answer.
 */
export function watchRetreat(world: World): WorldWatcher {
  const asked = new Set<string>()
  let isRetreating = false
  return {
    onRetreat() {
      isRetreating = true
      asked.clear()
    },
    onWrite(batch) {
      if (isRetreating) violate(world, 'RSK3', `batch ${batch.batchId} left in a retreat`)
    },
    onRetreatCancel(body) {
      asked.add((JSON.parse(body) as { readonly symbol: string }).symbol)
    },
    onRetreated(end) {
      isRetreating = false
      if (end === 'left') return
      const unasked = symbolsNow(world).filter((symbol) => !asked.has(symbol))
      if (unasked.length > 0)
        violate(world, 'RSK3', `a retreat never cancelled ${unasked.join(', ')}`)
      if (end !== 'cancelled') return
      for (const clientOid of stillResting(world))
        violate(world, 'RSK3', `${clientOid} rests after a retreat`)
    },
  }
}

/** Orders whose acceptance was answered; unknown ones may arrive later. */
function stillResting({ process, exchange, plan }: World): readonly string[] {
  const { book } = process.engine ?? {}
  if (!book) return []
  const resting = new Set([...exchange.truth.open].map(({ clientOid }) => clientOid))
  return plan.symbols
    .flatMap((symbol) => [...openOrdersOf(book, symbol)])
    .filter(({ state }) => state === 'live')
    .map(({ terms }) => terms.clientOid)
    .filter((clientOid) => resting.has(clientOid))
}
