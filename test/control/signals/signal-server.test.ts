import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SignalGuard } from '../../../src/control/signals/signal-guard.ts'
import { SignalGate } from '../../../src/control/signals/signal-gate.ts'
import { SignalServer } from '../../../src/control/signals/signal-server.ts'
import type { Signal } from '../../../src/domain/signal.ts'
import { Secret } from '../../../src/lib/secret.ts'

const SECRET = 'canary-51be09aa73f2'
const BODY = '{"action":"long"}'

let server: SignalServer
let port: number
let taken: Signal[]
let read: number
const closed: string[] = []

beforeEach(async () => {
  taken = []
  read = 0
  const rules = [
    {
      name: 'tv',
      secret: new Secret(SECRET),
      windowMs: 1000,
      perMinute: 10,
      fields: { action: { type: 'text', lengthMax: 9, optional: false } },
    },
  ] as const
  const guard = new SignalGuard({ keys: rules, monotonic: () => 0, onAnswered: () => undefined })
  const gate = new SignalGate({
    rules,
    now: () => 0,
    take: (signal) => {
      taken.push(signal)
      return Promise.resolve('taken')
    },
    onAnswered: () => undefined,
  })
  server = new SignalServer({
    host: '127.0.0.1',
    port: 0,
    guard: {
      admit: (name, shown) => guard.admit(name, shown),
      prove: (admission, bytes) => {
        read += 1
        return guard.prove(admission, bytes)
      },
    },
    take: (signal) => gate.answer(signal),
    onBroken: (reason) => closed.push(reason),
    monotonic: () => performance.now(),
    onClosed: (why) => closed.push(why),
  })
  port = await server.start()
})
afterEach(() => server.stop())

/** Sends bytes as they are, and gives all that is answered. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve) => {
    const answer: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (chunk) => answer.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(answer).toString()))
    socket.write(text)
  })
}

function request(head: readonly string[], body = BODY, line = 'POST /signals/tv'): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return [`${line} HTTP/1.1`, 'Host: any.example', length, ...head, '', body].join('\r\n')
}
const PROOF = `X-Signal-Secret: ${SECRET}`

test('a signal is taken at its path alone, whatever host a tunnel names', async () => {
  expect(await exchange(request([PROOF]))).toMatch(/^HTTP\/1\.1 200 .*"result":"taken"/s)
  expect(await exchange(request([`Authorization: Bearer ${SECRET}`]))).toMatch(/^HTTP\/1\.1 200 /)
  for (const line of [
    'GET /signals/tv',
    'POST /v1/commands',
    'POST /signals/tv?secret=x',
    'POST /signals/../signals/tv',
    'GET /metrics',
    'OPTIONS *',
  ])
    expect(await exchange(request([PROOF], BODY, line))).toMatch(/^HTTP\/1\.1 404 /)
  expect(taken).toHaveLength(2)
})

test('[SEC2] to who has no secret every name gives the same bytes', async () => {
  const answers = await Promise.all(
    ['POST /signals/tv', 'POST /signals/other'].flatMap((line) => [
      exchange(request([], BODY, line)),
      exchange(request(['X-Signal-Secret: guess'], '{', line)),
      exchange(request([], 'x'.repeat(9000), line)),
    ]),
  )
  const withoutDate = answers.map((text) => text.replace(/Date: .*\r\n/, ''))
  expect(new Set(withoutDate).size).toBe(1)
  expect(withoutDate[0]).toMatch(/^HTTP\/1\.1 401 /)
})

test('one request a connection, of 4 KB at most, however its length is said', async () => {
  const chunks = `POST /signals/tv HTTP/1.1\r\nHost: a\r\n${PROOF}\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n${'x'.repeat(0x2000)}\r\n0\r\n\r\n`
  expect(await exchange(chunks)).toMatch(/^HTTP\/1\.1 413 /)
  const two = await exchange(request([PROOF]) + request([PROOF]))
  expect(two.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(taken).toHaveLength(1)
})

test('of a flood without the secret few bodies are read, and a sender with it is served meanwhile', async () => {
  const flood = Array.from({ length: 400 }, () => exchange(request(['X-Signal-Secret: guess'])))
  expect(await exchange(request([PROOF]))).toMatch(/^HTTP\/1\.1 200 /)
  await Promise.all(flood)
  expect(taken).toHaveLength(1)
  expect(read).toBeLessThanOrEqual(61)
})

test('an answer to more than the rate says when to send again', async () => {
  const head = `POST /signals/tv HTTP/1.1\r\nHost: x\r\nX-Signal-Secret: ${SECRET}\r\n`
  const whole = `${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`
  const answers: string[] = []
  for (let index = 0; index <= 10; index++) answers.push(await exchange(whole))
  expect(answers[0]).not.toMatch(/^retry-after/im)
  expect(answers[10]).toMatch(/^HTTP\/1\.1 429 [^]*^retry-after: 6\r$/im)
})

test('of senders that connect at once none is closed before its signal came', async () => {
  const sockets = Array.from({ length: 150 }, () => connect(port, '127.0.0.1').setEncoding('utf8'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const answers = sockets.map(async (socket) => {
    socket.on('error', () => undefined)
    const [answer = ''] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return String(answer)
  })
  // The server takes one of them in a turn.
  for (let turn = 0; turn < 300; turn++) await new Promise(setImmediate)
  for (const socket of sockets) socket.write(request([PROOF]))
  const silent = (await Promise.all(answers)).filter((text) => !text.startsWith('HTTP/1.1 '))
  expect(silent).toEqual([])
})
