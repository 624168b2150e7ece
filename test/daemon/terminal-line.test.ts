import { expect, test } from 'vitest'
import { toTerminalLine } from '../../src/daemon/reporting/terminal-line.ts'

const AT = new Date(2026, 0, 2, 13, 50, 10, 27).toISOString()

const FILL = {
  ...{ level: 'info', time: AT, name: 'paper', event: 'order.fill' },
  clientOid: 't7mc4a4ryoklvnz7gnipi37e6xy-0',
  ...{ strategy: 'trend-btc', symbol: 'BTCUSDT', side: 'sell', price: '60001.8', size: '0.012' },
  ...{ scope: 'taker', fee: '0.0300188', profit: '0', tradeId: '1', orderId: '2', state: 'partiallyFilled' },
}

/** As it stands on a terminal. */
function print(logged: Readonly<Record<string, unknown>>, columns = 80): string {
  const { time, level, event, fields, isCut } = toTerminalLine(logged, columns)
  const words = fields.map(({ name, value }) => (name === '' ? value : `${name} ${value}`))
  return `${[time, level, event, ...words].filter((word) => word !== '').join(' ')}${isCut ? '…' : ''}`
}

test('a fill is one line of eighty columns', () => {
  const line = print({ ...FILL, state: 'filled', strategy: 'grid-eth' })

  expect(line).toBe('13:50:10.027 order.fill grid-eth BTCUSDT sell 0.012 at 60001.8 filled taker')
  expect(line.length).toBeLessThanOrEqual(80)
})

test('what does not fit is left out from the end, and more is shown on a wider terminal', () => {
  expect(print(FILL)).toBe('13:50:10.027 order.fill trend-btc BTCUSDT sell 0.012 at 60001.8 partiallyFilled')
  expect(print(FILL, 200)).toContain(' taker fee 0.0300188 clientOid t7mc4a4ryoklvnz7gnipi37e6xy-0')
  expect(print(FILL, 60)).toBe('13:50:10.027 order.fill trend-btc BTCUSDT sell 0.012…')
})

test('a profit is said where there is one', () => {
  expect(print({ ...FILL, profit: '1.5' })).toBe(
    '13:50:10.027 order.fill trend-btc BTCUSDT sell 0.012 at 60001.8 profit 1.5…',
  )
})

test('a warning, and where the state is, are never cut', () => {
  const reason = 'a reason that is longer than any terminal is wide, '.repeat(3)
  const opened = { ...{ level: 'info', time: AT, event: 'daemon.opened' }, state: `/a/${'b'.repeat(90)}` }

  expect(print({ level: 'warn', time: AT, event: 'read.failed', what: 'fills', reason })).toContain(reason)
  expect(print({ level: 'warn', time: AT, event: 'read.failed' })).toContain('13:50:10.027 WARN read.failed')
  expect(print(opened)).toContain(opened.state)
})

test('a start does not say what it has not found', () => {
  const started = {
    ...{ level: 'info', time: AT, event: 'recovery.started' },
    epoch: 1,
    openOrders: 0,
    positions: {},
  }

  expect(print(started)).toBe('13:50:10.027 recovery.started epoch 1')
})
