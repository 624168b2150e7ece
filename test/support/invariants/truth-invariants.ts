import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { type Book, holdingOf } from '../../../src/engine/book/book.ts'
import { marginFeesOf, type Money } from '../../../src/domain/fill-money.ts'
import { decimal, sumDecimals } from '../../../src/lib/decimal.ts'
import { fillKeyOf, tradeIdOf } from '../virtual/exchange-truth.ts'
import { compareFates, comparePositions } from './book-comparison.ts'
import { hidesMoney, recordedFills } from './fill-invariants.ts'
import { OTHER_SYMBOL } from '../months/api-trader.ts'
import { FORMER_SYMBOL } from '../world/account-plan.ts'
import { hasUnseen, isOfApi, isAllocationKnown, unseenFills } from '../faults/foreign-fills.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * In the end the book equals the exchange: each order's fate, each fill once, the position, nothing
 * doubled.
 */
export function watchTruth(world: World): WorldWatcher {
  return {
    onRecord(record) {
      if (record.kind === 'adopt' && !hasUnseen(world, record.symbol))
        violate(world, 'ORD5', `adopted ${JSON.stringify(record)}`)
      if (record.kind === 'foreign' && !record.orderIds.every((orderId) => isOfApi(world, orderId)))
        violate(world, 'ORD5', `called our own fills foreign ${JSON.stringify(record)}`)
    },
    atEnd() {
      const { book } = world.process.engine ?? {}
      if (!book || world.violations.length > 0) return
      const { truth } = world.exchange
      const everything = bookOfEverything(world)
      const differences = [
        ...compareFates(everything, truth.orders.values()),
        ...comparePositions(book, truth, world.plan.symbols),
      ]
      for (const difference of differences) violate(world, 'ORD5', difference)
      checkFills(world, everything)
      checkCounts(world, book)
      checkHoldings(world, book)
    },
  }
}

function checkFills(world: World, book: Book): void {
  for (const key of shownFills(world)) {
    if (!book.trades.has(key)) violate(world, 'ORD5', `fill ${key} is lost`)
  }
}

/** Keyed by `fillKey`: all fills ever shown: the exchange shows three months. */
function shownFills({ exchange: { truth, unseen }, plan }: World): readonly string[] {
  return truth.fillsInOrder
    .filter(({ symbol }) => plan.symbols.includes(symbol))
    .filter((fill) => !unseen.has(tradeIdOf(fill)))
    .map(fillKeyOf)
}

/** The book that forgets nothing. */
function bookOfEverything({ process, plan }: World): Book {
  const records = process.journal.loadAll().filter(({ kind }) => kind !== 'prune')
  return rebuildBook({ checkpoint: undefined, records }, plan.positionMode)
}

function checkCounts(world: World, book: Book): void {
  const fills = shownFills(world)
  const counted = ofExchange(book).reduce((sum, money) => sum + money.fills, 0)
  if (counted !== fills.length)
    violate(world, 'ORD5', `${counted} fills counted of ${fills.length}`)
}

/** Results at the world's exchange, without the earlier journal's. */
function ofExchange({ money }: Book): readonly Money[] {
  return [...money].filter(([pair]) => !pair.endsWith(`|${FORMER_SYMBOL}`)).map(([, made]) => made)
}

/** The strategies' holdings sum up to the account's, minus the unheld part. */
function checkHoldings(world: World, book: Book): void {
  for (const symbol of world.plan.symbols) {
    if (!isAllocationKnown(world, symbol)) continue
    const there = world.allocation.ownOf(symbol)
    const own = { longLots: 0, shortLots: 0 }
    for (const id of world.settings.strategies.keys()) {
      const { longLots, shortLots } = holdingOf(book, id, symbol)
      own.longLots += longLots
      own.shortLots += shortLots
    }
    const net = own.longLots - own.shortLots === there.longLots - there.shortLots
    const legs = own.longLots === there.longLots && own.shortLots === there.shortLots
    if (world.plan.positionMode === 'one_way_mode' ? !net : !legs) {
      violate(
        world,
        'ORD5',
        `${symbol}: of what is there ${JSON.stringify(there)} is theirs, the strategies hold ${JSON.stringify(own)}`,
      )
    }
  }
}

/** The strategies' results sum up to the account's. */
export function watchMoney(world: World): WorldWatcher {
  return {
    atEnd() {
      if (world.violations.length > 0) return
      const { book } = world.process.engine ?? {}
      const coin = world.exchange.ledger().coins[0]
      if (!book || !coin) return
      const money = ofExchange(book)
      const others = world.exchange.truth.fillsInOrder.filter(
        (fill) => fill.symbol === OTHER_SYMBOL,
      )
      const unseen = new Set([...unseenFills(world), ...others])
      const hidden = world.exchange.truth.fillsInOrder.filter((fill) => hidesMoney(world, fill))
      const recorded = recordedFills(world)
      const notShown = hidden.filter((fill) => !unseen.has(fill))
      const profit = sumDecimals([
        ...money.map((entry) => entry.profit),
        ...[...unseen].map((fill) => decimal(fill.profit)),
        // These are compared fill by fill.
        ...notShown.map((fill) =>
          decimal(fill.profit).minus(decimal(recorded.get(fill)?.profit ?? '0')),
        ),
      ])
      const fees = sumDecimals([
        ...money.map((entry) => marginFeesOf(entry)),
        ...[...unseen].map(({ fee }) => decimal(fee)),
        ...notShown.map((fill) => decimal(fill.fee).minus(decimal(recorded.get(fill)?.fee ?? '0'))),
      ])
      if (!profit.eq(decimal(coin.realisedProfit)))
        violate(world, 'MONEY', `profit ${profit.toString()} of ${coin.realisedProfit}`)
      if (!fees.eq(decimal(coin.fees)))
        violate(world, 'MONEY', `fees ${fees.toString()} of ${coin.fees}`)
    },
  }
}
