import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatCancels, formatPlan, listExceeded } from '../../src/cli/reload/plan-change.ts'
import { compareConfigs } from '../../src/config/config-changes.ts'
import { type DaemonConfig, loadConfig } from '../../src/config/load-config.ts'
import type { OrderView } from '../../src/control/views.ts'
import { withCode } from '../../src/assembly/state/running-config.ts'
import { makeOrderView } from '../support/made-order-view.ts'

const ROOT = join(import.meta.dirname, '../..')

const load = (...overrides: string[]): DaemonConfig =>
  loadConfig({ file: 'config/paper.yaml', cwd: ROOT, overrides }).config

const orderOf = (strategy: string): OrderView =>
  makeOrderView({
    clientOid: strategy,
    strategy,
    symbol: strategy === 'grid-eth' ? 'ETHUSDT' : 'BTCUSDT',
  })

function planOf(was: DaemonConfig, next: DaemonConfig): readonly string[] {
  const changes = compareConfigs(withCode(was), withCode(next))
  return formatPlan({ changes, orders: [], positions: [], problems: [], exceeded: [], next })
    .split('\n')
    .slice(0, -1)
}

test('[CFG2] a plan says which strategies start, and which limits are tighter or looser', () => {
  const was = load()
  const [first, ...rest] = was.strategies
  const next = load(
    'risk.openOrdersMax=200',
    'risk.leverageMax=5',
    'risk.losses.daily=1000',
    'risk.losses.coolDownMs=60000',
    'risk.survives.move=0.1',
    'risk.liquidation.reduce=0.05',
  )

  expect(planOf({ ...was, strategies: rest }, next)).toEqual([
    `+ ${first?.id} is started`,
    '~ risk.openOrdersMax: 100 -> 200 (looser)',
    expect.stringMatching(/^~ risk\.losses\.daily: .* \(tighter\)$/),
    expect.stringMatching(/^~ risk\.losses\.coolDownMs: \d+ -> 60000 \(looser\)$/),
    '~ risk.liquidation.reduce: 0.08 -> 0.05 (looser)',
    '~ risk.leverageMax is set: 5 (tighter)',
    '~ risk.survives.move is set: 0.1 (tighter)',
    '~ risk.survives.gap is set: true (tighter)',
  ])
})

test('[CFG2] what lies beside the file that a link leads to is its code too', () => {
  const place = mkdtempSync(join(tmpdir(), 'plan-'))
  try {
    mkdirSync(join(place, 'far'))
    writeFileSync(
      join(place, 'far/own.ts'),
      "import { size } from './size.ts'\nexport default size\n",
    )
    writeFileSync(join(place, 'far/size.ts'), 'export const size = 1\n')
    symlinkSync(join(place, 'far/own.ts'), join(place, 'own.ts'))
    const config = load()
    const strategies = config.strategies.map((one) => ({
      ...one,
      moduleFile: join(place, 'own.ts'),
    }))
    const codeOf = () => withCode({ ...config, strategies }).code['grid-btc']
    const before = codeOf()

    writeFileSync(join(place, 'far/size.ts'), 'export const size = 2\n')

    expect(codeOf()).not.toBe(before)
  } finally {
    rmSync(place, { recursive: true })
  }
})

test('[CFG2] a simulated account belongs to its instruments: another one begins where they change', () => {
  const next = load('instruments.BTCUSDT.tickSize="0.2"')

  expect(planOf(load(), next)).toEqual([
    '~ instruments.BTCUSDT.tickSize: "0.1" -> "0.2"',
    expect.stringMatching(/^! another simulated account begins/),
  ])
})

test('[CFG2] another capital is no way to enter a withdrawal: the plan names the command that is judged', () => {
  const [was, next] = [load('account.capital=10000'), load('account.capital=10')]

  expect(planOf(was, next)).toEqual([
    '! account.capital: "10000" -> "10": only a new process takes this; leave it as it was when the journal began, and enter money that was moved with `intentd deposit` or `intentd withdrawal`',
  ])
})

test('[CFG2] how it logs and alerts is taken by a new process alone', () => {
  const was = load()

  expect(planOf(was, { ...was, log: { ...was.log, level: 'debug' } })).toEqual([
    expect.stringMatching(/^! log\.level: "info" -> "debug": only a new process takes this/),
  ])
})

test('[CFG2] code that a strategy imports by a path, however far away, is its code', () => {
  const place = mkdtempSync(join(tmpdir(), 'plan-'))
  try {
    const write = (name: string, text: string) => writeFileSync(join(place, name), text)
    write('own.ts', "import { size } from './size.ts'\nexport default size\n")
    write('size.ts', "export * from './deep.ts'\nimport './own.ts'\n")
    write('deep.ts', 'export const size = 1\n')
    const config = load()
    const strategies = config.strategies.map((one) => ({
      ...one,
      moduleFile: join(place, 'own.ts'),
    }))
    const codeOf = () => withCode({ ...config, strategies }).code['grid-btc']
    const before = codeOf()
    expect(codeOf()).toBe(before)

    write('deep.ts', 'export const size = 2\n')

    expect(codeOf()).not.toBe(before)
  } finally {
    rmSync(place, { recursive: true })
  }
})

test('[CFG2] a plan says which orders a run that begins with a cancel-all takes away and places again', () => {
  const was = load()
  const next = load('onRestart=cancel', 'strategies=["strategies/grid-btc.yaml"]')
  const orders = ['grid-btc', 'grid-btc', 'grid-eth'].map((strategy) => orderOf(strategy))
  const planFor = (config: DaemonConfig) => ({
    changes: compareConfigs(withCode(was), withCode(config)),
    next: config,
    orders,
    positions: [],
    problems: [],
    exceeded: [],
  })

  expect(formatPlan(planFor(next))).toContain(
    '1 open orders of grid-eth on ETHUSDT that nobody wants any more',
  )
  expect(formatCancels(planFor(next), undefined)).toBe(
    '  2 open orders of grid-btc on BTCUSDT: cancelled, and placed again as far as still wanted (onRestart: cancel)\n',
  )
  expect(formatCancels(planFor(next), 'bob')).toMatch(/^ {2}bob: 2 open orders/)
  expect(formatCancels(planFor(load()), undefined)).toBe('')
})

test('[CFG2] a tighter limit that is exceeded already is named, with what it will do', () => {
  const next = load(
    'risk.losses.daily=30',
    'risk.losses.drawdown={"warn":0.01,"reducing":0.02,"flatten":0.05}',
    'risk.survives={"move":0.2}',
  )
  const [grid] = next.strategies
  const position = {
    journal: { run: 1, sequence: 9 },
    symbol: 'BTCUSDT',
    side: 'long',
    size: '9',
    entryPrice: 60_000,
    entryFrom: 'fills',
    markPrice: 60_000,
    coin: 'USDT',
    unrealisedProfit: '0',
    liquidationPrice: null,
    keptByExchange: null,
    liquidation: null,
    readAgeMs: 10,
    strategies: { [grid?.id ?? '']: '9' },
  } as const
  const losses = [
    { scope: '*', limit: 'daily', used: 34, max: 200, peak: null, level: null },
    { scope: '*', limit: 'drawdown.flatten', used: 0.03, max: 0.1, peak: null, level: null },
  ]
  const account = {
    coin: 'USDT',
    losses,
    positions: [position],
    peak: null,
    drawdown: null,
    equity: '100000',
  }

  expect([...listExceeded(next, { account, orders: [] })]).toEqual([
    'the account: daily 30 is reached already, with 34: only orders that reduce leave at once, until it is released',
    'the account: drawdown.warn 1.00 % is reached already, with 3.00 %: it is warned of at once',
    'the account: drawdown.reducing 2.00 % is reached already, with 3.00 %: only orders that reduce leave at once, until it is released',
    expect.stringMatching(
      /^the account: grossNotionalMax \S+ is exceeded already, with 540000 in positions: /,
    ),
    expect.stringMatching(
      /^grid-btc: positionMax \S+ is exceeded already on BTCUSDT, with 9: orders that add/,
    ),
    expect.stringMatching(
      /^grid-btc: positionNotionalMax \S+ is exceeded already on BTCUSDT, with 540000: /,
    ),
    'the account: risk.survives is exceeded already, since 108000 would be lost of 100000 at least: orders that add are denied, and it is REDUCED at once until 80 %',
  ])
  // After a release the last step goes on from the real peak, the others from a new one.
  const released = [
    { scope: '*', limit: 'drawdown.warn', used: 0.001, max: 0.05, peak: null, level: null },
    { scope: '*', limit: 'drawdown.flatten', used: 0.06, max: 0.1, peak: null, level: null },
  ]
  expect([
    ...listExceeded(next, { account: { ...account, losses: released, positions: [] }, orders: [] }),
  ]).toEqual([
    'the account: drawdown.flatten 5.00 % is reached already, with 6.00 %: everything in it is CLOSED at once',
  ])
  const before = {
    ...account,
    losses: losses.map((one) => ({ ...one, max: one.limit === 'daily' ? 30 : 0.02 })),
  }
  expect([...listExceeded(next, { account: before, orders: [] })].join()).not.toContain(
    'daily 30 is reached',
  )
})

test('[CFG2] what `manual` holds and has ordered is looked after by a person, as long as it is configured', () => {
  const by = load('manual={"orderNotionalMax":"1000","positionNotionalMax":"2000"}')
  const positions = [{ symbol: 'BTCUSDT', strategies: { manual: '0.004' } }] as never
  const planFor = (next: DaemonConfig) => ({
    changes: compareConfigs(withCode(by), withCode(next)),
    next,
    orders: [{ ...orderOf('grid-btc'), strategy: 'manual' }],
    positions,
    problems: [],
    exceeded: [],
  })

  expect(formatPlan(planFor(by))).not.toMatch(/manual/)
  const without = formatPlan(planFor(load()))
  expect(without).toContain('0.004 of manual is held, and nobody will trade it')
  expect(without).toContain('of manual on BTCUSDT that nobody wants any more')
})
