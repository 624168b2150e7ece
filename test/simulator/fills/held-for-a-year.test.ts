import { expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { dataOf } from '../futures/bench.ts'
import { openCandles, START_AT } from './candle-session.ts'

/** Two candles to a funding time. */
const CANDLE_MS = 4 * 3_600_000
const CANDLES = 365 * 6
const LOTS = 300n
const OPENING = 100_000_000n * 100_000_000n
const ETH = { symbol: 'ETHUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const

/** The mark price that the recording gives of a candle, in ticks of 0.01. */
const markOf = (row: number): number => 260_000 + 7 * (row % 1000)

test('a position held for a year ends at what integers say, to the last digit', () => {
  const core = openCandles(yearText(), { candlePath: 'lowFirst' })
  const end = START_AT + (CANDLES - 1) * CANDLE_MS
  const fillList = [...trade('buy', START_AT), ...trade('sell', end)]

  let balance = OPENING
  for (const { side, price, baseVolume } of fillList) {
    const value =
      BigInt(Math.round(Number(price) * 100)) * BigInt(Math.round(Number(baseVolume) * 100))
    // In hundred-millionths of a USDT; the taker's fee is 6 bp.
    balance += (side === 'buy' ? -value : value) * 10_000n - value * 6n
  }
  // What a candle says holds from its end, also for funding that is paid at that instant.
  for (let row = 2; row < CANDLES - 1; row += 2) balance -= BigInt(markOf(row - 1)) * LOTS

  const coin = core.ledger('1').coins.find(({ marginCoin }) => marginCoin === 'USDT')
  expect(fillList.length).toBeGreaterThan(1)
  expect(core.ledger('1').positions).toEqual([])
  expect(coin?.balance).toBe(
    `${balance / 100_000_000n}.${String(balance % 100_000_000n).padStart(8, '0')}`.replace(
      /\.?0+$/,
      '',
    ),
  )

  function trade(side: 'buy' | 'sell', now: number) {
    while (!core.advance(now));
    const item = { side, size: '3', orderType: 'market' as const }
    dataOf(
      core.answer(
        'batchPlaceOrder',
        { uid: '1' },
        { ...ETH, marginMode: 'crossed', orderList: [item] },
        now,
      ),
    )
    const request = { productType: ETH.productType, startTime: String(now), endTime: String(now) }
    return dataOf(core.answer('orderFills', { uid: '1' }, request, now)).fillList
  }
})

/** Candles that wander, with a mark price; the funding rate is the assumed one. */
function yearText(): string {
  const random = createRandom('year')
  const lines = ['ts_ms,open,high,low,close,volume,mark']
  let open = 260_000
  for (let row = 0; row < CANDLES; row++) {
    const close = Math.max(200_000, Math.min(320_000, open + Math.round(900 * random.normal())))
    const high = Math.max(open, close) + random.integer(400)
    const low = Math.min(open, close) - random.integer(400)
    const prices = [open, high, low, close].map((ticks) => ticks / 100)
    lines.push([START_AT + row * CANDLE_MS, ...prices, 9000, markOf(row) / 100].join(','))
    open = close
  }
  return lines.join('\n')
}
