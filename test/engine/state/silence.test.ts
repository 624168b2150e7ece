import { expect, test } from 'vitest'
import { type Answer } from '../../../src/domain/answer.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { accepted, EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const SECOND = 1000
const MINUTE = 60 * SECOND
const EMPTY = refused('22001', 'definite')
const BUSY: Answer<never> = {
  kind: 'refused',
  class: 'retry',
  code: '429',
  topic: 'rate',
  message: 'Too Many Requests',
  status: 429,
  receivedAt: 0,
}
/** A page of whatever stands in front of the exchange. */
const PAGE: Answer<never> = {
  kind: 'unknown',
  cause: 'unreadable',
  code: '',
  message: 'not JSON: <html>',
  status: 403,
  receivedAt: 0,
}

type Failing = 'reads' | 'cancel-alls' | 'orders'

/** A core whose calls fail as told until that is over; what it says comes back. */
class Outage {
  readonly bench: EngineBench
  readonly said: Extract<Effect, { kind: 'announce' }>[] = []
  /** When batches left that had no answer; Unix ms. */
  readonly lostAt: number[] = []
  cancelAlls = 0
  readonly #failing: ReadonlySet<Failing>
  readonly #answer: Answer<BatchResult>

  readonly #account: Parameters<EngineBench['read']>[0]

  constructor(
    bench: EngineBench,
    failing: readonly Failing[],
    answer: Answer<BatchResult> = TIMED_OUT,
    account: Parameters<EngineBench['read']>[0] = {},
  ) {
    this.bench = bench
    this.#account = account
    this.#failing = new Set(failing)
    this.#answer = answer
  }

  /** Time passes: each second reads are due, and every call has its answer, or none. */
  pass(ms: number): void {
    const { bench } = this
    for (const endAt = bench.now + ms; bench.now < endAt;) {
      bench.now += 500
      if (!this.#failing.has('reads')) bench.price()
      bench.step({ kind: 'timePassed' })
      if (bench.now % SECOND < 500) {
        bench.step({ kind: 'pollDue', what: 'fills' })
        bench.step({ kind: 'pollDue', what: 'positions' })
      }
      this.#answerReads()
      this.#answerGrants()
      this.said.push(...bench.take('announce'))
      bench.effects = bench.effects.filter(({ kind }) => kind === 'askGrant')
    }
  }

  #answerReads(): void {
    const { bench } = this
    if (!this.#failing.has('reads')) return bench.read(this.#account)
    const reason = 'unknown ECONNREFUSED: '
    for (const _ of bench.take('readFills'))
      bench.step({ kind: 'readFailed', what: 'fills', reason })
    for (const { symbol } of bench.take('readPosition'))
      bench.step({ kind: 'readFailed', what: `position ${symbol}`, reason })
  }

  #answerGrants(): void {
    const asked = new Set(this.bench.take('askGrant').map(({ endpoint }) => endpoint))
    if (asked.has('cancelAllOrders')) this.#answerCancels()
    if (asked.has('batchPlaceOrder') && this.#failing.has('orders')) this.#loseBatch()
  }

  #loseBatch(): void {
    const { bench } = this
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    for (const { batch } of bench.take('sendBatch')) {
      this.lostAt.push(bench.now)
      bench.answer(batch.batchId, this.#answer)
    }
  }

  #answerCancels(): void {
    const { bench } = this
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
    for (const { cancelId } of bench.take('sendCancelAll')) {
      this.cancelAlls += 1
      bench.answerCancel(cancelId, this.#failing.has('cancel-alls') ? this.#answer : EMPTY)
    }
  }

  events(name: string): readonly Readonly<Record<string, unknown>>[] {
    return this.said.filter(({ event }) => event === name).map(({ fields }) => fields)
  }
}

/** One bid rests, another's answer was lost. */
function lostBid(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  bench.quote(BID, { ...BID, ticks: 99_980 })
  bench.answer(bench.grantBatch().batchId, TIMED_OUT)
  bench.effects = []
  return bench
}

test.each([
  ['everything for 80 s', ['reads', 'cancel-alls'], TIMED_OUT, 80 * SECOND],
  ['everything for 150 s', ['reads', 'cancel-alls'], TIMED_OUT, 150 * SECOND],
  ['everything for six hours', ['reads', 'cancel-alls'], TIMED_OUT, 360 * MINUTE],
  ['cancel-alls with 429 for five minutes', ['cancel-alls'], BUSY, 5 * MINUTE],
  ['cancel-alls with pages for five minutes', ['cancel-alls'], PAGE, 5 * MINUTE],
  ['reads for five minutes', ['reads'], TIMED_OUT, 5 * MINUTE],
] as const)(
  '[ORD4] an exchange that does not answer %s halts nothing, and everything is found out afterwards',
  (_, failing, answer, forMs) => {
    const bench = lostBid()
    const outage = new Outage(bench, failing, answer)
    outage.pass(forMs)

    expect([...bench.halts]).toEqual([])
    expect(bench.engine.silentCalls(bench.now).length).toBeGreaterThan(0)
    expect(bench.states()).toContain('unknown')

    const after = new Outage(bench, [])
    after.pass(20 * SECOND)

    expect([...bench.halts]).toEqual([])
    expect(bench.engine.instrument(SYMBOL)?.resolution).toBeUndefined()
    expect(bench.states()).not.toContain('unknown')
    expect(outage.events('exchange.silent')).toHaveLength(1)
    expect(after.events('exchange.answers')).toMatchObject([
      { unknownOrders: 1, found: { absent: 1 }, proved: [SYMBOL] },
    ])
  },
)

test('[ORD4] the time before and after a silence counts: what then does not end is a contradiction', () => {
  const bench = lostBid()
  new Outage(bench, ['reads', 'cancel-alls']).pass(80 * SECOND)
  const stuck = accepted({
    successList: [],
    failureList: [
      { clientOid: 'x', orderId: '1', errorCode: '43012', errorMsg: 'cannot be cancelled' },
    ],
  })

  new Outage(bench, ['cancel-alls'], stuck).pass(75 * SECOND)

  expect(bench.halts.get(SYMBOL)).toMatch(/although the exchange answers/)
})

test('[RUN1] orders without an answer, again and again, are said, and so is that one is answered', () => {
  const bench = new EngineBench().start()
  const passing = new Outage(bench, [])
  for (let tries = 0; tries < 3; tries += 1) {
    bench.quote({ ...BID, ticks: 99_990 - tries })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    passing.pass(61 * SECOND)
  }

  expect(passing.events('exchange.silent')).toMatchObject([
    { calls: [`orders ${SYMBOL}`], unknownOrders: 1 },
  ])
  expect(bench.engine.silentCalls(bench.now)).toMatchObject([[`orders ${SYMBOL}`, { times: 3 }]])

  bench.quote({ ...BID, ticks: 99_900 })
  bench.accept(bench.grantBatch())
  passing.pass(2 * SECOND)
  expect(passing.events('exchange.answers')).toMatchObject([
    { unanswered: { [`orders ${SYMBOL}`]: 3 } },
  ])
})

test('[RUN1] one call without an answer is no outage', () => {
  const bench = lostBid()
  const passing = new Outage(bench, [])

  passing.pass(2 * MINUTE)

  expect(passing.said.filter(({ event }) => event.startsWith('exchange.'))).toEqual([])
})

const SERVER_ERROR: Answer<never> = { ...PAGE, cause: 'serverError', status: 502 }

test('[ORD4] orders that are answered with 5xx for hours are tried ever more rarely, and soon again afterwards', () => {
  const bench = new EngineBench().start()
  bench.quote(BID)
  const outage = new Outage(bench, ['orders'], SERVER_ERROR)
  outage.pass(120 * MINUTE)

  const [, ...pauses] = outage.lostAt.map((at, index) => at - (outage.lostAt[index - 1] ?? at))
  expect(outage.lostAt.length).toBeLessThan(140)
  expect(outage.cancelAlls).toBeLessThan(140)
  expect(Math.max(...pauses)).toBeLessThan(2 * MINUTE)
  expect(pauses.slice(0, 2).every((pause) => pause < 20 * SECOND)).toBe(true)
  expect(outage.events('exchange.silent')).toHaveLength(1)
  expect(outage.events('exchange.answers')).toEqual([])
  expect([...bench.halts]).toEqual([])

  const lastAt = outage.lostAt.at(-1) ?? 0
  const after = new Outage(bench, [])
  const wantsBatch = (): boolean => bench.engine.instrument(SYMBOL)?.wantsBatchSince !== undefined
  while (!wantsBatch() && bench.now - lastAt < 2 * MINUTE) after.pass(500)
  expect(wantsBatch()).toBe(true)
  bench.accept(bench.grantBatch())
  expect(bench.states()).toContain('live')
})

test('[LIM2] a flatten does not wait for orders that had no answer, and what reduces waits for twenty seconds at most', () => {
  const bench = new EngineBench().start()
  bench.buy(10)
  const holding = { longLots: 10, shortLots: 0 }
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
  const outage = new Outage(bench, ['orders'], SERVER_ERROR, { holding })
  outage.pass(60 * MINUTE)
  const pauses = outage.lostAt.slice(1).map((at, index) => at - (outage.lostAt[index] ?? at))
  expect(Math.max(...pauses)).toBeLessThan(30 * SECOND)

  const known = outage.lostAt.length
  while (outage.lostAt.length === known) outage.pass(500)
  outage.pass(14 * SECOND)
  const before = outage.lostAt.length
  expect(before).toBe(known + 1)
  bench.step({
    kind: 'commanded',
    command: { kind: 'flatten', scope: '*', by: 'anna', reason: 'enough' },
  })
  outage.pass(SECOND)
  expect(outage.lostAt.length).toBe(before + 1)
})

test('[ORD4] orders of which no byte could leave cost nothing, and do not wait', () => {
  const bench = new EngineBench().start()
  bench.quote(BID)
  const outage = new Outage(bench, ['orders'], refused('CONNECT_REFUSED', 'notSent'))
  outage.pass(2 * MINUTE)

  const pauses = outage.lostAt.slice(1).map((at, index) => at - (outage.lostAt[index] ?? at))
  expect(outage.events('exchange.silent')).toHaveLength(1)
  expect(Math.max(...pauses)).toBeLessThan(2 * SECOND)
})
