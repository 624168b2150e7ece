import { expect, test } from 'vitest'
import { type LogEvent } from '../../src/domain/log-events.ts'
import { AlertRules } from '../../src/alerts/rules/alert-rules.ts'

const MINUTE = 60_000
const SETTINGS = { repeatMs: 10 * MINUTE, lastingMs: MINUTE, repeatsMin: 3 }

/** What is heard at which minute, and the titles of what is to be sent. */
function createListener(settings = SETTINGS) {
  const rules = new AlertRules(settings)
  return {
    rules,
    hear: (event: LogEvent, facts: object, minute: number) =>
      rules.hear(event, { ...facts }, minute * MINUTE).map(({ title }) => title),
    due: (minute: number) =>
      rules.due(minute * MINUTE).map(({ title, repeats }) => `${title} +${repeats}`),
  }
}

const HALT = {
  scope: 'BTCUSDT',
  code: 'contradiction',
  reason: 'compare',
  by: 'intentd',
  ends: 'an operator',
}

test('an alert says where, what is known, what it means and what to type', () => {
  const [alert] = new AlertRules(SETTINGS).hear('trading.halted', HALT, 5)

  expect(alert).toMatchObject({
    urgency: 'urgent',
    title: 'trading is halted for BTCUSDT (contradiction)',
    command: 'release BTCUSDT --reason "..."',
    at: 5,
    repeats: 0,
  })
  expect(alert?.lines).toContain('reason: compare')
  expect(alert?.lines.at(-1)).toContain('do what `ends` says')
})

test('the same again is counted, and sent once with its count when its time is over', () => {
  const { hear, due } = createListener()

  expect(hear('trading.halted', HALT, 0)).toHaveLength(1)
  expect(hear('trading.halted', HALT, 1)).toEqual([])
  expect(hear('trading.halted', HALT, 9)).toEqual([])
  expect(hear('trading.halted', { ...HALT, scope: 'ETHUSDT' }, 9)).toHaveLength(1)
  expect(due(9)).toEqual([])
  expect(due(10)).toEqual(['trading is halted for BTCUSDT (contradiction) +2'])
  expect(due(20)).toEqual([])
  expect(hear('trading.halted', HALT, 21)).toHaveLength(1)
})

test('another limit of the same scope is news, however soon after the first', () => {
  const { hear } = createListener()
  const reached = { scope: '*', code: 'drawdown', reason: '8 % below the peak, limit 5 %' }

  expect(hear('limits.reached', reached, 0)).toHaveLength(1)
  expect(hear('limits.reached', reached, 1)).toEqual([])
  expect(hear('limits.reached', { ...reached, code: 'drawdownFlatten' }, 1)).toHaveLength(1)
})

test('a limit and the mode that follows are one alert; an operator is not alarmed by a pause of his own', () => {
  const rules = new AlertRules(SETTINGS)
  const hear = (event: LogEvent, facts: Readonly<Record<string, unknown>>) =>
    rules.hear(event, facts, 0).map(({ urgency, title }) => `${urgency} ${title}`)
  const daily = { scope: '*', code: 'dailyLoss', reason: 'lost 250.00 of 200', by: 'intentd' }

  expect(hear('limits.reached', daily)).toEqual([
    'urgent a limit was reached for the account: lost 250.00 of 200; only orders that reduce are sent',
  ])
  expect(hear('trading.reducing', daily)).toEqual([])
  expect(hear('trading.halted', { ...HALT, code: 'operator', by: 'anna' })).toEqual([
    'info trading is halted for BTCUSDT (operator)',
  ])
  expect(hear('trading.halted', { ...HALT, code: 'flatten', by: 'anna' })[0]).toMatch(/^info /)
  expect(hear('trading.halted', { ...HALT, scope: 'X', code: 'flatten' })[0]).toMatch(/^urgent /)
})

test('what was taken back in between is news, however soon it comes again', () => {
  const { hear } = createListener()
  const released = { scope: 'BTCUSDT' }

  expect(hear('trading.halted', HALT, 0)).toHaveLength(1)
  expect(hear('trading.released', released, 1)).toHaveLength(1)
  expect(hear('trading.released', released, 1)).toEqual([])
  expect(hear('trading.halted', HALT, 2)).toHaveLength(1)
  expect(hear('trading.halted', HALT, 2)).toEqual([])
  expect(hear('trading.released', released, 3)).toHaveLength(1)
  // Of another scope nothing was taken back.
  expect(hear('trading.halted', { ...HALT, scope: 'ETHUSDT' }, 3)).toHaveLength(1)
  expect(hear('trading.released', released, 3)).toEqual([])
  expect(hear('trading.halted', { ...HALT, scope: 'ETHUSDT' }, 3)).toEqual([])

  expect(hear('daemon.running', { epoch: 1, unknownOrders: 0 }, 4)).toHaveLength(1)
  expect(hear('daemon.stopped', { clean: true }, 5)).toHaveLength(1)
  expect(hear('daemon.running', { epoch: 2, unknownOrders: 0 }, 5)).toHaveLength(1)
})

test('what comes and goes by itself is said again when it lasts', () => {
  const { hear, due } = createListener()
  const btc = { symbol: 'BTCUSDT' }

  expect(hear('data.stale', btc, 0)).toHaveLength(1)
  expect(hear('data.fresh', btc, 0.5)).toHaveLength(1)
  expect(hear('data.stale', btc, 1)).toEqual([])
  expect(hear('data.fresh', btc, 1.2)).toEqual([])
  expect(due(1.9)).toEqual([])
  // It is fresh: that is what whoever heard last believes.
  expect(hear('data.stale', btc, 2)).toEqual([])
  expect(due(2.5)).toEqual([])
  expect(due(3)).toEqual(['nothing is placed on BTCUSDT: its prices are stale +1'])
})

test('what is cut has no half of a sign at its end', () => {
  for (const length of [299, 300, 301]) {
    const [alert] = new AlertRules(SETTINGS).hear(
      'trading.halted',
      { ...HALT, reason: `${'x'.repeat(length)}😀😀` },
      5,
    )
    expect(alert?.lines.every((line) => line.isWellFormed())).toBe(true)
  }
})

test('what may end by itself is an alert only when it lasts, and its end is said to whoever heard of it', () => {
  const { hear, due } = createListener()
  const resolving = { symbol: 'BTCUSDT', cause: 'unknown', unknown: 1, waitMs: 5 }

  expect(hear('instrument.resolving', resolving, 0)).toEqual([])
  expect(hear('instrument.resolved', { symbol: 'BTCUSDT' }, 0.5)).toEqual([])
  expect(due(5)).toEqual([])

  expect(hear('instrument.resolving', resolving, 6)).toEqual([])
  expect(hear('instrument.resolved', { symbol: 'ETHUSDT' }, 6.5)).toEqual([])
  expect(due(7)).toEqual(['the outcome of orders of BTCUSDT has been unknown for too long +0'])
  expect(due(8)).toEqual([])
  expect(hear('instrument.resolved', { symbol: 'BTCUSDT' }, 9)).toEqual([
    'over after 180 s: the outcome of orders of BTCUSDT has been unknown for too long',
  ])
})

test('rejections are an alert when one cause repeats; of different causes each is counted alone', () => {
  const { hear, due } = createListener()
  const reject = (code: string, minute: number) =>
    hear('order.rejected', { symbol: 'BTCUSDT', code }, minute)

  expect([reject('1', 0), reject('2', 0), reject('1', 1), reject('2', 1)]).toEqual([[], [], [], []])
  expect(reject('1', 2)).toEqual(['the exchange rejects orders again and again, BTCUSDT last (1)'])
  expect(reject('1', 3)).toEqual([])
  expect(due(12)).toEqual(['the exchange rejects orders again and again, BTCUSDT last (1) +1'])
  expect(reject('2', 13)).toEqual([])
})

test('what is no trouble is silent', () => {
  const { hear } = createListener()

  expect(hear('order.sent', { symbol: 'BTCUSDT' }, 0)).toEqual([])
  expect(hear('run.summary', { exchangeAgrees: true }, 0)).toEqual([])
  expect(hear('run.summary', { exchangeAgrees: false }, 0)).toHaveLength(1)
})

test('what others say is on one line, without control characters, and cut', () => {
  const reason = `first\nsecond\u001b[31m\u202e${'x'.repeat(5000)}`

  const [alert] = new AlertRules(SETTINGS).hear('trading.halted', { ...HALT, reason }, 0)

  const line = alert?.lines.find((text) => text.startsWith('reason')) ?? ''
  expect(line).toMatch(/^reason: first second \[31m x+ …$/)
  expect(line.length).toBeLessThan(320)
})

test('[BND1] ten thousand different troubles are held in bounded room', () => {
  const { rules } = createListener()
  let sent = 0
  for (let index = 0; index < 10_000; index++) {
    const facts = {
      scope: `C${index}`,
      code: `code ${index}`,
      what: `what ${index}`,
      symbol: `C${index}`,
    }
    for (const event of [
      'trading.halted',
      'order.rejected',
      'read.failed',
      'instrument.resolving',
    ] as const)
      sent += rules.hear(event, facts, 0).length
  }

  expect(sent).toBe(10_000)
  expect(rules.due(MINUTE)).toHaveLength(500)
})

test('a standby that takes over is urgent where its writer had vanished, and no repetition of a plain start', () => {
  const rules = new AlertRules(SETTINGS)
  const urgencies = [false, false, true].flatMap((abandoned) =>
    rules.hear('standby.tookOver', { abandoned }, 0).map(({ urgency, title }) => [urgency, title]),
  )

  expect(urgencies).toEqual([
    ['info', 'a standby trades now: nobody had vanished'],
    ['urgent', 'a standby has taken over: its writer had vanished'],
  ])
})

test('limits that are not shared are an alert when that lasts, and so is their end', () => {
  const { hear, due } = createListener()

  expect(hear('limits.shared', { members: 2 }, 0)).toEqual([])
  expect(hear('limits.alone', { reason: 'no answer', without: [] }, 0)).toEqual([])
  expect(hear('limits.shared', { members: 2 }, 0.5)).toEqual([])
  expect(hear('limits.alone', { reason: 'no answer', without: [] }, 1)).toEqual([])
  expect(due(2)).toEqual(['limits of the address are not shared +0'])
  expect(hear('limits.shared', { members: 2 }, 3)).toEqual([
    'over after 120 s: limits of the address are not shared',
  ])
  expect(hear('limits.shared', { members: 2 }, 4)).toEqual([])
})

test('one daemon too many is an alert at once, with its end however soon it comes, and again', () => {
  const { hear, due } = createListener()
  const title = 'no call is sent: one daemon too many shares the limits'

  for (const minute of [0, 1]) {
    expect(hear('limits.refused', { reason: 'full' }, minute)).toEqual([title])
    expect(hear('limits.refused', { reason: 'full' }, minute)).toEqual([])
    expect(hear('limits.shared', { members: 2 }, minute + 0.5)).toContain(
      `over after 30 s: ${title}`,
    )
  }
  expect(due(9)).toEqual([])
})
