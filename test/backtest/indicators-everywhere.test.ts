import { afterAll, expect, test } from 'vitest'
import { Backtest, VirtualAccount, MemoryJournal } from '../../src/backtest/backtest.ts'
import { DirectExchange } from '../../src/backtest/direct-exchange.ts'
import { DirectNetwork } from '../../src/backtest/virtual-wire.ts'
import { viewOf } from '../../src/backtest/played-prices.ts'
import { VirtualTime } from '../../src/backtest/virtual-time.ts'
import { prepareBacktest } from '../../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { Book } from '../../src/engine/book/book.ts'
import { rebuildBook } from '../../src/engine/book/book-rows.ts'
import { createRandom } from '../../src/lib/random.ts'
import { BacktestProject } from './backtest-project.ts'

const START_AT = Date.UTC(2025, 5, 2, 7)
const MINUTE_MS = 60_000
const QUOTE_MS = 10_000
const MINUTES = 40

/** Remembers each value that it is shown, by the candle that had closed. */
const STRATEGY = `import { adx, atr, bollinger, defineStrategy, ema, macd, rsi, stochastic, z } from 'intentd/strategy'
const interval = '1m'
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  needs: {
    candles: { '1m': 3 },
    indicators: {
      ema: ema({ interval, period: 3, candles: 12 }),
      rsi: rsi({ interval, period: 3, candles: 12 }),
      atr: atr({ interval, period: 3, candles: 12 }),
      adx: adx({ interval, period: 3, candles: 12 }),
      bollinger: bollinger({ interval, period: 10 }),
      macd: macd({ interval, fast: 2, slow: 4, signal: 3, candles: 12 }),
      stochastic: stochastic({ interval, period: 5 }),
    },
  },
  decides: 'candle',
  initialState: () => ({}),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    const candle = market?.candles('1m').at(-1)
    if (!candle) return { intents: [], state }
    return { intents: [], state: { ...state, [candle.openAt]: { ...market.indicators } } }
  },
})
`

const project = new BacktestProject(['BTCUSDT'], [])
afterAll(() => project.remove())

/** Prices change in the middle of each minute, so that no candle hangs on when in a minute a process ends. */
function writePrices(): string {
  const random = createRandom('everywhere')
  let bid = 1_000_000
  const lines = ['ts_ms,bid,ask,bidSz,askSz,last,volume']
  for (let at = 0; at < MINUTES * MINUTE_MS; at += QUOTE_MS) {
    if (at % MINUTE_MS >= MINUTE_MS / 2) bid += random.integer(401) - 200
    const [low, high] = [bid, bid + 1].map((tenths) => (tenths / 10).toFixed(1))
    lines.push([START_AT + at, low, high, 100, 100, low, 1000].join(','))
  }
  return project.write('BTCUSDT.csv', `${lines.join('\n')}\n`)
}

async function prepare() {
  project.write('scripted.ts', STRATEGY)
  const loaded = loadConfig({ file: 'main.yaml', cwd: project.directory })
  const request = { days: 1, seed: undefined, balance: undefined, version: 'test' }
  const prepared = await prepareBacktest(loaded, { files: [writePrices()], ...request })
  return () => prepared.optionsFor('default', undefined)
}

type Prepared = ReturnType<Awaited<ReturnType<typeof prepare>>>

/** A run as a paper account has it, but for the clock: its book is what the journal says. */
function openRun({ backtest, config, coverage }: Prepared, time: VirtualTime, disk: MemoryJournal) {
  const { core } = backtest
  const { productType, marginCoin } = config.account
  // A paper account has its candles of what it saw alone.
  const { recordedCandle: _recordedCandle, ...settings } = backtest.settings
  const { checkpoint, records } = disk.load()
  const account = new VirtualAccount({
    ...backtest,
    settings,
    time,
    clock: time.clock,
    journal: disk,
    pageFills: 100,
    hasPreviousRun: true,
    polling: {
      ...backtest.polling,
      tickersMs: backtest.polling.tickersMs / 2,
    },
    network: new DirectNetwork(time, 35),
    book: rebuildBook(
      {
        checkpoint,
        records,
      },
      settings.positionMode,
    ),
    exchange: new DirectExchange(core, () => time.now, {
      productType,
      marginCoin,
      view: viewOf(coverage),
    }),
    environment: {
      gate: {
        isStill: false,
        enter: (happens) => happens(),
        settle: (happens) => happens(),
      },
      isKilled: () => false,
      retreatNote: {
        leave: () => true,
        forget: () => undefined,
      },
      listener: {},
      announcements: {
        killState: () => undefined,
        stopped: () => undefined,
        broken: (error) => {
          throw error
        },
      },
    },
  })
  account.start()
  return account
}

/** What the strategy was shown, by candle. */
function shownTo({
  strategyStates,
}: Book): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return JSON.parse([...strategyStates.values()][0] ?? '{}') as Record<
    string,
    Record<string, unknown>
  >
}

/** Of some values by candle, those that others have too. */
function whatIsIn(all: ReturnType<typeof shownTo>, others: ReturnType<typeof shownTo>) {
  const candles = Object.entries(others).map(([at, values]) => {
    const names = Object.keys(values).map((name) => [name, all[at]?.[name]])
    return [at, Object.fromEntries(names)]
  })
  return Object.fromEntries(candles) as ReturnType<typeof shownTo>
}

test('an indicator has the same values live, after a restart and in a backtest, to the last bit', async () => {
  const open = await prepare()
  const played = open()
  const backtest = new Backtest({ ...played.backtest, exchange: { view: viewOf(played.coverage) } })
  backtest.runUntil(backtest.now + MINUTES * MINUTE_MS)

  const given = open()
  const [time, disk] = [new VirtualTime(START_AT), new MemoryJournal('live')]
  const first = openRun(given, time, disk)
  time.runUntil(START_AT + 25 * MINUTE_MS + 15_000)
  const before = shownTo(first.engine.book)
  first.end()
  const second = openRun(given, time, disk)
  time.runUntil(START_AT + MINUTES * MINUTE_MS)

  const [expected, live] = [shownTo(backtest.book), shownTo(second.engine.book)]
  expect(Object.keys(expected)).toHaveLength(MINUTES - 1)
  expect(live).toEqual(whatIsIn(expected, live))
  // The first run ended a quarter into the 26th minute. A live run does not see the first
  // minute from its beginning, so its indicators are there a candle later than in the backtest, which reads the recording.
  expect(Object.keys(before)).toHaveLength(24)
  expect(Object.keys(live)).toHaveLength(MINUTES - 2)
  expect(Object.keys(Object.values(live).at(-1) ?? {})).toEqual([
    'ema',
    'rsi',
    'atr',
    'adx',
    'bollinger',
    'macd',
    'stochastic',
  ])
})
