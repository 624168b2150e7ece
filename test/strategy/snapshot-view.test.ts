import { describe, expect, it } from 'vitest'
import { SnapshotView } from '../../src/strategy/snapshot-view.ts'
import {
  EMPTY_ACCOUNT,
  holdingOf,
  madeDistance,
  madeInstrument,
  madeOrder,
  madeSnapshot,
  MOMENT_AT,
} from '../support/market-moment.ts'

const BTC = madeInstrument()
const ETH = madeInstrument({ symbol: 'ETHUSDT', tick: '0.01', lot: '0.01', lotsMin: 2 })

function viewOf(...[rows, times]: Parameters<typeof madeSnapshot>) {
  const view = new SnapshotView([BTC, ETH])
  view.pointAt(madeSnapshot(rows, times))
  return view
}

describe('the view of a snapshot', () => {
  it('shows the times and the instruments that are bound', () => {
    const times = {
      sequence: 7,
      takenAt: MOMENT_AT,
      exchangeTime: MOMENT_AT + 40,
      fillsReadAt: MOMENT_AT - 5,
    }
    const view = viewOf([{}, { instrument: ETH }], times)

    expect(view).toMatchObject(times)
    expect(view.instruments.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT'])
    expect(view.instrument('ETHUSDT')).toBe(view.instruments[1])
  })

  it('names the instruments that are bound when asked for another', () => {
    expect(() => viewOf([]).instrument('XRPUSDT')).toThrow(
      /INSTRUMENT_NOT_BOUND.*\n.*XRPUSDT\n.*BTCUSDT ETHUSDT/,
    )
  })

  it('reads each field from its own column', () => {
    const columns = {
      lastPr: 1,
      bidPr: 2,
      askPr: 4,
      bidSz: 5,
      askSz: 6,
      high24h: 7,
      low24h: 8,
      ts: MOMENT_AT - 250,
      change24h: 9,
      baseVolume: 10,
      quoteVolume: 11,
      indexPrice: 12,
      fundingRate: 13,
      holdingAmount: 14,
      open24h: 15,
      deliveryStatus: 2,
    }
    const market = viewOf([{ columns }], { takenAt: 5, exchangeTime: MOMENT_AT }).instrument(
      'BTCUSDT',
    )

    expect(market).toMatchObject({
      last: 1,
      bid: 2,
      ask: 4,
      mid: 3,
      bidTicks: 20,
      askTicks: 40,
      bidSize: 5,
      askSize: 6,
      high24h: 7,
      low24h: 8,
      tickerAt: MOMENT_AT - 250,
      ageMs: 250,
      change24h: 9,
      baseVolume24h: 10,
      quoteVolume24h: 11,
      vwap24h: 1.1,
      index: 12,
      fundingRate: 13,
      openInterest: 14,
      open24h: 15,
      deliveryState: 'delivery_before',
      hasPrices: true,
    })
  })

  it('shows NaN, and no prices, where the exchange said nothing', () => {
    const view = viewOf([{}])

    for (const market of view.instruments) {
      expect(market.bid).toBeNaN()
      expect(market.bidTicks).toBeNaN()
      expect(market.deliveryState).toBeUndefined()
      expect(market.hasPrices).toBe(false)
    }
  })

  it('has no prices when one side is missing or the sides are crossed', () => {
    const hasPrices = (bid: number, ask: number) =>
      viewOf([{ bid, ask }]).instrument('BTCUSDT').hasPrices

    expect([
      hasPrices(0, 10),
      hasPrices(10, Number.NaN),
      hasPrices(11, 10),
      hasPrices(10, 10),
    ]).toEqual([false, false, false, true])
    expect([hasPrices(10, 1e15), hasPrices(1e15, 1e15), hasPrices(9e13, 9e13)]).toEqual([
      false,
      false,
      true,
    ])
  })

  it('[MKT2] shows nothing of an earlier moment once it is pointed at the next', () => {
    const view = new SnapshotView([BTC, ETH])
    const eth = view.instrument('ETHUSDT')
    const held = {
      instrument: ETH,
      bid: 1,
      ask: 2,
      holding: holdingOf(5),
      orders: [madeOrder({ action: 'openLong', ticks: 1 })],
    }
    view.pointAt(madeSnapshot([{}, held]))
    expect([eth.bid, eth.netLots, eth.orders.length]).toEqual([1, 5, 1])

    view.pointAt(madeSnapshot([{}, { instrument: ETH, bid: 3, ask: 4 }]))
    expect([eth.bid, eth.netLots, eth.orders.length]).toEqual([3, 0, 0])

    view.pointAt(madeSnapshot([{}]))
    expect([eth.bid, eth.netLots, eth.positionReadAt]).toEqual([Number.NaN, 0, 0])
  })

  it('finds its instruments in whatever order the snapshot has them', () => {
    const view = viewOf([{ instrument: ETH, bid: 7 }, { bid: 9 }])

    expect([view.instrument('BTCUSDT').bid, view.instrument('ETHUSDT').bid]).toEqual([9, 7])
  })

  it('shows what the strategy and what the account holds', () => {
    const market = viewOf([
      {
        holding: { longLots: 5, shortLots: 2 },
        accountHolding: { longLots: 9, shortLots: 1 },
        positionReadAt: 77,
      },
    ]).instrument('BTCUSDT')

    expect(market).toMatchObject({ netLots: 3, longLots: 5, shortLots: 2, positionReadAt: 77 })
    expect(market).toMatchObject({ accountNetLots: 8, accountLongLots: 9, accountShortLots: 1 })
  })

  it('shows how far what the account holds is from a liquidation, of the nearer side, as a copy', () => {
    const short = madeDistance({ holdSide: 'short', nearest: 0.3, trust: 'ours' })
    const at = (...distances: Parameters<typeof madeDistance>[0][]) => {
      const view = new SnapshotView([BTC])
      const account = {
        ...EMPTY_ACCOUNT,
        distances: new Map([['BTCUSDT', distances.map(madeDistance)]]),
      }
      view.pointAt({ ...madeSnapshot([{}]), account })
      return view.instrument('BTCUSDT').liquidation
    }

    const shown = at(short, {})
    expect(shown).toEqual({
      holdSide: 'long',
      price: 9e3,
      distance: 0.1,
      moves: 12.5,
      ratio: 0.05,
      trust: 'agreed',
    })
    expect(Object.isFrozen(shown)).toBe(true)
    // While they differ it is the nearer figure; once ours counts alone, ours.
    expect(at({ nearest: 0.05, stated: 0.05, statedPrice: 9500, trust: 'disputed' })?.price).toBe(
      9500,
    )
    expect(at({ ratio: Number.NaN })?.ratio).toBe(0.049)
    expect(at({ trust: 'none' })).toBeUndefined()
    expect(viewOf([{}]).instrument('BTCUSDT').liquidation).toBeUndefined()
  })

  it("[STR1] shows copies of the strategy's open orders, in which way they trade", () => {
    const order = madeOrder({ action: 'closeLong', ticks: 4210, lots: 10, filledLots: 4 })
    const market = viewOf([{ orders: [order] }]).instrument('BTCUSDT')

    expect(market.orders).toEqual([
      {
        key: 'quote:4210',
        purpose: 'quote',
        state: 'live',
        action: 'closeLong',
        side: 'sell',
        ticks: 4210,
        lots: 10,
        openLots: 6,
      },
    ])
    expect(market.orders).toBe(market.orders)
    expect(market.orders[0]).not.toBe(order)
  })
})

describe('a feed', () => {
  it('is shown with its age, and not before it was read', () => {
    const view = new SnapshotView([BTC])
    expect(view.feed('ratio')).toBeUndefined()

    const reading = { data: Object.freeze([{ longShortRatio: '1.1' }]), readAt: MOMENT_AT - 40 }
    view.pointAt({ ...madeSnapshot([{}]), feeds: new Map([['ratio', reading]]) })
    expect(view.feed('ratio')).toEqual({ data: [{ longShortRatio: '1.1' }], ageMs: 40 })
    expect(view.feed('ratio')?.data).toBe(reading.data)

    view.pointAt(madeSnapshot([{}]))
    expect(view.feed('ratio')).toBeUndefined()
  })
})

describe('the grid tools of an instrument', () => {
  const market = viewOf([]).instrument('BTCUSDT')

  it('lead a price onto the grid in a named direction', () => {
    expect(market.ticksBelow(42_000.19)).toBe(420_001)
    expect(market.ticksAbove(42_000.11)).toBe(420_002)
    expect(market.ticksBelow(0.7)).toBe(7)
    expect(market.price(420_001)).toBe(42_000.1)
    expect(market).toMatchObject({ tickSize: '0.1', lotSize: '0.001', lotsMin: 1 })
  })

  it('read an exact size, and refuse one off the grid', () => {
    expect(market.lots('0.01')).toBe(10)
    expect(market.lots('2')).toBe(2000)
    expect(market.lotsBelow(0.0159)).toBe(15)
    expect(market.size(15)).toBe(0.015)
    for (const size of ['0.0105', 'much', '', '1e-3', '0,01']) {
      expect(() => market.lots(size), size).toThrow(/SIZE_OFF_GRID/)
    }
  })
})

describe('the intents that an instrument builds', () => {
  const market = viewOf([]).instrument('BTCUSDT')

  it('carry its symbol', () => {
    const levels = [{ side: 'buy', ticks: 5, lots: 1 }] as const

    expect([
      market.quote(levels),
      market.target(-3),
      market.place({ key: 'entry', action: 'openLong', lots: 1, ticks: 5 }),
      market.cancelAll(),
      market.modifyTrigger({ orderId: '1', key: 'tighten', stopLossTicks: null }),
      market.cancelMargin({ key: 'clear', orders: [{ orderId: '2' }] }),
      market.copySettings({ key: 'open', change: 'ADD', takeProfitRatio: 50 }),
    ]).toEqual([
      { kind: 'quote', symbol: 'BTCUSDT', levels },
      { kind: 'target', symbol: 'BTCUSDT', lots: -3 },
      { kind: 'place', symbol: 'BTCUSDT', key: 'entry', action: 'openLong', lots: 1, ticks: 5 },
      { kind: 'cancelAll', symbol: 'BTCUSDT' },
      {
        kind: 'modifyTrigger',
        symbol: 'BTCUSDT',
        orderId: '1',
        key: 'tighten',
        stopLossTicks: null,
      },
      { kind: 'cancelMargin', symbol: 'BTCUSDT', key: 'clear', orders: [{ orderId: '2' }] },
      { kind: 'copySettings', symbol: 'BTCUSDT', key: 'open', change: 'ADD', takeProfitRatio: 50 },
    ])
  })
})
