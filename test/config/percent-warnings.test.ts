import { afterEach, beforeEach, expect, test } from 'vitest'
import { listPercentWarnings } from '../../src/config/percent-warnings.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { GRID, MAIN, replaceOnce, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

function warnings(): readonly string[] {
  const { loaded, problems } = workspace.read()
  expect(problems.map(formatProblem)).toEqual([])
  return loaded ? listPercentWarnings(loaded).map(formatProblem) : []
}

test('a share that is refused says how the per cent is written', () => {
  const exits =
    'exits: { stop: { distance: 5 }, trailing: { distance: 0.02, after: 40 }, profit: { 0m: 40 } }\n'
  workspace.fill({
    'config/main.yaml': replaceOnce(
      MAIN,
      'risk:\n',
      'risk:\n  priceCollarRatio: 5 %\n  survives: { move: 12 }\n',
    ).replace('  priceCollarRatio: 0.05\n', ''),
    'config/strategies/grid.yaml': `${GRID}${exits}`,
  })

  const said = workspace.complain().join('\n')
  expect(said).toMatch(/risk\.priceCollarRatio: .*got "5 %": this is a share, and 5 % is 0\.05/)
  expect(said).toMatch(/risk\.survives\.move: .*got 12: this is a share, and 12 % is 0\.12/)
  expect(said).toMatch(/exits\.stop\.distance: .*got 5: this is a share, and 5 % is 0\.05/)
  expect(said).toMatch(/exits\.trailing\.after: .*got 40: this is a share, and 40 % is 0\.4/)
  expect(said).toMatch(/exits\.profit\.0m: .*got 40: this is a share, and 40 % is 0\.4/)
})

test('a share that is allowed, and as large as a per cent, is warned of', () => {
  const exits =
    'exits: { stop: { distance: 0.5 }, trailing: { distance: 0.02, after: 1 }, profit: { 0m: 4, 1h: 0.02 } }\n'
  workspace.fill({
    'config/main.yaml': replaceOnce(MAIN, '  seed: 1\n', '  seed: 1\n  takerFeeRate: "0.06"\n'),
    'config/strategies/grid.yaml': `${GRID}${exits}`,
  })

  expect(warnings().map((text) => text.replace(/^\S+ /, ''))).toEqual([
    'simulator.takerFeeRate: 0.06 is 6 %: shares are written as such; if 0.06 % is meant, write 0.0006',
    'exits.stop.distance: 0.5 is 50 %: shares are written as such; if 0.5 % is meant, write 0.005',
    'exits.trailing.after: 1 is 100 %: shares are written as such; if 1 % is meant, write 0.01',
    'exits.profit.0m: 4 is 400 %: shares are written as such; if 4 % is meant, write 0.04',
  ])
})

test('usual shares are no warning', () => {
  workspace.fill({
    'config/strategies/grid.yaml': `${GRID}exits: { stop: { distance: 0.05 }, profit: { 0m: 0.04 } }\n`,
  })

  expect(warnings()).toEqual([])
})

test('missing instruments say why a universe needs them with the simulator inside', () => {
  const universe = `id: grid
module: ../../strategies/grid.ts
universe: { top: { count: 2, by: volume } }
risk: { positionNotionalMax: "100", openOrdersMax: 2 }
`
  workspace.fill({
    'config/main.yaml': MAIN.replace(/^instruments:\n(?: .*\n)+/m, '')
      .replace('  - strategies/trend.yaml\n', '')
      .replace(
        'startPrices: { BTCUSDT: "60000", ETHUSDT: "3000" }',
        'live: { baseUrl: "http://127.0.0.1:1" }',
      ),
    'config/strategies/grid.yaml': universe,
  })
  expect(workspace.complain().join('\n')).toMatch(
    /the key "instruments" is missing: .*; the simulator inside the daemon trades only what is listed here, also for a universe/,
  )
})
