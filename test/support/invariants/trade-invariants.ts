import { type ClosedTrade } from '../../../src/domain/closed-trade.ts'
import { TradeFold } from '../../../src/engine/book/trade-fold.ts'
import { type BookedFill, type Booking } from '../../../src/journal/booking.ts'
import { LedgerTrades } from '../account/ledger-trades.ts'
import { hasUnseen } from '../faults/foreign-fills.ts'
import { type TrueFill } from '../virtual/exchange-truth.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'
import { hidesMoney } from './fill-invariants.ts'

/** Tolerance for floats and rounded shares in a world's trades, margin coin. */
const TOLERANCE = 1e-3

/**
 * MONEY: the closed trades of each strategy are as many, and have made as much before funding, as
 * the exchange's own fills say. The product's list is folded from its bookings, in the order in
 * which a journal hands them out.
 */
export function watchClosedTrades(world: World): WorldWatcher {
  const fills = new Map<string, BookedFill>()
  return {
    afterStep(_, effects) {
      for (const effect of effects) {
        if (effect.kind !== 'record') continue
        for (const booking of effect.bookings ?? []) putBooking(fills, booking)
      }
    },
    atEnd() {
      if (world.violations.length === 0) compare(world, [...fills.values()])
    },
  }
}

function putBooking(fills: Map<string, BookedFill>, booking: Booking): void {
  if (booking.kind === 'funding') return
  const key = `${booking.tradeId} ${booking.orderId}`
  const known = fills.get(key)
  if (booking.kind === 'fill') fills.set(key, booking)
  else if (known) fills.set(key, { ...known, ...booking, kind: 'fill' })
}

function compare(world: World, rows: readonly BookedFill[]): void {
  const { exchange, process, plan } = world
  const { book } = process.engine ?? {}
  const theirs = exchange.truth.fillsInOrder
  const isMoved = process.journal
    .loadAll()
    .some(({ kind }) => kind === 'adopt' || kind === 'assigned')
  const isKnown =
    rows.length === theirs.length &&
    rows.every(({ owner }) => owner === 'strategy') &&
    theirs.every((fill) => !hidesMoney(world, fill)) &&
    plan.symbols.every(
      (symbol) => !hasUnseen(world, symbol) && !exchange.brokenFills.isOutOfOrder(symbol),
    )
  if (!book || isMoved || !isKnown) return
  const expected = countInLedger(world, theirs)
  if (expected === undefined) return
  const found = new Map<string, { count: number; net: number }>()
  const fold = new TradeFold({
    book,
    purposeOf: () => undefined,
    onClosed: (trade) => addTrade(found, trade),
  })
  for (const row of rows.toSorted(byTime)) fold.add(row)
  fold.finish()
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const [one, other] = [expected.get(key), found.get(key)]
    const isSame =
      one?.count === other?.count && Math.abs((one?.net ?? 0) - (other?.net ?? 0)) <= TOLERANCE
    if (!isSame)
      violate(
        world,
        'MONEY',
        `closed trades of ${key}: ${JSON.stringify(other)}, by the exchange's fills ${JSON.stringify(one)}`,
      )
  }
}

function addTrade(
  found: Map<string, { count: number; net: number }>,
  { strategyId, symbol, gross, fees }: ClosedTrade,
): void {
  const key = `${strategyId}|${symbol}`
  const sums = found.get(key) ?? { count: 0, net: 0 }
  found.set(key, {
    count: sums.count + 1,
    net: sums.net + Number(gross) - Number(fees),
  })
}

/** Undefined where an order is not ours, or one strategy has closed what others held. */
function countInLedger(
  world: World,
  theirs: readonly TrueFill[],
): LedgerTrades['closed'] | undefined {
  const { exchange, facts, settings } = world
  const ledger = new LedgerTrades()
  for (const fill of theirs) {
    const order = exchange.truth.orders.get(String(fill.orderSequence))
    const strategyId = facts.strategyOf.get(order?.clientOid ?? '')
    const { tick, lot } = settings.instruments.get(fill.symbol) ?? {}
    if (!order || strategyId === undefined || !tick || !lot) return undefined
    const size = (fill.lots * lot.units) / lot.scale
    ledger.add({
      strategyId,
      symbol: fill.symbol,
      isBuy: order.direction === 'buy',
      slot: order.slot,
      lots: fill.lots,
      value: (size * fill.priceTicks * tick.units) / tick.scale,
      fee: Number(fill.fee),
    })
  }
  return ledger.isUncertain ? undefined : ledger.closed
}

function byTime(one: BookedFill, other: BookedFill): number {
  const names = ({ tradeId, orderId }: BookedFill): string => `${tradeId} ${orderId}`
  return one.at - other.at || (names(one) < names(other) ? -1 : 1)
}
