import { connect } from 'node:net'
import { Agent, getGlobalDispatcher, request as send, setGlobalDispatcher } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { BATCH_ORDERS_MAX } from '../../../src/protocol/futures/batch-place-order.ts'
import {
  type RunningServer,
  startServer,
  startTicking,
} from '../../../src/simulator/wire/server.ts'
import { FaultPlan, noFaults } from '../../../src/simulator/wire/faults.ts'
import { Wire } from '../../../src/simulator/wire/handle.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { ALICE, FakeCore } from './fake-core.ts'
import { type ServerBenchOptions, sendRequest, startServerBench } from './server-bench.ts'
import {
  BATCH_BODY,
  BATCH_PATH,
  FILLS_PATH,
  RATIO_PATH,
  signedRequest,
  TICKERS_PATH,
} from './signed-request.ts'

const TICKERS = { path: TICKERS_PATH, query: 'productType=USDT-FUTURES' } as const

const running: RunningServer[] = []
const before = getGlobalDispatcher()
let agent: Agent | undefined

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
  await agent?.destroy()
  agent = undefined
  setGlobalDispatcher(before)
})

async function start(options: ServerBenchOptions = {}) {
  agent = new Agent({ allowH2: false })
  setGlobalDispatcher(agent)
  const bench = await startServerBench(options)
  running.push(bench.server)
  return bench
}

test('a signed batch of 50 orders makes the round trip over HTTP', async () => {
  const { core, server } = await start()
  const orderList = Array.from({ length: BATCH_ORDERS_MAX }, (_, index) => ({
    ...BATCH_BODY.orderList[0],
    clientOid: `order-${index}`,
  }))
  const request = signedRequest(ALICE, {
    method: 'POST',
    path: BATCH_PATH,
    body: { ...BATCH_BODY, orderList },
  })

  const { status, text } = await sendRequest(server.baseUrl, request)

  expect(status).toBe(200)
  const { code, data } = JSON.parse(text) as {
    code: string
    data: { successList: { clientOid: string }[] }
  }
  expect(code).toBe('00000')
  expect(data.successList.map(({ clientOid }) => clientOid)).toEqual(
    orderList.map(({ clientOid }) => clientOid),
  )
  expect(core.calls[0]?.request).toEqual({ ...BATCH_BODY, orderList })
})

test('the query reaches the signature check as it stood on the wire', async () => {
  const { server } = await start()
  const request = signedRequest(ALICE, {
    path: FILLS_PATH,
    query: 'productType=USDT%2DFUTURES&symbol=BTCUSDT',
  })

  expect((await sendRequest(server.baseUrl, request)).status).toBe(200)
})

test('a forged request is refused over HTTP too', async () => {
  const { server } = await start()
  const forged = signedRequest(
    { ...ALICE, secret: 'guess' },
    { path: FILLS_PATH, query: 'productType=USDT-FUTURES' },
  )

  const { status, text } = await sendRequest(server.baseUrl, forged)

  expect(status).toBe(400)
  expect(JSON.parse(text)).toMatchObject({ code: '40009', data: null })
})

test('the remaining calls and the length stand in the headers, and nothing is compressed', async () => {
  const { server } = await start()

  const { headers, text } = await sendRequest(
    server.baseUrl,
    signedRequest(ALICE, TICKERS, { 'accept-encoding': 'gzip' }),
  )

  expect(headers['x-mbx-used-remain-limit']).toBe('19')
  expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
  expect(headers['content-encoding']).toBeUndefined()
})

test('sockets are kept alive, for longer than clients keep them', async () => {
  const { server } = await start()

  const { headers } = await sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS))

  expect(headers['connection']).toBe('keep-alive')
  expect(headers['keep-alive']).toBe('timeout=75')
})

test('the page at / says what it is and lists every endpoint', async () => {
  const { server } = await start()

  const response = await send(`${server.baseUrl}/`)
  const page = await response.body.text()

  expect(response.headers['content-type']).toMatch(/^text\/html/)
  expect(page).toContain('simulated money')
  expect(page).toContain(BATCH_PATH)
  expect(page).toContain('1 in 1000 ms a client address')
})

test('addresses are counted by the socket, not by what a header claims', async () => {
  const { server } = await start()
  const ask = (claimed: string) =>
    sendRequest(
      server.baseUrl,
      signedRequest(
        ALICE,
        { path: RATIO_PATH, query: 'symbol=BTCUSDT' },
        { 'x-forwarded-for': claimed },
      ),
    )

  const statuses = [(await ask('1.1.1.1')).status, (await ask('2.2.2.2')).status]

  expect(statuses).toEqual([200, 429])
})

test('a body above the cap is refused without being taken in', async () => {
  const { core, server } = await start()
  const request = signedRequest(ALICE, {
    method: 'POST',
    path: BATCH_PATH,
    body: ' '.repeat(3_000_000),
  })

  // The server may close the connection while the client still sends, so the status may never be read.
  const status = await sendRequest(server.baseUrl, request).then(
    (answer) => answer.status,
    () => 413,
  )

  expect(status).toBe(413)
  expect(core.calls).toEqual([])
})

test('an answer comes after the delay that is set', async () => {
  const { server } = await start({ answerDelayMs: 60 })
  const startedAt = systemClock.monotonic()

  await sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS))

  expect(systemClock.monotonic() - startedAt).toBeGreaterThanOrEqual(55)
})

test('the market is played on the grid of the clock, however late a wake-up is', () => {
  let now = 1003
  let wakeUp = () => {}
  const waits: number[] = []
  const played: number[] = []
  const stop = startTicking({
    clock: { ...systemClock, now: () => now },
    timers: {
      ...systemTimers,
      after(ms, run) {
        waits.push(ms)
        wakeUp = run
        return () => {
          wakeUp = () => {}
        }
      },
    },
    stepMs: 20,
    tick: (at) => played.push(at),
  })

  for (const lateMs of [0, 7, 45]) {
    now += (waits.at(-1) ?? 0) + lateMs
    wakeUp()
  }
  stop()
  wakeUp()

  expect(played).toEqual([1020, 1047, 1105])
  expect(waits).toEqual([17, 20, 13, 15])
})

test('a market that breaks is reported once, and requests are still answered', async () => {
  const core = new FakeCore()
  core.advance = () => {
    throw new Error('no market')
  }
  const { server, events } = await start({ core, stepMs: 5, clock: systemClock })

  await expect.poll(() => events).toContainEqual({ kind: 'marketFailed', reason: 'no market' })
  const { status } = await sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS))

  expect(status).toBe(200)
  expect(events.filter(({ kind }) => kind === 'marketFailed')).toHaveLength(1)
})

test('stopping closes idle sockets at once, and stopping again changes nothing', async () => {
  const { server } = await start({ stepMs: 10 })
  await sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS))
  const startedAt = systemClock.monotonic()

  await server.stop()
  await server.stop()

  expect(systemClock.monotonic() - startedAt).toBeLessThan(200)
  await expect(sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS))).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  })
})

test('stopping answers what is under way, without waiting out its delay', async () => {
  const { core, server } = await start({ answerDelayMs: 60_000 })
  const answer = sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS), 5000)
  await expect.poll(() => core.calls.length).toBe(1)

  await server.stop()

  expect((await answer).status).toBe(200)
})

test('stopping closes a connection that never sent its request', async () => {
  const { server } = await start()
  const socket = connect(Number(new URL(server.baseUrl).port), '127.0.0.1')
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await new Promise<void>((resolve) =>
    socket.write('POST / HTTP/1.1\r\nhost: x\r\n', () => resolve()),
  )

  await server.stop()

  await closed
})

const HEAD = 'POST /api/v2/mix/order/cancel-all-orders HTTP/1.1\r\nhost: x\r\n'
const TYPE = 'content-type: application/json\r\n'

/** Opens a connection, then sends a byte every 50 ms. @returns how long it took until it was closed, ms. */
function trickle(server: RunningServer, first: string): Promise<{ ms: number; received: string }> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    let received = ''
    const socket = connect(Number(new URL(server.baseUrl).port), '127.0.0.1')
    const sending = setInterval(() => first !== '' && socket.write('a'), 50)
    socket.on('error', () => {})
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.once('close', () => {
      clearInterval(sending)
      resolve({ ms: performance.now() - startedAt, received })
    })
    if (first !== '') socket.write(first)
  })
}

test.each([
  ['sends nothing', ''],
  ['never ends its headers', `${HEAD}x-slow: `],
  ['never ends its body', `${HEAD}${TYPE}content-length: 1000000\r\n\r\n{`],
  ['never ends a body in chunks', `${HEAD}${TYPE}transfer-encoding: chunked\r\n\r\nfffff\r\n{`],
])(
  'a client that %s is closed when its time is over, and nothing is carried out',
  async (_what, first) => {
    const { core, server } = await start({ headersMsMax: 300, requestMsMax: 600 })

    const { ms, received } = await trickle(server, first)

    expect(ms).toBeGreaterThan(250)
    // Node's own rhythm would be 30 s. Far more than the limits, for a machine that is busy.
    expect(ms).toBeLessThan(4000)
    expect(received).toMatch(/^(HTTP\/1\.1 408 |$)/)
    expect(core.calls).toEqual([])
    expect((await sendRequest(server.baseUrl, signedRequest(ALICE, TICKERS))).status).toBe(200)
  },
)

test('a port that is taken is said plainly', async () => {
  const { server } = await start()
  const port = Number(new URL(server.baseUrl).port)
  const core = new FakeCore()
  const onEvent = () => {}

  const second = startServer({
    wire: new Wire({ exchange: core, clock: systemClock }),
    faults: new FaultPlan(noFaults, 1),
    clock: systemClock,
    timers: systemTimers,
    host: '127.0.0.1',
    port,
    stepMs: 1000,
    advance: () => {},
    answerDelay: () => 0,
    bodyBytesMax: 1,
    onEvent,
  })

  const message = process.platform === 'linux' ? `(pid ${process.pid})` : 'cannot listen'
  await expect(second).rejects.toMatchObject({
    code: 'SIMULATOR_LISTEN_FAILED',
    message: expect.stringContaining(message),
  })
})
