/*
 * One strategy twice: by the backtest, and as a vectorised calculation over the same CSV that knows nothing of the
 * program. Long while the mean of three closes is above that of eight, else short; in at the open that follows a close,
 * at the ask or the bid, that is half a spread from the middle.
 */
import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { BacktestProject, MINUTE_MS, START_AT } from './backtest-project.ts'

const MINUTES = 180
const QUOTES_A_MINUTE = 6
const [FAST, SLOW] = [3, 8]
/** The first close that counts; the averages are whole by then. */
const FIRST_MINUTE = 12
const SIZE = 0.2
const [TAKER, FUNDING, OPENING] = [0.0006, 0.0002, 10_000]
/** 08:00, and 09:00 is none. */
const FUNDING_MINUTE = 60

const STRATEGY = `import { defineStrategy, sma, z } from 'intentd/strategy'
const interval = '1m'
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  needs: {
    candles: { '1m': 1 },
    indicators: { fast: sma({ interval, period: ${FAST} }), slow: sma({ interval, period: ${SLOW} }) },
  },
  decides: 'candle',
  initialState: () => ({ side: 0 }),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    const candle = market?.candles('1m').at(-1)
    if (!candle || candle.openAt < ${START_AT + FIRST_MINUTE * MINUTE_MS}) return { intents: [], state }
    const { fast, slow } = market.indicators
    const side = fast > slow ? 1 : -1
    if (side === state.side) return { intents: [], state }
    const action = side > 0 ? 'openLong' : 'openShort'
    const lots = market.lots(${SIZE}) * Math.abs(side - state.side)
    return { intents: [market.place({ key: 'at ' + candle.openAt, action, lots })], state: { side } }
  },
})
`

/** Six rows a minute; the price moves with each. */
function writeCsv(): string {
  const random = createRandom('independent')
  let bid = 1_000_000
  const rows = Array.from({ length: MINUTES * QUOTES_A_MINUTE }, (_, row) => {
    bid += random.integer(1201) - 600
    const ask = bid + 1 + 2 * random.integer(3)
    const [low, high, mark] = [bid, ask, bid + 3].map((tenths) => (tenths / 10).toFixed(1))
    return [
      START_AT + (row * MINUTE_MS) / QUOTES_A_MINUTE,
      low,
      high,
      100,
      100,
      low,
      1000,
      mark,
      FUNDING,
    ].join(',')
  })
  return ['ts_ms,bid,ask,bidSz,askSz,last,volume,mark,fundingRate', ...rows, ''].join('\n')
}

interface Minute {
  readonly bid: number
  readonly ask: number
  readonly close: number
  readonly mark: number
}

/** Its first quote, and its last price and mark price. */
function readMinutes(csv: string): readonly Minute[] {
  const rows = csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').map(Number))
  return Array.from({ length: MINUTES }, (_, minute) => {
    const [first = [], last = []] = [
      rows[minute * QUOTES_A_MINUTE],
      rows[(minute + 1) * QUOTES_A_MINUTE - 1],
    ]
    return { bid: first[1] ?? 0, ask: first[2] ?? 0, close: last[5] ?? 0, mark: last[7] ?? 0 }
  })
}

function calculate(minutes: readonly Minute[], lastMark: number) {
  const mean = (minute: number, count: number): number =>
    minutes.slice(minute + 1 - count, minute + 1).reduce((sum, { close }) => sum + close, 0) / count
  const entries: { price: number; size: number }[] = []
  let [cash, held, fees, funding] = [OPENING, 0, 0, 0]
  for (let minute = FIRST_MINUTE; minute < MINUTES - 1; minute++) {
    const open = minutes[minute + 1] as Minute
    if (minute + 1 === FUNDING_MINUTE) funding -= held * (minutes[minute] as Minute).mark * FUNDING
    const wanted = mean(minute, FAST) > mean(minute, SLOW) ? SIZE : -SIZE
    const size = wanted - held
    if (size === 0) continue
    const price = size > 0 ? open.ask : open.bid
    entries.push({ price, size: Number(size.toFixed(3)) })
    fees += Math.abs(size) * price * TAKER
    cash -= size * price
    held = wanted
  }
  return { entries, fees, funding, final: cash + held * lastMark - fees + funding }
}

const project = new BacktestProject(['BTCUSDT'], [])
afterAll(() => project.remove())

/** A look every five seconds, and one a minute: as rarely as the candles close. */
test.each([5000, 60_000])(
  'looking each %i ms, a strategy on closed candles earns what a vectorised calculation says',
  async (pollMs) => {
    const csv = writeCsv()
    project.write('scripted.ts', STRATEGY)
    project.edit('main.yaml', 'pollMs: 5000', `pollMs: ${pollMs}`)

    const run = (await project.run([project.write('BTCUSDT.csv', csv)], `out-${pollMs}`)).runs[0]
    const lastMark = Number(csv.trim().split('\n').at(-1)?.split(',')[7])
    const expected = calculate(readMinutes(csv), lastMark)

    // An order that turns the position over is two fills of the exchange: what closes, and what opens.
    const orders = Map.groupBy(
      project.rows(`out-${pollMs}`, 'fills.csv'),
      (fill) => fill['client_order_id'],
    )
    const fills = [...orders.values()].map((parts) => {
      const size = parts.reduce((sum, part) => sum + Number(part['last_qty']), 0)
      const sign = parts[0]?.['order_side'] === 'BUY' ? 1 : -1
      return { price: Number(parts[0]?.['last_px']), size: Number((sign * size).toFixed(3)) }
    })
    expect(expected.entries.length).toBeGreaterThan(20)
    expect(fills).toEqual(expected.entries)
    expect(Number(run?.money.fees)).toBeCloseTo(expected.fees, 6)
    expect(Number(run?.money.funding)).toBeCloseTo(expected.funding, 6)
    expect(Number(run?.money.final)).toBeCloseTo(expected.final, 6)
  },
)
