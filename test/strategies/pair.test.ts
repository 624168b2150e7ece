import { describe, expect, it } from 'vitest'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import { type StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import pair from '../../strategies/pair.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'
import { createExample, decide, madeCandles } from './decide-on.ts'

const ETHUSDT = madeInstrument({ symbol: 'ETHUSDT' })
const INSTRUMENTS = [madeInstrument(), ETHUSDT]
const PARAMS = { interval: '1m', period: 10, entry: 2, exit: 0.5, holdCandlesMax: 5, notional: 100 }
/** Closes of the first leg but the last: around 1000, while the second leg stands at 100. */
const CLOSES = [999, 1001, 999, 1001, 999, 1001, 999, 1001, 1000]

const runnerOf = (stateText?: string) =>
  createExample(pair, PARAMS, {
    instruments: INSTRUMENTS,
    ...(stateText !== undefined && { stateText }),
  })

/** So many minutes after midnight, after a last close of the first leg; `lateMs`: how far the second leg's candles are behind. */
function wantedAt(
  runner: StrategyRunner,
  minute: number,
  last: number,
  { lateMs = 0, ethBid = 99.9, closes = CLOSES } = {},
) {
  const endAt = MOMENT_AT + minute * 60_000
  const snapshot = madeSnapshot(
    [
      { bid: 999.9, ask: 1000.1 },
      { instrument: ETHUSDT, bid: ethBid, ask: 100.1 },
    ],
    { exchangeTime: endAt },
  )
  const firstLeg = [...closes, last]
  const candles = new Map([
    madeCandles('BTCUSDT', firstLeg, { endAt }),
    madeCandles(
      'ETHUSDT',
      firstLeg.map(() => 100),
      { endAt: endAt - lateMs },
    ),
  ])
  return decide(runner, { ...snapshot, candles }).map((intent) =>
    intent.kind === 'target' ? intent.lots : intent.kind,
  )
}

describe('the pair', () => {
  it('is short the dear leg and long the cheap one, for the same value', () => {
    expect(wantedAt(runnerOf(), 0, 1010)).toEqual([-100, 1000])
    expect(wantedAt(runnerOf(), 0, 990)).toEqual([100, -1000])
  })

  it('wants no leg while the ratio is usual', () => {
    expect(wantedAt(runnerOf(), 0, 1001)).toEqual([0, 0])
  })

  it('leaves both when the ratio is back at its mean', () => {
    const runner = runnerOf()
    wantedAt(runner, 0, 1010)

    expect(wantedAt(runner, 1, 1001)).toEqual([-100, 1000])
    expect(wantedAt(runner, 2, 1000)).toEqual([0, 0])
  })

  it('gives up in time, and enters that side again only after the ratio was usual', () => {
    const runner = runnerOf()
    const wanted = [0, 1, 4, 5, 6].map((minute) => wantedAt(runner, minute, 1010)[0])

    expect(wanted).toEqual([-100, -100, -100, 0, 0])
    expect(wantedAt(runner, 7, 990)).toEqual([100, -1000])
    expect(wantedAt(runner, 8, 1000)).toEqual([0, 0])
    expect(wantedAt(runner, 9, 1010)).toEqual([-100, 1000])
  })

  it('says nothing of either leg while the other has no prices, too few candles or older ones', () => {
    const runner = runnerOf()

    expect(wantedAt(runner, 0, 1010, { ethBid: Number.NaN })).toEqual([])
    expect(wantedAt(runner, 0, 1010, { closes: CLOSES.slice(1) })).toEqual([])
    expect(wantedAt(runner, 0, 1010, { lateMs: 60_000 })).toEqual([])
  })

  it('says nothing where the ratio stands still', () => {
    expect(wantedAt(runnerOf(), 0, 1000, { closes: CLOSES.map(() => 1000) })).toEqual([])
  })

  it('keeps the lots of its entry, over a restart too', () => {
    const before = runnerOf()
    wantedAt(before, 0, 1010)

    expect(wantedAt(runnerOf(before.stateText), 1, 1010, { ethBid: 95.9 })).toEqual([-100, 1000])
  })

  it('objects to one instrument', () => {
    expect(
      checkBinding({ strategy: pair, params: PARAMS, instruments: [madeInstrument()] }),
    ).toEqual(['a pair is two instruments, not 1'])
  })
})
