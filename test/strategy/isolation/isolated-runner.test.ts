import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { appendCandle, candleKey, createCandleSeries, toRows } from '../../../src/domain/candles.ts'
import { type Snapshot } from '../../../src/domain/snapshot.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { systemClock, threadCpuMs } from '../../../src/lib/clock.ts'
import { systemTimers, type Timers } from '../../../src/lib/timers.ts'
import {
  type IsolatedRunner,
  openIsolatedRunner,
} from '../../../src/strategy/isolation/isolated-runner.ts'
import { loadStrategy } from '../../../src/strategy/load-strategy.ts'
import { type ResolvedNeeds, resolveNeeds } from '../../../src/strategy/needs.ts'
import { StrategyRunner } from '../../../src/strategy/strategy-runner.ts'
import {
  holdingOf,
  madeDistance,
  madeInstrument,
  madeOrder,
  madeSnapshot,
  MOMENT_AT,
} from '../../support/market-moment.ts'

const folder = mkdtempSync(join(tmpdir(), 'intentd-isolation-'))
const opened: IsolatedRunner[] = []
afterAll(async () => {
  await Promise.all(opened.map((runner) => runner.stop()))
  rmSync(folder, { recursive: true })
})

const INSTRUMENTS = ['BTCUSDT', 'ETHUSDT'].map((symbol) => madeInstrument({ symbol }))
/** Far above what an answer takes on a busy machine. */
const PATIENT = 20_000

let files = 0

/** A strategy of this code, in a file of its own. */
function write(decide: string, { outside = '', needs = '' } = {}): string {
  const file = join(folder, `strategy-${++files}.ts`)
  writeFileSync(
    file,
    `import { defineStrategy, z } from 'intentd/strategy'
${outside}
export default defineStrategy({
  name: 'made-up',
  params: z.looseObject({}),
  ${needs}
  initialState: () => ({ count: 0 }),
  decide(market, { params, state }) { ${decide} },
})
`,
  )
  return file
}

const NOTHING = 'return { intents: [], state: { count: state.count + 1 } }'

async function open(
  moduleFile: string,
  { budgetMs = PATIENT, heapMb = 64, params = {}, timers = systemTimers } = {},
) {
  const lost: string[] = []
  const strategy = await loadStrategy(moduleFile)
  const options = { strategyId: 'made-up', params, instruments: INSTRUMENTS, clock: systemClock }
  const isolated = await openIsolatedRunner({
    ...options,
    moduleFile,
    budgetMs,
    heapMb,
    timers,
    needs: resolveNeeds(strategy, params),
    onThreadLost: (reason) => lost.push(reason),
  })
  opened.push(isolated)
  return { isolated, inline: new StrategyRunner({ ...options, strategy }), lost }
}

/** As {@link open}, of code that may run nowhere else. */
async function openAlone(
  moduleFile: string,
  needs: Pick<ResolvedNeeds, 'candles'> = { candles: new Map() },
): Promise<IsolatedRunner> {
  const options = {
    strategyId: 'made-up',
    params: {},
    instruments: INSTRUMENTS,
    clock: systemClock,
  }
  const isolated = await openIsolatedRunner({
    ...options,
    moduleFile,
    needs,
    budgetMs: PATIENT,
    heapMb: 64,
    timers: systemTimers,
    onThreadLost: () => undefined,
  })
  opened.push(isolated)
  return isolated
}

/** Answers are those of an ordinary runner, but for the time. */
function expectSame(
  { isolated, inline }: Awaited<ReturnType<typeof open>>,
  snapshot: Snapshot,
): void {
  const { elapsedMs: _, cpuMs: _cpu, isSlow: _slow, ...expected } = inline.decide(snapshot)
  const decided = isolated.decide(snapshot)
  expect(decided).toEqual({
    ...expected,
    elapsedMs: expect.any(Number),
    cpuMs: decided?.cpuMs,
    isSlow: expect.any(Boolean),
  })
}

/** A market that moves, with orders and positions that change now and then. */
function* makeSnapshots(count: number): Generator<Snapshot> {
  const random = createRandom('isolation')
  let [bid, held] = [1000, 0]
  for (let sequence = 1; sequence <= count; sequence++) {
    bid += (random.integer(21) - 10) / 10
    if (random.integer(5) === 0) held = random.integer(21) - 10
    const orders =
      random.integer(3) === 0
        ? [madeOrder({ action: 'openLong', ticks: 9000 + random.integer(100) })]
        : []
    const snapshot = madeSnapshot(
      [
        { instrument: madeInstrument(), bid, ask: bid + 0.1, holding: holdingOf(held), orders },
        ...(random.integer(4) === 0
          ? []
          : [{ instrument: madeInstrument({ symbol: 'ETHUSDT' }), bid, ask: bid + 1 }]),
      ],
      { sequence, takenAt: MOMENT_AT + sequence * 100 },
    )
    yield {
      ...snapshot,
      feeds: new Map(
        random.integer(2) === 0
          ? []
          : [['ratio', { data: { ratio: sequence }, readAt: MOMENT_AT }]],
      ),
      account: {
        ...snapshot.account,
        capital: decimal('1000'),
        equity: 1000 + held,
        money: new Map([
          ['made-up|BTCUSDT', { profit: decimal('1.5'), fees: decimal('0.25'), fills: sequence }],
        ]),
        holdings: new Map([['BTCUSDT', holdingOf(held)]]),
        marks: new Map([
          ['BTCUSDT', { markPrice: bid, unrealised: held, margin: 5, readAt: MOMENT_AT }],
        ]),
        distances: new Map(
          held === 0
            ? []
            : [['BTCUSDT', [madeDistance({ ours: held / 100, nearest: held / 100 })]]],
        ),
      },
    }
  }
}

describe('a strategy in a thread of its own', () => {
  test('sees and answers what it would without one', async () => {
    const file = write(`
      const seen = market.instruments.map((one) => [one.bid, one.ask, one.netLots, one.orders.length, one.ageMs, one.liquidation ?? null, one.positionReadAt])
      const { equity, unrealisedProfit, free } = market.account
      const btc = market.instrument('BTCUSDT')
      const intents = btc.hasPrices ? [btc.quote([{ side: 'buy', ticks: btc.bidTicks - 10, lots: 1 + (market.sequence % 2) }])] : []
      return { intents, state: { seen: JSON.stringify(seen), equity: equity ?? null, free: free ?? null,
        unrealised: unrealisedProfit ?? null, ratio: JSON.stringify(market.feed('ratio') ?? null), at: market.takenAt } }`)
    const runners = await open(file)
    for (const snapshot of makeSnapshots(300)) expectSame(runners, snapshot)
  })

  test('reads candles and indicators where the daemon keeps them', async () => {
    const file = write(
      `const btc = market.instrument('BTCUSDT'); const candles = btc.candles('1m')
       return { intents: [], state: { last: candles.at(-1) ?? null, length: candles.length, fast: btc.indicators.fast ?? null } }`,
      {
        outside: "import { sma } from 'intentd/strategy'",
        needs:
          "needs: { candles: { '1m': 5 }, indicators: { fast: sma({ interval: '1m', period: 3 }) } },",
      },
    )
    const runners = await open(file)
    const series = createCandleSeries(60_000, 5)
    const candles = new Map([[candleKey('BTCUSDT', 60_000), series]])
    for (let minute = 0; minute < 12; minute++) {
      const close = 100 + minute * minute
      appendCandle(series, [MOMENT_AT + minute * 60_000, close - 1, close + 2, close - 2, close, 7])
      expectSame(runners, { ...madeSnapshot([{ bid: close, ask: close + 1 }]), candles })
    }
    // Another series: what the daemon does when it begins anew.
    const fresh = new Map([[candleKey('BTCUSDT', 60_000), createCandleSeries(60_000, 5)]])
    expectSame(runners, { ...madeSnapshot([{ bid: 1, ask: 2 }]), candles: fresh })
  })

  test("[STR1] that takes hold of the candles by a patched prototype changes those of no other, nor the daemon's", async () => {
    const patch = `const get = Map.prototype.get
      Map.prototype.get = function (key) {
        const found = get.call(this, key)
        if (found && Object.hasOwn(found, 'intervalMs')) for (const column of Object.values(found.columns)) column.fill(1)
        return found
      }`
    const code = `const last = market.instrument('BTCUSDT').candles('1m').at(-1)
      return { intents: [], state: { close: last?.close ?? null } }`
    const needs = "needs: { candles: { '1m': 5 } },"
    const needed = { candles: new Map([[60_000, 5]]) }
    const forger = await openAlone(write(code, { outside: patch, needs }), needed)
    const other = await openAlone(write(code, { needs }), needed)
    const series = createCandleSeries(60_000, 5)
    appendCandle(series, [MOMENT_AT, 99, 102, 98, 100, 7])
    const before = toRows(series)
    const snapshot = {
      ...madeSnapshot([{}]),
      candles: new Map([[candleKey('BTCUSDT', 60_000), series]]),
    }

    expect(forger.decide(snapshot)).toMatchObject({ state: { close: 1 } })
    expect(other.decide(snapshot)).toMatchObject({ state: { close: 100 } })
    // The journal's rows of candles are these.
    expect(toRows(series)).toEqual(before)
  })

  test('reads candles as they are after a gap, an emptying and a restart of its thread', async () => {
    const file = write(
      `const candles = market.instrument('BTCUSDT').candles('1m')
       const all = Array.from({ length: candles.length }, (_, index) => candles.at(index))
       return { intents: [], state: { all: JSON.stringify(all), fast: market.instrument('BTCUSDT').indicators.fast ?? null } }`,
      {
        outside: "import { sma } from 'intentd/strategy'",
        needs:
          "needs: { candles: { '1m': 5 }, indicators: { fast: sma({ interval: '1m', period: 2 }) } },",
      },
    )
    const runners = await open(file)
    const series = createCandleSeries(60_000, 5)
    const candles = new Map([[candleKey('BTCUSDT', 60_000), series]])
    // A step of more than the series holds empties it; one row of it, which nobody saw, begins none.
    for (const minute of [0, 1, 2, 5, 6, 6, 12, 13, 14, 15, 16, 17, 40, 41, 90, 91]) {
      const ticks = minute === 40 ? 0 : 3
      appendCandle(series, [
        MOMENT_AT + minute * 60_000,
        minute,
        minute + 2,
        minute,
        minute + 1,
        ticks,
      ])
      expectSame(runners, { ...madeSnapshot([{ bid: 1, ask: 2 }]), candles })
    }
    runners.isolated.breakDown(new Error('it broke'))
    await expect
      .poll(
        () => runners.isolated.decide({ ...madeSnapshot([{ bid: 1, ask: 2 }]), candles })?.kind,
        {
          timeout: 60_000,
        },
      )
      .toBe('decided')
    expectSame(runners, { ...madeSnapshot([{ bid: 1, ask: 2 }]), candles })
  })

  test.skipIf(threadCpuMs() === undefined)(
    'says for how long a slow decision computed, and for how long it only took time',
    async () => {
      const waits = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)'
      const computes = 'let sum = 0; for (let i = 0; i < 1e8; i++) sum = (sum + i) % 7; void sum'
      const { isolated } = await open(
        write(
          `if (market.sequence === 2) ${waits}; if (market.sequence === 3) { ${computes} } ${NOTHING}`,
        ),
      )
      const ask = (sequence: number) => isolated.decide(madeSnapshot([{}], { sequence }))
      ask(1)
      const [waited, computed] = [ask(2), ask(3)]
      expect([waited?.isSlow, computed?.isSlow]).toEqual([true, true])
      expect(waited?.cpuMs).toBeLessThan(200)
      expect(computed?.cpuMs).toBeGreaterThan(200)
    },
  )

  test('gives back the same objects where it says the same', async () => {
    const { isolated } = await open(
      write('return { intents: [market.instrument("BTCUSDT").target(3)], state: { count: 1 } }'),
    )
    const [first, second] = [
      isolated.decide(madeSnapshot([{}])),
      isolated.decide(madeSnapshot([{}])),
    ]
    if (first?.kind !== 'decided' || second?.kind !== 'decided')
      throw new Error('it decided nothing')
    expect(second.intents[0]).toBe(first.intents[0])
    expect(second.state).toBe(first.state)
    expect(Object.isFrozen(first.state)).toBe(true)
  })

  test('[STR1] that never comes back costs one budget, is not asked for a while, and goes on from what it remembered', async () => {
    const { isolated, lost } = await open(
      write(`if (state.count === 2 && market.sequence === 3) for (;;); ${NOTHING}`),
      { budgetMs: 1000 },
    )
    const ask = (sequence: number) => isolated.decide(madeSnapshot([{}], { sequence }))
    expect([ask(1), ask(2)]).toMatchObject([{ state: { count: 1 } }, { state: { count: 2 } }])
    expect(ask(3)).toMatchObject({ kind: 'failed', code: 'STRATEGY_HANGS', isPaused: true })
    expect(ask(4)).toBeUndefined()
    await expect
      .poll(() => ask(5), { timeout: 240_000, interval: 200 })
      .toMatchObject({ state: { count: 3 } })
    expect(lost).toEqual(['no answer within 1000 ms'])
  })

  test('[STR1] that hangs now and then says so while it is paused, and fails for good after the fifth time', async () => {
    const quick: Timers = {
      after: (ms, call) => systemTimers.after(ms < 60_000 ? ms / 50 : ms, call),
    }
    const { isolated, lost } = await open(
      write(`if (market.sequence % 2 === 0) for (;;); ${NOTHING}`),
      {
        budgetMs: 1e3,
        timers: quick,
      },
    )
    const ask = (sequence: number) => isolated.decide(madeSnapshot([{}], { sequence }))
    for (let times = 1; times <= 5; times++) {
      await expect.poll(() => ask(1)?.kind, { timeout: 60_000, interval: 20 }).toBe('decided')
      expect([isolated.pausedFor, ask(2)]).toMatchObject([undefined, { code: 'STRATEGY_HANGS' }])
      expect(isolated.pausedFor).toBe('no answer within 1000 ms')
    }
    expect(lost).toHaveLength(5)
    expect(ask(1)).toMatchObject({ kind: 'failed', code: 'STRATEGY_THREAD' })
  })

  test('plots what it would without a thread, where that has changed', async () => {
    const { isolated } = await open(
      write(`market.instruments[0].plot('half', Math.floor(state.count / 2)); ${NOTHING}`),
    )
    const plots = [1, 2, 3].map((sequence) => {
      const found = isolated.decide(madeSnapshot([{}], { sequence }))
      return found?.kind === 'decided' ? found.plots?.map(({ value }) => value) : found
    })

    expect(plots).toEqual([[0], undefined, [1]])
  })

  test('says what it waits for as it would without a thread, where that has changed', async () => {
    const { isolated } = await open(
      write(`if (state.count < 2) market.instruments[0].waitsFor('prices'); ${NOTHING}`),
    )
    const waits = [1, 2, 3, 4].map((sequence) => {
      const found = isolated.decide(madeSnapshot([{}], { sequence }))
      return found?.kind === 'decided' ? found.waits?.map(({ what }) => what) : found
    })

    expect(waits).toEqual([['prices'], undefined, [], undefined])
  })

  test.each([
    ['throws', 'throw new Error("no")', 'STRATEGY_THREW'],
    ['returns a promise', 'return Promise.resolve()', 'STRATEGY_ASYNC'],
    ['returns nothing', 'return undefined', 'STRATEGY_NO_DECISION'],
    ['wants the process', 'process.exit(1)', 'STRATEGY_THREW'],
    [
      'remembers too much',
      'return { intents: [], state: { text: "x".repeat(1e6) } }',
      'STRATEGY_STATE_TOO_LARGE',
    ],
    [
      'remembers what is no number',
      'return { intents: [], state: { at: NaN } }',
      'STRATEGY_STATE_NOT_SERIALISABLE',
    ],
  ])('[STR1] that %s fails by itself, and is asked again', async (_, code, expected) => {
    const { isolated, lost } = await open(
      write(`if (market.sequence === 1) { ${code} } ${NOTHING}`),
    )
    expect(isolated.decide(madeSnapshot([{}], { sequence: 1 }))).toMatchObject({
      kind: 'failed',
      code: expected,
    })
    expect(isolated.decide(madeSnapshot([{}], { sequence: 2 }))).toMatchObject({
      kind: 'decided',
      state: { count: 1 },
    })
    expect(lost).toEqual([])
  })

  test('[STR1] that eats all memory loses its thread, and no more', async () => {
    const hog =
      'const all = []; if (market.sequence === 1) for (;;) all.push(new Array(1e5).fill(state))'
    const { isolated, lost } = await open(write(`${hog}; ${NOTHING}`), {
      heapMb: 16,
      budgetMs: 3000,
    })
    expect(isolated.decide(madeSnapshot([{}], { sequence: 1 }))).toMatchObject({ kind: 'failed' })
    await expect.poll(() => lost.length, { timeout: 60_000 }).toBeGreaterThan(0)
  })

  test('[STR1] that keeps buffers outside the heap loses its thread', async () => {
    const { isolated, lost } = await open(
      write(`kept.push(new Float64Array(1e6).fill(1)); ${NOTHING}`, {
        outside: 'const kept: Float64Array[] = []',
      }),
      { heapMb: 64 },
    )
    for (let sequence = 1; sequence <= 40 && lost.length === 0; sequence++)
      isolated.decide(madeSnapshot([{}], { sequence }))
    expect(lost).toEqual(['it takes too much memory'])
  })

  test('[STR1] that remembers more and more loses its thread at what it may keep', async () => {
    const remember =
      'for (let i = 0; i < 20_000; i++) kept.set(kept.size, { at: i, closes: [1, 2, 3] })'
    const { isolated, lost } = await open(
      write(`${remember}; ${NOTHING}`, { outside: 'const kept = new Map<number, unknown>()' }),
      { heapMb: 32 },
    )
    const results = []
    for (let sequence = 1; sequence <= 80 && lost.length === 0; sequence++)
      results.push(isolated.decide(madeSnapshot([{}], { sequence })))
    expect(lost).toEqual(['it takes too much memory'])
    expect(results.at(-1)).toMatchObject({
      code: 'STRATEGY_MEMORY',
      message: expect.stringContaining('heapMb  32'),
    })
  })

  test('[STR1] that fills the memory within a decision is ended before its time is up', async () => {
    const { isolated } = await open(
      write(`const all = []; for (;;) all.push({ state }); ${NOTHING}`),
      {
        heapMb: 32,
      },
    )
    expect(isolated.decide(madeSnapshot([{}]))).toMatchObject({
      code: 'STRATEGY_MEMORY',
      isPaused: true,
    })
  })

  test('keeps nothing by what it throws away', async () => {
    const waste = 'for (let i = 0; i < 50_000; i++) last = { at: i, closes: [1, 2, 3] }'
    const { isolated, lost } = await open(
      write(`${waste}; ${NOTHING}`, {
        outside: 'let last: unknown\nexport const read = () => last',
      }),
      { heapMb: 16 },
    )
    for (let sequence = 1; sequence <= 80; sequence++)
      isolated.decide(madeSnapshot([{}], { sequence }))
    expect(lost).toEqual([])
  })

  test('[STR1] whose file has changed since it was accepted is not begun anew, and fails until it is halted', async () => {
    const file = write(`if (market.sequence > 1) for (;;); ${NOTHING}`)
    const { isolated, lost } = await open(file, { budgetMs: 300 })
    isolated.decide(madeSnapshot([{}], { sequence: 1 }))
    writeFileSync(file, 'half of an edit')
    expect(isolated.decide(madeSnapshot([{}], { sequence: 2 }))).toMatchObject({
      code: 'STRATEGY_HANGS',
    })
    await expect.poll(() => lost.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2)
    expect(lost[1]).toContain('its file has changed since it was accepted')
  })

  test('[STR1] whose thread ends by itself fails once, paused, and is not asked for a while', async () => {
    const { isolated } = await open(write(NOTHING))
    const ask = (sequence: number) => isolated.decide(madeSnapshot([{}], { sequence }))
    ask(1)
    isolated.breakDown(new Error('it broke'))

    expect(ask(2)).toMatchObject({ kind: 'failed', code: 'STRATEGY_THREAD', isPaused: true })
    expect(ask(3)).toBeUndefined()
  })

  test('[STR1] that floods is read up to the limit', async () => {
    const { isolated } = await open(
      write(
        'const one = market.instrument("BTCUSDT").target(1); return { intents: Array.from({ length: 1e5 }, () => one), state }',
      ),
    )
    const result = isolated.decide(madeSnapshot([{}]))
    expect(result).toMatchObject({
      kind: 'decided',
      intents: { length: 500 },
      denials: [{ code: 'INTENTS_TOO_MANY' }],
    })
  })

  test.each(['node:fs', 'fs', 'node:child_process', 'node:net', 'node:process'])(
    '[SEC1] does not get %s',
    async (name) => {
      const file = write(NOTHING, { outside: `import * as taken from '${name}'; void taken` })
      const opening = openAlone(file)
      await expect(opening).rejects.toThrow(/STRATEGY_THREAD[^]*imports something that its thread/)
    },
  )

  test('[SEC1] sees neither the process nor what it knows', async () => {
    process.env['INTENTD_CANARY'] = 'canary'
    const code =
      'return { intents: [], state: { process: typeof process, variables: typeof globalThis.process } }'
    const { isolated } = await open(write(code))
    expect(isolated.decide(madeSnapshot([{}]))).toMatchObject({
      state: { process: 'undefined', variables: 'undefined' },
    })
    delete process.env['INTENTD_CANARY']
  })

  test('timers and promises that it leaves never run', async () => {
    const code = `Promise.resolve().then(() => (globalThis.ran = true)); setTimeout(() => (globalThis.ran = true), 0)
      return { intents: [], state: { ran: globalThis.ran === true } }`
    const { isolated } = await open(write(code))
    const ran: unknown[] = []
    for (let sequence = 1; sequence <= 5; sequence++) {
      const result = isolated.decide(madeSnapshot([{}], { sequence }))
      ran.push(result?.kind === 'decided' && result.state)
      await new Promise<void>((resolve) => systemTimers.after(20, resolve))
    }
    expect(ran).toEqual(Array.from({ length: 5 }, () => ({ ran: false })))
  })
})
