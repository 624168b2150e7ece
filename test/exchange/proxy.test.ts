import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Transport, type WireOutcome } from '../../src/exchange/client/transport.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { EXCHANGE_HOST, opensslMissing, TestExchange, TestProxy } from '../support/forward-proxy.ts'

describe.skipIf(opensslMissing !== undefined)('through a forward proxy', () => {
  let exchange: TestExchange
  let proxy: TestProxy
  const transports: Transport[] = []
  beforeEach(async () => {
    exchange = new TestExchange()
    proxy = new TestProxy()
    await exchange.open()
    await proxy.open(exchange.port)
  })
  afterEach(async () => {
    proxy.cut()
    await Promise.all(transports.splice(0).map((transport) => transport.close()))
    await proxy.close()
    await exchange.close()
  })

  function open(
    more: { readonly login?: string; readonly host?: string; readonly url?: string } = {},
  ) {
    const { login, host = EXCHANGE_HOST, url = proxy.url } = more
    const authorization = login === undefined ? undefined : new Secret(login)
    const transport = new Transport({
      baseUrl: `https://${host}`,
      clock: systemClock,
      timers: systemTimers,
      answerBytesMax: 10_000,
      proxy: { url, authorization, from: 'exchange.proxy' },
    })
    transports.push(transport)
    return transport
  }

  const send = (transport: Transport, timeoutMs = 30_000): Promise<WireOutcome<string>> =>
    transport.send({
      method: 'POST',
      target: '/api/order',
      headers: ['content-type', 'application/json'],
      body: '{"order":1}',
      timeoutMs,
      answerBytesMax: 10_000,
      read: ({ status, body }) => `${status} ${body.toString()}`,
    })

  test('[ORD1] a request goes by CONNECT, with TLS to the exchange itself, and keeps its connection', async () => {
    const transport = open({ login: 'Basic dXNlcjpwYXNz' })

    const first = await send(transport)
    const second = await send(transport)

    expect(first).toMatchObject({
      kind: 'answered',
      result: expect.stringContaining('200 {"code":"00000"'),
    })
    expect(second.kind).toBe('answered')
    expect(proxy.asked).toEqual([`CONNECT ${EXCHANGE_HOST}:443`])
    expect(proxy.logins).toEqual(['Basic dXNlcjpwYXNz'])
    expect(exchange.bodies).toEqual(['{"order":1}', '{"order":1}'])
  })

  test.each([[407], [502], [403]])(
    '[ORD3] CONNECT answered with %d: nothing has left',
    async (status) => {
      proxy.mood = status
      const transport = open()

      const outcome = await send(transport)

      expect(outcome).toMatchObject({
        kind: 'notSent',
        code: 'CONNECT_FAILED',
        message: `no connection to the exchange through the proxy (it answers ${status})`,
      })
      expect(exchange.bodies).toEqual([])
      // It comes back by itself.
      proxy.mood = 'pass'
      expect((await send(transport)).kind).toBe('answered')
    },
  )

  test('[ORD3] a proxy that closes the connection instead of an answer: nothing has left', async () => {
    proxy.mood = 'drop'
    const transport = open()

    expect(await send(transport)).toMatchObject({ kind: 'notSent', code: 'CONNECT_FAILED' })

    proxy.mood = 'pass'
    expect((await send(transport)).kind).toBe('answered')
  })

  test('[ORD3] a proxy that is not there: nothing has left', async () => {
    const outcome = await send(open({ url: 'http://127.0.0.1:9' }))

    expect(outcome).toMatchObject({
      kind: 'notSent',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test.each(['hang', 'hangBehind'] as const)(
    '[ORD3] a proxy that does not answer (%s): nothing has left by the deadline, and the connection is used later',
    async (mood) => {
      proxy.mood = mood
      const transport = open()

      const outcome = await send(transport, 200)

      expect(outcome).toMatchObject({ kind: 'notSent', code: 'CONNECT_TIMEOUT' })
      expect(exchange.bodies).toEqual([])
      proxy.cut()
      proxy.mood = 'pass'
      expect((await send(transport)).kind).toBe('answered')
      // The request that nobody waits for any more never left.
      expect(exchange.bodies).toHaveLength(1)
    },
  )

  test('[ORD3] a tunnel that breaks after the request: what became of it is unknown', async () => {
    exchange.onRequest = () => {
      proxy.cut()
      return false
    }
    const transport = open()

    const outcome = await send(transport)

    expect(outcome).toMatchObject({ kind: 'lost', cause: 'connectionLost' })
    expect(exchange.bodies).toHaveLength(1)
    exchange.onRequest = () => true
    expect((await send(transport)).kind).toBe('answered')
    expect(exchange.bodies).toHaveLength(2)
  })

  test('[SEC1] a proxy that answers in the place of the exchange is not believed: its certificate is another', async () => {
    const outcome = await send(open({ host: 'other.test' }))

    expect(outcome).toMatchObject({ kind: 'notSent', code: 'CONNECT_FAILED' })
    expect(exchange.bodies).toEqual([])
  })
})
