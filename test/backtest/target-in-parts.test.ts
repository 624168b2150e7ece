import { afterEach, expect, test } from 'vitest'
import { BacktestProject, MINUTE_MS, START_AT } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

/** Wants 0.25 BTC when a candle of an hour has closed, in orders of 0.1 at most. */
const HOURLY = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  needs: { candles: { '1h': 1 } },
  decides: 'candle',
  initialState: () => ({}),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    const isReady = market.candles('1h').length > 0
    return { intents: isReady ? [market.target(250)] : [], state }
  },
})
`

test.each([15_000, 60_000])(
  'the next part of a target is sent at the next prices, at a look each %i ms',
  async (pollMs) => {
    const opened = new BacktestProject(['BTCUSDT'], [])
    project = opened
    opened.write('scripted.ts', HOURLY)
    opened.edit('scripted.yaml', 'orderSizeMax: "100"', 'orderSizeMax: "0.1"')
    opened.edit('main.yaml', 'pollMs: 5000', `pollMs: ${pollMs}`)
    const rows = Array.from({ length: 300 }, (_, minute) =>
      [START_AT + minute * MINUTE_MS, 100_000, 100_000, 100_000, 100_000, 10_000].join(','),
    )
    const file = opened.write(
      'BTCUSDT-1m.csv',
      ['ts_ms,open,high,low,close,volume', ...rows, ''].join('\n'),
    )

    await opened.run([file], 'out')

    const fills = opened.rows('out', 'fills.csv')
    expect(fills.map((fill) => fill['last_qty'])).toEqual(['0.1', '0.1', '0.05'])
    const [first = 0, , last = 0] = fills.map((fill) => Date.parse(fill['ts_event'] ?? ''))
    expect(last - first).toBeLessThan(5 * MINUTE_MS)
  },
)
