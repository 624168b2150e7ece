import { afterEach, beforeEach, expect, test } from 'vitest'
import { toExitRules } from '../../src/assembly/settings/engine-settings.ts'
import { exitsSchema } from '../../src/config/schema/strategy-schema.ts'
import { GRID, MAIN, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

function problemsOf(exits: string, main = MAIN): readonly string[] {
  workspace.fill({
    'config/main.yaml': main,
    'config/strategies/grid.yaml': `${GRID}exits:\n${exits}`,
  })
  return workspace.complain()
}

test.each([
  ['  stop: { distance: 0.02, atr: 2 }\n', /12:\d+.*either distance or atr/],
  ['  stop: {}\n', /either distance or atr/],
  ['  stop: { atr: 2 }\n', /needs exits\.atr/],
  [
    '  stop: { distance: 0.02 }\n  atr: { interval: 1h }\n',
    /13:\d+.*no part has a distance in atr/,
  ],
  ['  stop: { atr: 2, atExchange: true }\n  atr: { interval: 1h }\n', /needs a distance/],
  ['  breakEven: { after: 0.01, offset: 0.02 }\n', /0\.02 is not below after \(0\.01\)/],
  ['  profit: { 0m: 0.01, 30m: 0.02 }\n', /0\.02 is not below 0\.01 at 0m/],
  ['  profit: { 60m: 0.01, 1h: 0.005 }\n', /is the same time as/],
  ['  profit: { 0m: 0.04, soon: 0 }\n', /soon/],
  [
    '  profit: { 0m: 0.04, 2h: 0 }\n  timeLimit: 1h\n',
    /never counts: timeLimit closes all after 1h/,
  ],
  [
    '  takeProfit: [{ at: 0.02, close: 0.5 }, { at: 0.01, close: 0.1 }]\n',
    /0\.01 is not above 0\.02/,
  ],
  ['  takeProfit: [{ at: 0.01, close: 0.7 }, { at: 0.02, close: 0.7 }]\n', /together close 1\.4/],
  ['  timeLimit: 1 hour\n', /a duration such as/],
  ['  timeLimit: 0m\n', /a duration such as/],
  ['  trailling: { distance: 0.01 }\n', /trailing/],
])('[CFG1] %j is refused in words, with its line', (exits, problem) => {
  const problems = problemsOf(exits)
  expect(problems.join('\n')).toMatch(problem)
  expect(problems.join('\n')).toMatch(/grid\.yaml:1[0-3]/)
})

test('[CFG1] a stop behind the liquidation, or one that no order could carry, is refused', () => {
  const isolated = MAIN.replace('marginMode: crossed', 'marginMode: isolated\n  leverage: 20')
  expect(problemsOf('  stop: { distance: 0.06 }\n', isolated).join('\n')).toMatch(
    /at a leverage of 20 an isolated position of BTCUSDT is liquidated after 5\.00 %, before this stop/,
  )
  expect(problemsOf('  stop: { distance: 0.04 }\n', isolated)).toEqual([])
  expect(problemsOf('  stop: { distance: 0.06 }\n')).toEqual([])
  expect(problemsOf('  stop: { distance: 0.045, atExchange: true }\n').join('\n')).toMatch(
    /0\.05625 from the price, and risk\.priceCollarRatio 0\.05/,
  )
})

test('the block becomes exact numbers', () => {
  const settings = exitsSchema.parse({
    stop: { distance: 0.02, atExchange: true },
    trailing: { after: 0.03, atr: 2.5 },
    profit: { '2h': 0, '0m': 0.04, '30m': 0.02 },
    takeProfit: [{ at: 0.015, close: 1 / 3 }],
    timeLimit: '2d',
    atr: { interval: '1h' },
  })
  expect(settings && toExitRules(settings)).toEqual({
    stop: { kind: 'share', millionths: 20_000 },
    stopAtExchange: 25_000,
    trailing: { after: 30_000, distance: { kind: 'atr', millionths: 2_500_000 } },
    profitTable: [
      { fromMs: 0, least: 40_000 },
      { fromMs: 1_800_000, least: 20_000 },
      { fromMs: 7_200_000, least: 0 },
    ],
    takeProfits: [{ at: 15_000, close: 333_333 }],
    timeLimitMs: 172_800_000,
    atr: { intervalMs: 3_600_000, period: 14 },
  })
})
