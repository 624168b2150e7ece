import {
  ACCOUNT,
  type ModeReason,
  type RestrictedMode,
  toTradingState,
} from '../../src/domain/trading-mode.ts'
import { describe, expect, test } from 'vitest'
import { detailOf } from '../../src/domain/denial.ts'
import { MANUAL } from '../../src/domain/hand-order.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { type OrderIntent } from '../../src/domain/intent.ts'
import type { OrderAction } from '../../src/domain/order-action.ts'
import { FLAT, type Holding } from '../../src/domain/position.ts'
import { approve, approveAgain } from '../../src/risk/approve.ts'
import { addToExposure, buildExposure } from '../../src/risk/exposure.ts'
import { type RiskContext } from '../../src/risk/risk-context.ts'
import { madeInstrument } from '../support/market-moment.ts'
import { makeLimits, makeOwnLimits } from '../support/made-limits.ts'

const NOW = 1_704_067_200_000

function intent(change: Partial<OrderIntent> = {}): OrderIntent {
  return {
    strategyId: 'grid',
    symbol: 'BTCUSDT',
    purpose: 'place',
    key: 'one',
    action: 'openLong',
    lots: 10,
    ticks: 1000_00,
    force: 'gtc',
    takeProfitTicks: undefined,
    stopLossTicks: undefined,
    deadlineAt: NOW + 1000,
    ...change,
  }
}

const NO_OTHERS = { notional: 0, openOrders: 0 }
const NO_RESTING = { buyTicks: Number.NEGATIVE_INFINITY, sellTicks: Number.POSITIVE_INFINITY }

/** BTCUSDT at 10,000: ten lots are worth 100. */
function context(
  change: Partial<RiskContext> = {},
  {
    mode = 'one_way_mode',
    holding = FLAT,
    open = [],
  }: { mode?: PositionMode; holding?: Holding; open?: readonly [OrderAction, number][] } = {},
): RiskContext {
  const exposure = () => {
    const built = buildExposure(mode, holding, [])
    for (const [action, lots] of open) addToExposure(built, action, lots)
    return built
  }
  return {
    now: NOW,
    instrument: madeInstrument({ lotsMin: 2 }),
    market: { bid: 10_000, ask: 10_000.1, last: 10_000, ageMs: 100, deliveryState: undefined },
    accountAgeMs: 500,
    entryPause: undefined,
    trading: toTradingState([]),
    account: makeLimits({
      dataAgeMaxMs: 1000,
      openOrdersMax: 50,
      orderNotionalMax: 1000,
      grossNotionalMax: 5000,
    }),
    strategy: makeOwnLimits({ positionMax: 100, orderSizeMax: 60, openOrdersMax: 5 }),
    held: holding,
    holding,
    ownExposure: exposure(),
    accountExposure: exposure(),
    unowned: [],
    isConfirmed: true,
    others: NO_OTHERS,
    equity: undefined,
    capital: undefined,
    distanceMin: undefined,
    worstCase: undefined,
    distanceFrom: undefined,
    ownPace: { orders: 0 },
    accountPace: { orders: 0 },
    ...change,
    bestResting: { ...(change.bestResting ?? NO_RESTING) },
  }
}

/** With a limit on what the strategy's position may be worth. */
function worthAtMost(
  positionNotionalMax: number,
  position: Parameters<typeof context>[1] = {},
  market: Partial<RiskContext['market']> = {},
): RiskContext {
  const made = context({}, position)
  return {
    ...made,
    market: { ...made.market, ...market },
    strategy: { ...made.strategy, positionNotionalMax },
  }
}

const verdictOf = (order: OrderIntent, riskContext: RiskContext): string => {
  const verdict = approve(order, riskContext)
  return verdict.approved ? 'approved' : verdict.objection.code
}
const market = (change: Partial<RiskContext['market']>) => ({
  market: { ...context().market, ...change },
})
const held = (mode: RestrictedMode, code: ModeReason = 'operator') => ({
  trading: toTradingState([
    { scope: ACCOUNT, mode, code, reason: 'a person said so', by: 'anna', at: NOW },
  ]),
})
const halted = held('halted')
const reducing = held('reducing')
const flatten = { purpose: 'flatten' } as const
const flat = () => buildExposure('one_way_mode', FLAT, [])
const long = { longLots: 30, shortLots: 0 }
const short = { longLots: 0, shortLots: 30 }

describe('[RSK1] the risk checks', () => {
  test.each<[string, OrderIntent, RiskContext, string]>([
    ['a plain order', intent(), context(), 'approved'],
    ['a market order', intent({ ticks: undefined }), context(), 'approved'],
    ['half a lot', intent({ lots: 0.5 }), context(), 'SIZE_PRECISION'],
    ['no lots', intent({ lots: 0 }), context(), 'SIZE_PRECISION'],
    ['half a tick', intent({ ticks: 1000.5 }), context(), 'PRICE_PRECISION'],
    ['a stop off the grid', intent({ stopLossTicks: 1.5 }), context(), 'PRICE_PRECISION'],
    ['more lots than can be summed', intent({ lots: 2 ** 53 - 1 }), context(), 'SIZE_PRECISION'],
    ['a price beyond the grid', intent({ ticks: 2 ** 53 }), context(), 'PRICE_PRECISION'],
    [
      'a take-profit that cannot be written on ticks of 0.5',
      intent({ takeProfitTicks: 2 ** 53 - 1 }),
      context({ instrument: madeInstrument({ tick: '0.5' }) }),
      'PRICE_PRECISION',
    ],
    [
      'a take-profit within the collar',
      intent({ takeProfitTicks: 1050_00 }),
      context(),
      'approved',
    ],
    ['a take-profit beyond it', intent({ takeProfitTicks: 1051_00 }), context(), 'PRICE_COLLAR'],
    ['a stop-loss within the collar', intent({ stopLossTicks: 950_00 }), context(), 'approved'],
    ['a stop-loss beyond it', intent({ stopLossTicks: 949_00 }), context(), 'PRICE_COLLAR'],
    [
      "a market order's stop-loss beyond it",
      intent({ ticks: undefined, stopLossTicks: 1 }),
      context(),
      'PRICE_COLLAR',
    ],
    [
      'a market order where nothing was traded yet',
      intent({ ticks: undefined }),
      context(market({ last: Number.NaN })),
      'approved',
    ],
    [
      'a market order worth too little at the touch',
      intent({ ticks: undefined, lots: 2 }),
      context({ ...market({ bid: 1000, ask: 1000, last: 10_000 }) }),
      'NOTIONAL_BELOW_MINIMUM',
    ],
    ['a market that no grid holds', intent(), context(market({ ask: 1e300 })), 'DATA_MISSING'],
    ['no prices', intent(), context(market({ bid: Number.NaN })), 'DATA_MISSING'],
    ['a crossed market', intent(), context(market({ ask: 9999 })), 'DATA_MISSING'],
    ['[MKT1] prices as old as allowed', intent(), context(market({ ageMs: 1000 })), 'approved'],
    [
      'too little on older prices: waiting would not mend it',
      intent({ ticks: undefined, lots: 2 }),
      context(market({ bid: 1000, ask: 1000, ageMs: 1001 })),
      'NOTIONAL_BELOW_MINIMUM',
    ],
    ['[MKT1] older prices', intent(), context(market({ ageMs: 1001 })), 'DATA_STALE'],
    ['[MKT3] readings as old as allowed', intent(), context({ accountAgeMs: 60_000 }), 'approved'],
    [
      '[MKT3] an opening on older readings',
      intent(),
      context({ accountAgeMs: 60_001 }),
      'ACCOUNT_STALE',
    ],
    [
      '[MKT3] a close on older readings',
      intent({ action: 'closeLong' }),
      context({ accountAgeMs: 1e9 }, { holding: long }),
      'approved',
    ],
    [
      '[MKT3] what only reduces, on older readings',
      intent({ action: 'openShort' }),
      context({ accountAgeMs: 1e9 }, { holding: long }),
      'approved',
    ],
    [
      '[RSK2] the close of a flatten on an unsynchronised clock',
      intent({ action: 'closeLong', ...flatten }),
      context(held('halted', 'clockUnsynchronised'), { holding: long }),
      'CLOCK_UNSYNCHRONISED',
    ],
    ['[RSK2] an opening while reducing', intent(), context(reducing), 'TRADING_REDUCING'],
    ['[RSK2] an opening while halted', intent(), context(halted), 'TRADING_HALTED'],
    [
      '[RSK2] a close while halted',
      intent({ action: 'closeLong' }),
      context(halted, { holding: long }),
      'TRADING_HALTED',
    ],
    [
      '[RSK2] the close of a flatten while halted',
      intent({ action: 'closeLong', ...flatten }),
      context(halted, { holding: long }),
      'approved',
    ],
    [
      '[RSK2] what calls itself a flatten and opens',
      intent(flatten),
      context(halted),
      'TRADING_HALTED',
    ],
    [
      '[RSK2] even the close of a flatten while killed',
      intent({ action: 'closeLong', ...flatten }),
      context(held('killed', 'kill'), { holding: long }),
      'TRADING_KILLED',
    ],
    [
      '[RSK2] a close while reducing',
      intent({ action: 'closeLong' }),
      context(reducing, { holding: long }),
      'approved',
    ],
    [
      '[RSK2] a plain buy that only reduces',
      intent(),
      context(reducing, { holding: short }),
      'approved',
    ],
    [
      '[RSK2] in hedge mode an opening of the other side while reducing',
      intent(),
      context(reducing, { mode: 'hedge_mode', holding: short }),
      'TRADING_REDUCING',
    ],
    [
      '[RSK2] a plain buy beside one that reduces already',
      intent(),
      context(reducing, { holding: short, open: [['openLong', 25]] }),
      'TRADING_REDUCING',
    ],
    [
      'before delivery an opening',
      intent(),
      context(market({ deliveryState: 'delivery_before' })),
      'INSTRUMENT_STATE',
    ],
    [
      'before delivery a close',
      intent({ action: 'closeLong' }),
      context(market({ deliveryState: 'delivery_before' }), { holding: long }),
      'approved',
    ],
    [
      'in delivery a close',
      intent({ action: 'closeLong' }),
      context(market({ deliveryState: 'delivery_period' }), { holding: long }),
      'INSTRUMENT_STATE',
    ],
    ['[ORD7] the last ms of its time', intent({ deadlineAt: NOW }), context(), 'approved'],
    ['[ORD7] one ms too late', intent({ deadlineAt: NOW - 1 }), context(), 'INTENT_EXPIRED'],
    ['fewer lots than the minimum', intent({ lots: 1 }), context(), 'SIZE_BELOW_MINIMUM'],
    [
      'less value than the minimum',
      intent({ lots: 2, ticks: 1000 }),
      context(market({ bid: 100, ask: 100.1, last: 100 })),
      'NOTIONAL_BELOW_MINIMUM',
    ],
    ['the largest order', intent({ lots: 60 }), context(), 'approved'],
    ['a larger one', intent({ lots: 61 }), context(), 'ORDER_SIZE_LIMIT'],
    [
      'a dearer one',
      intent({ lots: 60, ticks: 1049_00 }),
      context({ account: { ...context().account, orderNotionalMax: 600 } }),
      'ORDER_NOTIONAL_LIMIT',
    ],
    ['a price far above the market', intent({ ticks: 1051_00 }), context(), 'PRICE_COLLAR'],
    ['a price far below it', intent({ ticks: 949_00 }), context(), 'PRICE_COLLAR'],
    [
      'a close of all there is',
      intent({ action: 'closeLong', lots: 30 }),
      context({}, { holding: long }),
      'approved',
    ],
    [
      'a close of more',
      intent({ action: 'closeLong', lots: 31 }),
      context({}, { holding: long }),
      'CLOSE_EXCEEDS_POSITION',
    ],
    [
      'a close beside another',
      intent({ action: 'closeLong', lots: 10 }),
      context({}, { holding: long, open: [['closeLong', 25]] }),
      'CLOSE_EXCEEDS_POSITION',
    ],
    [
      'a close of more than the account holds, whatever the strategy believes',
      intent({ action: 'closeLong', lots: 30 }),
      context(
        { accountExposure: buildExposure('one_way_mode', { longLots: 29, shortLots: 0 }, []) },
        { holding: long },
      ),
      'CLOSE_EXCEEDS_POSITION',
    ],
    [
      'the whole position',
      intent({ lots: 10 }),
      context({}, { open: [['openLong', 90]] }),
      'approved',
    ],
    [
      'more than the position may be',
      intent({ lots: 11 }),
      context({}, { open: [['openLong', 90]] }),
      'POSITION_LIMIT',
    ],
    ['a flip within the limit', intent({ lots: 60 }), context({}, { holding: short }), 'approved'],
    [
      'a close after which resting buys could go beyond it',
      intent({ action: 'closeShort', lots: 30 }),
      context({}, { holding: short, open: [['openLong', 110]] }),
      'POSITION_LIMIT',
    ],
    [
      'a leg of its own in hedge mode',
      intent({ lots: 60 }),
      context({}, { mode: 'hedge_mode', holding: short }),
      'approved',
    ],
    [
      'a position worth as much as the strategy may hold',
      intent({ lots: 20 }),
      worthAtMost(400.004, { open: [['openLong', 20]] }),
      'approved',
    ],
    [
      'a position worth more than that',
      intent({ lots: 21 }),
      worthAtMost(400.004, { open: [['openLong', 20]] }),
      'POSITION_NOTIONAL_LIMIT',
    ],
    [
      'a value at the price of the order, where that is above the market',
      intent({ lots: 40, action: 'openShort', ticks: 1010_00 }),
      worthAtMost(403),
      'POSITION_NOTIONAL_LIMIT',
    ],
    [
      'a value at the last trade, where the best prices are far below it',
      intent({ lots: 40, ticks: 500_00 }),
      worthAtMost(300, {}, { bid: 5000, ask: 5000.1, last: 10_000 }),
      'POSITION_NOTIONAL_LIMIT',
    ],
    [
      'a value where there was no trade yet',
      intent({ lots: 40 }),
      worthAtMost(401, {}, { last: Number.NaN }),
      'approved',
    ],
    [
      'what reduces a position that is worth too much by now',
      intent({ action: 'openLong', lots: 30 }),
      worthAtMost(100, { holding: short }),
      'approved',
    ],
    [
      'a close of a position that is worth too much by now',
      intent({ action: 'closeShort', lots: 30 }),
      worthAtMost(100, { holding: short }),
      'approved',
    ],
    [
      'a close in hedge mode',
      intent({ action: 'closeShort', lots: 30 }),
      worthAtMost(100, { mode: 'hedge_mode', holding: short }),
      'approved',
    ],
    [
      'a flip to a position that is worth too much',
      intent({ lots: 45 }),
      worthAtMost(100, { holding: short }),
      'POSITION_NOTIONAL_LIMIT',
    ],
    [
      'a close after which resting buys could be worth too much',
      intent({ action: 'closeShort', lots: 30 }),
      worthAtMost(100, { holding: short, open: [['openLong', 40]] }),
      'POSITION_NOTIONAL_LIMIT',
    ],
    [
      'a flatten all the same',
      intent({ action: 'closeShort', lots: 30, purpose: 'flatten' }),
      worthAtMost(100, { holding: short, open: [['openLong', 40]] }),
      'approved',
    ],
    [
      'more than the account may hold',
      intent(),
      context({ others: { ...NO_OTHERS, notional: 4950 } }),
      'GROSS_NOTIONAL_LIMIT',
    ],
    [
      'as much one way as the other way is counted, where that is too much',
      intent({ action: 'openShort', lots: 20 }),
      context(
        { others: { ...NO_OTHERS, notional: 4500 } },
        {
          open: [
            ['openLong', 80],
            ['openShort', 40],
          ],
        },
      ),
      'GROSS_NOTIONAL_LIMIT',
    ],
    [
      'what takes from a position, whatever others hold',
      intent({ action: 'openShort', lots: 20 }),
      context({ others: { ...NO_OTHERS, notional: 9000 } }, { holding: long }),
      'approved',
    ],
    [
      'a flatten of what others hold against, beyond what the account may hold',
      intent({ action: 'openShort', purpose: 'flatten', lots: 20 }),
      context(
        { others: { ...NO_OTHERS, notional: 9000 }, accountExposure: flat() },
        { holding: long },
      ),
      'approved',
    ],
    [
      'a flatten of more than the strategy holds, beyond what the account may hold',
      intent({ action: 'openShort', purpose: 'flatten', lots: 40 }),
      context(
        { others: { ...NO_OTHERS, notional: 9000 }, accountExposure: flat() },
        { holding: long },
      ),
      'GROSS_NOTIONAL_LIMIT',
    ],
    [
      'a target of what others hold against, beyond what the account may hold',
      intent({ action: 'openShort', purpose: 'target', lots: 20 }),
      context(
        { others: { ...NO_OTHERS, notional: 9000 }, accountExposure: flat() },
        { holding: long },
      ),
      'GROSS_NOTIONAL_LIMIT',
    ],
    [
      'beside a position that nobody can value',
      intent(),
      context({ others: { ...NO_OTHERS, notional: Infinity } }),
      'GROSS_NOTIONAL_LIMIT',
    ],
    [
      'one order too many of the strategy',
      intent(),
      context(
        {},
        { open: Array.from({ length: 5 }, () => ['openLong', 2] as [OrderAction, number]) },
      ),
      'OPEN_ORDERS_LIMIT',
    ],
    [
      'one order too many of the account',
      intent(),
      context({ others: { ...NO_OTHERS, openOrders: 50 } }),
      'OPEN_ORDERS_LIMIT',
    ],
  ])('%s', (_, order, riskContext, verdict) => {
    expect(verdictOf(order, riskContext)).toBe(verdict)
  })

  test('counts what it has just approved', () => {
    const riskContext = context()

    expect([1, 2, 3].map(() => verdictOf(intent({ lots: 40 }), riskContext))).toEqual([
      'approved',
      'approved',
      'POSITION_LIMIT',
    ])
  })

  test('counts an order that is sent again once, approved or denied', () => {
    const riskContext = context({}, { open: [['openLong', 95]] })

    expect(approveAgain(intent({ lots: 60 }), riskContext).approved).toBe(true)
    expect(riskContext.ownExposure.addingLongLots).toBe(95)
    expect(approveAgain(intent({ lots: 61 }), riskContext).approved).toBe(false)
    expect(riskContext.ownExposure.addingLongLots).toBe(95)
  })
})

describe('[RSK1] leverage', () => {
  const account = { ...context().account, leverageMax: 2 }

  test('is what could be held over the equity', () => {
    // Ten lots are worth 100.
    expect(verdictOf(intent(), context({ account, equity: 50.1 }))).toBe('approved')
    expect(verdictOf(intent(), context({ account, equity: 49.9 }))).toBe('LEVERAGE_LIMIT')
    expect(
      verdictOf(
        intent(),
        context({ account, equity: 100, others: { ...NO_OTHERS, notional: 101 } }),
      ),
    ).toBe('LEVERAGE_LIMIT')
  })

  test('lets nothing leave that adds risk while the equity is not known, and what reduces it always', () => {
    expect(verdictOf(intent(), context({ account }))).toBe('LEVERAGE_LIMIT')
    const holding = { longLots: 20, shortLots: 0 }
    expect(verdictOf(intent({ action: 'closeLong' }), context({ account }, { holding }))).toBe(
      'approved',
    )
  })
})

test('[RSK1] the value of an order has a limit of the account and one of the strategy', () => {
  const strategy = { ...context().strategy, orderNotionalMax: 90 }
  expect(verdictOf(intent(), context({ strategy }))).toBe('ORDER_NOTIONAL_LIMIT')
  expect(verdictOf(intent({ lots: 9 }), context({ strategy }))).toBe('approved')
})

describe('[RSK1] the capital of a strategy', () => {
  const capital = (max: number, beside = 0) => ({
    capital: { max, usedBeside: beside },
  })

  test('is what all that it could hold would need as margin', () => {
    // Ten lots are worth 100.
    expect(verdictOf(intent(), context(capital(100.1)))).toBe('approved')
    expect(verdictOf(intent(), context(capital(99.9)))).toBe('CAPITAL_LIMIT')
    expect(verdictOf(intent(), context(capital(150, 51)))).toBe('CAPITAL_LIMIT')
    const instrument = { ...madeInstrument({ lotsMin: 2 }), leverage: 5 }
    expect(verdictOf(intent(), context({ ...capital(20.1), instrument }))).toBe('approved')
    expect(verdictOf(intent(), context({ ...capital(19.9), instrument }))).toBe('CAPITAL_LIMIT')
    const inverse = { ...instrument, productType: 'COIN-FUTURES' as const }
    expect(verdictOf(intent(), context({ ...capital(0.0021), instrument: inverse }))).toBe(
      'approved',
    )
    expect(verdictOf(intent(), context({ ...capital(0.0019), instrument: inverse }))).toBe(
      'CAPITAL_LIMIT',
    )
  })

  test('counts what is approved for the same batch, and the larger side of a ladder only', () => {
    const both = context(capital(150))
    expect(verdictOf(intent(), both)).toBe('approved')
    expect(verdictOf(intent(), both)).toBe('CAPITAL_LIMIT')
    expect(verdictOf(intent({ action: 'openShort', ticks: 1000_01 }), both)).toBe('approved')
  })

  test('lets nothing leave that adds while the equity is not known, and what reduces it always', () => {
    expect(verdictOf(intent(), context(capital(Number.NaN)))).toBe('CAPITAL_LIMIT')
    const holding = { longLots: 20, shortLots: 0 }
    expect(verdictOf(intent({ action: 'closeLong' }), context(capital(1), { holding }))).toBe(
      'approved',
    )
  })
})

describe('[RSK1] an order that would trade with one of ours', () => {
  const account = { ...context().account, selfTrade: 'deny' } as const
  const bestResting = { buyTicks: 99_000, sellTicks: 100_010 }

  test.each([
    ['openLong', 100_010, 'SELF_TRADE'],
    ['openLong', 100_009, 'approved'],
    ['openShort', 99_000, 'SELF_TRADE'],
    ['openShort', 99_001, 'approved'],
  ] as const)('%s at %i ticks: %s', (action, ticks, verdict) => {
    expect(verdictOf(intent({ action, ticks }), context({ account, bestResting }))).toBe(verdict)
  })

  test('leaves where nobody forbids it, where it is post only, and where it reduces', () => {
    const order = { action: 'openLong', ticks: 100_010 } as const
    expect(verdictOf(intent(order), context({ bestResting }))).toBe('approved')
    expect(
      verdictOf(intent({ ...order, force: 'post_only' }), context({ account, bestResting })),
    ).toBe('approved')
    const holding = { longLots: 0, shortLots: 20 }
    expect(verdictOf(intent(order), context({ account, bestResting }, { holding }))).toBe(
      'approved',
    )
  })
})

test.each(['strategy', 'account'] as const)(
  '[RSK1] the pace of the %s holds back what adds risk',
  (whose) => {
    const limits = context()[whose]
    const slow = { [whose]: { ...limits, ordersPerMinute: 3 } }
    const pace = whose === 'strategy' ? 'ownPace' : 'accountPace'
    const sent = (orders: number) => ({ ...slow, [pace]: { orders } })

    expect(verdictOf(intent(), context(sent(2)))).toBe('approved')
    expect(verdictOf(intent(), context(sent(3)))).toBe('ORDER_PACE')
    const holding = { longLots: 20, shortLots: 0 }
    expect(verdictOf(intent({ action: 'closeLong' }), context(sent(3), { holding }))).toBe(
      'approved',
    )
  },
)

test('a price outside the collar is named with the digits of its instrument', () => {
  const instrument = madeInstrument({ tick: '0.000000000001', lot: '10000000' })
  const cheap = context({
    instrument,
    market: { ...context().market, bid: 0.0000000248, ask: 0.0000000249, last: 0.0000000248 },
  })

  const verdict = approve(intent({ ticks: 30_000, lots: 60 }), cheap)

  expect(verdict).toMatchObject({ objection: { code: 'PRICE_COLLAR' } })
  expect(verdict.approved ? undefined : detailOf(verdict.objection)).toBe(
    '0.00000003, allowed 0.00000002356 to 0.000000026145',
  )
})

describe('the detail of a denial has sizes in the base coin, and prices', () => {
  const denyTrades = { account: { ...context().account, selfTrade: 'deny' } } as const
  const resting = { buyTicks: 99_000, sellTicks: 100_010 }
  const manual = { strategyId: MANUAL, action: 'closeLong', takeProfitTicks: 1050_00 } as const

  test.each<[string, OrderIntent, RiskContext, string]>([
    ['SIZE_BELOW_MINIMUM', intent({ lots: 1 }), context(), '0.001, minimum 0.002'],
    ['ORDER_SIZE_LIMIT', intent({ lots: 61 }), context(), '0.061, limit 0.06'],
    [
      'POSITION_LIMIT',
      intent(),
      context({}, { holding: { longLots: 95, shortLots: 0 } }),
      'could reach 0.105, limit 0.1',
    ],
    ['POSITION_NOTIONAL_LIMIT', intent(), worthAtMost(99), '0.01 could be worth 100.00, limit 99'],
    [
      'CLOSE_EXCEEDS_POSITION',
      intent({ action: 'closeLong', lots: 31 }),
      context({}, { holding: long }),
      '0.031, 0.03 to close',
    ],
    [
      'POSITION_UNEXPLAINED',
      intent({ action: 'openShort', lots: 30, purpose: 'target' }),
      context({ held: long, holding: { longLots: 10, shortLots: 0 } }),
      '0.03 to reduce, 0.01 of it is in the account or held by other strategies',
    ],
    [
      'SELF_TRADE',
      intent({ ticks: 100_010 }),
      context({ ...denyTrades, bestResting: resting }),
      'at 10001, an order of ours rests at 10001',
    ],
    [
      'EXIT_WITHOUT_EFFECT',
      intent(manual),
      context({}, { holding: long }),
      'the account is long 0.03',
    ],
    ['EXIT_WITHOUT_EFFECT', intent(manual), context(), 'the account is flat'],
  ])('%s', (code, order, riskContext, detail) => {
    const verdict = approve(order, riskContext)

    expect(
      verdict.approved ? undefined : [verdict.objection.code, detailOf(verdict.objection)],
    ).toEqual([code, detail])
  })
})
