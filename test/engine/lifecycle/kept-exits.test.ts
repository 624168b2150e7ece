import { describe, expect, test } from 'vitest'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import type { PositionMode } from '../../../src/domain/instrument.ts'
import { pairKey } from '../../../src/engine/book/book.ts'
import { listUnkeptExits } from '../../../src/engine/book/ordered-exits.ts'
import { describeUnkept, findUnkeptExits } from '../../../src/engine/lifecycle/judge-kept-exits.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'
import { TradedAccount } from '../traded-account.ts'

const LIMITS = new Map([[SYMBOL, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]])
const COMMON = { symbols: [SYMBOL], feeds: new Map(), limits: LIMITS }
const STRATEGIES = new Map([
  [STRATEGY, { id: STRATEGY, ...COMMON }],
  [MANUAL, { id: MANUAL, isByHand: true as const, ...COMMON }],
])

function trading(mode?: PositionMode): TradedAccount {
  const settings = { strategies: STRATEGIES, foreignFills: 'adopt' } as const
  return new TradedAccount(new EngineBench(settings, mode).start())
}

/** A buy of 10 lots by hand that rests below the market. @returns the id of its order */
function rest(account: TradedAccount, stopLoss: string, key = 'key-0001') {
  const own = { symbol: SYMBOL, side: 'buy', size: '0.01', price: '9990', stopLoss, key }
  const author = { reason: 'a chance', by: 'anna' }
  account.bench.step({ kind: 'commanded', command: { kind: 'order', ...own, ...author } as never })
  const batch = account.bench.grantBatch()
  account.bench.accept(batch)
  return toOrderId(`${batch.batchId}001`)
}

function fill(account: TradedAccount, orderId: ReturnType<typeof rest>, lots = 10): void {
  account.trade('buy', lots, { orderId, scope: 'maker', ticks: 99_900 })
  account.look()
}

function said({ bench }: TradedAccount) {
  return bench.take('announce').filter(({ event }) => event.startsWith('exit.'))
}

describe('a stop of an order by hand that rested', () => {
  test('[ORD5] whose fill only makes another position smaller is said to protect nothing', () => {
    const account = trading()
    const resting = rest(account, '9800')
    account.reach(STRATEGY, -20)
    said(account)
    fill(account, resting)

    expect(said(account)).toMatchObject([
      {
        level: 'error',
        event: 'exit.notKept',
        fields: { symbol: SYMBOL, strategy: MANUAL, side: 'long', stopLoss: '9800' },
      },
    ])
    expect(said(account)).toEqual([])
    const { settings, book } = account.bench.engine
    const known = { settings, book }
    expect(findUnkeptExits(known).map((exits) => describeUnkept(known, exits))).toEqual([
      "BTCUSDT: the stop-loss 9800 of manual, which is long, is not what the exchange keeps: the account is short 0.01, since others hold the opposite, and the exchange keeps exits of the account's position alone",
    ])
  })

  test('is not sent where the position has changed since the command, and dropped after its time', () => {
    const account = trading()
    const own = { symbol: SYMBOL, side: 'buy', size: '0.01', stopLoss: '9800', key: 'key-0001' }
    const command = { kind: 'order', ...own, reason: 'a chance', by: 'anna' } as never
    account.bench.step({ kind: 'commanded', command })
    account.trade('sell', 20, { source: 'WEB' })
    account.look()

    expect(account.sent()).toEqual([])
    expect(account.bench.engine.denied.get('EXIT_WITHOUT_EFFECT')).toBeGreaterThan(0)
    account.pass(31_000)
    expect(account.bench.book.places.size).toBe(0)
  })

  test('is still missing once the other strategy has closed its position', () => {
    const account = trading()
    const resting = rest(account, '9800')
    account.reach(STRATEGY, -20)
    fill(account, resting)
    account.reach(STRATEGY, 0)

    expect(account.net).toBe(10)
    expect(listUnkeptExits(account.bench.book)).toMatchObject([
      { strategyId: MANUAL, symbol: SYMBOL, side: 'long', stopLossTicks: 98_000 },
    ])
    const before = account.bench.book.orderedExits
    account.bench.restart().start({ holding: account.holding, fills: account.fills })
    expect(account.bench.book.orderedExits).toEqual(before)
    expect(said(account)).toMatchObject([{ event: 'exit.notKept' }])
  })

  test('stands where a part of the fill opened', () => {
    const account = trading()
    const resting = rest(account, '9800')
    account.reach(STRATEGY, -4)
    said(account)
    fill(account, resting, 2)
    expect(said(account)).toMatchObject([{ event: 'exit.notKept' }])
    fill(account, resting, 8)

    expect(said(account)).toMatchObject([{ event: 'exit.notKeptEnded', fields: { stands: true } }])
    expect(listUnkeptExits(account.bench.book)).toEqual([])
  })

  test('that went with the position of the account is said to be gone', () => {
    const account = trading()
    fill(account, rest(account, '9800'))
    expect(said(account)).toEqual([])
    account.reach(STRATEGY, -10)

    expect(said(account)).toMatchObject([{ event: 'exit.notKept', fields: { side: 'long' } }])
    account.reach(STRATEGY, 0)
    expect(listUnkeptExits(account.bench.book)).toHaveLength(1)
  })

  test.each(['one_way_mode', 'hedge_mode'] as const)(
    'that an order of a strategy has replaced in %s is said to stand elsewhere',
    (mode) => {
      const account = trading(mode)
      fill(account, rest(account, '9800'))
      said(account)
      const place = { kind: 'place', symbol: SYMBOL, key: 'k1', action: 'openLong' } as const
      account.bench.decideAs(STRATEGY, { ...place, lots: 5, stopLossTicks: 97_000, ttlMs: 1000 })
      account.fillNext()

      expect(said(account)).toMatchObject([
        {
          event: 'exit.notKept',
          fields: { strategy: MANUAL, stopLoss: '9800', reason: expect.stringContaining('9700') },
        },
      ])
    },
  )

  test('is replaced by that of a later order by hand', () => {
    const account = trading()
    fill(account, rest(account, '9800'))
    fill(account, rest(account, '9850', 'key-0002'))

    expect(said(account)).toEqual([])
    expect(listUnkeptExits(account.bench.book)).toEqual([])
  })

  test('is forgotten once what it was to protect is closed', () => {
    const account = trading()
    const resting = rest(account, '9800')
    account.reach(STRATEGY, -20)
    fill(account, resting)
    account.reach(STRATEGY, 0)
    const own = { symbol: SYMBOL, side: 'sell', size: '0.01', reduceOnly: true, key: 'key-0002' }
    const command = { kind: 'order', ...own, reason: 'enough', by: 'anna' } as never
    account.bench.step({ kind: 'commanded', command })
    said(account)
    account.fillNext()

    expect(account.bench.book.orderedExits.size).toBe(0)
    account.readFills()
    expect(said(account)).toMatchObject([{ event: 'exit.notKeptEnded', fields: { stands: false } }])
  })

  test('is not taken to stand because another order opened before its own fill was named', () => {
    const account = trading()
    const strategys = { kind: 'place', symbol: SYMBOL, key: 'k1', action: 'openLong' } as const
    account.bench.decideAs(STRATEGY, {
      ...strategys,
      lots: 10,
      ticks: 99_800,
      force: 'post_only',
      ttlMs: 60_000,
    })
    const first = account.bench.grantBatch()
    account.bench.accept(first)
    account.trade('sell', 10, { source: 'WEB' })
    account.look()
    const own = { symbol: SYMBOL, side: 'buy', size: '0.011', stopLoss: '9700', key: 'key-0001' }
    const command = { kind: 'order', ...own, reason: 'a chance', by: 'anna' } as never
    account.bench.step({ kind: 'commanded', command })
    const batch = account.bench.grantBatch()
    said(account)
    account.trade('buy', 10, { orderId: toOrderId(`${batch.batchId}001`) })
    account.trade('buy', 10, { orderId: toOrderId(`${first.batchId}001`), scope: 'maker' })
    account.bench.accept(batch)
    account.readFills()

    expect(account.bench.book.exits.size).toBe(0)
    expect(said(account)).toMatchObject([{ event: 'exit.notKept' }])
  })
})

/** @returns its batch, which no answer has come for */
function order(account: TradedAccount, key: string, own: object) {
  const command = { kind: 'order', symbol: SYMBOL, size: '0.01', key, ...own }
  const author = { reason: 'a chance', by: 'anna' }
  account.bench.step({ kind: 'commanded', command: { ...command, ...author } as never })
  return account.bench.grantBatch()
}

function fillAll(
  account: TradedAccount,
  fills: readonly (readonly [side: 'buy' | 'sell', batch: { readonly batchId: number }])[],
): void {
  for (const [side, { batchId }] of fills)
    account.trade(side, 10, { orderId: toOrderId(`${batchId}001`) })
}

test('[ORD5] a long that is closed leaves nothing of its stop, whatever a short of it has', () => {
  const account = trading('hedge_mode')
  const traded = (batch: { readonly batchId: number }) => toOrderId(`${batch.batchId}001`)
  const long = order(account, 'key-0001', { side: 'buy', stopLoss: '9800' })
  account.bench.accept(long)
  account.trade('buy', 10, { orderId: traded(long) })
  const place = { kind: 'place', symbol: SYMBOL, key: 'k1', action: 'openLong' } as const
  account.bench.decideAs(STRATEGY, { ...place, lots: 5, stopLossTicks: 97_000, ttlMs: 1000 })
  const other = account.bench.grantBatch()
  account.bench.accept(other)
  account.trade('buy', 5, { orderId: traded(other) })
  expect(said(account)).toMatchObject([{ event: 'exit.notKept', fields: { side: 'long' } }])
  const short = order(account, 'key-0002', { side: 'sell', stopLoss: '10200' })
  account.bench.accept(short)
  account.trade('sell', 10, { orderId: traded(short) })
  const close = order(account, 'key-0003', { side: 'sell', reduceOnly: true })
  account.bench.accept(close)
  account.trade('buy', 10, { orderId: traded(close), tradeSide: 'close' })

  expect(account.bench.book.orderedExits.get(pairKey(MANUAL, SYMBOL))).toMatchObject({
    short: { stopLossTicks: 102_000 },
  })
  expect(said(account)).toMatchObject([
    { event: 'exit.notKeptEnded', fields: { side: 'long', stands: false } },
  ])
})

describe.each(['before', 'after'])('exits of an order that is answered %s its fill', (when) => {
  function answerAround(
    account: TradedAccount,
    batch: ReturnType<typeof order>,
    fills: Parameters<typeof fillAll>[1],
  ): void {
    if (when === 'before') account.bench.accept(batch)
    fillAll(account, fills)
    if (when === 'after') account.bench.accept(batch)
    account.readFills()
  }

  test.each(['one_way_mode', 'hedge_mode'] as const)(
    '[ORD5] are in %s those of the order that was filled last',
    (mode) => {
      const account = trading(mode)
      const resting = order(account, 'key-0001', { side: 'buy', price: '9990', stopLoss: '9850' })
      account.bench.accept(resting)
      const market = order(account, 'key-0002', { side: 'buy', stopLoss: '9800' })
      answerAround(account, market, [
        ['buy', market],
        ['buy', resting],
      ])

      expect([...account.bench.book.orderedExits.values()]).toMatchObject([
        { long: { stopLossTicks: 98_500 } },
      ])
      expect(said(account)).toEqual([])
    },
  )

  test('[ORD5] are gone with the position that they protected, which has been closed since', () => {
    const account = trading()
    const sell = order(account, 'key-0001', { side: 'sell', price: '10010' })
    account.bench.accept(sell)
    const buy = order(account, 'key-0002', { side: 'buy', price: '9990' })
    account.bench.accept(buy)
    const market = order(account, 'key-0003', { side: 'buy', stopLoss: '9800' })
    answerAround(account, market, [
      ['buy', market],
      ['sell', sell],
      ['buy', buy],
    ])

    expect(account.net).toBe(10)
    expect(account.bench.book.orderedExits.size).toBe(0)
    expect(said(account)).toEqual([])
  })

  test('[ORD5] are not lost because its lots are not yet known to be of the strategy', () => {
    const account = trading()
    fill(account, rest(account, '9800'))
    const sell = order(account, 'key-0002', { side: 'sell', price: '10010' })
    account.bench.accept(sell)
    const market = order(account, 'key-0003', { side: 'buy' })
    answerAround(account, market, [
      ['buy', market],
      ['sell', sell],
    ])
    account.look()
    expect(said(account)).toEqual([])
    const place = { kind: 'place', symbol: SYMBOL, key: 'k1', action: 'openLong' } as const
    account.bench.decideAs(STRATEGY, { ...place, lots: 5, stopLossTicks: 97_000, ttlMs: 1000 })
    account.fillNext()

    expect(said(account)).toMatchObject([
      {
        event: 'exit.notKept',
        fields: { strategy: MANUAL, stopLoss: '9800', reason: expect.stringContaining('9700') },
      },
    ])
  })
})
