import { describe, expect, test } from 'vitest'
import { type PositionMode } from '../../src/domain/instrument.ts'
import type { OrderAction, OrderTerms } from '../../src/domain/order.ts'
import { buildBatchRequest } from '../../src/execution/batch.ts'
import { batchPlaceOrder } from '../../src/protocol/futures/batch-place-order.ts'
import { madeInstrument } from '../support/market-moment.ts'
import { madeTerms } from './made-terms.ts'

function itemOf(positionMode: PositionMode, terms: OrderTerms) {
  const account = { positionMode, marginMode: 'crossed' } as const
  const request = buildBatchRequest(account, madeInstrument(), [terms])
  const checked = batchPlaceOrder.request.parse(request)
  expect(batchPlaceOrder.rules?.(checked, { positionMode })).toEqual([])
  return request.orderList[0]
}

describe('the total table: an action on the wire', () => {
  test.each<[PositionMode, OrderAction, object]>([
    ['one_way_mode', 'openLong', { side: 'buy' }],
    ['one_way_mode', 'closeLong', { side: 'sell', reduceOnly: 'YES' }],
    ['one_way_mode', 'openShort', { side: 'sell' }],
    ['one_way_mode', 'closeShort', { side: 'buy', reduceOnly: 'YES' }],
    ['hedge_mode', 'openLong', { side: 'buy', tradeSide: 'open' }],
    ['hedge_mode', 'closeLong', { side: 'buy', tradeSide: 'close' }],
    ['hedge_mode', 'openShort', { side: 'sell', tradeSide: 'open' }],
    ['hedge_mode', 'closeShort', { side: 'sell', tradeSide: 'close' }],
  ])('%s %s', (mode, action, direction) => {
    const item = itemOf(mode, madeTerms({ action }))

    const { side, tradeSide, reduceOnly } = item ?? {}
    expect(JSON.parse(JSON.stringify({ side, tradeSide, reduceOnly }))).toEqual(direction)
  })
})

test('prices and sizes are decimals of the grid, and presets go along', () => {
  const item = itemOf(
    'one_way_mode',
    madeTerms({ ticks: 100_005, lots: 12, takeProfitTicks: 101_000, stopLossTicks: 99_000 }),
  )

  expect(item).toMatchObject({
    price: '10000.5',
    size: '0.012',
    presetStopSurplusPrice: '10100',
    presetStopLossPrice: '9900',
  })
})
