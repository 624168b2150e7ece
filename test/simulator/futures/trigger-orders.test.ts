import { describe, expect, test } from 'vitest'
import { type WireRequestOf } from '../../../src/protocol/endpoints.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { Bench, fillTexts, limit, market, dataOf } from './bench.ts'

describe('presets of an order', () => {
  test('close the whole position by the system when the latest trade reaches them', () => {
    const bench = new Bench()
    bench.place('2', [
      market('buy', '0.2', {
        tradeSide: 'open',
        presetStopLossPrice: '59900',
        presetStopSurplusPrice: '60200',
      }),
    ])
    bench.place('2', [limit('buy', '0.1', '60300', { tradeSide: 'close' })])

    bench.quote({ bid: 59_900, ask: 59_900.1, last: 59_900.1 })
    expect(bench.positions('2')).toHaveLength(1)
    bench.quote({ bid: 59_899, ask: 59_899.1, last: 59_899 })

    expect(bench.positions('2')).toEqual([])
    expect(bench.openOrders('2')).toEqual([])
    expect(bench.fills('2').at(-1)).toMatchObject({
      enterPointSource: 'SYS',
      tradeSide: 'close',
      price: '59899',
      baseVolume: '0.2',
    })
  })

  test('take the profit of a short when the price falls', () => {
    const bench = new Bench()
    bench.place('1', [market('sell', '0.2', { presetStopSurplusPrice: '59900' })])

    bench.quote({ bid: 59_800, ask: 59_800.1 })

    expect(bench.positions('1')).toEqual([])
    // At the trigger, not at 59800.1: what lies between two prices is made up, and a resting order has no more.
    expect(bench.coin('1').realisedProfit).toBe('20')
  })

  test('take no profit beyond the trigger, nor less than a limit behind it', () => {
    const bench = new Bench()
    const exit = { stopSurplusTriggerPrice: '60100', stopSurplusExecutePrice: '60150' }
    bench.placePlan('1', { triggerPrice: '60050', side: 'buy', size: '0.2', ...exit })
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open', presetStopSurplusPrice: '60100' })])

    bench.quote({ bid: 60_050, ask: 60_050.1 })
    bench.quote({ bid: 60_200, ask: 60_200.1 })

    expect(fillTexts(bench.fills('1')).at(-1)).toBe('0.2 @ 60150 taker')
    expect(fillTexts(bench.fills('2')).at(-1)).toBe('0.2 @ 60100 taker')
  })

  test('that watch the mark price are filled where the market is', () => {
    const bench = new Bench({ presetTriggerType: 'mark_price' })
    bench.place('1', [market('buy', '0.1', { presetStopSurplusPrice: '60100' })])

    bench.quote({ bid: 60_200, ask: 60_200.1 })
    bench.settleAt(60_200)

    expect(fillTexts(bench.fills('1')).at(-1)).toBe('0.1 @ 60200 taker')
  })

  test('of a later order replace those of the position', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.1', { presetStopLossPrice: '59900' })])
    bench.place('1', [market('buy', '0.1', { presetStopLossPrice: '59800' })])

    bench.quote({ bid: 59_850, ask: 59_850.1 })

    expect(bench.positions('1')).toMatchObject([{ total: '0.2' }])
  })

  test('watch the mark price where the settings say so', () => {
    const bench = new Bench({ presetTriggerType: 'mark_price' })
    bench.place('1', [market('buy', '0.1', { presetStopLossPrice: '59900' })])

    bench.quote({ bid: 59_850, ask: 59_850.1 })
    expect(bench.positions('1')).toHaveLength(1)
    bench.settleAt(59_700)

    expect(bench.positions('1')).toEqual([])
  })
})

describe('a trigger order', () => {
  test('becomes an order when its price is reached, from below or from above', () => {
    const bench = new Bench()
    bench.placePlan('1', { triggerPrice: '60100', side: 'buy', size: '0.01' })
    bench.placePlan('1', {
      triggerPrice: '59900',
      side: 'buy',
      size: '0.02',
      orderType: 'limit',
      price: '59800',
    })

    bench.quote({ bid: 60_100, ask: 60_100.1 })
    expect(fillTexts(bench.fills('1'))).toEqual(['0.01 @ 60100.1 taker'])
    bench.quote({ bid: 59_900, ask: 59_900.1 })

    expect(bench.core.ledger('1').openOrders).toMatchObject([{ price: '59800', size: '0.02' }])
    expect(bench.core.ledger('1').counts.planOrdersOpen).toBe(0)
  })

  test('is filled no better than its trigger, which the price has jumped past', () => {
    const bench = new Bench()
    bench.placePlan('1', { triggerPrice: '59900', side: 'buy', size: '0.02' })

    bench.quote({ bid: 59_700, ask: 59_700.1 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.02 @ 59900 taker'])
  })

  test('that trails triggers when the price comes back by its callback', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.1')])
    bench.placePlan('1', {
      planType: 'track_plan',
      callbackRatio: '0.5',
      triggerPrice: '60100',
      side: 'sell',
      size: '0.1',
      reduceOnly: 'YES',
    })

    for (const bid of [60_050, 60_100, 60_500, 60_200]) bench.quote({ bid, ask: bid + 0.1 })
    expect(bench.positions('1')).toHaveLength(1)
    bench.quote({ bid: 60_197.5, ask: 60_197.6 })

    expect(bench.positions('1')).toEqual([])
  })

  test('hands its exits to the position; an exit with an execution price is a limit order', () => {
    const bench = new Bench()
    bench.placePlan('1', {
      triggerPrice: '60100',
      stopSurplusTriggerPrice: '60300',
      stopSurplusExecutePrice: '60350',
      stopLossTriggerPrice: '60000',
    })
    bench.quote({ bid: 60_100, ask: 60_100.1 })

    bench.quote({ bid: 60_300, ask: 60_300.1 })

    expect(bench.core.ledger('1').openOrders).toMatchObject([
      { side: 'sell', price: '60350', reduceOnly: true },
    ])
  })

  test('whose order is refused ends without one', () => {
    const bench = new Bench()
    bench.placePlan('1', { triggerPrice: '60100', size: '50' })

    bench.quote({ bid: 60_100, ask: 60_100.1 })

    expect(bench.core.ledger('1').counts).toMatchObject({ planOrdersOpen: 0, ordersAccepted: 0 })
  })
})

type Change = Partial<WireRequestOf<'modifyPlanOrder'>>

describe('modify-plan-order', () => {
  function planned(plan: Parameters<Bench['placePlan']>[1] = {}) {
    const bench = new Bench()
    const { orderId, clientOid } = dataOf(bench.placePlan('1', { clientOid: 'plan', ...plan }))
    const modify = (change: Change): Reply<unknown> =>
      bench.core.answer(
        'modifyPlanOrder',
        { uid: '1' },
        { orderId, productType: 'USDT-FUTURES', ...change },
        bench.now,
      )
    return { bench, orderId, clientOid, modify }
  }

  test('finds it by orderId, or by clientOid; orderId prevails', () => {
    const { bench, orderId, modify } = planned()
    const other = dataOf(bench.placePlan('1', { clientOid: 'other' }))

    expect(modify({ newSize: '0.02' })).toEqual({ ok: true, data: { orderId, clientOid: 'plan' } })
    expect(modify({ clientOid: 'other', newSize: '0.02' })).toMatchObject({
      data: { clientOid: 'plan' },
    })
    const byClientOid = { clientOid: 'other', productType: 'USDT-FUTURES' as const }
    expect(
      bench.core.answer('modifyPlanOrder', { uid: '1' }, byClientOid, bench.now),
    ).toMatchObject({
      data: { orderId: other.orderId },
    })
  })

  test('unknown, of another account, of another product type, or triggered already', () => {
    const { bench, orderId, modify } = planned()

    expect(modify({ orderId: '119999999999999999' })).toMatchObject({ code: '43025' })
    expect(modify({ productType: 'COIN-FUTURES' })).toMatchObject({ code: '43025' })
    expect(
      bench.core.answer(
        'modifyPlanOrder',
        { uid: '2' },
        { orderId, productType: 'USDT-FUTURES' },
        bench.now,
      ),
    ).toMatchObject({ code: '43025' })
    bench.quote({ bid: 61_000, ask: 61_000.1 })
    expect(modify({ newSize: '0.02' })).toMatchObject({ code: '43026' })
  })

  test('empty keeps, a value sets: amount, trigger price, execution price', () => {
    const { bench, modify } = planned({ orderType: 'limit', price: '60900', triggerPrice: '60800' })

    modify({ newSize: '0.03', newTriggerPrice: '60100', newTriggerType: '', newPrice: '60050' })
    modify({ newSize: '', newTriggerPrice: '', newPrice: '' })
    bench.quote({ bid: 60_100, ask: 60_100.1 })

    expect(bench.core.ledger('1').openOrders).toMatchObject([{ size: '0.03', price: '60050' }])
  })

  test('exits: a price adds, another updates, empty keeps, 0 removes', () => {
    const { bench, modify } = planned({ triggerPrice: '60100' })
    modify({ newStopLossTriggerPrice: '59900', newStopLossTriggerType: 'fill_price' })
    modify({ newStopLossTriggerPrice: '59950', newStopLossTriggerType: 'fill_price' })
    modify({ newStopLossTriggerPrice: '' })
    modify({ newSurplusTriggerPrice: '60200', newStopSurplusTriggerType: 'fill_price' })
    modify({ newStopSurplusTriggerPrice: '0' })
    bench.quote({ bid: 60_100, ask: 60_100.1 })

    bench.quote({ bid: 60_250, ask: 60_250.1 })
    expect(bench.positions('1')).toHaveLength(1)
    bench.quote({ bid: 59_950, ask: 59_950.1 })

    expect(bench.positions('1')).toEqual([])
  })

  test('the execution price of an exit: set, kept, and removed by 0', () => {
    const { bench, modify } = planned({ triggerPrice: '60100' })
    modify({
      newStopSurplusTriggerPrice: '60200',
      newStopSurplusTriggerType: 'fill_price',
      newStopSurplusExecutePrice: '60500',
    })
    modify({ newStopSurplusExecutePrice: '' })
    modify({ newStopSurplusExecutePrice: '0' })

    bench.quote({ bid: 60_100, ask: 60_100.1 })
    bench.quote({ bid: 60_200, ask: 60_200.1 })

    expect(fillTexts(bench.fills('1')).at(-1)).toBe('0.01 @ 60200 taker')
  })

  const limitPlan = { orderType: 'limit', price: '60050' } as const
  const trailing = { planType: 'track_plan', callbackRatio: '1' } as const
  test.each([
    ['an execution price on a market order', {}, { newPrice: '60000' }, '40017'],
    [
      'an execution price on a trailing order',
      trailing,
      { newPrice: '60000', newCallbackRatio: '1' },
      '40017',
    ],
    ['a callback on a trigger order', {}, { newCallbackRatio: '1' }, '40017'],
    ['no callback on a trailing order', trailing, { newSize: '0.02' }, '40019'],
    ['a callback above 10', trailing, { newCallbackRatio: '10.1' }, '40020'],
    ['an exit’s price without its type', {}, { newStopLossTriggerPrice: '59000' }, '40019'],
    ['an exit’s type without any exit', {}, { newStopLossTriggerType: 'mark_price' }, '40019'],
    [
      'an exit’s execution price without any exit',
      {},
      { newStopLossExecutePrice: '59000' },
      '40019',
    ],
    [
      'an exit’s type on a trailing order',
      trailing,
      {
        newCallbackRatio: '1',
        newStopLossTriggerPrice: '59000',
        newStopLossTriggerType: 'mark_price',
      },
      '40017',
    ],
    [
      'an exit’s execution price on a trailing order',
      trailing,
      { newCallbackRatio: '1', newStopSurplusExecutePrice: '59000' },
      '40017',
    ],
    ['a price between the ticks', limitPlan, { newPrice: '60000.05' }, '45115'],
    ['an amount below the minimum', {}, { newSize: '0.0001' }, '45111'],
  ] as const)('refuses %s, and changes nothing', (_, plan, change, code) => {
    const { bench, modify } = planned({ triggerPrice: '60100', size: '0.01', ...plan })

    const reply = modify({ newTriggerPrice: '61000', ...change })

    expect(reply).toMatchObject({ ok: false, code })
    for (const bid of [60_100, 59_400, 60_100]) bench.quote({ bid, ask: bid + 0.1 })
    expect(bench.core.ledger('1').counts).toMatchObject({ planOrdersOpen: 0, ordersAccepted: 1 })
  })

  test('accepts a trailing order’s exit by price alone', () => {
    const { modify } = planned(trailing)

    expect(modify({ newCallbackRatio: '2', newStopLossTriggerPrice: '59000' })).toMatchObject({
      ok: true,
    })
  })
})
