import { afterEach, beforeEach, expect, test } from 'vitest'
import { journalFillsSchema, journalProfitSchema } from '../../src/control/detail-views.ts'
import { BackgroundReadings, type Reading } from '../../src/daemon/explain/background-readings.ts'
import type { BookedFill } from '../../src/journal/booking.ts'
import { WrittenJournal } from '../cli/written-journal.ts'

const ZONE = 'America/New_York'
/** 23:30 on the day before in New York. */
const AT = Date.UTC(2025, 5, 3, 3, 30)
const HOUR_MS = 3_600_000

let written: WrittenJournal
let readings: BackgroundReadings
beforeEach(() => {
  written = new WrittenJournal(ZONE)
  readings = new BackgroundReadings({
    config: {
      account: { positionMode: 'one_way_mode' },
      instruments: {},
      calendar: { timezone: ZONE },
    } as never,
    journal: written.file,
    backtests: '/there/is/no/folder',
  })
})
afterEach(() => {
  readings.stop()
  written.remove()
})

function fill(place: number, parts: Partial<BookedFill> = {}): BookedFill {
  return {
    kind: 'fill',
    tradeId: `t${place % 3}`,
    // Three at a time share their millisecond.
    at: AT + Math.floor(place / 3) * (HOUR_MS / 4),
    orderId: `o${String(100 - place)}`,
    clientOid: `c${place}`,
    strategyId: place % 2 === 0 ? 'grid' : 'trend',
    owner: 'strategy',
    symbol: place % 2 === 0 ? 'BTCUSDT' : 'ETHUSDT',
    side: place % 4 < 2 ? 'buy' : 'sell',
    tradeSide: 'open',
    price: String(60_000 + place),
    size: '0.01',
    profit: place % 4 < 2 ? '' : '0.02',
    fee: '0.1',
    coin: 'USDT',
    scope: 'taker',
    source: 'API',
    fillKind: 'trade',
    otherFees: '',
    reason: '',
    tag: '',
    ...parts,
  }
}

const FILLS = Array.from({ length: 24 }, (_, place) => fill(place))

async function begin(): Promise<void> {
  const journal = written.begin(FILLS)
  journal.append({ kind: 'denial', at: AT } as never, [
    {
      kind: 'funding',
      id: 'f1',
      at: AT + HOUR_MS,
      symbol: 'BTCUSDT',
      side: 'long',
      amount: '-0.5',
      coin: 'USDT',
    },
  ])
  await journal.close()
}

async function printed(...words: readonly string[]): Promise<unknown> {
  const { code, out } = await written.run(...words, '--json')
  expect(code).toBe(0)
  return JSON.parse(out)
}

interface Choice {
  readonly since?: number
  readonly until?: number
  readonly symbol?: string
  readonly strategy?: string
}

function listChosen({ since = 0, until = Infinity, symbol, strategy }: Choice) {
  const keyOf = ({ at, tradeId, orderId }: BookedFill): string => `${at} ${tradeId} ${orderId}`
  return FILLS.filter(
    (one) =>
      one.at >= since &&
      one.at < until &&
      one.symbol === (symbol ?? one.symbol) &&
      one.strategyId === (strategy ?? one.strategyId),
  ).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

const ask = (reading: Reading) => readings.ask(reading)

test.each([
  ['all', {}, []],
  ['of a span', { since: AT + HOUR_MS, until: AT + 2 * HOUR_MS }, ['--since', '--until']],
  ['of one instrument', { symbol: 'ETHUSDT' }, ['--symbol']],
  ['of one strategy', { strategy: 'grid' }, ['--strategy']],
])('the daemon reads the fills that the command shows: %s', async (_, query, options) => {
  await begin()
  const values = Object.values(query).map((value) =>
    typeof value === 'number' ? new Date(value).toISOString() : value,
  )
  const words = options.map((option, place) => `${option}=${values[place]}`)
  for (const limit of [1, 5, 500]) {
    const rows = await printed('fills', ...words, `--limit=${limit}`)
    const found = await ask({ kind: 'fills', query: { ...query, limit } })

    expect(rows).toEqual(listChosen(query).slice(-limit))
    expect(rows).not.toHaveLength(0)
    expect(journalFillsSchema.parse(found)).toEqual({
      journal: { run: 1, sequence: 2 },
      fills: rows,
    })
  }
})

test.each(['day', 'week', 'month', 'strategy', 'instrument', 'coin'] as const)(
  'the daemon sums up profit as the command does: by %s',
  async (by) => {
    await begin()
    for (const since of [undefined, AT + HOUR_MS]) {
      const words = since === undefined ? [] : [`--since=${new Date(since).toISOString()}`]
      const rows = await printed('profit', `--by=${by}`, ...words)
      const found = await ask({ kind: 'profit', query: { by, since } })

      const { journal, rows: summed } = journalProfitSchema.parse(found)
      expect(summed).not.toHaveLength(0)
      expect(summed.map((row) => ({ ...row, journal }))).toEqual(rows)
    }
  },
)
