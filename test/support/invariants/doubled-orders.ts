import { type TrueOrder } from '../virtual/exchange-truth.ts'
import { type World } from '../world/world.ts'

/** The exchange, or a person there, has cancelled an order, and no answer names it. */
const UNLISTED: ReadonlySet<string> = new Set(['liquidation', 'self_trade'])

const CALLED_OLDER = /^(\S+) was sent for the first time, and the exchange calls it a duplicate$/

/**
 * Orders whose request was doubled, and those that the first of two cancel-alls took away: the copy
 * that is answered calls the former duplicates, and lists nothing.
 */
export class DoubledOrders {
  readonly #world: World
  readonly #placed = new Set<string>()
  readonly #cancelled = new Set<string>()

  constructor(world: World) {
    this.#world = world
    const { truth } = world.exchange
    const namesOpen = (): readonly string[] => [...truth.open].map(({ clientOid }) => clientOid)
    world.network.onDoubled = (site, perform) => {
      const before = new Set(namesOpen())
      perform()
      const after = new Set(namesOpen())
      if (site === 'batchPlaceOrder')
        for (const name of after) if (!before.has(name)) this.#placed.add(name)
      if (site === 'cancelAllOrders')
        for (const name of before) if (!after.has(name)) this.#cancelled.add(name)
    }
  }

  /**
   * Nothing that the daemon was told distinguishes its state from an older one (docs/operations.md,
   * An older copy): the order was placed by a doubled request, and ended unfilled and unlisted.
   */
  mayBeCalledOlder(reason: string): boolean {
    const [, name = ''] = CALLED_OLDER.exec(reason) ?? []
    const order: TrueOrder | undefined = this.#world.exchange.truth.orderOf(name)
    if (order?.status !== 'cancelled' || order.filledLots > 0) return false
    const isUnlisted = this.#cancelled.has(name) || UNLISTED.has(order.cancelReason ?? '')
    return this.#placed.has(name) && isUnlisted
  }
}
