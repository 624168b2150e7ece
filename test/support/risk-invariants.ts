import { type Order } from '../../src/domain/order.ts'
import { isClosing } from '../../src/domain/order-action.ts'
import { type Book, holdingOf } from '../../src/engine/book.ts'
import { KnownPrices } from './known-prices.ts'
import { bodyOf, type World, type WorldWatcher, violate } from './world.ts'

/** At every instant the exchange's position and everything that rests stay within the strategies' limits. */
export function watchWorstCase(world: World): WorldWatcher {
  const limits = new Map<string, number>()
  for (const { limits: bySymbol } of world.settings.strategies.values()) {
    for (const [symbol, { positionLotsMax }] of bySymbol) {
      limits.set(symbol, (limits.get(symbol) ?? 0) + positionLotsMax)
    }
  }
  const { truth } = world.exchange
  const check = () => {
    for (const [symbol, limit] of limits) {
      const long = truth.lotsOf(symbol, 'long')
      const short = truth.lotsOf(symbol, 'short')
      let [buying, selling] = [0, 0]
      for (const order of truth.open) {
        if (order.symbol !== symbol || order.reduceOnly || order.action === 'close') continue
        if (order.direction === 'buy') buying += order.lots - order.filledLots
        else selling += order.lots - order.filledLots
      }
      const isOneWay = world.plan.positionMode === 'one_way_mode'
      const worstLong = long + buying - (isOneWay ? short : 0)
      const worstShort = short + selling - (isOneWay ? long : 0)
      const worst = Math.max(worstLong, worstShort)
      if (worst > limit)
        violate(
          world,
          'RSK1',
          `${symbol} could reach ${worst} lots, limit ${limit}: holds ${long} long, ${short} short, ${buying} to buy, ${selling} to sell`,
        )
    }
  }
  truth.onChange = check
  return {}
}

/** What the strategies' own limits leave room for is less. */
const GROSS_NEVER_REACHED = 5_000_000
/** Prices move between an approval and the first byte, by far less than this. */
const PRICE_TOLERANCE = 1.02

/**
 * When an order leaves, what it could add to everything that is held and rests at the exchange, whatever the
 * book knows of it, stays within the account's gross notional.
 */
export function watchGross(world: World): WorldWatcher {
  const { limits } = world.settings
  // What the account is worth at absurd prices says nothing.
  if (limits.grossNotionalMax >= GROSS_NEVER_REACHED || world.plan.faults.tickerAbsurd) return {}
  const known = new KnownPrices()
  return {
    onBirth: () => known.forget(),
    afterStep: (event, _, now) => known.note(event, now),
    onWrite(batch) {
      const adding = { buy: 0, sell: 0 }
      const { truth } = world.exchange
      for (const { side, tradeSide, reduceOnly, size, clientOid } of bodyOf(batch).orderList) {
        // A copy of what is there, or was filled, adds nothing.
        if (tradeSide === 'close' || reduceOnly === 'YES' || truth.hasOrder(clientOid)) continue
        adding[side] += Number(size)
      }
      if (adding.buy + adding.sell === 0) return
      let gross = 0
      for (const symbol of world.plan.symbols) {
        const price = known.tickers?.read(symbol, 'askPr') || 0
        gross += price * worstSize(world, symbol, symbol === batch.symbol ? adding : { buy: 0, sell: 0 })
      }
      if (gross <= limits.grossNotionalMax * PRICE_TOLERANCE) return
      violate(world, 'RSK1', `the account could reach ${gross.toFixed(2)}, limit ${limits.grossNotionalMax}`)
    },
  }
}

/** In the base coin: the larger way of a net position, both legs where there are two. */
function worstSize(
  { exchange, plan, settings }: World,
  symbol: string,
  adding: { readonly buy: number; readonly sell: number },
): number {
  const lot = settings.instruments.get(symbol)?.lot
  if (!lot) return 0
  const worst = { buy: exchange.truth.lotsOf(symbol, 'long'), sell: exchange.truth.lotsOf(symbol, 'short') }
  const held = { ...worst }
  for (const order of exchange.truth.open) {
    if (order.symbol !== symbol || order.reduceOnly || order.action === 'close') continue
    worst[order.direction] += order.lots - order.filledLots
  }
  const size = (lots: number): number => (lots * lot.units) / lot.scale
  const [long, short] = [size(worst.buy) + adding.buy, size(worst.sell) + adding.sell]
  if (plan.positionMode === 'hedge_mode') return long + short
  return Math.max(long - size(held.sell), short - size(held.buy))
}

/** While halted nothing that adds risk leaves. */
export function watchHalts(world: World): WorldWatcher {
  return {
    onWrite(batch) {
      const { book } = world.shell.engine ?? {}
      const halted = book?.halts.get('*') ?? book?.halts.get(batch.symbol)
      if (!book || halted === undefined) return
      for (const clientOid of batch.clientOids) {
        const terms = book.orders.get(clientOid)?.terms
        if (!terms) continue
        const holding = holdingOf(book, terms.strategyId, batch.symbol)
        const against = terms.action === 'openLong' ? holding.shortLots : holding.longLots
        const isReducing = terms.action.startsWith('close') || against >= terms.lots
        if (!isReducing) violate(world, 'RSK2', `${clientOid} ${terms.action} while halted: ${halted}`)
      }
    },
  }
}

/** A stop comes to a clean end; flatten ends flat. */
export function watchStop(world: World): WorldWatcher {
  return {
    atEnd() {
      if (world.violations.length > 0) return
      if (world.facts.stoppedClean !== true) violate(world, 'RSK3', `stop ended ${world.facts.stoppedClean}`)
      const held = [...world.exchange.truth.positions].filter(({ lots }) => lots > 0)
      if (world.plan.stop === 'flatten' && held.length > 0)
        violate(world, 'RSK3', `not flat: ${JSON.stringify(held)}`)
    },
  }
}

/** When a close leaves, what the strategy's closes could close is no more than it holds. */
export function watchCloses(world: World): WorldWatcher {
  return {
    afterStep(_, effects) {
      const { book } = world.shell.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        for (const clientOid of effect.batch.clientOids) checkClose(world, book, book.orders.get(clientOid))
      }
    },
  }
}

function checkClose(world: World, book: Book, close: Order | undefined): void {
  if (!close || !isClosing(close.terms.action)) return
  const { action, strategyId, symbol } = close.terms
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  const held = action === 'closeLong' ? longLots : shortLots
  let closing = 0
  for (const { terms, filledLots } of book.open.get(symbol)?.values() ?? []) {
    if (terms.strategyId === strategyId && terms.action === action) closing += terms.lots - filledLots
  }
  if (closing > held) violate(world, 'I11', `${strategyId} closes ${closing} of ${held}: ${action} ${symbol}`)
}

/** From the moment the kill file is there nothing that creates is written; clean means that nothing rests. */
export function watchKill(world: World): WorldWatcher {
  const { facts, exchange } = world
  let isClean = false
  const lookForOrders = (): void => {
    if (!isClean) return
    for (const { clientOid } of exchange.truth.open)
      violate(world, 'RSK3', `${clientOid} rests after a clean kill`)
  }
  return {
    onWrite(batch) {
      if (facts.killedAt !== undefined) violate(world, 'RSK2', `batch ${batch.batchId} left after the kill`)
    },
    onKillState(state) {
      lookForOrders()
      isClean = state === 'clean'
      lookForOrders()
    },
    onDeath: lookForOrders,
  }
}
