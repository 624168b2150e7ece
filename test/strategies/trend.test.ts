import { describe, expect, it } from 'vitest'
import { StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import trend from '../../strategies/trend.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'

const PARAMS = { fastSeconds: 10, slowSeconds: 60, size: '0.02' }

function runnerOf(params: object = {}, stateText?: string) {
  return new StrategyRunner({
    strategyId: 'trend-btc',
    strategy: trend,
    params: trend.params.parse({ ...PARAMS, ...params }),
    instruments: [madeInstrument()],
    stateText,
    clock: new ManualTime(MOMENT_AT),
  })
}

/** The lots that are wanted at a price and so many seconds after the beginning; undefined when nothing is. */
function wantedAt(runner: StrategyRunner, seconds: number, price: number): number | undefined {
  const result = runner.decide(
    madeSnapshot([{ bid: price - 0.5, ask: price + 0.5 }], {
      exchangeTime: MOMENT_AT + seconds * 1000,
    }),
  )
  expect(result).toMatchObject({ kind: 'decided', denials: [] })
  const intent = result.kind === 'decided' ? result.intents[0] : undefined
  return intent?.kind === 'target' ? intent.lots : undefined
}

/** Prices a second apart; the answer to the last. */
function wantedAfter(runner: StrategyRunner, fromSecond: number, prices: readonly number[]) {
  return prices.map((price, index) => wantedAt(runner, fromSecond + index, price)).at(-1)
}

const line = (from: number, step: number, count: number) =>
  Array.from({ length: count }, (_, index) => from + step * index)

describe('the trend', () => {
  it('wants nothing until the slow average has seen its time', () => {
    const runner = runnerOf()

    expect(wantedAfter(runner, 0, line(1000, 1, 60))).toBeUndefined()
    expect(wantedAt(runner, 60, 1060)).toBe(20)
  })

  it('is long while the price rises and short while it falls', () => {
    const runner = runnerOf()

    expect(wantedAfter(runner, 0, line(1000, 1, 120))).toBe(20)
    expect(wantedAfter(runner, 120, line(1120, -1, 120))).toBe(-20)
    expect(wantedAfter(runner, 240, line(1000, 1, 120))).toBe(20)
  })

  it('is flat instead of short where short is not allowed', () => {
    const runner = runnerOf({ allowShort: false })

    expect(wantedAfter(runner, 0, line(1000, -1, 120))).toBe(0)
    expect(wantedAfter(runner, 120, line(880, 1, 120))).toBe(20)
  })

  it('keeps its side while the averages are closer than the threshold', () => {
    const noise = line(0, 1, 200).map((index) => 1119 + (index % 2 === 0 ? 1 : -1))
    const turns = (thresholdBps: number) => {
      const runner = runnerOf({ thresholdBps })
      wantedAfter(runner, 0, line(1000, 1, 120))
      const sides = noise
        .concat(line(1119, -0.02, 100))
        .map((price, index) => wantedAt(runner, 120 + index, price))
      return sides.filter((side, index) => index > 0 && side !== sides[index - 1]).length
    }

    expect(turns(0)).toBeGreaterThan(0)
    expect(turns(50)).toBe(0)
  })

  it('wants the same for the same prices, however often it looks', () => {
    const often = runnerOf()
    const seldom = runnerOf()

    for (let second = 0; second <= 300; second++) {
      const price = second < 150 ? 1000 : 1100
      wantedAt(often, second, price)
      if (second % 10 === 0 || second === 151) wantedAt(seldom, second, price)
    }

    const slowOf = (runner: StrategyRunner): number =>
      JSON.parse(runner.stateText).averages.BTCUSDT.slow
    expect(slowOf(often)).toBeGreaterThan(1085)
    expect(Math.abs(slowOf(often) - slowOf(seldom))).toBeLessThan(3)
  })

  it('takes no harm from a clock that steps back, or from a long silence', () => {
    const runner = runnerOf()
    wantedAfter(runner, 0, line(1000, 1, 120))

    expect(wantedAt(runner, 60, 1120)).toBe(20)
    expect(wantedAt(runner, 100_000, 900)).toBe(-20)
  })

  it('goes on after a restart as if nothing had been', () => {
    const before = runnerOf()
    wantedAfter(before, 0, line(1000, 1, 90))

    const after = runnerOf({}, before.stateText)

    expect(wantedAt(after, 90, 1090)).toBe(20)
    expect(after.stateText).not.toBe(before.stateText)
    wantedAt(before, 90, 1090)
    expect(after.stateText).toBe(before.stateText)
  })

  it('wants nothing of an instrument without prices', () => {
    expect(runnerOf().decide(madeSnapshot([{}]))).toMatchObject({ kind: 'decided', intents: [] })
  })

  it('refuses a fast average that is not faster than the slow one', () => {
    expect(trend.params.safeParse({ ...PARAMS, fastSeconds: 60 }).error?.issues).toMatchObject([
      { path: ['fastSeconds'], message: 'fastSeconds must be below slowSeconds' },
    ])
  })
})
