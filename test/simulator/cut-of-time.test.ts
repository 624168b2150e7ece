import { marginLedger } from '../../src/simulator/margin/margin.ts'
import { describe, expect, test } from 'vitest'
import { shareOf } from '../support/share.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { type ServiceSettings } from '../../src/simulator/exchange.ts'
import { createMemoryStore } from './futures/memory-store.ts'
import { ANNA, BERT, depositMargin, ExchangeBench, TARA } from './exchange-bench.ts'
import { listOf } from './margin/margin-bench.ts'
import { START_AT } from './wire/signed-request.ts'

const HOUR_MS = 3_600_000
const LASTS_MS = 3 * HOUR_MS
const ACCOUNTS = [ANNA, BERT] as const

/** Narrow, so that a small move liquidates; crossed loans are repaid after an hour. */
const SERVICES: ServiceSettings = {
  margin: { isolatedMaintenanceRate: '0.124', loanTermMs: HOUR_MS },
}

describe('however time is cut into calls', () => {
  test.each(shareOf(['1', '2'], 2))('spot and margin end the same, seed %s', async (seed) => {
    const whole = await play(seed)
    const cuts = createRandom(`cuts ${seed}`)
    const cut = await play(seed, { cutsOf: (from, to) => drawTimes(cuts, from, to) })

    expect(cut).toEqual(whole)
    // What a session must have met, or it proves nothing.
    const { met } = whole
    expect(MEETS.filter((event) => !met.has(event))).toEqual([])
  })

  test('a copied trader closes the day at midnight with what was earned until then', async () => {
    const [one, other] = await Promise.all([[], [MIDNIGHT_AT + 2000]].map(tradeOverMidnight))

    expect(one).toEqual(other)
  })

  test('an exchange that is killed again and again ends like one that is not', async () => {
    expect(await play('3', { isKilled: true })).toEqual(await play('3'))
  })

  test('a spot sell is filled by a peak that was over when somebody asked', async () => {
    const bench = await ExchangeBench.open({ services: SERVICES })
    const [ticker] = bench.data(ANNA, 'spotTickers', { query: 'symbol=BTCUSDT' })
    const price = (Number(ticker?.lastPr) * 1.0005).toFixed(2)
    const body = {
      symbol: 'BTCUSDT',
      side: 'sell',
      orderType: 'limit',
      force: 'gtc',
      price,
      size: '0.001',
    }
    const { orderId } = bench.data(ANNA, 'spotPlaceOrder', { body })

    bench.wait(2 * HOUR_MS)

    const [order] = listOf(bench.data(ANNA, 'spotOrderInfo', { query: `orderId=${orderId}` }))
    const [later] = bench.data(ANNA, 'spotTickers', { query: 'symbol=BTCUSDT' })
    expect(order).toMatchObject({ status: 'filled' })
    expect(Number(later?.bidPr)).toBeLessThan(Number(price))
    expect(Number(order?.uTime) - Number(order?.cTime)).toBeLessThan(2 * HOUR_MS)
  })
})

interface Playing {
  readonly cutsOf?: (from: number, to: number) => readonly number[]
  /** Killed and started again after every tenth request. */
  readonly isKilled?: boolean
}

async function play(seed: string, { cutsOf = () => [], isKilled = false }: Playing = {}) {
  const options = { seed, services: SERVICES, ...(isKilled && { store: createMemoryStore() }) }
  let bench = await ExchangeBench.open(options)
  const random = createRandom(seed)
  const endAt = bench.now + LASTS_MS
  let requests = 0
  while (bench.now < endAt) {
    const next = bench.now + 1000 + random.integer(120_000)
    for (const at of cutsOf(bench.now, next)) bench.wait(at - bench.now)
    bench.now = next
    act(bench, random)
    const isDue = isKilled && ++requests % 10 === 0
    if (isDue) bench = await ExchangeBench.open({ ...options, now: bench.now })
  }
  while (!bench.exchange.advance(bench.now));
  return statement(bench)
}

/** Days of copy trading begin at midnight of UTC+8. */
const MIDNIGHT_AT = Date.UTC(2023, 10, 15, 16)

async function tradeOverMidnight(times: readonly number[]) {
  const bench = await ExchangeBench.open({ services: SERVICES })
  bench.wait(MIDNIGHT_AT - 1000 - bench.now)
  tradeFutures(bench, 'buy')
  tradeFutures(bench, 'sell')
  for (const at of [...times, MIDNIGHT_AT + HOUR_MS]) bench.wait(at - bench.now)
  const { counts } = bench.exchange.ledger(TARA.uid)
  expect(counts.fills).toBeGreaterThan(0)
  return bench.data(TARA, 'copyOrderTotalDetail')
}

function drawTimes(random: Random, from: number, to: number): number[] {
  const times = Array.from({ length: random.integer(4) }, () => from + random.integer(to - from))
  return times.toSorted((one, other) => one - other)
}

function act(bench: ExchangeBench, random: Random): void {
  const account = pick(random, ACCOUNTS)
  const symbol = pick(random, ['BTCUSDT', 'ETHUSDT'] as const)
  const [ticker] = bench.data(account, 'spotTickers', { query: `symbol=${symbol}` })
  const last = Number(ticker?.lastPr)
  const side = pick(random, ['buy', 'sell'] as const)
  const price = (last * (1 + random.normal() * 0.002)).toFixed(2)
  const order = { symbol, side, price, orderType: 'limit', force: pick(random, FORCES) }
  const kind = random.next()
  if (kind < 0.5) {
    const size = ((20 + random.next() * 400) / last).toFixed(4)
    const stpMode = pick(random, ['none', 'cancel_taker', 'cancel_maker', 'cancel_both'] as const)
    const trigger = random.next() < 0.3 ? { tpslType: 'tpsl', triggerPrice: price } : {}
    bench.call(account, 'spotPlaceOrder', { body: { ...order, size, stpMode, ...trigger } })
  } else if (kind < 0.75) {
    const name = pick(random, ['isolatedPlaceOrder', 'crossedPlaceOrder'] as const)
    const baseSize = ((20 + random.next() * 400) / last).toFixed(4)
    bench.call(account, name, { body: { ...order, baseSize, loanType: 'autoLoan' } })
  } else {
    openLong(bench, random, { account, symbol })
  }
}

/** Of the trader that others copy. */
function tradeFutures(bench: ExchangeBench, side: 'buy' | 'sell'): void {
  const names = {
    symbol: 'BTCUSDT',
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    marginMode: 'crossed',
  }
  const order = { side, orderType: 'limit', force: 'gtc', size: '0.05' }
  const [ticker] = bench.data(TARA, 'spotTickers', { query: 'symbol=BTCUSDT' })
  const away = side === 'buy' ? 0.9995 : 1.0005
  const price = (Number(ticker?.lastPr) * away).toFixed(1)
  bench.call(TARA, 'placeOrder', { body: { ...names, ...order, price } })
}

/** With nearly as much borrowed as the mode lends. */
function openLong(
  bench: ExchangeBench,
  random: Random,
  { account, symbol }: { account: (typeof ACCOUNTS)[number]; symbol: string },
): void {
  const amount = 10 + random.integer(200)
  const mode = pick(random, ['isolated', 'crossed'] as const)
  const quoteSize = String(amount * (mode === 'isolated' ? 8.9 : 2.9))
  const loan = { mode, symbol, coin: 'USDT', amount: String(amount) }
  depositMargin(bench.exchange, account, loan, bench.now)
  const body = { symbol, side: 'buy', orderType: 'market', quoteSize, loanType: 'autoLoan' }
  bench.call(account, `${mode}PlaceOrder`, { body })
}

const FORCES = ['gtc', 'gtc', 'gtc', 'ioc', 'fok', 'post_only'] as const

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.integer(items.length)] as Item
}

function statement(bench: ExchangeBench) {
  const spotOrders = ACCOUNTS.flatMap((account) =>
    (['normal', 'tpsl'] as const).flatMap((tpslType) =>
      listOf(bench.data(account, 'spotHistoryOrders', { query: `tpslType=${tpslType}&limit=100` })),
    ),
  )
  const ledgers = ACCOUNTS.map(({ uid }) => bench.exchange.ledger(uid))
  const margin = ACCOUNTS.map(({ uid }) => marginLedger(bench.exchange.services.margin, uid))
  const forced = margin
    .flatMap(({ endedOrders }) => endedOrders)
    .filter(({ enterPointSource, cTime }) => enterPointSource === 'SYS' && Number(cTime) > START_AT)
  const met = new Set([
    ...spotOrders.map(({ tpslType, status }) => `${tpslType} ${status}`),
    ...spotOrders.map(({ cancelReason }) => cancelReason),
    ...spotOrders
      .filter(({ cTime, uTime, status }) => cTime !== uTime && status === 'full_fill')
      .map(() => 'maker'),
    ...forced.map(({ side }) => `forced ${side}`),
    ...ledgers.flatMap(({ balances }) => balances.flatMap(({ bookings }) => Object.keys(bookings))),
  ])
  return { spotOrders, ledgers, margin, met }
}

const MEETS = [
  'normal full_fill',
  'normal new',
  'tpsl full_fill',
  'tpsl init',
  'maker',
  'forced sell',
  'forced systemRepay-selll',
  'interest',
]
