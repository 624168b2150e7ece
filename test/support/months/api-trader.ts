import { UID } from '../../../src/backtest/direct-exchange.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { priceText, sizeText } from '../../../src/simulator/futures/instruments/instruments.ts'
import { accountOf, symbolOf } from '../../../src/simulator/futures/core-state.ts'
import { cancelOrder } from '../../../src/simulator/futures/orders/order-lifecycle.ts'
import { API_NAME } from '../virtual/exchange-truth.ts'
import { type World } from '../world/world.ts'

/** An instrument that the daemon does not trade. */
export const OTHER_SYMBOL = 'LTCUSDT'

const LOTS_MAX = 8
const AWAY_TICKS_MAX = 12

/**
 * Another program with the account's keys trades between two looks of the daemon: an order with its
 * own clientOid, at the market or resting and cancelled the next time. It waits while an order of
 * the daemon lacks its name, since fills could not be attributed.
 */
export function tradeByApi(world: World): void {
  const { plan, faults, exchange, facts } = world
  // Before the first reading this would be the account's initial state.
  if (facts.records.length === 0) return
  if (plan.apiTrader === 0 || faults.delayMs('months/api', 0, plan.apiTrader) > 0) return
  cancelOwn(world)
  const random = createRandom(`${plan.seed}/api/${exchange.now}`)
  const symbols = [...plan.symbols, OTHER_SYMBOL].filter((symbol) => isQuiet(world, symbol))
  const symbol = symbols[random.integer(symbols.length)]
  if (symbol === undefined) return
  const side = random.integer(2) === 0 ? 'buy' : 'sell'
  const isResting = random.integer(3) === 0
  const tradeSide = random.integer(2) === 0 ? 'open' : 'close'
  const { size, price } = exchange.core.carryOut(exchange.now, (state) => {
    const {
      instrument,
      market: { bidTicks, askTicks },
    } = symbolOf(state, symbol)
    const away = random.integer(AWAY_TICKS_MAX)
    const buys = (side === 'buy') === (plan.positionMode === 'one_way_mode' || tradeSide === 'open')
    const ticks = buys ? bidTicks - away : askTicks + away
    return {
      size: sizeText(instrument, 1 + random.integer(LOTS_MAX)),
      price: priceText(instrument, ticks),
    }
  })
  exchange.core.answer(
    'batchPlaceOrder',
    { uid: UID },
    {
      symbol,
      productType: 'USDT-FUTURES',
      marginMode: 'crossed',
      marginCoin: 'USDT',
      orderList: [
        {
          side,
          size,
          orderType: isResting ? 'limit' : 'market',
          clientOid: `${API_NAME}${random.integer(2 ** 30)}`,
          ...(plan.positionMode === 'hedge_mode' ? { tradeSide } : {}),
          ...(isResting ? { price, force: 'gtc' as const } : {}),
        },
      ],
    },
    exchange.now,
  )
}

/** Cancels its resting orders. */
export function cancelOwn({ exchange }: World): void {
  exchange.core.carryOut(exchange.now, (state) => {
    for (const order of Array.from(accountOf(state, UID).openOrders.values()))
      if (order.clientOid.startsWith(API_NAME)) cancelOrder(state, order, 'user')
  })
}

/** The daemon has no order there that could be confused with a fill. */
function isQuiet({ process, plan }: World, symbol: string): boolean {
  if (!plan.symbols.includes(symbol)) return true
  const { book } = process.engine ?? {}
  // The last records of a dead process may be lost: its orders are nameless again.
  return (
    process.isAlive &&
    book !== undefined &&
    (book.open.get(symbol)?.size ?? 0) === 0 &&
    !book.cancels.has(symbol)
  )
}
