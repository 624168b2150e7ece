import { describe, expect, test } from 'vitest'
import type { ClosedTrade } from '../../../src/domain/closed-trade.ts'
import type { Fill } from '../../../src/domain/fill.ts'
import { toOrderId, toTradeId } from '../../../src/domain/ids.ts'
import type { Instrument, PositionMode } from '../../../src/domain/instrument.ts'
import type { InstrumentGrids, JournalRecord } from '../../../src/domain/record.ts'
import { applyRecord } from '../../../src/engine/book/apply-record.ts'
import { type Book, createBook, pairKey } from '../../../src/engine/book/book.ts'
import { buildBookings } from '../../../src/engine/book/bookings.ts'
import { TradeFold } from '../../../src/engine/book/trade-fold.ts'
import type { BookedFill, BookedFunding } from '../../../src/journal/booking.ts'
import { createGrid } from '../../../src/lib/grid.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { createRandom } from '../../../src/lib/random.ts'

const SYMBOL = 'BTCUSDT'
const AT = Date.UTC(2025, 5, 2, 6)

let rows = 0

function fill(
  parts: Partial<BookedFill> & Pick<BookedFill, 'side' | 'price' | 'size'>,
): BookedFill {
  rows += 1
  return {
    kind: 'fill',
    tradeId: `t${rows}`,
    at: AT + rows,
    orderId: `o${rows}`,
    clientOid: 'c',
    strategyId: 'a',
    owner: 'strategy',
    symbol: SYMBOL,
    tradeSide: 'open',
    profit: '',
    fee: '0.1',
    coin: 'USDT',
    scope: 'taker',
    source: 'API',
    fillKind: 'trade',
    otherFees: '',
    reason: '',
    tag: '',
    ...parts,
  }
}

const buy = (size: string, price: string, parts: Partial<BookedFill> = {}): BookedFill =>
  fill({ side: 'buy', size, price, ...parts })
const sell = (size: string, price: string, parts: Partial<BookedFill> = {}): BookedFill =>
  fill({ side: 'sell', size, price, ...parts })
const foreign = (parts: Partial<BookedFill>): Partial<BookedFill> => ({
  owner: 'nobody',
  strategyId: '',
  clientOid: '',
  ...parts,
})

function paid(amount: string, side = 'long'): BookedFunding {
  rows += 1
  const id = `f${rows}`
  return { kind: 'funding', id, at: AT + rows, symbol: SYMBOL, side, amount, coin: 'USDT' }
}

function begin(mode: PositionMode = 'one_way_mode', grids: Partial<InstrumentGrids> = {}) {
  const closed: ClosedTrade[] = []
  const book = mutable(createBook(mode))
  book.grids.set(SYMBOL, { tick: '0.5', lot: '0.01', ...grids })
  const fold = new TradeFold({
    book,
    purposeOf: (clientOid) => (clientOid === 'flat' ? 'flatten' : undefined),
    onClosed: (trade) => closed.push(trade),
  })
  return { fold, closed, book }
}

function run(events: readonly Parameters<TradeFold['add']>[0][], mode?: PositionMode) {
  const { fold, closed } = begin(mode)
  for (const event of events) fold.add(event)
  fold.finish()
  return closed
}

const netsOf = (trades: readonly ClosedTrade[]): readonly unknown[] =>
  trades.map(({ strategyId, side, net }) => [strategyId, side, net])

describe('a closed trade', () => {
  test('goes from flat to flat, with all that it has paid and received', () => {
    const first = buy('1', '100')
    const last = sell('2', '130')
    const [trade, ...others] = run([
      first,
      buy('2', '106'),
      paid('-0.3'),
      sell('1', '110'),
      { ...last, at: first.at + 60_000 },
    ])

    expect(others).toEqual([])
    expect(trade).toEqual({
      strategyId: 'a',
      symbol: SYMBOL,
      side: 'long',
      openedAt: first.at,
      closedAt: first.at + 60_000,
      size: '3',
      entryPrice: '104',
      exitPrice: '123.333333333',
      gross: '58',
      fees: '0.4',
      otherFees: {},
      funding: '-0.3',
      net: '57.3',
      coin: 'USDT',
      share: 0.183653846154,
      fills: 4,
      reason: 'order',
      entryTag: '',
      exitTag: '',
      uncounted: '',
    })
  })

  test('has the tags of the fills that opened and closed it, and the reason that was booked', () => {
    const trades = run([
      buy('1', '100', { tag: 'breakout' }),
      buy('1', '101', { tag: 'added' }),
      sell('3', '110', { tag: 'turned', reason: 'takeProfit' }),
      buy('1', '105', { clientOid: 'flat' }),
    ])

    expect(
      trades.map(({ side, reason, entryTag, exitTag }) => [side, reason, entryTag, exitTag]),
    ).toEqual([
      ['long', 'takeProfit', 'breakout', 'turned'],
      ['short', 'flatten', 'turned', ''],
    ])
  })

  test('is not there while anything is held', () => {
    expect(run([buy('1', '100'), sell('0.99', '110')])).toEqual([])
  })

  test('ends with the fill that turns the position, and the next one begins with it', () => {
    const trades = run([buy('1', '100'), sell('3', '110'), buy('2', '105')])

    // The fee of the fill that turns counts for the trade that it ends, as for the streak.
    expect(trades.map(({ side, size, net, fills }) => [side, size, net, fills])).toEqual([
      ['long', '1', '9.8', 2],
      ['short', '2', '9.9', 2],
    ])
    expect(trades[1]?.openedAt).toBe(trades[0]?.closedAt)
  })

  test('is that of one side in hedge mode', () => {
    const trades = run(
      [
        buy('1', '100'),
        sell('1', '100'),
        buy('1', '110', { tradeSide: 'close' }),
        sell('1', '103', { tradeSide: 'close' }),
      ],
      'hedge_mode',
    )
    expect(netsOf(trades)).toEqual([
      ['a', 'long', '9.8'],
      ['a', 'short', '-3.2'],
    ])
  })

  test.each([
    ['order', {}],
    ['flatten', { clientOid: 'flat' }],
    ['byHand', foreign({ source: 'WEB' })],
    ['liquidation', foreign({ source: 'SYS', fillKind: 'liquidation' })],
    ['liquidation', foreign({ source: 'SYS', fillKind: 'netting' })],
    ['autoDeleveraging', foreign({ source: 'SYS', fillKind: 'autoDeleveraging' })],
    ['delivery', foreign({ source: 'SYS', fillKind: 'delivery' })],
    ['takeProfit', foreign({ source: 'SYS', fillKind: 'takeProfit' })],
    ['stopLoss', foreign({ source: 'SYS', fillKind: 'stopLoss' })],
    ['system', foreign({ source: 'SYS', fillKind: 'system' })],
    ['system', foreign({ source: 'SYS', fillKind: '' })],
  ] as const)('says that it ended by %s', (reason, parts) => {
    expect(run([buy('1', '100'), sell('1', '110', parts)]).map((trade) => trade.reason)).toEqual([
      reason,
    ])
  })

  test('in hedge mode may be ended by an order of another strategy', () => {
    const other = { strategyId: 'b', tradeSide: 'close' } as const
    const trades = run([buy('1', '100'), buy('1', '110', other)], 'hedge_mode')

    expect(trades.map(({ strategyId, reason }) => [strategyId, reason])).toEqual([
      ['a', 'otherStrategy'],
    ])
  })

  test('of each strategy has its share of a liquidation and of funding', () => {
    const trades = run([
      buy('1', '100'),
      buy('3', '120', { strategyId: 'b' }),
      paid('-4'),
      // 15 a coin are lost at the average of the account; 8 more are gone with the liquidation.
      sell(
        '4',
        '100',
        foreign({ fillKind: 'liquidation', source: 'SYS', profit: '-68', fee: '1' }),
      ),
    ])
    expect(
      trades.map(({ strategyId, gross, fees, funding, net }) => ({
        strategyId,
        gross,
        fees,
        funding,
        net,
      })),
    ).toEqual([
      { strategyId: 'a', gross: '-2', fees: '0.35', funding: '-1', net: '-3.35' },
      { strategyId: 'b', gross: '-66', fees: '0.85', funding: '-3', net: '-69.85' },
    ])
  })

  test('receives the funding that its own side earns, where strategies hold against each other', () => {
    const trades = run([
      buy('3', '100'),
      sell('1', '100', { strategyId: 'b' }),
      paid('-2'),
      sell('3', '100'),
      buy('1', '100', { strategyId: 'b' }),
    ])
    expect(trades.map(({ strategyId, funding }) => [strategyId, funding])).toEqual([
      ['a', '-3'],
      ['b', '1'],
    ])
  })

  test('[MON2] says what is not known of it, and names fees in other coins', () => {
    const [trade] = run([
      buy('1', '100', { fee: '' }),
      sell('1', '110', { otherFees: 'BGB 0.02;BNB 0.1 at 600' }),
    ])
    expect(trade).toMatchObject({
      fees: '60.1',
      otherFees: { BGB: '0.02', BNB: '0.1' },
      uncounted: '+ 0.02 BGB, the fee of 1 fill not counted',
    })
  })

  test('in a coin-margined contract has a share of the size, which is its notional', () => {
    const { fold, closed } = begin('one_way_mode', { isInverse: true })
    for (const event of [buy('2', '100'), sell('2', '125')]) fold.add({ ...event, fee: '0' })

    expect(closed[0]).toMatchObject({ gross: '0.4', share: 0.2 })
  })

  test('waits for the order of a fill, with all that comes after it', () => {
    const { fold, closed } = begin()
    const late = sell('1', '110', foreign({ owner: 'waiting' }))
    for (const event of [buy('1', '100'), late, buy('2', '100'), sell('2', '101')]) fold.add(event)
    expect(closed).toEqual([])

    const { tradeId, orderId } = late
    fold.add({
      kind: 'owner',
      tradeId,
      orderId,
      owner: 'strategy',
      clientOid: 'c',
      strategyId: 'a',
      reason: '',
      tag: '',
    })
    expect(netsOf(closed)).toEqual([
      ['a', 'long', '9.8'],
      ['a', 'long', '1.8'],
    ])
  })

  test('is ended by others where the order of a fill was never found', () => {
    const trades = run([buy('1', '100'), sell('1', '110', foreign({ owner: 'waiting' }))])
    expect(trades.map(({ reason }) => reason)).toEqual(['byHand'])
  })

  test('is over where its lots were gone when the position was taken over from the exchange', () => {
    const gone: JournalRecord = {
      kind: 'adopt',
      at: AT,
      symbol: SYMBOL,
      holding: { longLots: 0, shortLots: 0 },
      was: { longLots: 100, shortLots: 0 },
    }
    const trades = run([buy('1', '100'), gone, buy('1', '100'), sell('1', '101')])

    expect(
      trades.map(({ reason, exitPrice, uncounted }) => [reason, exitPrice, uncounted]),
    ).toEqual([
      ['adopted', null, 'lots came or went at a price that is not known'],
      ['order', '101', ''],
    ])
  })

  test('begins with lots that its strategy was given, at their price', () => {
    const given: JournalRecord = {
      kind: 'assigned',
      at: AT,
      symbol: SYMBOL,
      strategyId: 'a',
      holding: { longLots: 100, shortLots: 0 },
      longTicks: 200,
      reason: '',
      by: '',
    }
    const trades = run([buy('1', '90', foreign({ source: 'WEB' })), given, sell('1', '110')])

    expect(trades).toMatchObject([{ entryPrice: '100', exitPrice: '110', gross: '10', fills: 1 }])
  })
})

/** A book with an order of each of two strategies. */
function beginBook(): Book {
  const book = createBook('one_way_mode')
  const boot = { kind: 'boot', at: AT, positionMode: 'one_way_mode' }
  applyRecord(book, { ...boot, grids: { [SYMBOL]: { tick: '0.5', lot: '0.01' } } } as never)
  const orders = ['a', 'b'].map((strategyId) => {
    const clientOid = `c-${strategyId}`
    return { clientOid, strategyId, symbol: SYMBOL, action: 'buy', lots: 1e9, key: 'k:1' }
  })
  applyRecord(book, { kind: 'send', at: AT, orders, again: [], requestAt: AT } as never)
  const items = orders.map(({ clientOid, strategyId: orderId }) => ({
    clientOid,
    outcome: 'accepted',
    orderId,
  }))
  applyRecord(book, { kind: 'outcome', at: AT, items } as never)
  return book
}

test.each([1, 2, 3, 4])(
  '[MON1] closed trades are those that the book counts for the losing streak (seed %i)',
  (seed) => {
    const random = createRandom(seed)
    const book = beginBook()
    const [tick, lot] = [createGrid('0.5'), createGrid('0.01')]
    const instruments = new Map([[SYMBOL, { tick, lot, marginCoin: 'USDT' } as Instrument]])
    const closed: ClosedTrade[] = []
    const fold = new TradeFold({
      book,
      purposeOf: () => undefined,
      onClosed: (trade) => closed.push(trade),
    })
    for (let step = 0; step < 400; step += 1) {
      const owner = random.next() < 0.5 ? 'a' : 'b'
      const { longLots = 0, shortLots = 0 } = book.holdings.get(pairKey(owner, SYMBOL)) ?? {}
      const taken: Fill = {
        tradeId: toTradeId(`t${step}`),
        orderId: toOrderId(owner),
        symbol: SYMBOL,
        side: random.next() < 0.5 - (longLots - shortLots) / 8 ? 'buy' : 'sell',
        tradeSide: 'open',
        ticks: 200 + Math.floor(random.next() * 40),
        lots: 1 + Math.floor(random.next() * 3),
        fee: '0.01',
        scope: 'taker',
        source: 'API',
        filledAt: AT + step,
      }
      const record: JournalRecord = { kind: 'fills', at: AT, fills: [taken] }
      applyRecord(book, record)
      for (const row of buildBookings(record, { book, instruments, waiting: [] })) fold.add(row)
    }
    for (const strategyId of ['a', 'b']) {
      const trades = closed.filter((trade) => trade.strategyId === strategyId)
      const lastWon = trades.findLastIndex(({ net }) => Number(net) >= 0)
      const known = book.ownTrades.get(pairKey(strategyId, SYMBOL))
      const net = trades.reduce((sum, trade) => sum + Number(trade.net), 0)

      expect(trades.length).toBeGreaterThan(20)
      expect(known?.lostInRow).toBe(trades.length - 1 - lastWon)
      expect(net + Number(known?.tradeNet)).toBeCloseTo(
        Number(known?.profit) - Number(known?.fees),
        6,
      )
      expect(fold.explains(strategyId, SYMBOL)).toBe(true)
    }
  },
)
