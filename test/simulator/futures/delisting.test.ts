import { expect, test } from 'vitest'
import { Bench, limit, market, START_AT } from './bench.ts'

const HOUR = 3_600_000
/** An hour before funding is paid for the first time. */
const ENDS_AT = START_AT + HOUR

function openBench(delisting: 'close' | 'hold') {
  const endings = new Map([['BTCUSDT', ENDS_AT]])
  const bench = new Bench({ delisting }, undefined, undefined, { endings })
  bench.place('2', [
    market('buy', '0.2', { tradeSide: 'open' }),
    market('sell', '0.1', { tradeSide: 'open' }),
  ])
  bench.place('1', [limit('buy', '0.01', '59500')])
  bench.quote({ bid: 60_100, ask: 60_100.1, last: 60_100.1 })
  return bench
}

test('a contract whose prices have ended closes its positions at the last price, and pays no funding', () => {
  const bench = openBench('close')

  bench.wait(ENDS_AT - 1 - bench.now)
  expect(bench.positions('2')).toHaveLength(2)
  bench.wait(1)

  expect(bench.fills('2').slice(2)).toMatchObject([
    {
      tradeSide: 'delivery_close_long',
      price: '60100.1',
      baseVolume: '0.2',
      enterPointSource: 'SYS',
    },
    {
      tradeSide: 'delivery_close_short',
      price: '60100.1',
      baseVolume: '0.1',
      enterPointSource: 'SYS',
    },
  ])
  expect(bench.positions('2')).toEqual([])
  expect(bench.openOrders('1')).toEqual([])
  expect(bench.tryPlace('1', [market('buy', '0.01')])).toMatchObject({ ok: false, code: '40309' })
  bench.wait(100 * HOUR)
  expect(bench.coin('2').funding).toBe('0')
  expect(bench.core.books().map((book) => book.sum)).toEqual(['0', '0'])
})

test('one that holds them keeps the positions without funding, and trades nothing', () => {
  const bench = openBench('hold')

  bench.wait(100 * HOUR)

  expect(bench.positions('2')).toMatchObject([
    { holdSide: 'long', total: '0.2' },
    { holdSide: 'short', total: '0.1' },
  ])
  expect(bench.coin('2').funding).toBe('0')
  expect(bench.openOrders('1')).toEqual([])
  expect(bench.tryPlace('1', [market('buy', '0.01')])).toMatchObject({ ok: false, code: '40309' })
})

test('a paused market ends as much later', () => {
  const bench = openBench('close')
  bench.core.pause(bench.now)
  bench.wait(2 * HOUR)
  bench.core.resume(bench.now)

  bench.wait(ENDS_AT + 2 * HOUR - 1 - bench.now)
  expect(bench.positions('2')).toHaveLength(2)
  bench.wait(1)

  expect(bench.positions('2')).toEqual([])
})
