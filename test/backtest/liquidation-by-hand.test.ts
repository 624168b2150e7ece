/*
 * Liquidations worked out here from the rules of docs/simulator.md, with nothing of the program: what stands behind the
 * position, at the mark, must exceed its maintenance margin and the fee of closing it.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { type RunReport } from '../../src/report/run-report.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

const OPENING = 10_000
const TAKER = 0.0006
const FUNDING = 0.0002
/** Maintenance of BTCUSDT: up to a million of value, and above. */
const [LOW_TIER, HIGH_TIER] = [0.004, 0.005]
const TIER_END = 1_000_000
const LOT = 0.001

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const at = (minute: number): number => START_AT + minute * MINUTE_MS

interface Held {
  readonly size: number
  readonly entry: number
  /** After the fees of opening and funding. */
  readonly balance: number
}

/** Long, bought at the ask at a mark of 100000; funding is paid once. */
function openAt100k(size: number, opening: number): Held {
  const entry = 100_000.1
  return { size, entry, balance: opening - size * entry * TAKER - size * 100_000 * FUNDING }
}

/** The mark at which balance + size × (mark − entry) is size × mark × (rate + fee). */
function liquidationMark({ size, entry, balance }: Held, rate: number): number {
  return (size * entry - balance) / (size * (1 - rate - TAKER))
}

/** Prices in tenths, as the script of quotes has them: the last mark at which it stands, and the next below. */
function aroundMark(mark: number): readonly [number, number] {
  return [Math.floor(mark * 10) + 1, Math.floor(mark * 10)]
}

/** The mark falls to where the position just stands, and from minute 80 on to where it does not. */
async function play(
  held: Held,
  marks: readonly [number, number],
  { orders = 1, opening = OPENING },
) {
  const lots = Math.round(held.size / LOT / orders)
  project = new BacktestProject(
    ['BTCUSDT'],
    Array.from({ length: orders }, (_, index) => ({
      at: at(10 + index),
      action: 'openLong',
      lots,
    })),
  )
  project.edit('main.yaml', 'startingBalance: "10000"', `startingBalance: "${opening}"`)
  const [stands, falls] = marks
  const quotes = writeQuotes(90, {
    0: { bid: 1_000_000, mark: 1_000_000 },
    70: { bid: stands, mark: stands },
    80: { bid: falls, mark: falls },
  })
  const file = project.write('BTCUSDT.csv', quotes)
  const run = (await project.run([file], 'out')).runs[0] as RunReport
  const fills = project.rows('out', 'fills.csv').slice(orders)
  return {
    run,
    fills,
    positions: project.rows('out', 'positions.csv'),
  }
}

describe('a long position of BTCUSDT, crossed, by hand', () => {
  test('is closed at the first mark at which it does not stand, at the bid, for the fee of a taker', async () => {
    const held = openAt100k(1.5, OPENING)
    const mark = liquidationMark(held, LOW_TIER)
    expect(mark).toBeGreaterThan(93_000)
    const marks = aroundMark(mark)
    const bid = marks[1] / 10

    const { run, fills, positions } = await play(held, marks, {})

    const profit = held.size * (bid - held.entry)
    const fee = held.size * bid * TAKER
    expect(fills).toHaveLength(1)
    const [fill] = fills
    expect(Date.parse(fill?.['ts_event'] ?? '')).toBe(at(80))
    expect([fill?.['order_side'], Number(fill?.['last_qty']), Number(fill?.['last_px'])]).toEqual([
      'SELL',
      held.size,
      bid,
    ])
    expect(Number(fill?.['account_gross_pnl'])).toBeCloseTo(profit, 8)
    expect(Number(fill?.['commission'])).toBeCloseTo(fee, 8)
    expect(run.liquidations).toBe(1)
    expect(Number(run.money.funding)).toBeCloseTo(-held.size * 100_000 * FUNDING, 8)
    expect(Number(run.money.final)).toBeCloseTo(held.balance + profit - fee, 8)
    expect([run.money.insurance, run.openPositions]).toEqual(['0', []])
    expect(Number(positions[0]?.['realized_pnl'])).toBeCloseTo(
      profit - fee - held.size * held.entry * TAKER,
      8,
    )
  })

  test('what the loss leaves below zero the insurance pays, and nothing is left', async () => {
    const held = openAt100k(1.5, OPENING)
    const [stands] = aroundMark(liquidationMark(held, LOW_TIER))
    const gap = 900_000

    const { run, fills } = await play(held, [stands, gap], {})

    const loss = held.size * (held.entry - gap / 10) + held.size * (gap / 10) * TAKER
    expect(fills.map((fill) => Number(fill['last_px']))).toEqual([gap / 10])
    expect(Number(run.money.insurance)).toBeCloseTo(loss - held.balance, 8)
    expect(Number(run.money.final)).toBe(0)
  })

  test('one of the second tier is reduced to the first, where it stands', async () => {
    const opening = 100_000
    const held = openAt100k(15, opening)
    const marks = aroundMark(liquidationMark(held, HIGH_TIER))
    const price = marks[1] / 10

    const { run, fills } = await play(held, marks, { orders: 2, opening })

    const keptLots = Math.floor(TIER_END / (price * LOT))
    const kept = keptLots * LOT
    const closed = held.size - kept
    expect(fills.map((fill) => Number(fill['last_px']))).toEqual(fills.map(() => price))
    expect(fills.reduce((sum, fill) => sum + Number(fill['last_qty']), 0)).toBeCloseTo(closed, 9)
    const balance = held.balance + closed * (price - held.entry) - closed * price * TAKER
    const equity = balance + kept * (price - held.entry)
    expect(equity).toBeGreaterThan(kept * price * (LOW_TIER + TAKER))
    expect(Number(run.money.final)).toBeCloseTo(equity, 6)
    expect(run.openPositions).toHaveLength(1)
    expect(run.liquidations).toBe(1)
  })
})

/** A position that is opened at a mark of 100000, pays or is paid funding twice at different marks, and is then closed. */
interface HeldTwice {
  readonly action: 'openLong' | 'openShort'
  /** At 08 and 16 h UTC, whole quote coin. */
  readonly fundingMarks: readonly [number, number]
  readonly marginMode: 'crossed' | 'isolated'
  readonly size: number
}

async function holdTwice({ action, fundingMarks, marginMode, size }: HeldTwice) {
  const sign = action === 'openLong' ? 1 : -1
  const entry = sign > 0 ? 100_000.1 : 100_000
  const [openingFee, first, second] = [
    size * entry * TAKER,
    ...fundingMarks.map((mark) => sign * size * mark * FUNDING),
  ] as [number, number, number]
  const standing =
    marginMode === 'isolated'
      ? (size * entry) / 20 - first - second
      : OPENING - openingFee - first - second
  // Standing + sign × size × (mark − entry) is size × mark × (rate + fee).
  const limit = (sign * size * entry - standing) / (size * (sign - LOW_TIER - TAKER))
  // The last tenth at which it stands, and the next.
  const stands = sign > 0 ? Math.floor(limit * 10) + 1 : Math.ceil(limit * 10) - 1
  const falls = stands - sign
  project = new BacktestProject(['BTCUSDT'], [{ at: at(10), action, lots: Math.round(size / LOT) }])
  project.edit('main.yaml', 'marginMode: crossed', `marginMode: ${marginMode}`)
  const flat = (mark: number) => ({ bid: mark * 10, mark: mark * 10 })
  const quotes = writeQuotes(600, {
    0: flat(100_000),
    30: flat(fundingMarks[0]),
    90: flat(fundingMarks[1]),
    570: { bid: stands, mark: stands },
    580: { bid: falls, mark: falls },
  })
  const run = (await project.run([project.write('BTCUSDT.csv', quotes)], 'out'))
    .runs[0] as RunReport
  const exit = (sign > 0 ? falls : falls + 1) / 10
  return {
    run,
    entry,
    exit,
    sign,
    openingFee,
    funding: -first - second,
    fills: project.rows('out', 'fills.csv'),
  }
}

describe('every fee, funding payment and liquidation of a position that is held over two fundings', () => {
  const short = { action: 'openShort', fundingMarks: [99_000, 101_000], size: 1.5 } as const
  const long = { action: 'openLong', fundingMarks: [101_000, 98_000], size: 1 } as const

  test.each([
    { ...short, marginMode: 'crossed' },
    { ...long, marginMode: 'crossed' },
    { ...short, marginMode: 'isolated' },
    { ...long, marginMode: 'isolated' },
  ] as const)('$action, $marginMode', async (held) => {
    const { run, entry, exit, sign, openingFee, funding, fills } = await holdTwice(held)
    const { size } = held

    const closingFee = size * exit * TAKER
    const profit = sign * size * (exit - entry)
    expect(
      fills.map((fill) => [Date.parse(fill['ts_event'] ?? ''), Number(fill['last_px'])]),
    ).toEqual([
      [expect.closeTo(at(10), -3.5), entry],
      [at(580), exit],
    ])
    const commissions = fills.map((fill) => Number(fill['commission']))
    expect(commissions).toEqual([expect.closeTo(openingFee, 8), expect.closeTo(closingFee, 8)])
    expect(fills.map((fill) => Number(fill['account_gross_pnl']))).toEqual([
      0,
      expect.closeTo(profit, 8),
    ])
    expect([run.liquidations, run.money.insurance, run.openPositions]).toEqual([1, '0', []])
    expect(Number(run.money.fees)).toBeCloseTo(openingFee + closingFee, 8)
    expect(Number(run.money.funding)).toBeCloseTo(funding, 8)
    expect(Number(run.money.final)).toBeCloseTo(
      OPENING + profit + funding - openingFee - closingFee,
      8,
    )
  })
})
