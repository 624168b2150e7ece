import { canRest, type Order } from '../../src/domain/order.ts'
import { type Book } from '../../src/engine/book.ts'
import { violate, type World, type WorldWatcher } from './world.ts'

/** Where `onRestart` says fence, nothing that the life before left resting is believed in when trading begins. */
export function watchStart(world: World): WorldWatcher {
  let left: ReadonlySet<string> = new Set()
  let isStarting = false
  return {
    onBirth() {
      const { engine, settings } = world.shell
      const orders = [...(engine?.book.orders.values() ?? [])].filter(isResting)
      isStarting = settings.onRestart === 'fence'
      left = new Set(orders.map(({ terms }) => terms.clientOid))
    },
    afterStep() {
      const { engine } = world.shell
      if (!isStarting || engine?.mode !== 'running') return
      isStarting = false
      for (const order of engine.book.orders.values()) {
        const { clientOid, symbol } = order.terms
        if (!left.has(clientOid) || !isResting(order) || isHalted(engine.book, symbol)) continue
        violate(world, 'ORD5', `${clientOid} was not fenced at the start`)
      }
    },
  }
}

function isResting({ state, terms }: Order): boolean {
  return state === 'live' && canRest(terms)
}

/** A halted instrument holds no start up. */
function isHalted({ halts }: Book, symbol: string): boolean {
  return halts.has('*') || halts.has(symbol)
}
