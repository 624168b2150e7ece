import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import {
  type FaultKind,
  faultKinds,
  FaultPlan,
  type FaultSettings,
  noFaults,
} from '../../../src/simulator/wire/faults.ts'
import { type RunningServer } from '../../../src/simulator/wire/server.ts'
import { ALICE } from './fake-core.ts'
import { sendRequest, startServerBench } from './server-bench.ts'
import { BATCH_BODY, BATCH_PATH, signedRequest, TICKERS_PATH } from './signed-request.ts'

const BATCH = { method: 'POST', path: BATCH_PATH, body: BATCH_BODY } as const

let server: RunningServer | undefined
let agent: Agent | undefined
const before = getGlobalDispatcher()

afterEach(async () => {
  await server?.stop()
  await agent?.destroy()
  setGlobalDispatcher(before)
})

function nameOf(error: unknown): { readonly error: string; readonly code: unknown } {
  if (!(error instanceof Error)) throw new Error('an error was expected', { cause: error })
  return { error: error.name, code: 'code' in error ? error.code : undefined }
}

/** Sends one batch to a server that always fails in this way. */
async function meet(kind: FaultKind, settings: Partial<FaultSettings> = {}, timeoutMs = 2000) {
  agent = new Agent({ allowH2: false })
  setGlobalDispatcher(agent)
  const bench = await startServerBench({ faults: { probability: { [kind]: 1 }, ...settings } })
  server = bench.server
  const answer = await sendRequest(
    bench.server.baseUrl,
    signedRequest(ALICE, BATCH),
    timeoutMs,
  ).catch((error: unknown) => ({ status: 0, text: '', ...nameOf(error) }))
  return { ...bench, answer, isCarriedOut: bench.core.calls.length === 1 }
}

test('a dropped request is never answered and never carried out', async () => {
  const { answer, isCarriedOut } = await meet('requestDropped', {}, 300)

  expect(answer).toMatchObject({ error: 'TimeoutError' })
  expect(isCarriedOut).toBe(false)
})

test('a lost answer is a reset after the request was carried out', async () => {
  const { answer, isCarriedOut } = await meet('answerLost')

  expect(answer).toMatchObject({ code: 'ECONNRESET' })
  expect(isCarriedOut).toBe(true)
})

test.each([
  ['gatewayErrorBefore', 502, false],
  ['gatewayErrorAfter', 500, true],
] as const)(
  '%s is an HTML page with status %i; carried out: %s',
  async (kind, status, isCarriedOut) => {
    const met = await meet(kind)

    expect(met.answer).toMatchObject({ status, headers: { 'content-type': 'text/html' } })
    expect(met.answer.text).toMatch(/^<html>/)
    expect(met.isCarriedOut).toBe(isCarriedOut)
  },
)

test('a spurious 429 looks like a real one and is not carried out', async () => {
  const { answer, isCarriedOut } = await meet('tooManyRequests')

  expect(answer.status).toBe(429)
  expect(JSON.parse(answer.text)).toMatchObject({
    code: '429',
    msg: 'Too Many Requests',
    data: null,
  })
  expect(isCarriedOut).toBe(false)
})

test('a truncated answer breaks off after the request was carried out', async () => {
  const { answer, isCarriedOut } = await meet('truncatedBody')

  expect(answer).toMatchObject({
    status: 0,
    code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
  })
  expect(isCarriedOut).toBe(true)
})

test('a garbage answer is HTTP 200 and no JSON, after the request was carried out', async () => {
  const { answer, isCarriedOut } = await meet('garbageBody')

  expect(answer.status).toBe(200)
  expect(() => JSON.parse(answer.text) as unknown).toThrow(SyntaxError)
  expect(isCarriedOut).toBe(true)
})

test('a delayed answer is whole, and late', async () => {
  const startedAt = systemClock.monotonic()

  const { answer, isCarriedOut } = await meet('delayedAnswer', { delayMs: { min: 80, max: 100 } })

  expect(systemClock.monotonic() - startedAt).toBeGreaterThanOrEqual(75)
  expect(answer.status).toBe(200)
  expect(isCarriedOut).toBe(true)
})

test('faults keep to the endpoints they are set for', async () => {
  const { server: running } = await meet('gatewayErrorBefore', { endpoints: ['orderFills'] })

  const { status } = await sendRequest(
    running.baseUrl,
    signedRequest(ALICE, { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' }),
  )

  expect(status).toBe(200)
})

test('faults are counted and reported', async () => {
  const { faults, events } = await meet('gatewayErrorAfter')

  expect(faults.counts()).toEqual({ gatewayErrorAfter: 1 })
  expect(events).toContainEqual({
    kind: 'faultInjected',
    fault: 'gatewayErrorAfter',
    endpoint: 'batchPlaceOrder',
  })
})

const draw = (settings: FaultSettings, seed: number, count: number) => {
  const plan = new FaultPlan(settings, seed)
  return Array.from({ length: count }, () => plan.draw('tickers')?.kind)
}

test('without settings nothing ever fails', () => {
  expect(draw(noFaults, 1, 1000).every((kind) => kind === undefined)).toBe(true)
})

test('faults come as often as set, the same for the same seed', () => {
  const probability = Object.fromEntries(faultKinds.map((kind) => [kind, 0.05]))

  const drawn = draw({ probability }, 1, 20_000)

  for (const kind of faultKinds) {
    const share = drawn.filter((one) => one === kind).length / drawn.length
    expect(share).toBeGreaterThan(0.03)
    expect(share).toBeLessThan(0.06)
  }
  expect(draw({ probability }, 1, 20_000)).toEqual(drawn)
  expect(draw({ probability }, 2, 20_000)).not.toEqual(drawn)
})

test('switching one kind off leaves the others where they were', () => {
  const both = draw({ probability: { answerLost: 0.1, delayedAnswer: 0.1 } }, 5, 500)
  const one = draw({ probability: { answerLost: 0.1 } }, 5, 500)

  expect(both.map((kind) => (kind === 'delayedAnswer' ? undefined : kind))).toEqual(one)
})

test.each([
  [{ probability: { answerLost: 1.5 } }],
  [{ probability: { answerLost: Number.NaN } }],
  [{ probability: {}, delayMs: { min: 5, max: 1 } }],
])('impossible fault settings are refused: %j', (settings) => {
  expect(() => new FaultPlan(settings, 1)).toThrow(RangeError)
})
