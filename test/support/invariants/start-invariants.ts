import { canRest, type Order } from '../../../src/domain/order.ts'
import { isHalted } from '../../../src/engine/book/book.ts'
import { symbolsNow, violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * An instrument trades once its fills and position were read in this run, nothing of it is unknown,
 * and, with `onRestart: cancel` or an abandoned lease, no resting order of the earlier run is
 * trusted. A strategy is asked once one of its instruments trades.
 */
export function watchStart(world: World): WorldWatcher {
  let left: ReadonlySet<string> = new Set()
  let isCancelling = false
  let areFillsRead = false
  const read = new Set<string>()
  const traded = new Set<string>()

  const lookAt = (symbol: string): void => {
    const { engine } = world.process
    if (!engine || traded.has(symbol)) return
    traded.add(symbol)
    if (isHalted(engine.book, symbol)) return
    if (!areFillsRead || !read.has(symbol))
      violate(world, 'ORD5', `${symbol} is traded before it was read`)
    for (const order of engine.book.open.get(symbol)?.values() ?? []) {
      const { clientOid } = order.terms
      if (order.state === 'unknown')
        violate(world, 'ORD5', `${clientOid} is unknown when trading begins`)
      if (!isCancelling || !left.has(clientOid) || !isResting(order)) continue
      violate(world, 'ORD5', `${clientOid} was not resolved at the start`)
    }
  }

  return {
    onBirth() {
      const { engine, settings, hasTakenOver } = world.process
      const orders = [...(engine?.book.orders.values() ?? [])].filter(isResting)
      isCancelling = settings.onRestart === 'cancel' || hasTakenOver
      left = new Set(orders.map(({ terms }) => terms.clientOid))
      areFillsRead = false
      read.clear()
      traded.clear()
    },
    afterStep(event, effects) {
      const { engine } = world.process
      if (!engine) return
      if (event.kind === 'fillsRead') areFillsRead = true
      if (event.kind === 'positionRead') read.add(event.reading.symbol)
      const symbols = symbolsNow(world)
      if (world.plan.universe) forgetOthers(symbols, read, traded)
      const unproved = new Set(engine.unproved)
      for (const effect of effects) {
        if (
          effect.kind === 'sendBatch' &&
          unproved.has(effect.batch.symbol) &&
          engine.phase === 'running'
        )
          violate(world, 'ORD5', `${effect.batch.symbol} is traded before it is proved`)
        if (effect.kind !== 'decide') continue
        const { symbols = [] } = world.settings.strategies.get(effect.strategyId) ?? {}
        if (symbols.every((symbol) => unproved.has(symbol)))
          violate(
            world,
            'ORD5',
            `${effect.strategyId} is asked before one of its instruments is proved`,
          )
      }
      if (traded.size === symbols.length) return
      // A halted instrument delays nothing, and is proved with its unknown orders: it may be
      // released before all trade.
      for (const symbol of symbols)
        if (!unproved.has(symbol) && isHalted(engine.book, symbol)) traded.add(symbol)
      if (!engine.isTrading) return
      for (const symbol of symbols) {
        if (!unproved.has(symbol)) lookAt(symbol)
      }
    },
  }
}

/** One that comes back begins anew. */
function forgetOthers(symbols: readonly string[], ...known: readonly Set<string>[]): void {
  for (const set of known)
    for (const symbol of set) if (!symbols.includes(symbol)) set.delete(symbol)
}

function isResting({ state, terms }: Order): boolean {
  return state === 'live' && canRest(terms)
}
