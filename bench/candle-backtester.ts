// A public backtester of candles (grademark) with the strategy of bench/backtest.ts: it sees closes alone and knows no
// fees, limits, orders or funding. `npm --prefix bench/candle-backtester ci` installs it.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { CandleRows } from '../src/prices/recording.ts'

interface Bar {
  readonly time: Date
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  /** How far the fast average is above the slow one, in basis points. */
  readonly gap: number
}

interface RuleArgs {
  readonly bar: Bar
}

interface OpenArgs extends RuleArgs {
  readonly position: { readonly direction: 'long' | 'short' }
}

interface Rules {
  readonly entryRule: (
    enter: (options: { readonly direction: 'long' | 'short' }) => void,
    args: RuleArgs,
  ) => void
  readonly exitRule: (exit: () => void, args: OpenArgs) => void
}

interface Grademark {
  readonly backtest: (rules: Rules, bars: unknown) => readonly unknown[]
}

interface Averages {
  readonly fastSeconds: number
  readonly slowSeconds: number
}

const PROJECT = join(import.meta.dirname, 'candle-backtester/package.json')
const THRESHOLD_BPS = 10

/** @returns plays the columns and returns the number of trades; undefined where it is not installed. */
export function openCandleBacktester():
  | ((rows: CandleRows, averages: Averages) => number)
  | undefined {
  if (!existsSync(join(PROJECT, '../node_modules/grademark'))) return undefined
  const require = createRequire(PROJECT)
  const { backtest } = require('grademark') as Grademark
  const { DataFrame } = require('data-forge') as {
    readonly DataFrame: new (rows: readonly Bar[]) => unknown
  }
  const rules: Rules = {
    entryRule: (enter, { bar }) => {
      if (Math.abs(bar.gap) > THRESHOLD_BPS) enter({ direction: bar.gap > 0 ? 'long' : 'short' })
    },
    exitRule: (exit, { bar, position }) => {
      if (position.direction === 'long' ? bar.gap < -THRESHOLD_BPS : bar.gap > THRESHOLD_BPS) exit()
    },
  }
  return (rows, averages) => backtest(rules, new DataFrame(barsOf(rows, averages))).length
}

function barsOf(
  { at, open, high, low, close, volume }: CandleRows,
  { fastSeconds, slowSeconds }: Averages,
): readonly Bar[] {
  const [fastWeight, slowWeight] = [60 / (60 + fastSeconds), 60 / (60 + slowSeconds)]
  let [fast, slow] = [open[0] as number, open[0] as number]
  return Array.from({ length: close.length }, (_, row) => {
    const price = close[row] as number
    fast += (price - fast) * fastWeight
    slow += (price - slow) * slowWeight
    return {
      time: new Date(at[row] as number),
      open: open[row] as number,
      high: high[row] as number,
      low: low[row] as number,
      close: price,
      volume: volume[row] as number,
      gap: (fast / slow - 1) * 10_000,
    }
  })
}
