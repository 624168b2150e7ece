import { expect, test } from 'vitest'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { AccountReader } from '../../../src/interpreter/account-reader.ts'
import { createHandLimiter, ExactCounters } from '../../exchange/limiter-fixture.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY } from '../engine-bench.ts'

const COUNT = 200
const READS_A_SECOND = 10
const WAY_MS = 20
const SYMBOLS = Array.from({ length: COUNT }, (_, index) => `S${index}USDT`)
const FLAT = { rows: [], isSilent: false } as const

/** A core of so many instruments whose reads go through the limits, 20 ms each way; a fill is readable after 3 s. */
function openMany() {
  const limits = new Map(
    SYMBOLS.map((symbol) => [symbol, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]),
  )
  const { execution } = new EngineBench().settings
  const bench = new EngineBench({
    instruments: new Map(SYMBOLS.map((symbol) => [symbol, madeInstrument({ symbol })])),
    strategies: new Map([[STRATEGY, { id: STRATEGY, symbols: SYMBOLS, limits, feeds: new Map() }]]),
    execution: { ...execution, fillVisibilityMs: 3000 },
  })
  const { time, limiter } = createHandLimiter()
  const readAt: number[] = []
  const heard: EngineEvent['kind'][] = []
  const call = (
    endpoint: 'singlePosition' | 'orderFills',
    answer: (requestedAt: number, exchangeTime: number) => void,
  ): void => {
    const requestedAt = time.now()
    limiter.request(endpoint, 2, (grant) =>
      time.after(WAY_MS, () => {
        const takenAt = time.now()
        if (endpoint === 'singlePosition') readAt.push(takenAt)
        time.after(WAY_MS, () => {
          grant.release({ requestTime: takenAt, roundTripMs: 2 * WAY_MS })
          answer(requestedAt, takenAt)
        })
      }),
    )
  }
  const dispatch = (event: EngineEvent): void => {
    heard.push(event.kind)
    bench.now = time.now()
    bench.step(event)
    for (const { sinceAt } of bench.take('readFills')) reader.readFills(sinceAt)
    for (const { symbol, isUrgent = false } of bench.take('readPosition'))
      reader.readPosition(symbol, isUrgent)
  }
  const reader = new AccountReader({
    dispatch,
    isTraded: () => true,
    now: () => time.monotonic(),
    exchange: {
      readFills: (sinceAt, onAnswer) =>
        call('orderFills', (requestedAt, exchangeTime) =>
          onAnswer({
            kind: 'accepted',
            receivedAt: 0,
            data: { fills: [], sinceAt, requestedAt, exchangeTime },
          }),
        ),
      readPosition: (symbol, onAnswer) =>
        call('singlePosition', (requestedAt, exchangeTime) =>
          onAnswer({
            kind: 'accepted',
            receivedAt: 0,
            data: { symbol, ...FLAT, requestedAt, exchangeTime },
          }),
        ),
    },
  })
  /** As a driver does: time passes, and what is polled is polled. */
  const pass = (untilMs: number, isOver: () => boolean): number => {
    const startedAt = time.now()
    for (let step = 1; time.now() - startedAt < untilMs && !isOver(); step++) {
      time.advance(50)
      dispatch({ kind: 'timePassed' })
      if (step % 10 === 0) dispatch({ kind: 'pollDue', what: 'fills' })
      if (step % 20 === 0) dispatch({ kind: 'pollDue', what: 'positions' })
    }
    return time.now() - startedAt
  }
  bench.now = time.now()
  dispatch({ kind: 'clockSynchronised', offsetMs: 0 })
  dispatch({ kind: 'started' })
  return { bench, pass, readAt, heard }
}

test('[ORD5] of 200 instruments the first is traded within a second, all once each could be read, no read wasted', () => {
  const { bench, pass, readAt, heard } = openMany()

  const firstMs = pass(60_000, () => bench.engine.phase === 'running')
  const allMs = firstMs + pass(60_000, () => bench.engine.unproved.length === 0)

  expect(firstMs).toBeLessThanOrEqual(1000)
  expect(allMs).toBeLessThanOrEqual((COUNT / READS_A_SECOND) * 1000 + 1000)
  expect(readAt.length).toBeLessThanOrEqual(COUNT + READS_A_SECOND)
  expect(heard).not.toContain('readFailed')
  const counters = new ExactCounters(READS_A_SECOND, 1000)
  for (const at of readAt) counters.count(at)
  expect(counters.rejected).toEqual({ sliding: 0, fixed: 0, bucket: 0 })
})

test('[RSK2] a share of what is not read yet is not closed, although the run trades other instruments', () => {
  const { bench, pass } = openMany()
  pass(60_000, () => bench.engine.phase === 'running')
  const { unproved } = bench.engine
  const proved = SYMBOLS.find((symbol) => !unproved.includes(symbol)) ?? ''
  const closing = {
    kind: 'close',
    share: 0.5,
    key: 'close-01',
    reason: 'a drill',
    by: 'anna',
  } as const
  const refusalOf = (scope: string) => bench.engine.planByHand({ ...closing, scope }).refusal

  const notRead = /the start has yet to read what the account holds/
  expect(refusalOf(unproved[0] ?? '')).toMatch(notRead)
  expect(refusalOf('*')).toMatch(notRead)
  expect(refusalOf(proved)).toMatch(/holds nothing of which this share is large enough/)
})

test('a start that takes long says how far it is, and when it is over', () => {
  const { bench, pass } = openMany()
  pass(60_000, () => bench.engine.unproved.length === 0)

  const said = bench
    .take('announce')
    .filter(({ event }) => /^(?:daemon|recovery)\.(?!started)/.test(event))

  expect(said[0]).toMatchObject({ event: 'daemon.running', fields: { instruments: COUNT } })
  const progress = said.slice(1, -1)
  expect(new Set(progress.map(({ event }) => event))).toEqual(new Set(['recovery.progress']))
  const proved = progress.map(({ fields }) => Number(fields['proved']))
  expect(proved.length).toBeGreaterThanOrEqual(9)
  expect(proved).toEqual(proved.toSorted((one, other) => one - other))
  expect(said.at(-1)).toMatchObject({ event: 'recovery.ended', fields: { instruments: COUNT } })
})
