import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebhookClient } from '../../src/alerts/delivery/webhook-client.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { rawAnswer, WireServer, type WireScript } from '../support/wire-server.ts'

const CANARY = 'canary-5c1d77e2'
const PATH = `/hooks/${CANARY}?key=${CANARY}`

let server: WireServer
let client: WebhookClient
beforeEach(() => {
  server = new WireServer()
  client = openClient(10_000)
})
afterEach(async () => {
  await client.close()
  await server.stop()
})

/** Whoever waits in vain waits for this long. */
const SHORT_MS = 300

function openClient(timeoutMs: number): WebhookClient {
  return new WebhookClient({ timers: systemTimers, timeoutMs })
}

async function callWith(script: WireScript) {
  const url = await server.start()
  server.script = script
  return client.call({ url: `${url}${PATH}`, method: 'POST', headers: {}, body: 'hello' })
}

test('what was answered is its status and the beginning of its text', async () => {
  const outcome = await callWith((_request, socket) => void socket.write(rawAnswer({ body: 'ok' })))

  expect(outcome).toEqual({ kind: 'answered', status: 200, text: 'ok', retryAfterMs: undefined })
  expect(server.requests).toMatchObject([{ method: 'POST', target: PATH, body: 'hello' }])
})

test('a redirect is not followed', async () => {
  const headers = { location: '/elsewhere' }
  const outcome = await callWith(
    (_request, socket) => void socket.write(rawAnswer({ status: 307, headers, body: '' })),
  )

  expect(outcome).toMatchObject({ kind: 'answered', status: 307 })
  expect(server.requests).toHaveLength(1)
})

test.each([
  ['of the header, in seconds', { headers: { 'retry-after': '7' }, body: '' }, 7000],
  ['of Discord', { body: '{"message":"slow","retry_after":1.337}' }, 1337],
  ['of Telegram', { body: '{"ok":false,"parameters":{"retry_after":35}}' }, 35_000],
  [
    'a date, which is not looked at',
    { headers: { 'retry-after': 'Mon, 23 Nov 2026 00:00:00 GMT' }, body: '' },
    undefined,
  ],
])('how long it wants to be left alone: %s', async (_title, answer, expected) => {
  const outcome = await callWith(
    (_request, socket) => void socket.write(rawAnswer({ status: 429, ...answer })),
  )

  expect(outcome).toMatchObject({ status: 429, retryAfterMs: expected })
})

test('an answer without an end is read to its cap, and its status counts', async () => {
  const outcome = await callWith((_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const write = (): void => {
      while (!socket.destroyed && socket.write('x'.repeat(10_000)));
    }
    socket.on('drain', write)
    write()
  })

  expect(outcome).toMatchObject({ kind: 'answered', status: 200 })
  expect(outcome.kind === 'answered' && outcome.text.length).toBe(4096)
})

test('a slow body ends with the time of the call, and its status counts', async () => {
  client = openClient(SHORT_MS)
  const outcome = await callWith((_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun')
  })

  expect(outcome).toMatchObject({ kind: 'answered', status: 200, text: 'begun' })
})

test('garbage in a good answer harms nobody', async () => {
  const body = Buffer.from([0, 255, 254, 10, 27])
  const outcome = await callWith((_request, socket) => void socket.write(rawAnswer({ body })))

  expect(outcome).toMatchObject({ kind: 'answered', status: 200 })
})

/** Each failure, and what is said of it. */
const FAILURES: readonly (readonly [string, WireScript, string])[] = [
  ['silence', () => undefined, 'did not answer within 300 ms'],
  ['a closed connection', (_request, socket) => void socket.end(), 'closed the connection'],
  ['a reset', (_request, socket) => void socket.resetAndDestroy(), 'reset the connection'],
  ['no HTTP', (_request, socket) => void socket.write('220 smtp ready\r\n\r\n'), 'the call failed'],
  [
    'half a head',
    (_request, socket) => void socket.write('HTTP/1.1 200 OK\r\nx'),
    'did not answer within 300 ms',
  ],
]

test.each(FAILURES)(
  '[SEC1] %s is described, without the address',
  async (_title, script, words) => {
    if (words.includes('within')) client = openClient(SHORT_MS)
    const outcome = await callWith(script)

    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringContaining(words) })
    expect(JSON.stringify(outcome)).not.toContain(CANARY)
  },
)

test('[SEC1] a port where nobody listens, a host that is not there and an address that is none are described', async () => {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  const port = typeof address === 'object' ? address?.port : 0
  listener.close()
  await once(listener, 'close')
  const urls = [
    `http://127.0.0.1:${port}/${CANARY}`,
    `http://${CANARY}.invalid/`,
    `${CANARY}://nowhere`,
  ]

  const outcomes = await Promise.all(
    urls.map((url) => client.call({ url, method: 'GET', headers: {}, body: undefined })),
  )

  expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'failed'])
  expect(outcomes[0]).toMatchObject({ reason: 'refuses the connection' })
  expect(JSON.stringify(outcomes)).not.toContain(CANARY)
})
