import { isClosing, openLots, type Order, tradesAs } from '../../../src/domain/order.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { type Book, holdingOf, pairKey } from '../../../src/engine/book/book.ts'
import { floatOnGrid } from '../../../src/lib/grid.ts'
import { KnownPrices } from './known-prices.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** The approval may have used slightly other prices. */
const PRICE_TOLERANCE = 0.002

/**
 * The risk checks hold: no order above its strategy's size or the account's value, none beyond the
 * collar, none that opens beyond the number.
 */
export function watchRiskChecks(world: World): WorldWatcher {
  const known = new KnownPrices()
  /** Prices of each batch's approval; those shown before its first byte may be wrong. */
  const shown = new Map<number, TickerTable | undefined>()
  return {
    onBirth: () => known.forget(),
    afterStep(event, effects, now) {
      known.note(event, now)
      for (const effect of effects)
        if (effect.kind === 'sendBatch') shown.set(effect.batch.batchId, known.tickers)
    },
    onWrite(batch) {
      const tickers = shown.get(batch.batchId)
      const { book } = world.process.engine ?? {}
      const orders = batch.clientOids.flatMap((clientOid) => book?.orders.get(clientOid) ?? [])
      for (const order of orders) {
        const objection =
          objectToSize(world, tickers, order) ?? objectToPrice(world, tickers, order)
        if (objection !== undefined) violate(world, 'RSK1', `${order.terms.clientOid} ${objection}`)
      }
      if (orders.some(opens)) countOpen(world)
    },
  }
}

/**
 * A rung of a net position opens, either way. With two legs it closes the other one while the
 * strategy holds enough that nothing else closes.
 */
export function watchLadders(world: World): WorldWatcher {
  /** A repeated order keeps its action. */
  const sent = new Set<string>()
  return {
    afterStep(_, effects) {
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        for (const clientOid of effect.batch.clientOids) {
          const order = book.orders.get(clientOid)
          if (!sent.has(clientOid) && order?.terms.purpose === 'quote')
            checkRung(world, book, order)
          sent.add(clientOid)
        }
      }
    },
  }
}

function checkRung(world: World, book: Book, { terms }: Order): void {
  const { strategyId, symbol, action, lots } = terms
  if (book.positionMode === 'one_way_mode') {
    if (isClosing(action)) violate(world, 'RSK1', `${terms.clientOid} is a rung, and reduce-only`)
    return
  }
  if (isClosing(action)) return
  const closing = action === 'openLong' ? 'closeShort' : 'closeLong'
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  let free = action === 'openLong' ? shortLots : longLots
  const standing = new Set<string>()
  for (const order of book.open.get(symbol)?.values() ?? []) {
    if (order.terms.strategyId !== strategyId) continue
    if (order.terms.action === closing) free -= openLots(order)
    standing.add(`${tradesAs(order.terms.action)} ${order.terms.ticks} ${order.terms.lots}`)
  }
  // Other unsent rungs may be the ones that close it.
  for (const { side, ticks, lots: others } of book.quotes.get(pairKey(strategyId, symbol)) ?? []) {
    if (side === tradesAs(action) && !standing.has(`${side} ${ticks} ${others}`)) free -= others
  }
  if (free >= lots)
    violate(world, 'RSK1', `${terms.clientOid} opens ${lots}, and ${free} could be closed`)
}

function objectToSize(
  { settings, plan }: World,
  tickers: TickerTable | undefined,
  { terms }: Order,
): string | undefined {
  const { strategyId, symbol, lots } = terms
  const { orderSizeMax = 0 } = settings.strategies.get(strategyId)?.limits.get(symbol) ?? {}
  if (lots > orderSizeMax) return `has ${lots} lots, limit ${orderSizeMax}`
  const instrument = settings.instruments.get(symbol)
  // At an absurd price the value means nothing.
  const market = plan.faults.tickerAbsurd ? undefined : tickers?.read(symbol, 'askPr')
  const price = priceOf(settings, terms) ?? market
  if (!instrument || !price) return undefined
  const notional = price * floatOnGrid(instrument.lot, lots)
  const { orderNotionalMax } = settings.limits
  if (notional <= orderNotionalMax * (1 + PRICE_TOLERANCE)) return undefined
  return `is worth ${notional.toFixed(2)}, limit ${orderNotionalMax}`
}

function objectToPrice(
  { settings, plan }: World,
  tickers: TickerTable | undefined,
  { terms }: Order,
): string | undefined {
  // At absurd prices, and in a crash before the batch left, everything is far from the market.
  const { tickerAbsurd, pricesWrong } = plan.faults
  if (tickerAbsurd || pricesWrong || plan.crash || !tickers) return undefined
  const collar = settings.limits.priceCollarRatio + PRICE_TOLERANCE
  const low = tickers.read(terms.symbol, 'bidPr') * (1 - collar)
  const high = tickers.read(terms.symbol, 'askPr') * (1 + collar)
  const { symbol } = terms
  const prices = [terms.ticks, terms.takeProfitTicks, terms.stopLossTicks].flatMap(
    (ticks) => priceOf(settings, { symbol, ticks }) ?? [],
  )
  const outside = prices.find((price) => price < low || price > high)
  return outside === undefined ? undefined : `at ${outside} stands outside ${low} to ${high}`
}

function priceOf(
  { instruments }: World['settings'],
  { symbol, ticks }: { readonly symbol: string; readonly ticks?: number | undefined },
): number | undefined {
  const instrument = instruments.get(symbol)
  return ticks === undefined || !instrument ? undefined : floatOnGrid(instrument.tick, ticks)
}

function opens({ terms }: Order): boolean {
  return !isClosing(terms.action)
}

/** Opening orders at the exchange or in flight: in all, and by strategy and instrument. */
function countOpen(world: World): void {
  const { settings, process } = world
  let all = 0
  for (const [symbol, orders] of process.engine?.book.open ?? []) {
    const counts = new Map<string, number>()
    for (const order of orders.values()) {
      if (!opens(order)) continue
      all += 1
      counts.set(order.terms.strategyId, (counts.get(order.terms.strategyId) ?? 0) + 1)
    }
    for (const [strategyId, count] of counts) {
      const limits = [...settings.strategies.values()]
        .find(({ id }) => id === strategyId)
        ?.limits.get(symbol)
      if (limits && count > limits.openOrdersMax)
        violate(world, 'RSK1', `${strategyId} has ${count} orders`)
    }
  }
  if (all > settings.limits.openOrdersMax) violate(world, 'RSK1', `the account has ${all} orders`)
}
