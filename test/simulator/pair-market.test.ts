import { type BookOrder } from '../../src/simulator/matching/book-order.ts'
import { describe, expect, test } from 'vitest'
import { type ServicePorts } from '../../src/simulator/services/service-ports.ts'
import {
  countTaken,
  createDisplayedMarket,
  depthUpTo,
  takeDepth,
} from '../../src/simulator/matching/displayed-market.ts'
import { fillModel } from '../../src/simulator/matching/fill-model.ts'
import { PairMarket } from '../../src/simulator/services/pair-market.ts'
import { createServiceBench } from './wallet/service-bench.ts'

const QUOTE = {
  bidTicks: 650003,
  askTicks: 650004,
  bidLots: 12,
  askLots: 7,
  lastTicks: 650005,
  tradedLots: 3,
  lowTicks: 649998,
  highTicks: 650012,
  levelTicks: 2,
  candle: 5,
  candleLots: 1000.5,
}

/** A contract with a tick of 0.1 and a lot of 0.001, and ports to it on a store that outlives them. */
function openContract() {
  const shown = createDisplayedMarket()
  const followers: (() => void)[] = []
  const bench = createServiceBench()
  const show = (quote: Partial<typeof QUOTE>, at: number) => {
    Object.assign(shown, { ...QUOTE, ...quote, previousAt: shown.at, at })
    for (const hear of followers) hear()
  }
  const openPorts = (): ServicePorts => ({
    ...bench.open(),
    market: () => ({
      tickSize: '0.1',
      lotSize: '0.001',
      shown,
      follow: (hear) => void followers.push(hear),
    }),
    matching: { model: fillModel('default'), levelsMax: 20, speed: 1 },
  })
  const openPair = (priceDecimals = 2, sizeDecimals = 6, ports = openPorts()) =>
    new PairMarket(ports, {
      symbol: 'BTCUSDT',
      baseCoin: 'BTC',
      quoteCoin: 'USDT',
      priceDecimals,
      sizeDecimals,
    })
  return { show, openPair, openPorts }
}

describe('a pair displays the futures of its name', () => {
  test('on finer grids to the last digit', () => {
    const { show, openPair } = openContract()
    show({}, 1000)

    expect(openPair().market).toMatchObject({
      bidTicks: 6500030,
      askTicks: 6500040,
      lastTicks: 6500050,
      levelTicks: 20,
      at: 1e3,
      lowTicks: 6499980,
      highTicks: 6500120,
      bidLots: 12e3,
      askLots: 7e3,
      tradedLots: 3e3,
      candleLots: 1000500,
      candle: 5,
    })
  })

  test('on coarser grids with the bid rounded down, the ask up, the last to the nearest', () => {
    const { show, openPair } = openContract()
    show({ lowTicks: 649_981, highTicks: 650_019 }, 1000)

    expect(openPair(0, 2).market).toMatchObject({
      bidTicks: 65e3,
      askTicks: 65001,
      lastTicks: 65001,
      levelTicks: 1,
      lowTicks: 64999,
      highTicks: 65001,
      bidLots: 1,
      askLots: 1,
      tradedLots: 0,
      candleLots: 100.05,
    })
  })

  test('with the ask above the bid, also where both round to one price', () => {
    const { show, openPair } = openContract()
    show({ bidTicks: 9, askTicks: 10 }, 1000)

    expect(openPair(0).market).toMatchObject({ bidTicks: 1, askTicks: 2 })
  })

  test('at every quote that it takes in, and skips none that it was told of', () => {
    const { show, openPair } = openContract()
    show({}, 1000)
    const pair = openPair()
    const heard: number[] = []
    pair.follow((at) => heard.push(at))

    show({ bidTicks: 650_000 }, 2000)
    expect(pair.market.bidTicks).toBe(6_500_030)
    pair.refresh()
    pair.refresh()

    expect(pair.market).toMatchObject({ bidTicks: 6_500_000, at: 2000, previousAt: 1000 })
    expect(heard).toEqual([2000])
  })
})

describe('what orders took of a pair', () => {
  function take(openPair: () => PairMarket<BookOrder>): PairMarket<BookOrder> {
    const pair = openPair()
    takeDepth(pair.market, 'buy', 4000)
    countTaken(pair.market, 4000)
    pair.put()
    return pair
  }

  test('is put back after a restart at the same quote', () => {
    const { show, openPair } = openContract()
    show({}, 1000)
    const { market } = take(openPair)

    expect(openPair().market).toEqual({ ...market, previousAt: expect.any(Number) as number })
    expect(market).toMatchObject({ taken: { askLots: 4000, candleLots: 4000, quoteLots: 4000 } })
  })

  test('has come back by half after a restart ten seconds later', () => {
    const { show, openPair } = openContract()
    show({}, 1000)
    take(openPair)
    show({}, 11_000)

    const { market } = openPair()

    expect(market.taken.askLots).toBeCloseTo(2000, 6)
    expect(market).toMatchObject({ taken: { candleLots: 4000, quoteLots: 0 } })
  })

  test('is missing at the other market of the pair, whichever looks at a quote first', () => {
    const { show, openPair, openPorts } = openContract()
    show({}, 1000)
    const ports = openPorts()
    const [spot, margin] = [openPair(2, 6, ports), openPair(4, 6, ports)]
    takeDepth(spot.market, 'buy', 4000)
    countTaken(spot.market, 4000)
    expect(margin.market.taken).toMatchObject({ askLots: 4000, candleLots: 4000, quoteLots: 4000 })

    for (const pair of [spot, margin]) pair.follow(() => undefined)
    show({}, 11_000)
    margin.refresh()
    countTaken(margin.market, 1000)
    spot.refresh()

    expect(spot.market.taken).toMatchObject({ candleLots: 5000, quoteLots: 1000 })
    expect(spot.market.taken.askLots).toBeCloseTo(2000, 6)
    expect(depthUpTo(spot.market, 'buy', 0)).toBe(depthUpTo(margin.market, 'buy', 0))
  })

  test('counts for its candle alone', () => {
    const { show, openPair } = openContract()
    show({}, 1000)
    take(openPair)
    show({ candle: 6 }, 61_000)

    expect(openPair().market.taken.candleLots).toBe(0)
  })
})
