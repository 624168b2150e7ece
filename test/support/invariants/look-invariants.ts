import { type OrderTerms } from '../../../src/domain/order.ts'
import { type Book, pairKey, leavingOf } from '../../../src/engine/book/book.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * A standing wish is placed only after its strategy has looked at the market since: since a start
 * proved the instrument or a kill was released, and for a ladder's rung also since a fill of that
 * ladder (WISH).
 */
export function watchLooks(world: World): WorldWatcher {
  /** The newest snapshot that any strategy was asked on, counted anew in each run. */
  let newest = 0
  let wishesFrom = 1
  const decidedOn = new Map<string, number>()
  const laddersFrom = new Map<string, number>()
  const provedFrom = new Map<string, number>()
  return {
    onBirth() {
      provedFrom.clear()
      newest = 0
      wishesFrom = 1
      decidedOn.clear()
      laddersFrom.clear()
    },
    afterStep(event, effects) {
      const { engine } = world.process
      if (!engine) return
      const { book } = engine
      if (event.kind === 'decided') decidedOn.set(event.strategyId, event.sequence)
      if (provedFrom.size < world.plan.symbols.length) {
        const unproved = new Set(engine.unproved)
        for (const symbol of world.plan.symbols)
          if (!unproved.has(symbol) && !provedFrom.has(symbol)) provedFrom.set(symbol, newest + 1)
      }
      for (const effect of effects) {
        if (effect.kind === 'decide') newest = Math.max(newest, effect.snapshot.sequence)
        if (effect.kind === 'killState' && effect.state === 'released') wishesFrom = newest + 1
        if (effect.kind === 'record' && effect.record.kind === 'fills') {
          for (const { orderId } of effect.record.fills) {
            const clientOid = book.byOrderId.get(orderId)
            const terms = clientOid === undefined ? undefined : book.orders.get(clientOid)?.terms
            if (terms?.purpose === 'quote')
              laddersFrom.set(pairKey(terms.strategyId, terms.symbol), newest + 1)
          }
        }
        if (effect.kind !== 'sendBatch') continue
        const { symbol } = effect.batch
        for (const clientOid of effect.batch.clientOids) {
          const { terms, attempts = 0 } = book.orders.get(clientOid) ?? {}
          if (attempts !== 1 || (terms?.purpose !== 'quote' && terms?.purpose !== 'target'))
            continue
          // Neither an exit nor the close of what leaves a universe waits for a decision.
          if (terms.exit !== undefined || isClosedAsItLeaves(book, terms)) continue
          const ladderFrom =
            terms.purpose === 'quote'
              ? laddersFrom.get(pairKey(terms.strategyId, terms.symbol))
              : undefined
          const from = Math.max(wishesFrom, ladderFrom ?? 0, provedFrom.get(symbol) ?? 0)
          if ((decidedOn.get(terms.strategyId) ?? 0) < from)
            violate(
              world,
              'WISH',
              `${clientOid} leaves, and ${terms.strategyId} has not looked since`,
            )
        }
      }
    },
  }
}

function isClosedAsItLeaves(book: Book, { strategyId, symbol, purpose }: OrderTerms): boolean {
  return purpose === 'target' && leavingOf(book, strategyId, symbol)?.policy === 'close'
}

/**
 * While the clock is unsynchronised no creating order is formed: its acceptance deadline depends on
 * it.
 */
export function watchClockGate(world: World): WorldWatcher {
  let isSynchronised = false
  return {
    onBirth: () => {
      isSynchronised = false
    },
    afterStep(event, effects) {
      if (event.kind === 'clockSynchronised') isSynchronised = true
      if (event.kind === 'clockUnsynchronised') isSynchronised = false
      const batch = effects.find(({ kind }) => kind === 'sendBatch')
      if (batch && !isSynchronised)
        violate(world, 'ORD4', `a batch is formed, and the clock is unsynchronised`)
    },
  }
}
