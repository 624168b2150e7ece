import { expect, test } from 'vitest'
import { printTerminalLine, toTerminalLine } from '../../src/logging/logger.ts'

const AT = new Date(2026, 0, 2, 13, 50, 10, 27).toISOString()

const FILL = {
  level: 'info',
  time: AT,
  name: 'paper',
  event: 'order.fill',
  clientOid: 't7mc4a4ryoklvnz7gnipi37e6xy-0',
  strategy: 'trend-btc',
  symbol: 'BTCUSDT',
  side: 'sell',
  price: '60001.8',
  size: '0.012',
  scope: 'taker',
  fee: '0.0300188',
  profit: '0',
  tradeId: '1',
  orderId: '2',
  state: 'partiallyFilled',
}

/** As it stands on a terminal. */
function print(logged: Readonly<Record<string, unknown>>, columns = 80): string {
  return printTerminalLine(toTerminalLine(logged, { columns, directory: '/srv/here' }))
}

test('a fill is one line of eighty columns', () => {
  const line = print({ ...FILL, state: 'filled', strategy: 'grid-eth' })

  expect(line).toBe('13:50:10.027 order.fill grid-eth BTCUSDT sell 0.012 at 60001.8 filled taker')
  expect(line.length).toBeLessThanOrEqual(80)
})

test('what does not fit is left out from the end, and more is shown on a wider terminal', () => {
  expect(print(FILL)).toBe(
    '13:50:10.027 order.fill trend-btc BTCUSDT sell 0.012 at 60001.8 partiallyFilled',
  )
  expect(print(FILL, 200)).toContain(' taker fee 0.0300188 clientOid t7mc4a4ryoklvnz7gnipi37e6xy-0')
  expect(print(FILL, 60)).toBe('13:50:10.027 order.fill trend-btc BTCUSDT sell 0.012 …')
})

test('which prices are made up is said on a narrow terminal too', () => {
  const opened = { level: 'info', time: AT, event: 'simulator.opened', run: 'demonstration' }

  expect(
    print({
      ...opened,
      prices: 'BTCUSDT.prices',
      madeUp: ['ETHUSDT'],
      speed: 60,
      fills: 'default',
    }),
  ).toBe(
    '13:50:10.027 simulator.opened run demonstration prices BTCUSDT.prices\n' +
      '             madeUp ETHUSDT speed 60 fills default',
  )
})

test('a profit is said where there is one', () => {
  expect(print({ ...FILL, profit: '1.5' })).toBe(
    '13:50:10.027 order.fill trend-btc BTCUSDT sell 0.012 at 60001.8 profit 1.5 …',
  )
})

test('a warning goes on in the next line, and nothing of it is left out', () => {
  const reason = 'a reason that is longer than any terminal is wide, '.repeat(3).trim()
  const lines = print({
    level: 'warn',
    time: AT,
    event: 'read.failed',
    what: 'fills',
    reason,
  }).split('\n')

  expect(lines[0]).toBe(
    '13:50:10.027 WARN read.failed what fills reason a reason that is longer than any',
  )
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {13}\S/)
  expect(lines.map((line) => line.trim()).join(' ')).toContain(reason)
})

test('an error with lines of its own keeps them', () => {
  const reason = 'KEYS_REFUSED: the exchange refuses a key\n  hint  look at .env'

  expect(print({ level: 'error', time: AT, event: 'account.refused', reason })).toBe(
    '13:50:10.027 ERROR account.refused\n' +
      '             reason KEYS_REFUSED: the exchange refuses a key\n' +
      '               hint  look at .env',
  )
})

test('a path is whole, and written from where the reader is', () => {
  const opened = { level: 'info', time: AT, event: 'daemon.opened' }
  const long = `/a/${'b'.repeat(90)}`

  expect(print({ ...opened, state: '/srv/here/.intentd/paper' })).toContain(' state .intentd/paper')
  expect(print({ ...opened, state: '/srv/heretic/paper' })).toContain(' state /srv/heretic/paper')
  expect(print({ ...opened, state: long })).toBe(
    `13:50:10.027 daemon.opened\n             state ${long}`,
  )
})

test('a sentence is set off from what follows it', () => {
  const halted = {
    level: 'error',
    time: AT,
    event: 'trading.halted',
    scope: 'BTCUSDT',
    code: 'foreignFills',
    reason: 'look, then release the instrument',
    by: 'intentd',
    ends: 'an operator has looked',
  }

  expect(print(halted, 200)).toBe(
    '13:50:10.027 ERROR trading.halted BTCUSDT code foreignFills reason look, then release the instrument; ' +
      'by intentd until an operator has looked',
  )
})

test('what trading is held by is said in words, with the time on the wall', () => {
  const restriction = { mode: 'halted', code: 'operator', by: 'anna' }
  const restrictions = [
    {
      ...restriction,
      scope: 'BTCUSDT',
      reason: 'odd prices',
      at: new Date(2026, 0, 2, 8, 5).getTime(),
    },
    { ...restriction, scope: '*', reason: 'a drill', at: new Date(2025, 11, 31, 20, 8).getTime() },
  ]

  expect(
    print({ level: 'info', time: AT, event: 'recovery.started', epoch: 2, restrictions }, 200),
  ).toBe(
    '13:50:10.027 recovery.started epoch 2 restrictions BTCUSDT halted (odd prices; since 08:05), ' +
      '* halted (a drill; since 2025-12-31 20:08)',
  )
  const heartbeat = { level: 'info', time: AT, event: 'daemon.heartbeat' }
  expect(print({ ...heartbeat, restrictions: ['BTCUSDT reducing (operator)'] }, 200)).toBe(
    '13:50:10.027 daemon.heartbeat restrictions BTCUSDT reducing (operator)',
  )
})

test('a start does not say what it has not found', () => {
  const started = {
    level: 'info',
    time: AT,
    event: 'recovery.started',
    epoch: 1,
    openOrders: 0,
    positions: {},
  }

  expect(print(started)).toBe('13:50:10.027 recovery.started epoch 1')
})
