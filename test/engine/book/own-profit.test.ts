import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId, toTradeId } from '../../../src/domain/ids.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { applyRecord } from '../../../src/engine/book/apply-record.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { type Book, createBook, pairKey, moneyByStrategy } from '../../../src/engine/book/book.ts'
import { listStrategyProfits } from '../../../src/views/strategy-profits.ts'
import { type BookedFill } from '../../../src/journal/booking.ts'
import { mutable } from '../../../src/lib/mutable.ts'

const SYMBOL = 'BTCUSDT'
const AT = Date.UTC(2025, 5, 2, 6)

/** Lots of 0.001 at ticks of 0.1: a thousand ticks of a lot are 0.1. */
function begin(grids: object = { tick: '0.1', lot: '0.001' }): Book {
  const book = createBook('one_way_mode')
  applyRecord(book, {
    kind: 'boot',
    at: AT,
    exchangeAt: AT,
    epoch: 1,
    version: '0',
    environment: 'simulator',
    positionMode: 'one_way_mode',
    configHash: '0',
    strategies: [],
    grids: { [SYMBOL]: grids },
  } as JournalRecord)
  return book
}

let fills = 0

function fillOf(parts: Pick<Fill, 'side' | 'ticks' | 'lots'> & Partial<Fill>): Fill {
  fills += 1
  return {
    tradeId: toTradeId(`t${fills}`),
    orderId: toOrderId('hand'),
    symbol: SYMBOL,
    tradeSide: 'open',
    fee: '0',
    profit: '0',
    scope: 'taker',
    source: 'API',
    filledAt: AT,
    ...parts,
  }
}

/** An order of the strategy, and what names it. */
function send(book: Book, strategyId: string, orderId: string | undefined): void {
  const clientOid = `c-${strategyId}-${orderId ?? 'late'}`
  const terms = {
    clientOid,
    strategyId,
    symbol: SYMBOL,
    action: 'buy',
    lots: 100,
    key: `k:${clientOid}:1`,
  }
  applyRecord(book, {
    kind: 'send',
    at: AT,
    batchId: 1,
    orders: [terms],
    again: [],
    requestAt: AT,
  } as never)
  if (orderId !== undefined) accept(book, clientOid, orderId)
}

function accept(book: Book, clientOid: string, orderId: string): void {
  applyRecord(book, {
    kind: 'outcome',
    at: AT,
    batchId: 1,
    items: [{ clientOid, outcome: 'accepted', orderId }],
  } as never)
}

function trade(book: Book, ...taken: readonly Fill[]): void {
  applyRecord(book, { kind: 'fills', at: AT, fills: taken })
}

const FLAT = { longLots: 0, shortLots: 0 }
const SHORT = { longLots: 0, shortLots: 3 }

const madeBy = (book: Book, id: string): string | undefined =>
  moneyByStrategy(book).get(pairKey(id, SYMBOL))?.profit.toString()

/** `a` has bought at 1000 and `b` at 3000: the account's average is 2000. */
function shared(book: Book): void {
  for (const id of ['a', 'b']) send(book, id, id)
  trade(book, fillOf({ orderId: toOrderId('a'), side: 'buy', ticks: 1000, lots: 10 }))
  trade(book, fillOf({ orderId: toOrderId('b'), side: 'buy', ticks: 3000, lots: 10 }))
}

describe('[MON1] what a strategy has made', () => {
  test('is counted from its own price, where strategies share an instrument', () => {
    const book = begin()
    shared(book)
    // The exchange: nothing was made at its average of 2000.
    trade(
      book,
      fillOf({ orderId: toOrderId('a'), side: 'sell', ticks: 2000, lots: 10, profit: '0' }),
    )
    expect(madeBy(book, 'a')).toBe('1')
    expect(madeBy(book, 'b')).toBe('0')
    expect(book.money.get(pairKey('a', SYMBOL))?.profit.toString()).toBe('0')
  })

  test('is nothing for one that opens against another', () => {
    const book = begin()
    shared(book)
    trade(
      book,
      fillOf({ orderId: toOrderId('b'), side: 'sell', ticks: 2000, lots: 20, profit: '0' }),
    )
    // Ten lots of b closed at a loss, ten opened.
    expect(madeBy(book, 'b')).toBe('-1')
    expect(book.ownTrades.get(pairKey('b', SYMBOL))).toMatchObject({
      lostInRow: 1,
      entry: { shortLots: 10 },
    })
  })

  test('has no entry beyond what is held after lots of unknown price were closed', () => {
    const book = begin()
    send(book, 'a', 'a')
    const adopt = { kind: 'adopt', at: AT, symbol: SYMBOL, was: FLAT, holding: SHORT } as const
    applyRecord(book, adopt)
    const given = { strategyId: 'a', symbol: SYMBOL, holding: SHORT, reason: '', by: '' } as const
    applyRecord(book, { kind: 'assigned', at: AT, ...given })
    const buy = (lots: number): void =>
      trade(book, fillOf({ orderId: toOrderId('a'), side: 'buy', ticks: 2000, lots }))
    const entry = (): unknown => book.ownTrades.get(pairKey('a', SYMBOL))?.entry

    buy(3)
    expect(entry()).toMatchObject({ longLots: 0, shortLots: 0 })
    buy(2)
    expect(entry()).toMatchObject({ longLots: 2, longTicks: 2000, shortLots: 0 })
  })

  test('has its part of a liquidation, with what that cost beyond its price', () => {
    const book = begin()
    shared(book)
    const burst = {
      side: 'sell',
      ticks: 1500,
      lots: 20,
      profit: '-3',
      fee: '0.4',
      source: 'SYS',
    } as const
    trade(book, fillOf(burst))
    // 500 ticks of ten lots gained, 1500 lost; of the 2 beyond the price half each.
    expect([madeBy(book, 'a'), madeBy(book, 'b')]).toEqual(['-0.5', '-2.5'])
    const { fees, lostInRow } = book.ownTrades.get(pairKey('b', SYMBOL)) ?? {}
    expect([fees, lostInRow]).toEqual(['0.2', 1])
    expect(book.money.get(pairKey('', SYMBOL))?.profit.toString()).toBe('-3')
  })

  test('is what the exchange states, to the last digit, for one that is alone', () => {
    const book = begin({ tick: '0.1', lot: '0.0001' })
    send(book, 'a', 'a')
    trade(book, fillOf({ orderId: toOrderId('a'), side: 'buy', ticks: 1000, lots: 1 }))
    trade(book, fillOf({ orderId: toOrderId('a'), side: 'buy', ticks: 1001, lots: 2 }))
    trade(
      book,
      fillOf({ orderId: toOrderId('a'), side: 'sell', ticks: 1001, lots: 1, profit: '0.00000667' }),
    )
    expect(madeBy(book, 'a')).toBe('0.00000667')
  })

  test('is counted in the base coin of an inverse contract', () => {
    const book = begin({ tick: '0.1', lot: '0.001', isInverse: true })
    shared(book)
    trade(
      book,
      fillOf({ orderId: toOrderId('a'), side: 'sell', ticks: 2000, lots: 10, profit: '0' }),
    )
    expect(madeBy(book, 'a')).toBe('0.005')
  })

  test('[DET2] is the same when its order is known late, in the order of the fills', () => {
    const [known, late] = [begin(), begin()]
    send(known, 'a', 'a')
    send(late, 'a', undefined)
    for (const book of [known, late]) {
      send(book, 'b', 'b')
      const of = (orderId: string, side: 'buy' | 'sell', ticks: number, profit = '0'): Fill => ({
        ...fillOf({ orderId: toOrderId(orderId), side, ticks, lots: 10, profit }),
        tradeId: toTradeId(`${orderId}${ticks}`),
      })
      trade(book, of('a', 'buy', 1000), of('b', 'buy', 3000), of('a', 'sell', 2000))
      trade(book, { ...of('sys', 'sell', 2500, '0.5'), source: 'SYS' })
    }
    accept(late, 'c-a-late', 'a')

    expect(Object.fromEntries(late.ownTrades)).toEqual(Object.fromEntries(known.ownTrades))
    expect([madeBy(late, 'a'), madeBy(late, 'b')]).toEqual(['1', '-0.5'])
    const again = fromBookRows(toBookRows(late))
    expect([...again.ownTrades]).toEqual([...late.ownTrades])
  })

  test('begins, in a book of an earlier version, with what the exchange has stated', () => {
    const book = begin()
    shared(book)
    const pair = pairKey('a', SYMBOL)
    const { profit: _, fees: __, ...trades } = book.ownTrades.get(pair) ?? { entry: undefined }
    mutable(book.ownTrades).set(pair, trades as never)
    mutable(book.money).set(pair, {
      ...book.money.get(pair),
      profit: book.money.get(pair)?.profit.plus('7'),
    } as never)
    expect(madeBy(book, 'a')).toBe('7')
    trade(
      book,
      fillOf({ orderId: toOrderId('a'), side: 'sell', ticks: 2000, lots: 10, profit: '0' }),
    )
    expect(madeBy(book, 'a')).toBe('8')
  })

  test('lots that are gone at a price that nobody knows neither win nor lose a trade', () => {
    const book = begin()
    shared(book)
    const flat = { longLots: 0, shortLots: 0 }
    applyRecord(book, {
      kind: 'adopt',
      at: AT,
      symbol: SYMBOL,
      holding: flat,
      was: { longLots: 20, shortLots: 0 },
    })
    trade(book, fillOf({ orderId: toOrderId('a'), side: 'buy', ticks: 5000, lots: 1, profit: '0' }))
    expect(book.ownTrades.get(pairKey('a', SYMBOL))).toMatchObject({
      entry: { longLots: 1, longTicks: 5000 },
      profit: '0',
    })
  })
})

describe('[MON1] what a strategy has made within a span', () => {
  /** A fill as the journal keeps it. */
  const booked = (fill: Fill, at: number): BookedFill => {
    const isOurs = fill.orderId !== 'hand'
    return {
      kind: 'fill',
      tradeId: fill.tradeId,
      orderId: fill.orderId,
      clientOid: '',
      at,
      coin: 'USDT',
      owner: isOurs ? 'strategy' : 'nobody',
      strategyId: isOurs ? fill.orderId : '',
      symbol: SYMBOL,
      side: fill.side,
      tradeSide: fill.tradeSide,
      source: fill.source,
      price: (fill.ticks / 10).toFixed(1),
      size: (fill.lots / 1e3).toFixed(3),
      profit: fill.profit ?? '',
      fee: fill.fee ?? '',
      scope: 'taker',
      fillKind: '',
      otherFees: '',
      reason: '',
      tag: '',
    }
  }

  /** The account as the exchange states it: `a` closes half, and then the rest of both is liquidated. */
  function history(book: Book): readonly BookedFill[] {
    for (const id of ['a', 'b']) send(book, id, id)
    const [a, b] = [toOrderId('a'), toOrderId('b')]
    const all = [
      fillOf({ orderId: a, side: 'buy', ticks: 1000, lots: 10, fee: '0.1' }),
      fillOf({ orderId: b, side: 'buy', ticks: 3000, lots: 10, fee: '0.1' }),
      fillOf({ orderId: a, side: 'sell', ticks: 2000, lots: 5, profit: '0', fee: '0.1' }),
      fillOf({ side: 'sell', ticks: 1000, lots: 15, profit: '-1.5', fee: '0.3', source: 'SYS' }),
    ]
    trade(book, ...all)
    return all.map((fill, index) => booked(fill, AT + index))
  }

  const show = (book: Book, rows: readonly BookedFill[], since = 0): unknown =>
    listStrategyProfits({ allFills: () => rows, book, since }).map((one) => [
      one.strategyId,
      one.profit.toString(),
      one.fees.toString(),
      one.unexplained.join(),
    ])

  test('is its own, and adds up to what the book has in all', () => {
    const book = begin()
    const rows = history(book)
    const inAll = ['a', 'b'].map((id) => {
      const { profit, fees } = moneyByStrategy(book).get(pairKey(id, SYMBOL)) ?? {}
      return [id, String(profit), String(fees), '']
    })

    expect(show(book, rows)).toEqual(inAll)
    expect(inAll).toEqual([
      ['a', '0.5', '0.3', ''],
      ['b', '-2', '0.3', ''],
    ])
    expect(show(book, rows, AT + 3)).toEqual([
      ['a', '0', '0.1', ''],
      ['b', '-2', '0.2', ''],
    ])
  })

  test('is the figure of the exchange, and said so, where fills are missing', () => {
    const book = begin()
    const rows = history(book).filter(({ at }) => at !== AT)
    trade(book, fillOf({ orderId: toOrderId('a'), side: 'buy', ticks: 1000, lots: 3 }))

    expect(show(book, rows)).toContainEqual(['a', '0', '0.1', SYMBOL])
  })
})
