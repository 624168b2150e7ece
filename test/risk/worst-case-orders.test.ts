import { expect, test } from 'vitest'
import { detailOf } from '../../src/domain/denial.ts'
import { type OrderAction, tradesAs } from '../../src/domain/order-action.ts'
import { floatOnGrid } from '../../src/lib/grid.ts'
import { createRandom } from '../../src/lib/random.ts'
import { addToExposure, buildExposure, takeFromExposure } from '../../src/risk/exposure.ts'
import { addRung, createLadder, toRung } from '../../src/risk/resting-ladder.ts'
import {
  type InstrumentRisk,
  needAt,
  needsOf,
  sumNeeds,
  countApproved,
  objectToWorstCase,
  type WorstCaseBasis,
  withOrders,
} from '../../src/risk/worst-case.ts'
import { madeInstrument } from '../support/market-moment.ts'

const INSTRUMENT = madeInstrument()
const PRICE = 10_000
const RULES = {
  tiers: [
    { notionalMax: 20_000, rate: 0.004 },
    { notionalMax: Number.POSITIVE_INFINITY, rate: 0.02 },
  ],
  takerFeeRate: 0.0006,
}
const ACTIONS: readonly OrderAction[] = ['openLong', 'closeLong', 'openShort', 'closeShort']

interface RestingOrder {
  readonly action: OrderAction
  readonly lots: number
  readonly ticks: number | undefined
}

function basisOf(
  isNet: boolean,
  holding: { readonly longLots: number; readonly shortLots: number },
  change: Partial<WorstCaseBasis> = {},
): WorstCaseBasis {
  const side = (lots: number) => ({ size: floatOnGrid(INSTRUMENT.lot, lots), entryPrice: PRICE })
  const none = { opening: 0, closing: 0 }
  const risk: InstrumentRisk = {
    symbol: INSTRUMENT.symbol,
    isInverse: false,
    isNet,
    rules: RULES,
    move: 0.12,
    jointMove: 0.08,
    price: PRICE,
    fundingRate: 0.0003,
    long: side(holding.longLots),
    short: side(holding.shortLots),
    buys: none,
    sells: none,
  }
  const basis = { instrument: INSTRUMENT, equity: 1000, risk, others: sumNeeds([]) }
  return { ...basis, approved: { buys: [], sells: [] }, ...change }
}

/** Each order is filled one after the other at the price now, or its own, and everything is counted from scratch. */
function countAnew(
  { risk }: WorstCaseBasis,
  orders: readonly RestingOrder[],
  way: 'down' | 'up',
  move: number,
  isGap: boolean,
): number {
  const to = PRICE * (way === 'down' ? 1 - move : 1 + move)
  let [long, short, cash, fees] = [risk.long.size, risk.short.size, 0, 0]
  for (const { action, lots, ticks } of orders) {
    const isBuy = tradesAs(action) === 'buy'
    if (isBuy !== (way === 'down')) continue
    const limit = ticks === undefined ? undefined : floatOnGrid(INSTRUMENT.tick, ticks)
    if (!isGap && limit !== undefined && (isBuy ? limit < to : limit > to)) continue
    const size = floatOnGrid(INSTRUMENT.lot, lots)
    const price = isGap ? PRICE : (limit ?? PRICE)
    cash += (isBuy ? -1 : 1) * size * price
    fees += size * price * RULES.takerFeeRate
    if (action === 'openLong') long += size
    else if (action === 'closeLong') long -= size
    else if (action === 'openShort') short += size
    else short -= size
  }
  if (risk.isNet) {
    const net = long - short
    ;[long, short] = [Math.max(0, net), Math.max(0, -net)]
  }
  const before = (risk.long.size - risk.short.size) * PRICE
  const after = cash + (long - short) * to
  const top = Math.max(PRICE, to)
  const marginOf = (size: number): number => size * to * (size * top <= 20_000 ? 0.004 : 0.02)
  const sides = [
    [risk.long.size, long],
    [risk.short.size, short],
  ].map((sizes) => marginOf(Math.max(...sizes)))
  const margin = risk.isNet ? Math.max(...sides) : (sides[0] ?? 0) + (sides[1] ?? 0)
  const funding = Math.max(0, 0.0003 * (long - short) * top)
  return before - after + fees + (long + short) * to * RULES.takerFeeRate + funding + margin
}

test.each([
  ['one-way mode, with gaps', true, true],
  ['one-way mode, at own prices', true, false],
  ['hedge mode, with gaps', false, true],
  ['hedge mode, at own prices', false, false],
])(
  '[RSK1] running totals over 5,000 steps of random books say the same as all orders counted anew: %s',
  (name, isNet, isGap) => {
    const random = createRandom(name)
    const mode = isNet ? 'one_way_mode' : 'hedge_mode'
    let [holding, orders, batch] = [
      { longLots: 0, shortLots: 0 },
      [] as RestingOrder[],
      [] as RestingOrder[],
    ]
    let [exposure, basis] = [buildExposure(mode, holding, []), basisOf(isNet, holding)]
    /** A record concerns the instrument: what is kept is worked out anew, as after every batch. */
    const begin = (): void => {
      exposure = buildExposure(mode, holding, [])
      const [buys, sells] = [createLadder('down', INSTRUMENT), createLadder('up', INSTRUMENT)]
      orders.push(...batch.splice(0))
      for (const order of orders) {
        addToExposure(exposure, order.action, order.lots)
        addRung(tradesAs(order.action) === 'buy' ? buys : sells, toRung(order, isNet))
      }
      basis = basisOf(isNet, holding, isGap ? {} : { ladders: { buys, sells } })
    }
    for (let step = 0; step < 5000; step++) {
      const kind = random.integer(12)
      if (kind === 0) {
        const [longLots, shortLots] = [random.integer(2000), random.integer(2000)]
        holding = isNet && longLots > 0 ? { longLots, shortLots: 0 } : { longLots, shortLots }
        orders = []
        batch = []
        begin()
      } else if (kind < 3) {
        orders.splice(random.integer(orders.length + 1), 1)
        begin()
      } else if (kind === 3 && orders.length > 0) {
        // A copy of an order that rests is judged again, and left out.
        const [again] = orders.splice(random.integer(orders.length), 1)
        if (!again) continue
        takeFromExposure(exposure, again.action, again.lots)
        countApproved(basis, { ...again, lots: -again.lots })
      } else {
        const action = ACTIONS[random.integer(4)] ?? 'openLong'
        const most =
          action === 'closeLong'
            ? exposure.longLots - exposure.closingLongLots
            : exposure.shortLots - exposure.closingShortLots
        const lots = 1 + random.integer(100)
        if (action.startsWith('close') && lots > most) continue
        const ticks = random.integer(10) === 0 ? undefined : 85_000 + random.integer(30_000)
        const order = { action, lots, ticks }
        addToExposure(exposure, action, lots)
        countApproved(basis, order)
        batch.push(order)
      }
      const counted = withOrders(basis, exposure)
      for (const way of ['down', 'up'] as const) {
        const move = [0, 0.08, 0.12][step % 3] ?? 0
        const anew = countAnew(basis, [...orders, ...batch], way, move, isGap)
        const kept = needAt(counted, way, move)
        if (!(Math.abs(kept - anew) < 1e-6))
          expect({ step, way, move, kept }).toEqual({ step, way, move, kept: anew })
      }
    }
    expect(needsOf(withOrders(basis, exposure)).down).not.toBeNaN()
  },
)

test('[RSK1] what would fit is the largest size that is approved, and one lot more is denied', () => {
  const random = createRandom('what fits')
  let denied = 0
  for (let account = 0; account < 300; account++) {
    const holding = { longLots: random.integer(600), shortLots: 0 }
    const basis = basisOf(true, holding, { equity: 300 + random.integer(1000) })
    const exposure = buildExposure('one_way_mode', holding, [])
    const order = {
      action: random.integer(2) === 0 ? 'openLong' : 'openShort',
      lots: 1500,
      ticks: 100_000,
    } as const
    const objection = objectToWorstCase(basis, order, exposure)
    if (objection === undefined) continue
    denied += 1
    const [, text = ''] = / ([\d.]+|nothing) would fit$/.exec(detailOf(objection)) ?? []
    const lots = text === 'nothing' ? 0 : Math.round(Number(text) * 1000)
    const isDenied = (of: number): boolean =>
      objectToWorstCase(basis, { ...order, lots: of }, exposure) !== undefined
    expect({ account, text, denied: isDenied(lots + 1) }).toEqual({ account, text, denied: true })
    if (lots > 0) expect(isDenied(lots)).toBe(false)
  }
  expect(denied).toBeGreaterThan(200)
})
