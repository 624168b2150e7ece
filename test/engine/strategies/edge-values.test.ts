import { describe, expect, test } from 'vitest'
import { EventLog } from '../../../src/daemon/reporting/event-log.ts'
import { type Intent } from '../../../src/domain/intent.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { readIntents } from '../../../src/strategy/read-intents.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { shareOf } from '../../support/share.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const THROWS = Symbol('a getter that throws')

/** The edges of every type. */
const EDGES: readonly unknown[] = [
  0,
  -0,
  -1,
  0.5,
  1,
  2,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  5e-324,
  1e308,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  -(2 ** 31),
  2 ** 52,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53 - 1),
  2 ** 40,
  2 ** 42,
  2 ** 43,
  2 ** 50 / 5,
  0x38d7ea4c68000,
  10 ** 12,
  10n,
  true,
  false,
  null,
  undefined,
  Symbol('s'),
  '',
  ' ',
  '1',
  '1e3',
  'NaN',
  '0x10',
  '|',
  '\0',
  '\n',
  '\u2028',
  '🂡',
  '‮abc',
  '\ud800',
  'x'.repeat(1e5),
  '__proto__',
  'constructor',
  'toString',
  SYMBOL,
  [],
  [[]],
  {},
  { __proto__: null },
  [1],
  new Date(Number.NaN),
  () => 1,
  new Proxy({}, {}),
  /x/,
  new Map(),
  THROWS,
]

/** Every kind, with every field that it may have. */
const TEMPLATES: readonly { readonly [field: string]: unknown; readonly kind: Intent['kind'] }[] = [
  {
    kind: 'place',
    symbol: SYMBOL,
    action: 'openLong',
    lots: 10,
    ticks: 10,
    force: 'gtc',
    takeProfitTicks: 11,
    stopLossTicks: 9,
    ttlMs: 60_000,
  },
  {
    kind: 'place',
    symbol: SYMBOL,
    action: 'openShort',
    lots: 10,
    takeProfitTicks: 9,
    stopLossTicks: 11,
  },
  { kind: 'quote', symbol: SYMBOL, levels: [{ side: 'buy', ticks: 9, lots: 10 }] },
  { kind: 'target', symbol: SYMBOL, lots: 10 },
  { kind: 'cancelAll', symbol: SYMBOL },
  {
    kind: 'modifyTrigger',
    symbol: SYMBOL,
    orderId: '77',
    triggerTicks: 10,
    takeProfitTicks: 11,
    stopLossTicks: 9,
  },
  { kind: 'cancelMargin', symbol: SYMBOL, orders: [{ orderId: '5', clientOid: 'mine' }] },
  { kind: 'copySettings', symbol: SYMBOL, change: 'UPDATE', takeProfitRatio: 2, stopLossRatio: 3 },
]

const NUMBERS = /lots|ticks|ttlMs|Ratio/i

const GRIDS = [
  { tick: '0.5', lot: '0.001', price: 10_000 },
  { tick: '0.00001', lot: '1', price: 0.5 },
  { tick: '1000', lot: '0.000001', price: 50_000 },
  { tick: '0.1', lot: '100000', price: 10_000 },
] as const

/** A field of an intent: its own, or of the first entry of a list in it. */
interface Place {
  readonly template: (typeof TEMPLATES)[number]
  readonly field: string
  readonly list?: string
}

function placesOf(template: (typeof TEMPLATES)[number]): Place[] {
  const own = [...Object.keys(template), 'key'].map((field) => ({ template, field }))
  const inner = Object.entries(template).flatMap(([list, value]) =>
    Array.isArray(value)
      ? Object.keys(value[0] as object).map((field) => ({ template, field, list }))
      : [],
  )
  return [...own, ...inner]
}

const PLACES = TEMPLATES.flatMap(placesOf)

/** The intent with one value in the place of another; prices of the template count from the market. */
function spoil(
  { template, field, list }: Place,
  value: unknown,
  key: string,
  ticks: number,
): object {
  const priced = { key, ...shifted(template, ticks) } as Record<string, unknown>
  const target = list === undefined ? priced : (priced[list] as Record<string, unknown>[])[0]
  Object.defineProperty(target, field, {
    enumerable: true,
    ...(value === THROWS
      ? {
          get() {
            throw new Error('a getter threw')
          },
        }
      : { value }),
  })
  return priced
}

function shifted(fields: object, ticks: number): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      if (Array.isArray(value)) return [name, value.map((entry: object) => shifted(entry, ticks))]
      return [name, name.toLowerCase().endsWith('ticks') ? Number(value) - 10 + ticks : value]
    }),
  )
}

function onGrid(
  { tick, lot }: (typeof GRIDS)[number],
  mode: 'one_way_mode' | 'hedge_mode',
): EngineBench {
  const instruments = new Map([[SYMBOL, madeInstrument({ tick, lot })]])
  return new EngineBench({ instruments }, mode)
}

/** Carries out what it can: calls are granted and never answered, everything announced is logged. */
function live(bench: EngineBench, log: EventLog, price: number): void {
  for (const endpoint of ['batchPlaceOrder', 'cancelAllOrders'] as const) {
    if (bench.take('askGrant').some((asked) => asked.endpoint === endpoint))
      bench.step({ kind: 'granted', endpoint })
  }
  for (const { batch } of bench.take('sendBatch')) bench.accept(batch)
  for (const { cancelId } of bench.take('sendCancelAll')) {
    bench.answerCancel(cancelId, {
      kind: 'accepted',
      data: { successList: [], failureList: [] },
      receivedAt: 0,
    })
  }
  for (const announcement of bench.take('announce')) log.announce(announcement)
  bench.now += 200
  bench.price(price)
  bench.step({ kind: 'timePassed' })
  bench.read()
}

/** What a restart finds: the records as the journal has them. */
function reread(bench: EngineBench): readonly JournalRecord[] {
  return JSON.parse(JSON.stringify(bench.records)) as JournalRecord[]
}

function startAgain(bench: EngineBench, log: EventLog, price: number): void {
  bench.records.splice(0, Number.POSITIVE_INFINITY, ...reread(bench))
  bench.restart().start()
  for (let turn = 0; turn < 3; turn++) live(bench, log, price)
}

function createLog(bench: EngineBench): EventLog {
  const time = new ManualTime(0)
  const lines: string[] = []
  return new EventLog({
    logger: {
      isTerminal: false,
      hide: () => undefined,
      listen: () => undefined,
      setLevel: () => undefined,
      descriptor: 1 as const,
      log: (_, event, fields) => void lines.push(JSON.stringify({ event, ...fields })),
    },
    grids: bench.settings.instruments,
    clock: time,
  })
}

/** Of each grid other ones: together they are all. */
function shareOfPlaces(grid: (typeof GRIDS)[number]): readonly Place[] {
  const first = GRIDS.indexOf(grid)
  return shareOf([...PLACES.slice(first), ...PLACES.slice(0, first)], 3)
}

describe.each(GRIDS)('[STR1] on ticks of $tick and lots of $lot', (grid) => {
  describe.each(['one_way_mode', 'hedge_mode'] as const)('in %s', (mode) => {
    test.each(shareOfPlaces(grid))(
      'no value of $template.kind $list $field breaks the core',
      (place) => {
        const bench = onGrid(grid, mode).start()
        const log = createLog(bench)
        const { tick } = bench.settings.instruments.get(SYMBOL) ?? madeInstrument()
        const ticks = Math.round((grid.price * tick.scale) / tick.units)

        for (const [index, value] of EDGES.entries()) {
          const { intents, denials } = readIntents(STRATEGY, [
            spoil(place, value, `k${index}`, ticks),
          ])
          bench.step({
            kind: 'decided',
            strategyId: STRATEGY,
            sequence: index,
            intents,
            state: {},
            denials,
          })
          for (let turn = 0; turn < 3; turn++) live(bench, log, grid.price)
          // The core relies on nobody who has looked before it.
          if (typeof value === 'number' && NUMBERS.test(place.field)) {
            bench.decide(spoil(place, value, `taken${index}`, ticks) as Intent)
            for (let turn = 0; turn < 3; turn++) live(bench, log, grid.price)
          }
        }

        const again = rebuildBook({ checkpoint: undefined, records: reread(bench) }, mode)
        expect(JSON.stringify(toBookRows(again))).toBe(JSON.stringify(toBookRows(bench.book)))
        startAgain(bench, log, grid.price)
      },
    )
  })
})

describe('[STR1] what the journal of an earlier version holds', () => {
  const HUGE = Number.MAX_SAFE_INTEGER
  const PLACE = {
    kind: 'place',
    symbol: SYMBOL,
    key: 'a',
    action: 'openLong',
    lots: 10,
    ttlMs: 60_000,
  } as const
  const LEVEL = { side: 'buy', ticks: 19_900, lots: 10 } as const

  test.each<[string, Intent, string, string]>([
    [
      'a take-profit',
      { ...PLACE, takeProfitTicks: 20_100 },
      '"takeProfitTicks":20100',
      `"takeProfitTicks":${HUGE}`,
    ],
    [
      'the size of a ladder',
      { kind: 'quote', symbol: SYMBOL, levels: [LEVEL] },
      '"lots":10',
      `"lots":${HUGE}`,
    ],
    ['a target', { kind: 'target', symbol: SYMBOL, lots: 10 }, '"lots":10', `"lots":${HUGE}`],
  ])('%s beyond its instrument is dropped with a denial at the start', (_, intent, from, to) => {
    const bench = onGrid(GRIDS[0], 'one_way_mode').start()
    bench.decide(intent)
    const decision = bench.records.findLastIndex(({ kind }) => kind === 'decision')
    const text = JSON.stringify(bench.records[decision])
    bench.records.splice(
      decision,
      Number.POSITIVE_INFINITY,
      JSON.parse(text.replace(from, to)) as JournalRecord,
    )
    expect(text).toContain(from)

    bench.restart().start()
    live(bench, createLog(bench), GRIDS[0].price)

    const { places, quotes, targets } = bench.book
    expect([places.size, quotes.size, targets.get(`${STRATEGY}|${SYMBOL}`) ?? 0]).toEqual([0, 0, 0])
    expect([...bench.engine.denied.keys()]).toEqual([expect.stringMatching(/_PRECISION$/)])
    expect(bench.recordsOf('send')).toEqual([])
  })
})

test('[ORD2] keys that are the same in bytes are not two keys', () => {
  const place = { kind: 'place', symbol: SYMBOL, action: 'openLong', lots: 10 }
  const { intents, denials } = readIntents(STRATEGY, [
    { ...place, key: 'a\uD800' },
    { ...place, key: 'a\uDBFF' },
  ])

  expect([intents.length, denials.map(({ code }) => code)]).toEqual([
    0,
    ['INTENT_MALFORMED', 'INTENT_MALFORMED'],
  ])
})
