import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineStrategy, type Strategy } from '../../src/strategy/define-strategy.ts'
import { type SnapshotView } from '../../src/strategy/snapshot-view.ts'
import {
  type DecisionMade,
  StrategyRunner,
  type StrategyRunnerOptions,
} from '../../src/strategy/strategy-runner.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../support/market-moment.ts'

const SNAPSHOT = madeSnapshot([{ bid: 100, ask: 101 }])

type Decide = (snapshot: SnapshotView, context: { params: unknown; state: unknown }) => unknown

/** A strategy whose answers nothing checks, as JavaScript would have it. */
function madeStrategy(decide: Decide, initialState: () => unknown = () => ({})): Strategy {
  return defineStrategy({
    name: 'made-up',
    params: z.unknown(),
    initialState,
    decide: decide as never,
  })
}

function runnerOf(decide: Decide, options: Partial<StrategyRunnerOptions> = {}) {
  return new StrategyRunner({
    strategyId: 'made-up-btc',
    strategy: madeStrategy(decide),
    params: {},
    instruments: [madeInstrument()],
    clock: new ManualTime(MOMENT_AT),
    ...options,
  })
}

const decidedWith = (...intents: readonly unknown[]) =>
  runnerOf(() => ({ intents, state: {} })).decide(SNAPSHOT)

describe('running a strategy', () => {
  it('hands it the snapshot, its params and its state, and answers with plain values', () => {
    const runner = runnerOf(
      (snapshot, { params, state }) => ({
        intents: [snapshot.instrument('BTCUSDT').target((params as { lots: number }).lots)],
        state: { seen: (state as { seen?: number }).seen ?? 1 },
      }),
      { params: { lots: 5 } },
    )

    expect(runner.decide(SNAPSHOT)).toEqual({
      kind: 'decided',
      intents: [{ kind: 'target', symbol: 'BTCUSDT', lots: 5 }],
      denials: [],
      state: { seen: 1 },
      elapsedMs: 0,
      cpuMs: undefined,
      isSlow: false,
    })
    expect(runner.decide(SNAPSHOT)).toMatchObject({ state: { seen: 1 } })
  })

  it('gives back the same objects where it says the same', () => {
    const runner = runnerOf(({ sequence }) => ({
      intents: [
        { kind: 'quote', symbol: 'BTCUSDT', levels: [{ side: 'buy', ticks: 5, lots: 1 }] },
        { kind: 'target', symbol: 'BTCUSDT', lots: sequence === 3 ? 2 : 1 },
      ],
      state: { bids: [5], seen: sequence === 3 },
    }))
    const decideAt = (sequence: number) => runner.decide({ ...SNAPSHOT, sequence }) as DecisionMade
    const [first, second, third] = [decideAt(1), decideAt(2), decideAt(3)]

    expect([second.intents[0], second.intents[1]]).toEqual([first.intents[0], first.intents[1]])
    expect(second.intents.map((intent, index) => intent === first.intents[index])).toEqual([
      true,
      true,
    ])
    expect(second.state).toBe(first.state)
    expect(third).toMatchObject({
      intents: [{ kind: 'quote' }, { lots: 2 }],
      state: { seen: true },
    })
    expect(third.intents[0]).toBe(first.intents[0])
  })

  it('goes on from the state that was stored', () => {
    const count: Decide = (_, { state }) => ({
      intents: [],
      state: { seen: (state as { seen: number }).seen + 1 },
    })
    const strategy = madeStrategy(count, () => ({ seen: 0 }))
    const before = runnerOf(count, { strategy })
    before.decide(SNAPSHOT)

    const after = runnerOf(count, { strategy, stateText: before.stateText })
    after.decide(SNAPSHOT)

    expect(after.stateText).toBe('{"seen":2}')
  })

  it('[DET1] gives the same answers to the same snapshots', () => {
    const run = () => {
      const runner = runnerOf((snapshot, { state }) => ({
        intents: [snapshot.instrument('BTCUSDT').target(-0)],
        state: {
          bids: [
            ...((state as { bids?: number[] }).bids ?? []),
            snapshot.instrument('BTCUSDT').bid,
          ],
        },
      }))
      return JSON.stringify([runner.decide(SNAPSHOT), runner.decide(SNAPSHOT)])
    }

    expect(run()).toBe(run())
  })

  it.each([80, 3, undefined])('measures how long a decision took, and computed: %s ms', (cpuMs) => {
    const clock = new ManualTime(MOMENT_AT)
    let cpuNow = cpuMs === undefined ? undefined : 0
    const runner = runnerOf(
      () => {
        void clock.block(80)
        cpuNow = cpuMs
        return { intents: [], state: {} }
      },
      { clock, threadCpuMs: () => cpuNow },
    )

    expect(runner.decide(SNAPSHOT)).toMatchObject({ elapsedMs: 80, cpuMs, isSlow: true })
  })
})

describe('a strategy that misbehaves', () => {
  it('[STR1] that throws harms only itself: its state stays, and it is asked again', () => {
    const runner = runnerOf((snapshot, { state }) => {
      if (snapshot.sequence === 2) throw new TypeError('no such level')
      return { intents: [], state: { ...(state as object), [snapshot.sequence]: true } }
    })
    const decideAt = (sequence: number) => runner.decide({ ...SNAPSHOT, sequence })
    decideAt(1)

    const result = decideAt(2)

    expect(result).toMatchObject({ kind: 'failed', code: 'STRATEGY_THREW' })
    expect(result).toHaveProperty(
      'message',
      expect.stringMatching(/TypeError: no such level \(.*runner\.test\.ts/),
    )
    expect(decideAt(3)).toMatchObject({ kind: 'decided', state: { 1: true, 3: true } })
  })

  it.each([
    ['undefined', undefined],
    ['a text', 'oh'],
    ['a symbol', Symbol('x')],
    ['an object without a prototype', Object.create(null)],
    [
      'an error whose message throws',
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('y')
        },
      }),
    ],
    ['a huge error', new Error('x'.repeat(1_000_000))],
  ])('[STR1] may throw %s', (_, thrown) => {
    const result = runnerOf(() => {
      throw thrown
    }).decide(SNAPSHOT)

    expect(result).toMatchObject({ kind: 'failed', code: 'STRATEGY_THREW' })
    expect(JSON.stringify(result).length).toBeLessThan(2000)
  })

  it.each([
    ['nothing', undefined, 'STRATEGY_NO_DECISION'],
    ['null', null, 'STRATEGY_NO_DECISION'],
    ['a list', [], 'STRATEGY_NO_DECISION'],
    ['no intents', { state: {} }, 'STRATEGY_NO_DECISION'],
    ['intents that are no list', { intents: {}, state: {} }, 'STRATEGY_NO_DECISION'],
    ['no state', { intents: [] }, 'STRATEGY_NO_DECISION'],
    ['an undefined state', { intents: [], state: undefined }, 'STRATEGY_STATE_NOT_SERIALISABLE'],
    ['a promise', Promise.resolve(), 'STRATEGY_ASYNC'],
    [
      'a trap',
      new Proxy(
        {},
        {
          has: () => {
            throw new Error('trap')
          },
        },
      ),
      'STRATEGY_THREW',
    ],
  ])('[STR1] may return %s', (_, answer, code) => {
    expect(runnerOf(() => answer).decide(SNAPSHOT)).toMatchObject({ kind: 'failed', code })
  })

  it.each([
    ['levels[1].at', { levels: [{ at: 1 }, { at: new Date(0) }] }],
    ['average: NaN', { average: Number.NaN }],
    ['sum: Infinity', { sum: Number.POSITIVE_INFINITY }],
    ['seen', { seen: new Set([1]) }],
    ['big: a bigint', { big: 1n }],
    ['later: a function', { later: () => 1 }],
    ['holes[0]: undefined', { holes: Array(1) }],
    ['own', { own: new (class Own {})() }],
    ['toJSON', { at: { toJSON: () => 1 } }],
  ])('names the path of a state that JSON cannot say: %s', (path, state) => {
    const result = runnerOf(() => ({ intents: [], state })).decide(SNAPSHOT)

    expect(result).toMatchObject({ code: 'STRATEGY_STATE_NOT_SERIALISABLE' })
    expect(result).toHaveProperty('message', expect.stringContaining(path))
  })

  it('may not remember itself, nor too much', () => {
    const endless: Record<string, unknown> = {}
    endless['self'] = endless
    const answerTo = (state: unknown) => runnerOf(() => ({ intents: [], state })).decide(SNAPSHOT)

    expect(answerTo(endless)).toMatchObject({ code: 'STRATEGY_STATE_NOT_SERIALISABLE' })
    expect(answerTo('x'.repeat(262_144))).toMatchObject({ code: 'STRATEGY_STATE_TOO_LARGE' })
    expect(answerTo({ text: 'x'.repeat(1000), gone: undefined })).toMatchObject({ kind: 'decided' })
  })

  it('may have properties that are undefined, however long their names: the others count', () => {
    const runner = runnerOf((_, { state }) => ({
      intents: [],
      state: {
        ['x'.repeat(300_000)]: undefined,
        seen: ((state as { seen?: number }).seen ?? 0) + 1,
      },
    }))

    runner.decide(SNAPSHOT)
    expect(runner.decide(SNAPSHOT)).toMatchObject({ kind: 'decided', state: { seen: 2 } })
  })

  it('[STR1] keeps no live reference: what it changes later changes nothing', () => {
    const kept: { levels: { side: string; ticks: number; lots: number }[]; seen: number }[] = []
    const runner = runnerOf((snapshot, { state }) => {
      const levels = [{ side: 'buy', ticks: 5, lots: 1 }]
      for (const old of kept) {
        old.seen = 99
        old.levels.push({ side: 'sell', ticks: 1, lots: 1 })
      }
      const mine = { levels, seen: ((state as { seen?: number }).seen ?? 0) + 1 }
      kept.push(mine)
      return { intents: [snapshot.instrument('BTCUSDT').quote(levels as never)], state: mine }
    })

    const first = runner.decide(SNAPSHOT)
    const second = runner.decide(SNAPSHOT)

    expect(first).toMatchObject({ intents: [{ levels: [{ side: 'buy', ticks: 5, lots: 1 }] }] })
    expect(second).toMatchObject({ state: { seen: 2 } })
  })

  it('[STR1] cannot write into the state that it is handed, which stays what it was', () => {
    const runner = runnerOf((snapshot, { state }) => {
      const own = state as { seen?: number[] }
      if (snapshot.sequence === 2) own.seen?.push(2)
      return { intents: [], state: { seen: own.seen ?? [1] } }
    })
    const decideAt = (sequence: number) => runner.decide({ ...SNAPSHOT, sequence })
    decideAt(1)

    expect(decideAt(2)).toMatchObject({ kind: 'failed', code: 'STRATEGY_THREW' })
    expect(decideAt(3)).toMatchObject({ kind: 'decided', state: { seen: [1] } })
  })

  it('[STR1] may remember what is another at each look: what was read once is kept', () => {
    let reads = 0
    const state = {
      get seen() {
        return (reads += 1)
      },
    }
    const runner = runnerOf(() => ({ intents: [], state }))

    const result = runner.decide(SNAPSHOT)

    expect(result).toMatchObject({ kind: 'decided', state: { seen: reads } })
    expect(
      Object.getOwnPropertyDescriptor((result as { state: object }).state, 'seen'),
    ).toHaveProperty('value')
  })

  it('[STR1] cannot write into its params', () => {
    const params = { size: '1', nested: { deep: [1] } }
    const runner = runnerOf(
      (_, context) => {
        const own = context.params as typeof params
        own.nested.deep.push(2)
        return { intents: [], state: {} }
      },
      { params },
    )

    expect(runner.decide(SNAPSHOT)).toMatchObject({ code: 'STRATEGY_THREW' })
    expect(params.nested.deep).toEqual([1])
  })

  it('[STR1] may be asynchronous by mistake: its promise is refused, and its rejection ends nothing', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)

    const result = runnerOf(() => Promise.reject(new Error('later'))).decide(SNAPSHOT)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)

    expect(result).toMatchObject({ kind: 'failed', code: 'STRATEGY_ASYNC' })
    expect(unhandled).toEqual([])
  })

  it('cannot be started without a first state', () => {
    const start = (initialState: () => unknown, stateText?: string) =>
      runnerOf(() => ({}), { strategy: madeStrategy(() => ({}), initialState), stateText })
    const fail = () => {
      throw new Error('no idea')
    }

    expect(() => start(fail)).toThrow(/STRATEGY_INITIAL_STATE.*\n.*made-up\n.*no idea/)
    expect(() => start(() => new Map())).toThrow(
      /STRATEGY_STATE_NOT_SERIALISABLE.*\n.*state: .*Map/,
    )
    expect(() => start(() => ({}), '{"half"')).toThrow(/STRATEGY_STATE_UNREADABLE/)
    expect(start(fail, '{"kept":1}').stateText).toBe('{"kept":1}')
  })
})

describe('a misspelt name', () => {
  it.each([
    [
      'instrument',
      (snapshot: SnapshotView) => read(snapshot.instruments[0], 'midd'),
      'did you mean mid?',
    ],
    [
      'snapshot',
      (snapshot: SnapshotView) => read(snapshot, 'exchangetime'),
      'did you mean exchangeTime?',
    ],
    [
      'function',
      (snapshot: SnapshotView) => read(snapshot.instruments[0], 'tarqet'),
      'did you mean target?',
    ],
    ['far from all', (snapshot: SnapshotView) => read(snapshot, 'weather'), 'docs/strategies.md'],
  ])('is a failure that says where it stands: %s', (_, look, hint) => {
    const decision = runnerOf((snapshot) => ({ intents: [], state: look(snapshot) })).decide(
      SNAPSHOT,
    )

    expect(decision).toMatchObject({ kind: 'failed', code: 'STRATEGY_NAME_UNKNOWN' })
    expect(decision).toHaveProperty('message', expect.stringContaining(hint))
    expect(decision).toHaveProperty(
      'message',
      expect.stringMatching(/at +\/.*strategy-runner\.test\.ts:\d+\n/),
    )
  })

  it('leaves a view one that can be printed, copied and compared', () => {
    const seen: unknown[] = []
    runnerOf((snapshot) => {
      const [market] = snapshot.instruments
      seen.push(JSON.stringify(market), Object.keys(market ?? {}), inspect(snapshot))
      return { intents: [], state: 0 }
    }).decide(SNAPSHOT)
    expect(seen).toHaveLength(3)
    expect(seen[2]).toContain('BTCUSDT')
  })
})

const read = (from: unknown, name: string): unknown =>
  (from as Readonly<Record<string, unknown>>)[name]

describe('intents that make no sense', () => {
  const good = { kind: 'target', symbol: 'BTCUSDT', lots: 1 }

  it('[STR1] are denied one by one, and the good ones pass', () => {
    const result = decidedWith(good, null, { ...good, lots: 0.5 }, { ...good, symbol: 'ETHUSDT' })

    expect(result).toMatchObject({
      intents: [good, { ...good, symbol: 'ETHUSDT' }],
      denials: [
        { index: 1, strategyId: 'made-up-btc', symbol: '', code: 'INTENT_MALFORMED' },
        {
          index: 2,
          strategyId: 'made-up-btc',
          symbol: 'BTCUSDT',
          code: 'SIZE_PRECISION',
          detail: 'lots: 0.5',
        },
      ],
    })
  })

  const quote = (...levels: readonly unknown[]) => ({ kind: 'quote', symbol: 'BTCUSDT', levels })
  const place = (fields: object) => ({
    kind: 'place',
    symbol: 'BTCUSDT',
    key: 'k',
    action: 'openLong',
    lots: 1,
    ticks: 5,
    ...fields,
  })
  const cancelMargin = (fields: object) => ({
    kind: 'cancelMargin',
    symbol: 'BTCUSDT',
    key: 'k',
    ...fields,
  })
  const copySettings = (fields: object) => ({
    kind: 'copySettings',
    symbol: 'BTCUSDT',
    key: 'k',
    change: 'ADD',
    ...fields,
  })

  it.each([
    ['kind: "buy"', { ...good, kind: 'buy' }, 'INTENT_MALFORMED'],
    ['kind: undefined', { symbol: 'BTCUSDT' }, 'INTENT_MALFORMED'],
    ['symbol: ', { kind: 'cancelAll' }, 'INTENT_MALFORMED'],
    ['a list', [], 'INTENT_MALFORMED'],
    ['lots: "1"', { ...good, lots: '1' }, 'INTENT_MALFORMED'],
    ['lots: NaN', { ...good, lots: Number.NaN }, 'INTENT_MALFORMED'],
    ['lots: Infinity', { ...good, lots: Number.POSITIVE_INFINITY }, 'SIZE_PRECISION'],
    ['levels: undefined', { kind: 'quote', symbol: 'BTCUSDT' }, 'INTENT_MALFORMED'],
    [
      'levels: 201, limit 200',
      quote(...Array(201).fill({ side: 'buy', ticks: 1, lots: 1 })),
      'INTENT_MALFORMED',
    ],
    ['levels[0]', quote(undefined), 'INTENT_MALFORMED'],
    ['levels[0].ticks: 0', quote({ side: 'buy', ticks: 0, lots: 1 }), 'PRICE_PRECISION'],
    [
      'levels[1].lots: -1',
      quote({ side: 'buy', ticks: 1, lots: 1 }, { side: 'buy', ticks: 1, lots: -1 }),
      'SIZE_PRECISION',
    ],
    ['levels[0].side: "long"', quote({ side: 'long', ticks: 1, lots: 1 }), 'INTENT_MALFORMED'],
    ['key: missing', place({ key: undefined }), 'KEY_MISSING'],
    ['key: longer', place({ key: 'k'.repeat(200) }), 'INTENT_MALFORMED'],
    ['action: "buy"', place({ action: 'buy' }), 'INTENT_MALFORMED'],
    [
      'tiks: no field of place; did you mean ticks?',
      place({ ticks: undefined, tiks: 5 }),
      'INTENT_MALFORMED',
    ],
    [
      'stopLosTicks: no field of place; did you mean stop',
      place({ stopLosTicks: 4 }),
      'INTENT_MALFORMED',
    ],
    ['ticks: no field of target', { ...good, ticks: 5 }, 'INTENT_MALFORMED'],
    ['lots: 0', place({ lots: 0 }), 'SIZE_PRECISION'],
    ['ticks: 0.5', place({ ticks: 0.5 }), 'PRICE_PRECISION'],
    ['force: "fast"', place({ force: 'fast' }), 'INTENT_MALFORMED'],
    ['stopLossTicks: -1', place({ stopLossTicks: -1 }), 'PRICE_PRECISION'],
    ['ttlMs: -1', place({ ttlMs: -1 }), 'INTENT_MALFORMED'],
    ['orderId: ', { kind: 'modifyTrigger', symbol: 'BTCUSDT', key: 'k' }, 'INTENT_MALFORMED'],
    ['key: ', { kind: 'cancelMargin', symbol: 'BTCUSDT' }, 'INTENT_MALFORMED'],
    ['orders: 5, not a list', cancelMargin({ orders: 5 }), 'INTENT_MALFORMED'],
    ['orders[1]: null', cancelMargin({ orders: [{ orderId: '1' }, null] }), 'INTENT_MALFORMED'],
    [
      'orders: 201',
      cancelMargin({ orders: Array(201).fill({ orderId: '1' }) }),
      'INTENT_MALFORMED',
    ],
    ['change: "OPEN"', copySettings({ change: 'OPEN' }), 'INTENT_MALFORMED'],
    ['takeProfitRatio: 0', copySettings({ takeProfitRatio: 0 }), 'INTENT_MALFORMED'],
    ['stopLossRatio: "5"', copySettings({ stopLossRatio: '5' }), 'INTENT_MALFORMED'],
  ])('say what is wrong: %s', (detail, intent, code) => {
    const result = decidedWith(intent)

    expect(result).toMatchObject({ kind: 'decided', intents: [], denials: [{ index: 0, code }] })
    expect(result).toHaveProperty('denials.0.detail', expect.stringContaining(detail))
  })

  it('[STR1] may throw when they are looked at', () => {
    const trap = {
      kind: 'target',
      get symbol() {
        throw new Error('trap')
      },
      lots: 1,
    }

    expect(decidedWith(trap, good)).toMatchObject({
      intents: [good],
      denials: [{ index: 0, symbol: '' }],
    })
  })

  it('are not looked at beyond the limit', () => {
    const result = decidedWith(...Array(600).fill(good))

    expect(result).toMatchObject({
      denials: [{ index: 500, code: 'INTENTS_TOO_MANY', detail: '600 intents, limit 500' }],
    })
    expect(result).toHaveProperty('intents.length', 500)
  })

  it('keep every field that makes sense, and no other', () => {
    const whole = place({ force: 'ioc', takeProfitTicks: 9, stopLossTicks: 2, ttlMs: 500 })
    const trigger = {
      kind: 'modifyTrigger',
      symbol: 'BTCUSDT',
      orderId: '1',
      key: 'k',
      triggerTicks: 4,
      takeProfitTicks: null,
    }

    const margin = cancelMargin({ orders: [{ orderId: '1' }, { clientOid: 'mine' }] })
    const copy = copySettings({ takeProfitRatio: 50, stopLossRatio: null })
    const cancelAll = { kind: 'cancelAll', symbol: 'BTCUSDT' }
    const level = { side: 'buy', ticks: 5, lots: 1 }
    const all = [whole, cancelAll, trigger, margin, copy, quote(level)]

    expect(decidedWith(...all.slice(0, -1), quote({ ...level, note: 'mine' }))).toMatchObject({
      intents: all,
      denials: [],
    })
    expect(decidedWith(...all.map((intent) => ({ ...intent, remark: 5 })))).toMatchObject({
      intents: [],
      denials: all.map(({ kind }) => ({ detail: `remark: no field of ${kind}` })),
    })
  })
})

describe('defining a strategy', () => {
  it('says which part is missing, for authors whom no compiler tells', () => {
    const whole = {
      name: 'a',
      params: z.strictObject({}),
      initialState: () => ({}),
      decide: () => ({}),
    }
    const define = (part: object) => () => defineStrategy({ ...whole, ...part } as never)

    expect(define({})).not.toThrow()
    expect(define({ name: '' })).toThrow('name must be a word')
    expect(define({ params: {} })).toThrow('params must be a zod schema')
    expect(define({ initialState: {} })).toThrow('initialState must be a function')
    expect(define({ decide: undefined })).toThrow('decide must be a function')
    expect(define({ check: [] })).toThrow('check must be a function')
    expect(define({ desides: 'candle' })).toThrow(
      'desides is no part of a strategy; did you mean decides?',
    )
  })
})
