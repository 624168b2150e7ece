import { describe, expect, test } from 'vitest'
import { type QuoteLevel } from '../../src/domain/intent.ts'
import type { Order, OrderTerms } from '../../src/domain/order.ts'
import { FLAT } from '../../src/domain/position.ts'
import { markAccepted, markQueuedAgain, markUnknown } from '../../src/execution/order-machine.ts'
import {
  planQuote,
  planTarget,
  type QuotePlanInput,
  staleTargetOrders,
  type TargetPlanInput,
} from '../../src/execution/order-plans.ts'
import { madeInstrument } from '../support/market-moment.ts'
import { madeSent, SENT_AT } from './made-terms.ts'

const resting = (terms: Parameters<typeof madeSent>[0]): Order =>
  markAccepted(madeSent(terms), undefined, SENT_AT)
/** Sent, lost, proved absent: it waits to be sent again. */
const absent = (order: Order): Order => markQueuedAgain(markUnknown(order, 'timeout'), 'absent')
const level = (side: 'buy' | 'sell', ticks: number, lots = 10): QuoteLevel => ({
  side,
  ticks,
  lots,
})

function quote(input: Partial<QuotePlanInput>) {
  return planQuote({
    strategyId: 'grid',
    instrument: madeInstrument(),
    positionMode: 'one_way_mode',
    levels: [],
    orders: [],
    holding: FLAT,
    ordinal: 7,
    deadlineAt: SENT_AT,
    isRestricted: false,
    bid: 100,
    ask: 100.1,
    ...input,
  })
}

function targetInput(input: Partial<TargetPlanInput>): TargetPlanInput {
  return {
    strategyId: 'trend',
    instrument: madeInstrument(),
    positionMode: 'one_way_mode',
    purpose: 'target',
    target: 0,
    orders: [],
    holding: FLAT,
    accountHolding: FLAT,
    backedHolding: input.holding ?? FLAT,
    bid: 100,
    ask: 100.1,
    takerCollarRatio: 0.001,
    ordinal: 3,
    orderLotsMax: 1000,
    deadlineAt: SENT_AT,
    ...input,
  }
}

function target(input: Partial<TargetPlanInput>) {
  return planTarget(targetInput(input)).map(({ intent, resendOf }) => ({ ...intent, resendOf }))
}

describe('a ladder', () => {
  test('keeps what stands, places what is missing, and names what is too much', () => {
    const kept = resting({ id: 'kept', ticks: 1000 })
    const extra = resting({ id: 'extra', ticks: 998 })

    const plan = quote({ levels: [level('buy', 1000), level('sell', 1010)], orders: [kept, extra] })

    expect(plan.missing.map(({ intent }) => [intent.action, intent.ticks, intent.force])).toEqual([
      ['openShort', 1010, 'post_only'],
    ])
    expect(plan.extra).toEqual([extra])
  })

  describe('that is restricted', () => {
    const sell = (id: string, lots: number): Order =>
      resting({ id, action: 'openShort', ticks: 1010, lots })

    test('asks for the rungs nearest to the market first', () => {
      const levels = [
        level('sell', 1020),
        level('buy', 990),
        level('sell', 1010),
        level('buy', 1000),
      ]

      const { missing } = quote({ levels, isRestricted: true })

      expect(missing.map(({ intent }) => intent.ticks)).toEqual([1000, 990, 1010, 1020])
    })

    test('asks last for rungs that meet the other side, because they would be refused', () => {
      const levels = [
        level('sell', 1000),
        level('sell', 1010),
        level('buy', 1001),
        level('buy', 990),
      ]

      const { missing } = quote({ levels, isRestricted: true })

      expect(missing.map(({ intent }) => intent.ticks)).toEqual([990, 1010, 1001, 1000])
    })

    test.each([
      { name: 'a smaller order stands for a rung', lots: [6], held: 6, missing: [], extra: [] },
      { name: 'several stand for one together', lots: [3, 6], held: 9, missing: [], extra: [] },
      {
        name: 'one more is missing while more is held',
        lots: [6],
        held: 8,
        missing: [4],
        extra: [],
      },
      {
        name: 'none is missing where none has room',
        lots: [6, 4],
        held: 15,
        missing: [],
        extra: [],
      },
      {
        name: 'what is beyond its size is too much',
        lots: [6, 5],
        held: 15,
        missing: [4],
        extra: [5],
      },
      { name: 'and so is what is larger', lots: [11], held: 11, missing: [10], extra: [11] },
    ])('$name', ({ lots, held, missing, extra }) => {
      const orders = lots.map((size) => sell(`o${size}`, size))
      const holding = { longLots: held, shortLots: 0 }

      const plan = quote({ levels: [level('sell', 1010)], orders, holding, isRestricted: true })

      expect(plan.missing.map(({ intent }) => intent.lots)).toEqual(missing)
      expect(plan.extra.map(({ terms }) => terms.lots)).toEqual(extra)
    })
  })

  test('[ORD2] names each new order once, whatever rung it stands on', () => {
    const { missing } = quote({ levels: [level('buy', 1000), level('buy', 999)] })

    expect(missing.map(({ intent }) => intent.key)).toEqual(['quote:BTCUSDT:7', 'quote:BTCUSDT:8'])
  })

  test('takes an order that was proved absent for its level, and sends that again', () => {
    const waiting = absent(madeSent({ id: 'waiting' }))

    expect(quote({ levels: [level('buy', 1000)], orders: [waiting] }).missing).toMatchObject([
      { resendOf: 'waiting', intent: { key: waiting.terms.key, ticks: 1000, lots: 10 } },
    ])
  })

  test.each([
    ['closeShort', 'buy', { longLots: 0, shortLots: 12 }],
    ['closeLong', 'sell', { longLots: 12, shortLots: 0 }],
  ] as const)(
    'counts of a partly filled %s what is still open: the rest of what is held has an exit',
    (action, side, holding) => {
      // Of 10 lots 7 are filled, so of 12 that are held 9 are without an exit.
      const [near, far] = side === 'buy' ? [999, 998] : [1002, 1003]
      const order = { ...resting({ id: 'kept', ticks: near, lots: 10, action }), filledLots: 7 }
      const { missing } = quote({
        positionMode: 'hedge_mode',
        holding,
        orders: [order],
        levels: [level(side, near, 10), level(side, far, 9)],
      })

      expect(missing.map(({ intent }) => intent)).toMatchObject([{ action, ticks: far, lots: 9 }])
    },
  )

  test('in hedge mode closes what is held on the other side before it opens, level by level', () => {
    const plan = quote({
      positionMode: 'hedge_mode',
      holding: { longLots: 15, shortLots: 0 },
      levels: [level('sell', 1010), level('sell', 1011), level('buy', 1000)],
    })

    expect(plan.missing.map(({ intent }) => intent.action)).toEqual([
      'closeLong',
      'openShort',
      'openLong',
    ])
  })
})

describe('a target', () => {
  test.each<[string, Partial<TargetPlanInput>, [OrderTerms['action'], number][]]>([
    ['from flat opens', { target: 5 }, [['openLong', 5]]],
    ['that is reached asks for nothing', { target: 5, holding: { longLots: 5, shortLots: 0 } }, []],
    [
      'flips in one order',
      { target: -5, holding: { longLots: 5, shortLots: 0 } },
      [['openShort', 10]],
    ],
    [
      'is reduce-only when it can only reduce',
      { holding: { longLots: 5, shortLots: 0 }, accountHolding: { longLots: 5, shortLots: 0 } },
      [['closeLong', 5]],
    ],
    [
      'is plain when the account holds less than the strategy',
      { holding: { longLots: 5, shortLots: 0 }, accountHolding: { longLots: 2, shortLots: 0 } },
      [['openShort', 5]],
    ],
    [
      'in hedge mode closes one leg and opens the other',
      { positionMode: 'hedge_mode', target: -4, holding: { longLots: 5, shortLots: 1 } },
      [
        ['closeLong', 5],
        ['openShort', 3],
      ],
    ],
    [
      'goes a long way in steps that risk lets through',
      { target: 50, orderLotsMax: 20 },
      [['openLong', 20]],
    ],
  ])('%s', (_, input, orders) => {
    expect(target(input).map(({ action, lots }) => [action, lots])).toEqual(orders)
  })

  test('takes at a collar, never beyond it, and never rests', () => {
    expect(target({ target: 1 })).toMatchObject([{ ticks: 1002, force: 'ioc' }])
    expect(target({ target: -1 })).toMatchObject([{ ticks: 999, force: 'ioc' }])
  })

  test('waits while an order of it is open, and sends one again that waits', () => {
    const open = resting({ id: 'open', purpose: 'target', force: 'ioc' })
    const waiting = absent(madeSent({ id: 'waiting', purpose: 'target', force: 'ioc' }))

    expect(target({ target: 5, orders: [open] })).toEqual([])
    expect(target({ target: 10, orders: [waiting] })).toMatchObject([
      { resendOf: 'waiting', lots: 10 },
    ])
  })

  test('[RSK1] what is approved of an order that is sent again is what is sent: its own price', () => {
    const waiting = absent(
      madeSent({ id: 'waiting', purpose: 'target', force: 'ioc', ticks: 1001 }),
    )

    expect(target({ target: 10, orders: [waiting] })).toMatchObject([
      { resendOf: 'waiting', ticks: 1001, key: waiting.terms.key, deadlineAt: SENT_AT },
    ])
  })

  test('[ORD7] drops an order that waits with a price beyond the collar of today', () => {
    const buys = (ticks: number): Order =>
      absent(madeSent({ id: `at-${ticks}`, purpose: 'target', force: 'ioc', ticks }))
    const { ticks: _, ...atMarket } = buys(1001).terms
    const orders = [buys(1002), buys(1003), { ...buys(1001), terms: atMarket }]
    const stale = (input: Partial<TargetPlanInput>) =>
      staleTargetOrders(targetInput({ target: 10, orders, ...input })).map(
        ({ terms }) => terms.clientOid,
      )

    expect(stale({})).toEqual(['at-1003', 'at-1001'])
    expect(stale({ bid: 95, ask: 95.1 })).toEqual(['at-1002', 'at-1003', 'at-1001'])
    expect(stale({ takerCollarRatio: undefined })).toEqual([])
  })

  test('[ORD7] drops an order that waits when the target has come nearer, or gone the other way', () => {
    const waiting = absent(madeSent({ id: 'waiting', purpose: 'target', force: 'ioc' }))
    const input = { target: 5, orders: [waiting] }

    expect(target(input)).toEqual([])
    expect(staleTargetOrders(targetInput(input))).toEqual([waiting])
    expect(staleTargetOrders(targetInput({ ...input, target: -20 }))).toEqual([waiting])
  })
})
