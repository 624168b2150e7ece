import { expect, test } from 'vitest'
import { createRandom, type Random } from '../../src/lib/random.ts'
import {
  computeScenario,
  type ScenarioAccount,
  type ScenarioOrder,
  sortByReach,
} from '../../src/risk/scenario.ts'
import { createExchangeCore, type ExchangeCore } from '../../src/simulator/futures/exchange-core.ts'
import { buildInstruments } from '../../src/simulator/futures/instruments/instruments.ts'
import { LeapingMarket } from '../support/liquidations/leaping-market.ts'

const UID = '1'
/** Long before a payment of funding. */
const START_AT = Date.UTC(2025, 5, 2, 9)
const MARKETS = [
  { symbol: 'BTCUSDT', startTicks: 600_000, lots: 1_000_000, tick: 0.1, lot: 0.001, digits: 1 },
  { symbol: 'ETHUSDT', startTicks: 300_000, lots: 1_000_000, tick: 0.01, lot: 0.01, digits: 2 },
]
/** Makers pay as takers do, since a scenario counts every fill so. */
const FEE = 0.0006
const CALM_MS = 10_000
const SLIDE_MS = 60_000

interface Scene {
  readonly core: ExchangeCore
  readonly positionMode: 'one_way_mode' | 'hedge_mode'
  readonly moves: ReadonlyMap<string, number>
}

function openScene(random: Random, positionMode: Scene['positionMode']): Scene {
  const moves = new Map(MARKETS.map(({ symbol }) => [symbol, (random.integer(21) - 10) / 100]))
  const market = new LeapingMarket({
    startAt: START_AT,
    instruments: MARKETS,
    fundingRate: 1e-4,
  })
  market.begin(
    {
      moves: Object.fromEntries(moves),
      overMs: SLIDE_MS,
      restMs: CALM_MS,
    },
    START_AT + CALM_MS,
  )
  const core = createExchangeCore({
    instruments: buildInstruments().filter(({ symbol }) => moves.has(symbol)),
    accounts: [
      {
        uid: UID,
        label: 'played',
        key: 'key',
        secret: 'secret',
        passphrase: 'passphrase',
        positionMode,
        role: 'ordinary',
        balances: { USDT: '1000000' },
        leverage: 50,
      },
    ],
    market: () => market,
    settings: {
      fillModel: 'optimistic',
      makerFeeRate: String(FEE),
      takerFeeRate: String(FEE),
      marketStateEveryMs: Number.POSITIVE_INFINITY,
    },
    seed: 1,
  })
  return { core, positionMode, moves }
}

interface Placed extends ScenarioOrder {
  readonly symbol: string
}

/** In hedge mode the side on the wire is that of the position. */
function place({ core, positionMode }: Scene, order: Placed, at: number): void {
  const { symbol, action, size, price } = order
  const market = MARKETS.find((one) => one.symbol === symbol)
  const isLong = action === 'openLong' || action === 'closeLong'
  const isOpening = action === 'openLong' || action === 'openShort'
  const isBuy = action === 'openLong' || action === 'closeShort'
  const direction =
    positionMode === 'hedge_mode'
      ? {
          side: isLong ? ('buy' as const) : ('sell' as const),
          tradeSide: isOpening ? ('open' as const) : ('close' as const),
        }
      : { side: isBuy ? ('buy' as const) : ('sell' as const) }
  const reply = core.answer(
    'batchPlaceOrder',
    { uid: UID },
    {
      symbol,
      productType: 'USDT-FUTURES',
      marginCoin: 'USDT',
      marginMode: 'crossed',
      orderList: [
        {
          ...direction,
          size: size.toFixed(3),
          ...(price === undefined
            ? { orderType: 'market' }
            : {
                orderType: 'limit',
                price: price.toFixed(market?.digits ?? 0),
                force: 'gtc',
              }),
        },
      ],
    } as never,
    at,
  )
  if (!reply.ok || reply.data.failureList.length > 0) throw new Error(JSON.stringify(reply))
}

function drawOrders(random: Random, positionMode: Scene['positionMode']): readonly Placed[] {
  return MARKETS.flatMap(({ symbol, startTicks, tick, lot }) =>
    Array.from({ length: random.integer(7) }, (): Placed => {
      const away = 0.001 + random.integer(90) / 1000
      const isBuy = random.integer(2) === 0
      const ticks = Math.round(startTicks * (isBuy ? 1 - away : 1 + away))
      const isClosing = positionMode === 'hedge_mode' && random.integer(3) === 0
      const action = isClosing
        ? isBuy
          ? 'closeShort'
          : 'closeLong'
        : isBuy
          ? 'openLong'
          : 'openShort'
      return { symbol, action, size: (1 + random.integer(50)) * lot, price: ticks * tick }
    }),
  )
}

function pictureOf({ core, positionMode }: Scene, orders: readonly Placed[]): ScenarioAccount {
  const { coins, positions } = core.ledger(UID)
  const unrealised = positions.reduce((sum, position) => sum + Number(position.unrealised), 0)
  return {
    equity: Number(coins[0]?.balance) + unrealised,
    positionMode,
    isIsolated: false,
    instruments: core.instruments().map(({ symbol, maintenanceTiers }) => {
      const market = MARKETS.find((one) => one.symbol === symbol)
      const price = (market?.startTicks ?? 0) * (market?.tick ?? 0)
      const tiers = maintenanceTiers.map(({ notionalMax, rateFloat }) => ({
        notionalMax,
        rate: rateFloat,
      }))
      return {
        symbol,
        price,
        isInverse: false,
        takerFeeRate: FEE,
        fundingRate: Number.NaN,
        leverage: 50,
        legs: positions
          .filter((position) => position.symbol === symbol)
          .map(({ holdSide, size, openPriceAvg }) => ({
            holdSide,
            size: Number(size),
            entryPrice: Number(openPriceAvg),
          })),
        orders: sortByReach(
          orders.filter((order) => order.symbol === symbol),
          price,
        ),
        rules: {
          tiers,
          takerFeeRate: FEE,
        },
      }
    }),
  }
}

test('what a move would bring is what the simulator makes of it: sizes, entries, equity and need', () => {
  const random = createRandom('played scenarios')
  const seen = { filled: 0, held: 0, flat: 0 }
  for (let world = 0; world < 60; world++) {
    const positionMode = world % 2 === 0 ? 'one_way_mode' : 'hedge_mode'
    const scene = openScene(random, positionMode)
    const { core, moves } = scene
    core.advance(START_AT + 1000)
    for (const { symbol, lot } of MARKETS)
      for (const action of ['openLong', 'openShort'] as const)
        if (random.integer(3) > 0)
          place(
            scene,
            { symbol, action, size: (1 + random.integer(100)) * lot, price: undefined },
            START_AT + 2000,
          )
    const orders = drawOrders(random, positionMode)
    const held = core.ledger(UID).positions
    const placed = orders.filter((order, index) => {
      if (order.action === 'openLong' || order.action === 'openShort') return true
      const side = order.action === 'closeLong' ? 'long' : 'short'
      const position = held.find((one) => one.symbol === order.symbol && one.holdSide === side)
      const isFirst =
        orders.findIndex(
          ({ symbol, action }) => symbol === order.symbol && action === order.action,
        ) === index
      return isFirst && Number(position?.size ?? 0) >= order.size
    })
    for (const order of placed) place(scene, order, START_AT + 3000)
    const outcome = computeScenario(pictureOf(scene, placed), { moves, fill: 'reached' })

    core.advance(START_AT + CALM_MS + SLIDE_MS + 1000)

    const { coins, positions, counts } = core.ledger(UID)
    expect(counts.liquidations).toBe(0)
    const unrealised = positions.reduce((sum, position) => sum + Number(position.unrealised), 0)
    expect(outcome.equity, `world ${world}`).toBeCloseTo(Number(coins[0]?.balance) + unrealised, 4)
    expect(outcome.positions).toHaveLength(positions.length)
    for (const { symbol, holdSide, size, openPriceAvg } of positions)
      expect(outcome.positions, `world ${world}`).toContainEqual(
        expect.objectContaining({
          symbol,
          holdSide,
          size: expect.closeTo(Number(size), 9),
          entryPrice: expect.closeTo(Number(openPriceAvg), 5),
        }),
      )
    seen.filled += outcome.filled
    seen[positions.length > 0 ? 'held' : 'flat'] += 1
    for (const { symbol } of positions.slice(0, 1)) {
      const row = core.answer(
        'singlePosition',
        { uid: UID },
        { symbol, productType: 'USDT-FUTURES', marginCoin: 'USDT' },
        core.now,
      )
      expect(outcome.marginRatio).toBeCloseTo(Number(row.ok && row.data[0]?.marginRatio), 8)
    }
  }
  expect(seen.filled).toBeGreaterThan(50)
  expect(seen.held).toBeGreaterThan(20)
})
