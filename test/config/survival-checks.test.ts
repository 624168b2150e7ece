import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { listLargest } from '../../src/config/survival-checks.ts'
import { ConfigError, formatProblem } from '../../src/config/yaml/problem.ts'
import { toEngineSettings } from '../../src/assembly/settings/engine-settings.ts'
import { findWorstCase, needsOf, type InstrumentRisk } from '../../src/risk/worst-case.ts'

const load = (...overrides: readonly string[]) =>
  loadConfig({ file: 'config/paper.yaml', cwd: join(import.meta.dirname, '../..'), overrides })

function problemsOf(...overrides: readonly string[]): readonly string[] {
  try {
    load(...overrides)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem)
    throw error
  }
}

test('[CFG1] moves to survive are refused without an equity, crossed margin, maintenance and a move for each instrument', () => {
  const survives = 'risk.survives={move: 0.12}'
  const real = ['environment=demo', 'simulator=null', 'exchange.baseUrl=https://api.example.com']

  expect(problemsOf(survives)).toEqual([])
  expect(problemsOf(survives, 'account.marginMode=isolated')).toMatchObject([
    expect.stringMatching(/risk\.survives: needs account\.marginMode: crossed/),
  ])
  expect(problemsOf('risk.survives={move: {BTCUSDT: 0.1, XRPUSDT: 0.2}}')).toMatchObject([
    expect.stringMatching(
      /ETHUSDT has no move: write one for every instrument, such as ETHUSDT: 0\.12/,
    ),
    expect.stringMatching(/XRPUSDT is not listed under instruments/),
  ])
  expect(problemsOf(survives, ...real).filter((problem) => /survives/.test(problem))).toMatchObject(
    [
      expect.stringMatching(
        /is a share of the equity, which nobody knows: set account\.capital .* in USDT/,
      ),
      expect.stringMatching(/BTCUSDT.*risk\.survives needs its maintenance: list the tiers/),
      expect.stringMatching(/ETHUSDT.*risk\.survives needs its maintenance/),
    ],
  )
  expect(problemsOf('risk.survives={move: 0, joint: 1}')).toHaveLength(2)
})

test('the core is told a move for each instrument, and the joint ones', () => {
  const run = { salt: 's', version: '1', embedded: true, shown: new Map() }
  const of = (survives: string) =>
    toEngineSettings(load(`risk.survives=${survives}`).config, run).survives

  expect(toEngineSettings(load().config, run).survives).toBeUndefined()
  expect(of('{move: 0.12}')).toEqual({
    moves: new Map([
      ['BTCUSDT', 0.12],
      ['ETHUSDT', 0.12],
    ]),
    jointMoves: new Map([
      ['BTCUSDT', 0.12],
      ['ETHUSDT', 0.12],
    ]),
    isGap: true,
  })
  expect(of('{move: {BTCUSDT: 0.1, ETHUSDT: 0.2}, joint: 0.05, gap: false}')).toMatchObject({
    moves: new Map([
      ['BTCUSDT', 0.1],
      ['ETHUSDT', 0.2],
    ]),
    jointMoves: new Map([
      ['BTCUSDT', 0.05],
      ['ETHUSDT', 0.05],
    ]),
    isGap: false,
  })
})

test.each(['USDT-FUTURES', 'COIN-FUTURES'] as const)(
  'what can be held at most of %s uses the budget up, and a tick more exceeds it',
  (productType) => {
    const tiers = [
      { notionalMax: 50_000, rate: 0.004 },
      { notionalMax: Number.POSITIVE_INFINITY, rate: 0.02 },
    ]
    const rules = {
      tiers: productType === 'COIN-FUTURES' ? tiers.slice(1) : tiers,
      takerFeeRate: 0.0006,
    }
    const isInverse = productType === 'COIN-FUTURES'
    for (const capital of [1000, 5000, 6500, 100_000]) {
      const [largest] = listLargest({
        productType,
        capital,
        move: () => 0.12,
        rules: new Map([['X', rules]]),
      })
      for (const side of ['buys', 'sells'] as const) {
        const value = (side === 'buys' ? largest?.long : largest?.short) ?? 0
        const usedBy = (share: number): number => {
          const none = { opening: 0, closing: 0 }
          const flat = { size: 0, entryPrice: Number.NaN }
          const risk: InstrumentRisk = {
            symbol: 'X',
            isInverse,
            isNet: true,
            rules,
            move: 0.12,
            jointMove: 0.12,
            price: 100,
            fundingRate: 0,
            long: flat,
            short: flat,
            buys: none,
            sells: none,
            [side]: {
              opening: (value * share) / (isInverse ? 1 : 100),
              closing: 0,
            },
          }
          return findWorstCase([needsOf(risk)], capital)?.used ?? 0
        }
        expect(usedBy(1)).toBeLessThanOrEqual(1 + 1e-9)
        expect(usedBy(1.0001)).toBeGreaterThan(1)
      }
    }
  },
)
