import { afterAll, expect, test } from 'vitest'
import { ReportedBacktest } from '../../src/backtest/reported-backtest.ts'
import {
  type BacktestRequest,
  prepareBacktest,
} from '../../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { formatFeedFile } from '../../src/backtest/feed-file.ts'
import { loadFeedFiles } from '../../src/backtest/opening/load-feed-files.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

const MINUTES = 30
const FEED = 'longShortRatio?symbol=BTCUSDT'

const project = new BacktestProject(['BTCUSDT'], [])
afterAll(() => project.remove())
project.edit(
  'scripted.yaml',
  'risk:',
  'feeds:\n  ratio: { endpoint: longShortRatio, params: { symbol: BTCUSDT }, everyMs: 60000 }\nrisk:',
)
project.write(
  'scripted.ts',
  `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  initialState: () => ({ seen: [] }),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    const feed = snapshot.feed('ratio')
    const seen = [...state.seen, [snapshot.exchangeTime, feed ? feed.data.ratio : 'none', feed ? feed.ageMs : 0]]
    const lots = feed && feed.data.ratio > 1 ? -10 : 10
    return { intents: feed ? [market.target(lots)] : [], state: { seen } }
  },
})
`,
)
const prices = project.write(
  'BTCUSDT.csv',
  writeQuotes(MINUTES, { 0: { bid: 1_000_000, mark: 1_000_000 } }),
)

function writeFeed(name: string, feed: string, minutes: Readonly<Record<number, number>>): string {
  const readings = Object.entries(minutes).map(([minute, ratio]) => ({
    readAt: START_AT + Number(minute) * MINUTE_MS,
    data: { ratio },
  }))
  return project.write(
    name,
    formatFeedFile(
      feed,
      readings.toSorted((one, other) => one.readAt - other.readAt),
    ),
  )
}

async function prepare(feeds: readonly string[], change: Partial<BacktestRequest> = {}) {
  const loaded = loadConfig({ file: 'main.yaml', cwd: project.directory })
  const request = { days: 1, seed: undefined, balance: undefined, version: 'test', ...change }
  return prepareBacktest(loaded, { files: [prices], feeds, ...request })
}

/** What the strategy saw: time, ratio and age of each decision. */
async function play(feeds: readonly string[], change: Partial<BacktestRequest> = {}) {
  const prepared = await prepare(feeds, change)
  let state = ''
  const run = new ReportedBacktest({
    ...prepared.optionsFor('default', undefined),
    onStep: ({ event }) => {
      if (event.kind === 'decided') state = JSON.stringify(event.state)
    },
  })
  while (run.runUntil(run.now + 3_600_000));
  const { seen } = JSON.parse(state) as {
    seen: readonly (readonly [number, number | 'none', number])[]
  }
  return { seen, report: run.finish(), remarks: prepared.listRemarks() }
}

test('[STR2] a reading is shown from its own instant on, and never before', async () => {
  const file = writeFeed('ratio.jsonl', FEED, { 2: 0.5, 10: 2, 20: 0.7 })

  const { seen, report, remarks } = await play([`ratio=${file}`])

  for (const [at, ratio, ageMs] of seen) {
    const minute = (at - START_AT) / MINUTE_MS
    const [from, expected] =
      minute < 2 ? [0, 'none'] : minute < 10 ? [2, 0.5] : minute < 20 ? [10, 2] : [20, 0.7]
    expect([minute, ratio]).toEqual([minute, expected])
    if (ratio !== 'none')
      expect(Math.abs(ageMs - (minute - from) * MINUTE_MS)).toBeLessThanOrEqual(100)
  }
  expect(new Set(seen.map(([, ratio]) => ratio))).toEqual(new Set(['none', 0.5, 2, 0.7]))
  expect(report.fills.count).toBeGreaterThanOrEqual(3)
  expect(remarks.join('\n')).toMatch(
    /its feed "ratio" is played from ratio\.jsonl: 3 readings, one each 1 min in a live run; the longest time without one is 10 min, from 2025-06-02 07:10 on/,
  )
})

test('a run that begins between two readings begins with the first of them, at its age', async () => {
  const file = writeFeed('early.jsonl', FEED, { [-60]: 9, [-5]: 3 })

  const { seen } = await play([file])

  expect(seen[0]?.[1]).toBe(3)
  expect(seen[0]?.[2]).toBeGreaterThanOrEqual(5 * MINUTE_MS)
})

test('without a file the feed is missing, and the report says how to play it', async () => {
  const { seen, remarks } = await play([])

  expect(new Set(seen.map(([, ratio]) => ratio))).toEqual(new Set(['none']))
  expect(remarks.join('\n')).toContain(
    'its feed "ratio" is not played; snapshot.feed gives undefined. --feed ratio=FILE',
  )
})

test.each([
  [
    'a name that no strategy has',
    (file: string) => [`crowd=${file}`],
    'FEED_UNKNOWN',
    /scripted\.ratio/,
  ],
  [
    'a strategy that is not there',
    (file: string) => [`other.ratio=${file}`],
    'FEED_UNKNOWN',
    /scripted\.ratio/,
  ],
  [
    'a file twice',
    (file: string) => [file, `scripted.ratio=${file}`],
    'FEED_TWICE',
    /good\.jsonl, good\.jsonl/,
  ],
  ['no file', () => ['ratio=nowhere.jsonl'], 'FEED_UNREADABLE', /nowhere\.jsonl/],
])('%s is refused', async (_, specs, code, text) => {
  const error: unknown = await prepare(specs(writeFeed('good.jsonl', FEED, { 1: 1 }))).catch(
    (thrown: unknown) => thrown,
  )

  expect(String(error)).toMatch(new RegExp(code))
  expect(String(error)).toMatch(text)
})

test('a file of another request is refused, with both', async () => {
  const other = writeFeed('eth.jsonl', 'longShortRatio?symbol=ETHUSDT', { 1: 1 })

  await expect(prepare([`ratio=${other}`])).rejects.toThrow(
    /FEED_OTHER[^]*symbol=ETHUSDT[^]*scripted\.ratio[^]*symbol=BTCUSDT/,
  )
  await expect(prepare([other])).rejects.toThrow(/FEED_UNUSED[^]*symbol=ETHUSDT/)
})

test('a signal that does not fit its schema is refused with its file and line, and what is wrong', async () => {
  const feed = 'signal:tv'
  const row = (second: number, action: unknown): string =>
    JSON.stringify({ readAt: START_AT + second * 1000, id: `s${second}`, data: { action } })
  const lines = [JSON.stringify({ feed, format: 1 }), row(1, 'long'), '', row(2, 'sideways')]
  const file = project.write('tv.jsonl', `${lines.join('\n')}\n`)
  const asker = { id: 'follow', feedNames: new Map([['tv', feed]]), feeds: new Map() }
  const action = { type: 'oneOf', values: ['long', 'flat'], optional: false } as const
  const signals = { accept: { tv: { fields: { action } } } }

  await expect(loadFeedFiles([file], [asker] as never, signals as never)).rejects.toThrow(
    /FEED_SIGNAL[^]*tv\.jsonl\n *line +4\n[^]*signal +tv\n *problem +action is none of long, flat\n *hint +correct that line/,
  )
})
