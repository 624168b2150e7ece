import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { shortenStory } from '../../src/views/explain/find-stories.ts'
import { main } from '../../src/cli/main.ts'
import { explainKey } from '../../src/views/explain/explain-key.ts'
import { explainOrder, type ExplainContext } from '../../src/views/explain/explain-order.ts'
import type { JournalRecord } from '../../src/domain/record.ts'
import { describeRecord, explainSymbol } from '../../src/views/explain/explain-symbol.ts'
import { type Explanation } from '../../src/views/explain/explain-words.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { Projects } from '../daemon/project.ts'
import { accepted, EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine/engine-bench.ts'

const projects = new Projects()
afterAll(() => projects.close())

const opened: (() => void)[] = []
afterEach(() => {
  for (const close of opened.splice(0)) close()
})

/** What the bench recorded, in a journal on disk, as `explain` finds it. */
function frameOf({ records, settings }: EngineBench): ExplainContext {
  const folder = mkdtempSync(join(tmpdir(), 'explain-'))
  const file = join(folder, 'journal.sqlite')
  const journal = openSqliteJournal({ file, identity: 'test', keepSince: () => 0 })
  for (const record of records) journal.append(record)
  journal.close()
  const reader = new JournalReader(file)
  opened.push(() => {
    reader.close()
    rmSync(folder, { recursive: true })
  })
  return { reader, instruments: settings.instruments, positionMode: settings.positionMode }
}

test('a story with a limit keeps its newest moments, fits into a bound, and says how many it leaves out', () => {
  const moments = Array.from({ length: 1000 }, (_, at) => ({
    at,
    sequence: at,
    what: 'decided',
    text: 'x'.repeat(500),
  }))
  const story = { title: 'BTCUSDT', moments, verdict: 'active' }
  const few = shortenStory(story, { limit: 8, charsMax: 100_000 })
  const bounded = shortenStory(story, { limit: 500, charsMax: 100_000 })

  expect(few.moments).toEqual(moments.slice(-8))
  expect(few.verdict).toBe('active; 992 earlier moments are left out')
  expect(JSON.stringify(bounded, undefined, 2).length).toBeLessThan(110_000)
  expect(bounded.moments.length).toBeGreaterThan(100)
  expect(shortenStory(story, { limit: 1000, charsMax: 1_000_000 })).toBe(story)
})

const whats = (story: Explanation | undefined): string[] =>
  story?.moments.map(({ what }) => what) ?? []

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const

function firstOrder(bench: EngineBench): string {
  return [...bench.book.orders.keys()][0] ?? ''
}

describe('explain tells of an order', () => {
  test('every station from the decision to the last fill, in the words of prices and sizes', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({ lots: 4 }), bench.fill({ lots: 6 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills, holding: { longLots: 10, shortLots: 0 } })
    const story = explainOrder(frameOf(bench), firstOrder(bench))

    expect(whats(story)).toEqual(['decided', 'sent', 'accepted', 'filled', 'filled'])
    expect(story?.title).toContain('openLong 0.01 BTCUSDT @ 9999 post_only, s, key quote:BTCUSDT:0')
    expect(story?.moments[0]?.text).toMatch(
      /a ladder of 1 level, new: buy [\d.]+ @ [\d.]+ · snapshot \d+: bid 10000, ask 10000.1/,
    )
    expect(story?.moments[1]?.text).toContain('approved by risk, batch 1, item 1 of 1')
    expect(story?.moments[2]?.text).toContain('orderId 1001, answer accepted 00000')
    expect(story?.moments[3]?.text).toContain(
      'buy 0.004 @ 9999 as maker, net -0.01 (profit 0, fee 0.01)',
    )
    expect(story?.verdict).toBe('filled: filled whole; filled 0.01 of 0.01')
  })

  test('that stayed unknown how its fate was found out, over a restart', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const { batchId } = bench.grantBatch()
    bench.answer(batchId, TIMED_OUT)
    bench.restart()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    bench.pass(bench.settings.execution.acceptanceWindowMs + 1000)
    bench.answerCancel(bench.grantCancel().cancelId, refused('22001', 'definite'))
    bench.pass(20_000)
    const story = explainOrder(frameOf(bench), firstOrder(bench))

    expect(whats(story)).toEqual(['decided', 'sent', 'unknown', 'started', 'cancel-all', 'absent'])
    expect(story?.verdict).toMatch(/^absent: proved never to have existed/)
  })

  test('of which the journal has nothing: nothing', () => {
    expect(explainOrder(frameOf(new EngineBench().start()), 'tnever-0')).toBeUndefined()
  })
})

describe('explain tells of an intent key', () => {
  const PLACE = { kind: 'place', symbol: SYMBOL, action: 'openLong', ticks: 99_990 } as const

  test('why there was no order: the code of the denial, and what was looked at', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...PLACE, key: 'entry', lots: 1_000_000 })
    bench.pass(5_000)
    const [story] = explainKey(frameOf(bench), 'entry')

    expect(whats(story)).toEqual(['decided', 'denied', 'dropped', 'denied'])
    expect(story?.verdict).toContain('no order: denied: s: INTENT_EXPIRED')
    expect(story?.moments[1]?.text).toContain('ORDER_SIZE_LIMIT')
  })

  test('its orders, a story each, and a later use of the same key', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...PLACE, key: 'entry', lots: 10 })
    bench.accept(bench.grantBatch())
    bench.decide({ ...PLACE, key: 'entry', lots: 10 })
    const [wish, order] = explainKey(frameOf(bench), 'entry')

    expect(wish?.moments.at(-1)?.text).toContain('KEY_REUSED')
    expect(whats(order)).toEqual(['decided', 'sent', 'accepted'])
    expect(order?.verdict).toMatch(/^live/)
  })
})

test('explain tells of a symbol what happened since a moment, and nothing of before', () => {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  bench.pass(1_000)
  const since = bench.now
  bench.step({
    kind: 'commanded',
    command: { kind: 'restrict', scope: SYMBOL, mode: 'halted', by: 'a test', reason: 'drill' },
  })
  const frame = frameOf(bench)

  expect(whats(explainSymbol(frame, SYMBOL, since))).toEqual(['halted'])
  expect(whats(explainSymbol(frame, SYMBOL, 0))).toEqual([
    'started',
    'decided',
    'sent',
    'answered',
    'halted',
  ])
  expect(explainSymbol(frame, 'ETHUSDT', since).verdict).toBe('nothing happened')
})

test('a symbol says what each strategy wanted last, also where that was long ago', () => {
  const bench = new EngineBench().start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
  const wanted = new Date(bench.now).toISOString().slice(0, 16).replace('T', ' ')
  bench.now += 3_600_000

  expect(explainSymbol(frameOf(bench), SYMBOL, bench.now).verdict).toBe(
    `nothing happened; s wants 0 since ${wanted} UTC`,
  )
})

test('intentd explain reads the journal of a daemon that runs', async () => {
  const project = projects.open()
  const run = project.run(['--set', 'simulator.speed=600', '--summary', 'json'])
  const fill = await run.untilEvent('order.fill')
  const explained = project.start(['explain', String(fill['clientOid'])])
  const { code } = await explained.ended
  const symbol = project.start(['explain', String(fill['symbol']), '--since', '1m', '--json'])
  await symbol.ended
  await run.stop()

  expect(code).toBe(0)
  expect(explained.stdout.join('\n')).toMatch(/decided[^]*sent[^]*accepted[^]*filled/)
  expect(JSON.parse(symbol.stdout.join(''))).toMatchObject([{ moments: expect.any(Array) }])
  expect(run.summary.exchange?.differences).toEqual([])
})

test('intentd explain says so when the journal has nothing, or no journal', async () => {
  const explained = projects.open().start(['explain', 'BTCUSDT'])

  expect((await explained.ended).code).toBe(66)
  expect(explained.stderr.join('\n')).toContain('JOURNAL_NOT_FOUND')
})

test('without --since a symbol is told of as far back as something happened, and what to type is said', async () => {
  const bench = new EngineBench()
  bench.now = Date.now() - 40 * 60_000
  bench.start().quote(BID)
  const folder = mkdtempSync(join(tmpdir(), 'explain-'))
  const file = join(folder, 'journal.sqlite')
  const journal = openSqliteJournal({ file, identity: 'test', keepSince: () => 0 })
  for (const record of bench.records) journal.append(record)
  journal.close()
  opened.push(() => rmSync(folder, { recursive: true }))
  const said: string[] = []
  const write = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => said.push(String(text)) > 0)
  const aside = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const words = [
    'explain',
    SYMBOL,
    '--journal',
    file,
    '-c',
    `${import.meta.dirname}/../../config/paper.yaml`,
  ]
  try {
    expect(await main(words)).toBe(0)
    expect(said.join('')).toMatch(
      /decided .*a ladder of 1 level[^]*; --since 24h looks further back/,
    )
    said.length = 0
    await main([...words, '--since', '10m'])
    expect(said.join('')).toContain('= nothing happened')
    said.length = 0
    const unknown = words.map((word) => (word === SYMBOL ? 'BTCUSD' : word))
    expect(await main(unknown)).toBe(1)
    expect(said.join('')).toBe('')
    expect(aside.mock.calls.join('')).toMatch(
      /nothing of BTCUSD in .*; did you mean BTCUSDT\?[^]*instruments: BTCUSDT/,
    )
  } finally {
    write.mockRestore()
    aside.mockRestore()
  }
})

test('explain tells of a symbol that its strategy was closed there, why and by whom', () => {
  const bench = new EngineBench().start()
  bench.pass(1_000)
  const since = bench.now
  const command = { kind: 'flatten', scope: 'strategy:s', by: 'anna', reason: 'enough' } as const
  bench.step({ kind: 'commanded', command })
  const { moments } = explainSymbol(frameOf(bench), SYMBOL, since)

  expect(moments.map(({ text }) => text).join()).toContain('strategy:s, flatten: enough, by anna')
})

test('explain tells of a symbol why the exchange refused an order there', () => {
  const bench = new EngineBench().start()
  bench.quote(BID)
  const { batchId, clientOids } = bench.grantBatch()
  const failureList = clientOids.map((clientOid) => ({
    clientOid,
    orderId: '',
    errorCode: '40917',
    errorMsg: 'Stop price for long positions please < mark price 9990',
  }))
  bench.answer(batchId, accepted({ successList: [], failureList }))
  const { moments } = explainSymbol(frameOf(bench), SYMBOL, 0)

  expect(moments.find(({ what }) => what === 'answered')?.text).toContain(
    'batch 1: 1 rejected, rejected for 40917 Stop price for long positions please < mark price 9990',
  )
})

describe('explain tells of a symbol what held its strategies there', () => {
  const lossOf = (strategy: string) =>
    ({
      kind: 'restricted',
      at: 1,
      scope: `strategy:${strategy}`,
      mode: 'halted',
      code: 'dailyLoss',
      reason: 'lost 31 of 30',
      by: 'intentd',
    }) as unknown as JournalRecord
  const state = { long: null, short: null, lock: null, pause: null, ended: [] }
  const exits = (change: object) =>
    ({
      kind: 'exits',
      at: 1,
      strategyId: 's',
      symbol: SYMBOL,
      state: { ...state, ...change },
    }) as unknown as JournalRecord

  test('a limit on losses of a strategy that traded it, and of no other', () => {
    const bench = new EngineBench().start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    bench.records.push(lossOf('s'), lossOf('another'))
    const { moments } = explainSymbol(frameOf(bench), SYMBOL, 0)

    expect(moments.flatMap(({ what, text }) => (what === 'halted' ? [text] : []))).toEqual([
      'strategy:s, dailyLoss: lost 31 of 30, by intentd',
    ])
  })

  test('the exit that was due and the pause after it, each once', () => {
    const bench = new EngineBench().start()
    const due = { kind: 'stop', keptLots: 0, since: 1 }
    const pause = { cause: 'coolDown', untilAt: Date.UTC(2025, 0, 1, 12) }
    const stopped = exits({ long: { due } })
    bench.records.push(stopped, stopped, exits({ pause }), exits({ pause }))
    const { moments } = explainSymbol(frameOf(bench), SYMBOL, 0)

    expect(moments.slice(-2).map(({ what, text }) => `${what}: ${text}`)).toEqual([
      'exit due: the stop-loss of s',
      'pause: s enters nothing until 2025-01-01 12:00:00 UTC: the cool-down after an exit',
    ])
  })
})

test('explain tells of a part that is closed only where it is', () => {
  const restricted = {
    kind: 'restricted',
    at: 1,
    scope: 'strategy:s',
    mode: 'reducing',
    code: 'close',
    reason: 'half',
    by: 'anna',
    keeps: [{ strategyId: 's', symbol: SYMBOL, longLots: 4, shortLots: 0 }],
  } as unknown as JournalRecord
  const wordsOn = (symbol: string) => describeRecord(new Map(), restricted, symbol)

  expect(wordsOn(SYMBOL)).toEqual([['reducing', 'strategy:s, close: half, by anna']])
  expect(wordsOn('ETHUSDT')).toEqual([])
})
