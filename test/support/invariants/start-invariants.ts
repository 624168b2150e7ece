import { canRest, type Order } from '../../../src/domain/order.ts'
import { isHalted } from '../../../src/engine/book/book.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * When trading begins nothing is unknown any more; and where `onRestart` says cancel, nothing that the run before
 * left resting is believed in.
 */
export function watchStart(world: World): WorldWatcher {
  let left: ReadonlySet<string> = new Set()
  let [isStarting, isCancelling] = [false, false]
  return {
    onBirth() {
      const { engine, settings } = world.process
      const orders = [...(engine?.book.orders.values() ?? [])].filter(isResting)
      isStarting = true
      isCancelling = settings.onRestart === 'cancel'
      left = new Set(orders.map(({ terms }) => terms.clientOid))
    },
    afterStep() {
      const { engine } = world.process
      if (!isStarting || engine?.isTrading !== true) return
      isStarting = false
      for (const order of engine.book.orders.values()) {
        const { clientOid, symbol } = order.terms
        if (isHalted(engine.book, symbol)) continue
        if (order.state === 'unknown') violate(world, 'ORD5', `${clientOid} is unknown when trading begins`)
        if (!isCancelling || !left.has(clientOid) || !isResting(order)) continue
        violate(world, 'ORD5', `${clientOid} was not resolved at the start`)
      }
    },
  }
}

function isResting({ state, terms }: Order): boolean {
  return state === 'live' && canRest(terms)
}
