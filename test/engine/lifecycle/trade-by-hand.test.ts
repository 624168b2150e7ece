import { describe, expect, test } from 'vitest'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import type { PositionMode } from '../../../src/domain/instrument.ts'
import { keysUsedBy } from '../../../src/domain/record.ts'
import { endsOf, strategyScope } from '../../../src/domain/trading-mode.ts'
import { holdingOf } from '../../../src/engine/book/book.ts'
import type { EngineCommand, HandCommand } from '../../../src/engine/event.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { StrategyLimits } from '../../../src/risk/risk-context.ts'
import { accepted, EngineBench, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'
import { TradedAccount } from '../traded-account.ts'

const BY_ANNA = { reason: 'a chance', by: 'anna' } as const
const LIMITS = { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }

type OrderCommand = Extract<EngineCommand, { kind: 'order' }>

function strategies(own: Partial<StrategyLimits> = {}): EngineSettings['strategies'] {
  const limits = new Map([[SYMBOL, LIMITS]])
  const manual = new Map([[SYMBOL, { ...LIMITS, ...own }]])
  const common = { symbols: [SYMBOL], feeds: new Map() }
  return new Map([
    [STRATEGY, { id: STRATEGY, limits, ...common }],
    [MANUAL, { id: MANUAL, limits: manual, isByHand: true as const, ...common }],
  ])
}

function trading(mode?: PositionMode, own?: Partial<StrategyLimits>): TradedAccount {
  return new TradedAccount(new EngineBench({ strategies: strategies(own) }, mode).start())
}

function command({ bench }: TradedAccount, given: HandCommand) {
  const plan = bench.engine.planByHand(given)
  bench.step({ kind: 'commanded', command: given })
  return plan
}

function order(account: TradedAccount, change: Partial<OrderCommand> = {}) {
  return command(account, {
    kind: 'order',
    symbol: SYMBOL,
    side: 'buy',
    size: '0.01',
    key: 'key-0001',
    ...BY_ANNA,
    ...change,
  })
}

function close(account: TradedAccount, scope: string, share: number, key = 'close-01') {
  return command(account, { kind: 'close', scope, share, key, ...BY_ANNA })
}

function cancelOf(what: string): HandCommand {
  return { kind: 'cancel', what, key: 'cancel-01', ...BY_ANNA }
}

function sent({ bench }: TradedAccount) {
  const batch = bench.grantBatch()
  const terms = batch.clientOids.map((clientOid) => bench.book.orders.get(clientOid)?.terms)
  return { batch, terms }
}

const held = ({ bench }: TradedAccount, id: string) => holdingOf(bench.book, id, SYMBOL)
const asksFor = ({ bench }: TradedAccount, endpoint: string) =>
  bench.take('askGrant').some((effect) => effect.endpoint === endpoint)
const events = ({ bench }: TradedAccount) => bench.take('announce').map(({ event }) => event)

describe('an order by hand', () => {
  test('its plan says what it is worth, and whose position its exits would close', () => {
    const account = trading()
    const { hints } = order(account, { side: 'sell', price: '10020', stopLoss: '10040' })
    expect(hints).toEqual([
      'worth 100.20 USDT',
      `${STRATEGY} trades ${SYMBOL} too: it goes on, its orders can meet this one, and the stop-loss closes its position too`,
    ])
  })

  test('says in words which price is not known', () => {
    const account = trading()
    account.bench.price(10_000, undefined, { bidPr: Number.NaN })
    expect(order(account).refusal).toContain('(bid not known, ask 10000.1)')
  })

  test('[ORD1] is journaled with its author, sent and held by `manual`, which is never asked', () => {
    const account = trading()
    expect(order(account)).toEqual({
      intent: expect.anything(),
      detail: `buy 0.01 ${SYMBOL} at the market`,
      change: `${MANUAL}: buy 0.01 ${SYMBOL} at the market`,
      hints: [
        'now about 100.00 USDT, at the ask of 10000.1',
        `${STRATEGY} trades ${SYMBOL} too: it goes on, and its orders can meet this one`,
      ],
    })
    expect(account.bench.recordsOf('decision').at(-1)).toMatchObject({
      strategyId: MANUAL,
      command: BY_ANNA,
      places: [{ key: 'key-0001', lots: 10 }],
    })
    account.fillNext()
    expect(held(account, MANUAL)).toEqual({ longLots: 10, shortLots: 0 })
    expect(held(account, STRATEGY)).toEqual({ longLots: 0, shortLots: 0 })
    const asked = account.bench.take('decide').map(({ strategyId }) => strategyId)
    expect(new Set(asked)).toEqual(new Set([STRATEGY]))
  })

  test.each([
    ['one_way_mode', 'buy', false, 'openLong'],
    ['one_way_mode', 'sell', false, 'openShort'],
    ['hedge_mode', 'buy', false, 'openLong'],
    ['hedge_mode', 'sell', false, 'openShort'],
  ] as const)('in %s %s with reduce only %s is %s', (mode, side, reduceOnly, action) => {
    const account = trading(mode)
    order(account, { side, reduceOnly, price: '9999', force: 'post_only' })
    order(account, { side, price: '10001', key: 'key-0002', force: 'post_only' })
    const [first] = sent(account).terms
    expect(first).toMatchObject({ strategyId: MANUAL, purpose: 'place', action })
  })

  test.each(['one_way_mode', 'hedge_mode'] as const)(
    'in %s with reduce only closes what `manual` holds, and never more',
    (mode) => {
      const account = trading(mode)
      expect(order(account, { side: 'sell', reduceOnly: true })).toMatchObject({
        refusal: expect.stringContaining('CLOSE_EXCEEDS_POSITION'),
      })
      order(account, { key: 'key-0002' })
      account.fillNext()
      order(account, { key: 'key-0003', side: 'sell', size: '0.004', reduceOnly: true })
      expect(sent(account).terms).toMatchObject([{ action: 'closeLong', lots: 4 }])
    },
  )

  test('given twice after a lost answer is placed once, also after a restart', () => {
    const account = trading()
    order(account)
    expect(order(account).detail).toContain('not placed again')
    account.fillNext()
    expect(order(account).detail).toContain('not placed again')
    account.bench.restart().start({ holding: account.holding, fills: account.fills })
    expect(order(account).detail).toContain('not placed again')
    expect(order(account, { isKeyUsed: true, key: 'key-0009' }).detail).toContain(
      'not placed again',
    )
    account.pass(5000)
    expect(account.bench.recordsOf('send')).toHaveLength(1)
  })

  test('[ORD3] whose answer is lost is unknown, and not sent again under another name', () => {
    const account = trading()
    order(account)
    const { batch } = sent(account)
    account.bench.answer(batch.batchId, TIMED_OUT)
    expect(account.bench.states()).toEqual(['unknown'])
    expect(order(account).detail).toContain('not placed again')
    account.pass(3000)
    expect(account.bench.recordsOf('send')).toHaveLength(1)
  })

  test('that was taken and not sent when the process died is sent by the next run', () => {
    const account = trading()
    order(account, { price: '9999' })
    account.bench.restart().start()
    expect(sent(account).terms).toMatchObject([{ strategyId: MANUAL, lots: 10 }])
  })

  test('that is not sent within its time is dropped', () => {
    const account = trading()
    order(account)
    account.pass(31_000)
    expect(account.bench.book.places.size).toBe(0)
    expect(account.bench.recordsOf('send')).toHaveLength(0)
  })

  test.each([
    [{ size: '0.0105' }, 'not a positive multiple of 0.001; near it: 0.01, 0.011'],
    [
      { size: '99999999999999999999' },
      'is more than can be counted; the most is 9007199254740.991',
    ],
    [{ price: '99999999999999999999' }, 'is more than can be counted; the most is 900719925474099'],
    [{ size: '9007199254740.9915' }, 'is more than can be counted; the most is 9007199254740.991'],
    [{ size: '0.0001' }, 'not a positive multiple of 0.001; near it: 0.001'],
    [{ size: '0' }, 'the size 0 is not a positive multiple'],
    [{ price: '9999.55' }, 'the price 9999.55 is not a positive multiple of 0.1'],
    [{ price: '5000' }, 'PRICE_COLLAR'],
    [{ size: '0.5' }, 'ORDER_SIZE_LIMIT'],
    [{ force: 'fok' as const }, 'has no time in force'],
    [{ symbol: 'XYZUSDT' }, 'XYZUSDT is not an instrument of the main file'],
  ])('with %j is refused, and waits for nothing', (change, why) => {
    const account = trading()
    expect(order(account, change).refusal).toContain(why)
    expect(account.bench.book.places.size).toBe(0)
    expect(events(account)).toContain('manual.refused')
  })

  test('[RSK1] is denied beyond the limits of `manual`, and not by those of a strategy', () => {
    const account = trading('one_way_mode', { orderNotionalMax: 50 })
    expect(order(account).refusal).toContain('ORDER_NOTIONAL_LIMIT')
    account.reach(STRATEGY, 10)
    expect(held(account, STRATEGY)).toEqual({ longLots: 10, shortLots: 0 })
  })

  test('[RSK2] is refused under a kill, and one that waits is dropped by it', () => {
    const account = trading()
    order(account)
    account.bench.step({ kind: 'commanded', command: { kind: 'kill', ...BY_ANNA } })
    account.pass(200)
    expect(account.bench.book.places.size).toBe(0)
    expect(order(account, { key: 'key-0002' }).refusal).toBe('the kill switch is thrown')
  })

  test.each([
    ['halted', 'TRADING_HALTED', undefined],
    ['reducing', 'TRADING_REDUCING', `sell, reduce only, 0.01 ${SYMBOL} at the market`],
  ] as const)('[RSK2] under %s is denied if it adds', (mode, code, closes) => {
    const account = trading()
    order(account)
    account.fillNext()
    const scope = strategyScope(MANUAL)
    account.bench.step({
      kind: 'commanded',
      command: { kind: 'restrict', scope, mode, ...BY_ANNA },
    })
    expect(order(account, { key: 'key-0002' }).refusal).toContain(code)
    const reducing = { key: 'key-0003', side: 'sell', reduceOnly: true } as const
    expect(order(account, reducing).detail).toBe(closes)
  })

  test('is off without limits of its own', () => {
    const account = new TradedAccount(new EngineBench().start())
    expect(order(account).refusal).toContain('trades by hand are off')
  })
})

test('an order by hand is described with all that was given, for people and for a proposal', () => {
  const given = {
    price: '9999',
    force: 'post_only',
    takeProfit: '10200',
    stopLoss: '9800',
  } as const
  const all = `buy 0.01 ${SYMBOL} at 9999 (post_only), take-profit 10200, stop-loss 9800`
  expect(order(trading(), given)).toMatchObject({ detail: all, change: `${MANUAL}: ${all}` })
})

test.each([
  ['buy', { price: '9999', takeProfit: '9900' }, 'the take-profit 9900 of a buy belongs above'],
  ['buy', { price: '9999', stopLoss: '9999' }, 'the stop-loss 9999 of a buy belongs below'],
  ['sell', { price: '10001', takeProfit: '10100' }, 'of a sell belongs below its price'],
  ['buy', { takeProfit: '9900', stopLoss: '10100' }, 'belongs above its stop-loss 10100'],
  ['buy', { stopLoss: '10100' }, 'the stop-loss 10100 of a buy belongs below the market, which is'],
  ['buy', { takeProfit: '9900' }, 'the take-profit 9900 of a buy belongs above the market'],
  ['sell', { stopLoss: '9900' }, 'the stop-loss 9900 of a sell belongs above the market'],
  ['sell', { takeProfit: '10100' }, 'the take-profit 10100 of a sell belongs below the market'],
  ['buy', { price: '10100', stopLoss: '10050' }, 'belongs below the market'],
  ['sell', { price: '9900', stopLoss: '9950' }, 'belongs above the market'],
] as const)('a level on the wrong side of a %s is refused', (side, given, why) => {
  const account = trading()
  expect(order(account, { side, ...given }).refusal).toContain(why)
  expect(account.bench.book.places.size).toBe(0)
})

test.each([
  ['buy', { takeProfit: '10100', stopLoss: '9900' }],
  ['sell', { takeProfit: '9900', stopLoss: '10100' }],
  ['buy', { price: '9950', stopLoss: '9940', takeProfit: '9960' }],
  ['sell', { price: '10050', stopLoss: '10060', takeProfit: '10040' }],
] as const)('levels on the right side of a %s are taken: %o', (side, given) => {
  const account = trading()
  expect(order(account, { side, ...given }).refusal).toBeUndefined()
  expect(account.bench.book.places.size).toBe(1)
})

describe('a cancel by hand', () => {
  test.each([
    ['its key', 'key-0001'],
    ['its instrument', SYMBOL],
    ['its owner', MANUAL],
    ['its scope', strategyScope(MANUAL)],
  ])('withdraws a resting order by %s', (_, what) => {
    const account = trading()
    order(account, { price: '9999' })
    const { bench } = account
    bench.accept(sent(account).batch)
    expect(command(account, cancelOf(what)).detail).toBe('1 order is withdrawn')
    const { cancelId } = bench.grantCancel()
    bench.answerCancel(cancelId, accepted({ successList: [], failureList: [] }))
    account.pass(6000)
    expect(bench.states()).toEqual(['done'])
  })

  test('drops an order that was not sent yet', () => {
    const account = trading()
    order(account, { price: '9999' })
    command(account, cancelOf('key-0001'))
    expect(account.bench.book.places.size).toBe(0)
  })

  test.each(['sent', 'waiting'])('of a %s order is done once', (when) => {
    const account = trading()
    order(account, { price: '9999' })
    if (when === 'sent') account.bench.accept(sent(account).batch)
    command(account, cancelOf(SYMBOL))
    const used = account.bench.records.flatMap(keysUsedBy)
    expect(used).toContainEqual(expect.objectContaining({ purpose: 'command', key: 'cancel-01' }))
    order(account, { price: '9999', key: 'key-0002' })
    const again = { ...cancelOf(SYMBOL), isKeyUsed: true } as HandCommand
    expect(command(account, again).detail).toContain('not withdrawn again')
    expect([...account.bench.book.places.values()].map(({ key }) => key)).toEqual(['key-0002'])
  })

  test('leaves a ladder, which would be placed again, and says so', () => {
    const account = trading()
    account.bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    account.bench.accept(sent(account).batch)
    const { refusal } = command(account, cancelOf(STRATEGY))
    expect(refusal).toContain('1 of the ladder of s stay')
  })
})

describe('a close of a share', () => {
  test.each(['one_way_mode', 'hedge_mode'] as const)(
    'in %s closes it, and the strategy buys nothing back before a release',
    (mode) => {
      const account = trading(mode)
      account.reach(STRATEGY, 10)
      expect(close(account, strategyScope(STRATEGY), 0.5).detail).toContain('closes long 0.005')
      expect(sent(account).terms).toMatchObject([
        { purpose: 'flatten', action: 'closeLong', lots: 5 },
      ])
    },
  )

  test.each([
    [10, 0.5, 'closes long 0.005 (5 lots), and 0.005 (5 lots) stay'],
    [
      11,
      0.5,
      'closes long 0.005 (5 lots; 50 % are 5.5 lots, rounded down), and 0.006 (6 lots) stay',
    ],
    [
      3,
      0.9,
      'closes long 0.002 (2 lots; 90 % are 2.7 lots, rounded down), and 0.001 (1 lot) stays',
    ],
    [10, 1, 'closes long 0.01 (10 lots), and nothing stays'],
  ])('of %i lots says how many are closed and what stays: %d', (lots, share, text) => {
    const account = trading()
    account.reach(STRATEGY, lots)
    const { detail } = close(account, strategyScope(STRATEGY), share)
    expect(detail).toBe(`${STRATEGY} ${SYMBOL} ${text}`)
  })

  test('says which orders it withdraws, and what holds the scope afterwards', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    order(account, { price: '9999', force: 'post_only' })
    order(account, { price: '9998', force: 'post_only', key: 'key-0002' })
    account.bench.accept(account.bench.grantBatch())
    const plan = close(account, SYMBOL, 0.5)

    expect(plan.detail).toMatch(/stay; withdraws 2 open orders: 2 on BTCUSDT of manual$/)
    expect(plan.holds).toEqual({ scope: SYMBOL, mode: 'reducing' })
    account.bench.pass(1000)
    expect(account.bench.grantCancel()).toBeDefined()
  })

  test.each([
    [strategyScope(STRATEGY), 1, { scope: strategyScope(STRATEGY), mode: 'halted' }],
    [strategyScope(MANUAL), 0.5, undefined],
  ])('of %s at %d holds afterwards %o', (scope, share, holds) => {
    const account = trading()
    account.reach(STRATEGY, 10)
    order(account)
    account.fillNext()
    expect(close(account, scope, share).holds).toEqual(holds)
  })

  test('is said to end by itself only where it is of `manual`', () => {
    const own = endsOf({ code: 'close', scope: strategyScope(MANUAL) })
    const other = endsOf({ code: 'close', scope: strategyScope(STRATEGY) })
    expect(own).toBe('everything that was to be closed is closed, or an operator releases it')
    expect(other).toBe('an operator releases it')
    const account = trading()
    account.reach(STRATEGY, 10)
    close(account, strategyScope(STRATEGY), 0.5)
    const said = account.bench.take('announce').find(({ event }) => event === 'trading.reducing')
    expect(said?.fields).toMatchObject({ code: 'close', ends: other })
  })

  test('says what a share that is less than an order leaves as it is', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    order(account, { size: '0.001' })
    account.fillNext()
    expect(close(account, strategyScope(MANUAL), 0.5).refusal).toContain(
      'manual BTCUSDT keeps long 0.001 (1 lot): 50 % of it is less than the smallest order, 0.001',
    )
    expect(close(account, SYMBOL, 0.5, 'close-02').detail).toContain(
      'closes long 0.005 (5 lots), and 0.005 (5 lots) stay, manual BTCUSDT keeps long 0.001 (1 lot)',
    )
  })

  test('of a share is refused while the start has yet to read what is held; a whole flatten is not', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    account.bench.restart().step({ kind: 'started' })
    expect(account.bench.engine.phase).toBe('starting')
    const scope = strategyScope(STRATEGY)
    expect(close(account, scope, 0.5).refusal).toMatch(
      /the start has yet to read what the account holds, so a share of it is not known: .*flatten/,
    )
    expect(account.bench.book.restrictions.size).toBe(0)
    expect(close(account, scope, 1, 'close-02').refusal).toBeUndefined()
    expect([...account.bench.book.restrictions.values()]).toMatchObject([{ code: 'flatten' }])
  })

  test.each([
    ['and its fill was read', true],
    ['and its fill was not read', false],
  ])(
    '[RSK4] of a share is refused while an order may have bought more, %s; a whole flatten is not',
    (_, isRead) => {
      const account = trading()
      account.reach(STRATEGY, 100)
      account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 200 })
      const batch = account.bench.grantBatch()
      const scope = strategyScope(STRATEGY)
      const inFlight = close(account, SYMBOL, 0.5).refusal
      account.bench.answer(batch.batchId, TIMED_OUT)
      const filled = { orderId: toOrderId('555001') }
      if (isRead) account.trade('buy', 100, filled)

      const unknown =
        /what comes of an order or fill of BTCUSDT is not known yet, so a share of it is not either: close it again in some seconds, or close the whole with `intentd flatten`/
      expect(inFlight).toMatch(unknown)
      expect(close(account, SYMBOL, 0.5).refusal).toMatch(unknown)
      expect(close(account, scope, 0.5, 'close-02').refusal).toMatch(unknown)
      expect(account.bench.book.restrictions.size).toBe(0)
      expect(close(account, SYMBOL, 1, 'close-03').refusal).toBeUndefined()
    },
  )

  test('of a share counts again once the order is known', () => {
    const account = trading()
    account.reach(STRATEGY, 100)
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 200 })
    account.fillNext()
    expect(close(account, SYMBOL, 0.5).detail).toContain('(100 lots), and 0.1 (100 lots) stay')
  })

  test('says so where a close under way leaves less than the new one', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    close(account, strategyScope(STRATEGY), 0.5)
    const { detail } = close(account, strategyScope(STRATEGY), 0.2, 'close-02')
    expect(detail).toContain('a close that is under way leaves less, and is not taken back')
  })

  test('is done when the position was read, and leaves the strategy reducing', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    close(account, strategyScope(STRATEGY), 0.5)
    account.fillNext()
    account.pass(1000)
    expect(events(account)).toContain('close.done')
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    account.pass(3000)
    expect(account.bench.recordsOf('send')).toHaveLength(2)
    expect(held(account, STRATEGY)).toEqual({ longLots: 5, shortLots: 0 })

    const scope = strategyScope(STRATEGY)
    account.bench.step({ kind: 'commanded', command: { kind: 'release', scope, ...BY_ANNA } })
    account.bench.price()
    account.reach(STRATEGY, 10)
    expect(held(account, STRATEGY)).toEqual({ longLots: 10, shortLots: 0 })
  })

  test('goes on after a restart, to the same size', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    close(account, strategyScope(STRATEGY), 0.3)
    account.bench.restart().start({ holding: account.holding, fills: account.fills })
    account.fillNext()
    account.pass(1000)
    expect(held(account, STRATEGY)).toEqual({ longLots: 7, shortLots: 0 })
    expect(account.bench.recordsOf('send')).toHaveLength(2)
  })

  test('given twice under one key closes once', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    close(account, strategyScope(STRATEGY), 0.5)
    account.fillNext()
    account.pass(1000)
    close(account, strategyScope(STRATEGY), 0.5)
    account.pass(1000)
    expect(held(account, STRATEGY)).toEqual({ longLots: 5, shortLots: 0 })
    expect(account.bench.recordsOf('send')).toHaveLength(2)
  })

  test.each([
    ['a share of `manual`', strategyScope(MANUAL), 0.5],
    ['all of a strategy', strategyScope(STRATEGY), 1],
  ])('of %s is done once, though its restriction is gone', (_, scope, share) => {
    const account = trading()
    account.reach(STRATEGY, 10)
    order(account, { size: '0.02' })
    account.fillNext()
    close(account, scope, share)
    const used = account.bench.records.flatMap(keysUsedBy)
    expect(used).toContainEqual(expect.objectContaining({ purpose: 'command', key: 'close-01' }))
    account.fillNext()
    account.pass(1000)
    account.bench.step({ kind: 'commanded', command: { kind: 'release', scope, ...BY_ANNA } })
    const before = [held(account, STRATEGY), held(account, MANUAL)]

    const again = { kind: 'close', scope, share, key: 'close-01', isKeyUsed: true } as const
    expect(command(account, { ...again, ...BY_ANNA }).detail).toContain('not closed again')
    account.pass(3000)
    expect(account.bench.halts).toEqual(new Map())
    expect([held(account, STRATEGY), held(account, MANUAL)]).toEqual(before)
  })

  test('of `manual` ends by itself, so that the next order may add', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    order(account)
    account.fillNext()
    close(account, strategyScope(MANUAL), 1)
    account.fillNext()
    account.pass(1000)
    expect(held(account, MANUAL)).toEqual({ longLots: 0, shortLots: 0 })
    expect(held(account, STRATEGY)).toEqual({ longLots: 10, shortLots: 0 })
    expect(account.bench.halts).toEqual(new Map())
    expect(order(account, { key: 'key-0002' }).detail).toContain('buy 0.01')
  })

  test('of an instrument takes the share of each owner', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    order(account, { size: '0.02' })
    account.fillNext()
    close(account, SYMBOL, 0.5)
    account.fillNext()
    account.pass(1000)
    while (account.bench.book.restrictions.get(`${SYMBOL}|close`)?.keeps) {
      account.fillNext()
      account.pass(1000)
    }
    expect([held(account, STRATEGY), held(account, MANUAL)]).toEqual([
      { longLots: 5, shortLots: 0 },
      { longLots: 10, shortLots: 0 },
    ])
  })

  test('of everything that a strategy holds is a flatten', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    close(account, strategyScope(STRATEGY), 1)
    expect([...account.bench.book.restrictions.values()]).toMatchObject([{ code: 'flatten' }])
  })

  test('[RSK2] under a kill closes nothing until the kill is released', () => {
    const account = trading()
    account.reach(STRATEGY, 10)
    account.bench.step({ kind: 'commanded', command: { kind: 'kill', ...BY_ANNA } })
    expect(close(account, strategyScope(STRATEGY), 0.5).detail).toContain('under a kill')
    account.pass(3000)
    expect(asksFor(account, 'batchPlaceOrder')).toBe(false)
  })

  test.each([
    ['strategy:nobody', 'is not configured'],
    [strategyScope(STRATEGY), 'nothing of which this share is large enough'],
  ])('of %s is refused', (scope, why) => {
    const account = trading()
    expect(close(account, scope, 0.5).refusal).toContain(why)
    expect(account.bench.book.restrictions.size).toBe(0)
  })
})

describe('a take-profit or stop-loss of an order by hand', () => {
  const takesShort = (mode?: PositionMode): TradedAccount => {
    const account = trading(mode)
    account.reach(STRATEGY, -14)
    return account
  }

  test.each([
    [{ size: '0.005', stopLoss: '9800' }, 'the stop-loss'],
    [{ size: '0.014', takeProfit: '10200' }, 'the take-profit'],
    [
      { size: '0.005', price: '9999', stopLoss: '9800', takeProfit: '10200' },
      'the take-profit and the stop-loss',
    ],
  ])('with %j is refused where the order only makes a short smaller', (change, what) => {
    const account = takesShort()
    const { refusal } = order(account, change)
    expect(refusal).toContain(`${what} would have no effect`)
    expect(refusal).toContain('the account is short 0.014')
    expect(refusal).toContain('more than 0.014')
    expect(account.bench.book.places.size).toBe(0)
    expect(events(account)).toContain('manual.refused')
    expect(order(account, { size: '0.005', key: 'key-0002' }).refusal).toBeUndefined()
  })

  test('is sent with an order that goes beyond the short, and is kept', () => {
    const account = takesShort()
    expect(order(account, { size: '0.015', stopLoss: '9800' }).detail).toContain('stop-loss 9800')
    expect(account.fillNext()).toMatchObject([{ stopLossTicks: 98_000 }])
    expect([...account.bench.book.exits.values()]).toMatchObject([
      { strategyId: MANUAL, stopLossTicks: 98_000 },
    ])
  })

  test('is sent in hedge mode, where a buy opens a long beside the short', () => {
    const account = trading('hedge_mode')
    account.bench.decideAs(STRATEGY, { kind: 'target', symbol: SYMBOL, lots: -14 })
    account.bench.accept(account.bench.grantBatch())
    expect(order(account, { size: '0.005', stopLoss: '9800' }).refusal).toBeUndefined()
  })

  test('is refused with reduce only, which opens nothing', () => {
    const account = trading()
    order(account)
    account.fillNext()
    const change = { key: 'key-0002', side: 'sell', reduceOnly: true, stopLoss: '10200' } as const
    expect(order(account, change).refusal).toContain('an order with reduce only opens nothing')
  })
})
