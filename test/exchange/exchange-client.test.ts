import { type AddressInfo, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { type Grant, type GrantSource } from '../../src/exchange/limiter/grant.ts'
import type { PreparedRequest } from '../../src/exchange/client/request-writer.ts'
import { Secret } from '../../src/lib/secret.ts'
import { signSchemeA } from '../../src/protocol/signing.ts'
import { envelopeOf, jsonAnswer, rawAnswer, type WireScript } from '../support/wire-server.ts'
import {
  BATCH,
  closeClientsAfterEach,
  CREDENTIALS,
  openClient,
  SECRETS,
  STOPPED_CLOCK,
} from './client-fixture.ts'

closeClientsAfterEach()

/** As many are open at a time. */
const CONNECTIONS = 16

/** A grant that writes down how it ended. */
function recordingGrant(): Grant & { readonly ends: string[] } {
  const ends: string[] = []
  return {
    endpoint: 'batchPlaceOrder',
    ends,
    release: (call) => {
      const end = `released ${call?.requestTime ?? 'without a time'}`
      ends.push(call?.isRateLimited === true ? `${end}, rate limited` : end)
    },
    unused: () => void ends.push('unused'),
  }
}

it.each([301, 302, 303, 307, 308])(
  '[SEC1] a redirect of the exchange (%i) to another host is not followed, by signed and by public calls',
  async (status) => {
    const elsewhere: string[] = []
    const other = createServer(
      (socket) => void socket.on('data', (data) => elsewhere.push(String(data))),
    )
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const { server, client } = await openClient()
    const location = `http://127.0.0.1:${port}/api/v2/mix/order/batch-place-order`
    server.script = (_request, socket) => {
      socket.write(rawAnswer({ status, headers: { location }, body: '' }))
    }
    const position = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const

    const answers = [
      await client.call('batchPlaceOrder', BATCH),
      await client.call('singlePosition', position),
      await client.call('longShortRatio', { symbol: 'BTCUSDT' }),
    ]

    expect(answers.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown'])
    expect(server.requests).toHaveLength(3)
    expect(elsewhere).toEqual([])
  },
)

describe('what is sent', () => {
  it('signs the exact bytes that it sends, with the time of the exchange', async () => {
    const { server, client, offset } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ successList: [] })))
    const now = Date.now()
    offset.observe({ requestTime: now + 60_000, sentAt: now, receivedAt: now }, 'signed')

    await client.call('batchPlaceOrder', BATCH)

    const [request] = server.requests
    expect(request?.method).toBe('POST')
    expect(request?.target).toBe('/api/v2/mix/order/batch-place-order')
    expect(request?.body).toBe(JSON.stringify(BATCH))
    const timestamp = request?.headers['access-timestamp'] ?? ''
    expect(Math.abs(Number(timestamp) - now - 60_000)).toBeLessThan(5000)
    const signed = {
      timestamp,
      method: 'POST',
      path: request?.target ?? '',
      query: '',
      body: request?.body ?? '',
    } as const
    expect(request?.headers).toMatchObject({
      'access-key': SECRETS.apiKey,
      'access-passphrase': SECRETS.passphrase,
      'access-sign': signSchemeA(SECRETS.secret, signed),
      'content-type': 'application/json',
      locale: 'en-US',
    })
  })

  it('puts the query of a GET under the signature, sorted, exactly as it stands in the address', async () => {
    const { server, client } = await openClient({ clock: STOPPED_CLOCK })
    server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf([])))

    await client.call('singlePosition', {
      symbol: 'BTCUSDT',
      productType: 'USDT-FUTURES',
      marginCoin: 'USDT',
    })

    const [request] = server.requests
    const query = 'marginCoin=USDT&productType=USDT-FUTURES&symbol=BTCUSDT'
    expect(request?.target).toBe(`/api/v2/mix/position/single-position?${query}`)
    const path = '/api/v2/mix/position/single-position'
    const signed = { timestamp: '1700000000000', method: 'GET', path, query, body: '' } as const
    expect(request?.headers['access-sign']).toBe(signSchemeA(SECRETS.secret, signed))
  })

  it('[SEC1] sends no key and no passphrase with a public call', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf([])))

    await client.call('longShortRatio', { symbol: 'BTCUSDT' })

    expect(
      Object.keys(server.requests[0]?.headers ?? {}).filter((name) => name.startsWith('access')),
    ).toEqual([])
  })

  it('[ORD1] sends the very bytes that were made before, even those of an earlier run', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ successList: [] })))
    const journaled: PreparedRequest<'batchPlaceOrder'> = {
      endpoint: 'batchPlaceOrder',
      body: '{ "symbol":  "BTCUSDT" }',
      query: '',
    }

    const answer = await client.send(journaled)

    expect(server.requests[0]?.body).toBe('{ "symbol":  "BTCUSDT" }')
    expect(answer.kind).toBe('accepted')
  })

  it('refuses a request that breaks a rule of the document, names the rule, and sends nothing', async () => {
    const { server, client } = await openClient()
    const grant = recordingGrant()
    const orderList = BATCH.orderList.map((order) => ({ ...order, tradeSide: 'open' as const }))
    const request = { ...BATCH, orderList }

    const answer = await client.call('batchPlaceOrder', request, { grant })

    expect(answer).toMatchObject({ kind: 'refused', class: 'invalid', code: 'REQUEST_INVALID' })
    expect(answer).toMatchObject({
      message: 'orderList.0.tradeSide must be omitted in one-way position mode',
    })
    expect(server.requests).toEqual([])
    expect(grant.ends).toEqual(['unused'])
  })

  it('refuses a private call without credentials', async () => {
    const { server, client } = await openClient({ credentials: undefined })
    const answer = await client.call('batchPlaceOrder', BATCH)
    expect(answer).toMatchObject({ kind: 'refused', class: 'invalid', code: 'CREDENTIALS_MISSING' })
    expect(server.requests).toEqual([])
  })

  it('uses one connection for many calls', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ successList: [] })))

    for (let call = 0; call < 20; call++) await client.call('batchPlaceOrder', BATCH)

    expect(server.requests).toHaveLength(20)
    expect(server.connections).toBe(1)
  })
})

describe('the last check before the first byte', () => {
  it('[RSK2] writes nothing when the check objects, and keeps the connection', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ successList: [] })))
    await client.call('batchPlaceOrder', BATCH)
    const grant = recordingGrant()

    const answer = await client.call('batchPlaceOrder', BATCH, {
      grant,
      beforeWrite: () => 'killed',
    })
    const after = await client.call('batchPlaceOrder', BATCH)

    expect(answer).toMatchObject({
      kind: 'refused',
      class: 'notSent',
      code: 'ABORTED',
      message: 'killed',
    })
    expect(grant.ends).toEqual(['unused'])
    expect(after.kind).toBe('accepted')
    expect(server.requests).toHaveLength(2)
    expect(server.connections).toBe(1)
  })

  it('is made after the wait for a connection, not before it', async () => {
    const { server, client } = await openClient()
    let isKilled = false
    const sockets: Socket[] = []
    server.script = (_request, socket) => {
      sockets.push(socket)
      if (sockets.length < CONNECTIONS) return
      isKilled = true
      for (const each of sockets) each.write(jsonAnswer(envelopeOf({ successList: [] })))
    }

    const beforeWrite = () => (isKilled ? 'killed meanwhile' : undefined)
    const calls = Array.from({ length: CONNECTIONS + 1 }, () =>
      client.call('batchPlaceOrder', BATCH, { beforeWrite }),
    )
    const answers = await Promise.all(calls)

    const last = answers.pop()
    expect(answers.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect(last).toMatchObject({ kind: 'refused', class: 'notSent', code: 'ABORTED' })
    expect(server.requests).toHaveLength(CONNECTIONS)
  })

  it('throws what a broken check throws, without writing', async () => {
    const { server, client } = await openClient()
    const beforeWrite = () => {
      throw new Error('broken check')
    }
    await expect(client.call('batchPlaceOrder', BATCH, { beforeWrite })).rejects.toThrow(
      'broken check',
    )
    expect(server.requests).toEqual([])
  })
})

describe('calls that never left', () => {
  it('[ORD3] a refused connection is not sent, not unknown', async () => {
    const closed = createServer()
    closed.listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const address = closed.address()
    const port = typeof address === 'object' ? address?.port : 0
    closed.close()
    const { client } = await openClient({ baseUrl: `http://127.0.0.1:${port}` })
    const grant = recordingGrant()

    const answer = await client.call('batchPlaceOrder', BATCH, { grant })

    expect(answer).toMatchObject({ kind: 'refused', class: 'notSent', code: 'CONNECT_FAILED' })
    expect(grant.ends).toEqual(['unused'])
  })

  it('[ORD3] a call that waits in vain for a connection is not sent, and is not sent later either', async () => {
    const deadlines: (() => void)[] = []
    const after = (_: number, passes: () => void) => {
      deadlines.push(passes)
      return () => {}
    }
    const { server, client } = await openClient({ timers: { after } })
    const all = Promise.withResolvers<void>()
    const sockets: Socket[] = []
    server.script = (_request, socket) => {
      if (sockets.push(socket) === CONNECTIONS) all.resolve()
    }

    const calls = Array.from({ length: CONNECTIONS + 1 }, () =>
      client.call('batchPlaceOrder', BATCH),
    )
    await all.promise
    deadlines.at(-1)?.()
    expect(await calls.pop()).toMatchObject({
      kind: 'refused',
      class: 'notSent',
      code: 'CONNECT_TIMEOUT',
    })
    for (const socket of sockets) socket.write(jsonAnswer(envelopeOf({ successList: [] })))
    const answers = await Promise.all(calls)

    expect(answers.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect(server.requests).toHaveLength(CONNECTIONS)
  })

  it('[ORD3] a call after the end is not sent', async () => {
    const { server, client } = await openClient()
    await client.close()

    const answer = await client.call('batchPlaceOrder', BATCH)

    expect(answer).toMatchObject({ kind: 'refused', class: 'notSent', code: 'CONNECT_FAILED' })
    expect(server.connections).toBe(0)
  })

  it('[ORD3] a TLS handshake that fails is not sent', async () => {
    const { server, client: plain } = await openClient()
    await plain.call('longShortRatio', { symbol: 'BTCUSDT' })
    const port = server.requests[0]?.headers['host']?.split(':')[1]
    const { client } = await openClient({
      baseUrl: `https://127.0.0.1:${port}`,
      requestTimeoutMs: 300,
    })
    server.script = () => {}

    const answer = await client.call('batchPlaceOrder', BATCH)

    expect(answer).toMatchObject({ kind: 'refused', class: 'notSent' })
    expect(server.requests).toHaveLength(1)
  })
})

describe('the end', () => {
  it('waits for the answer of a call that is out', async () => {
    const { server, client } = await openClient()
    let answerIt = () => {}
    server.script = (_request, socket) => {
      answerIt = () => void socket.write(jsonAnswer(envelopeOf({ successList: [] })))
    }
    let isClosed = false
    const call = client.call('batchPlaceOrder', BATCH, { beforeWrite: () => undefined })
    while (server.requests.length === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    const closing = client.close().then(() => (isClosed = true))
    expect(isClosed).toBe(false)

    answerIt()

    expect((await call).kind).toBe('accepted')
    await closing
  })
})

describe('calls whose outcome is unknown', () => {
  const cases: ReadonlyArray<readonly [string, string, WireScript]> = [
    [
      'a connection reset after the write',
      'connectionLost',
      (_request, socket) => void socket.resetAndDestroy(),
    ],
    [
      'a connection closed after the write',
      'connectionLost',
      (_request, socket) => void socket.end(),
    ],
    [
      'a truncated answer',
      'connectionLost',
      (_request, socket) =>
        void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"code":"00'),
    ],
    [
      'bytes that are not HTTP',
      'connectionLost',
      (_request, socket) => void socket.end('SSH-2.0-x\r\n\r\n'),
    ],
    ['an answer that never comes', 'timeout', () => {}],
    [
      'an answer that drips slower than the deadline',
      'timeout',
      (_request, socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'),
    ],
  ]

  for (const [what, cause, script] of cases) {
    it(`[ORD3] ${what} is unknown (${cause})`, async () => {
      const { server, client } = await openClient({ requestTimeoutMs: 200 })
      server.script = script
      const grant = recordingGrant()

      const answer = await client.call('batchPlaceOrder', BATCH, { grant })

      expect(answer).toMatchObject({ kind: 'unknown', cause })
      expect(server.requests).toHaveLength(1)
      expect(grant.ends).toEqual(['released without a time'])
    })
  }

  it('[ORD3] a call is written once: a lost connection does not repeat it', async () => {
    const { server, client } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ successList: [] })))
    await client.call('batchPlaceOrder', BATCH)
    server.script = (_request, socket) => void socket.resetAndDestroy()

    const lost = await client.call('batchPlaceOrder', BATCH)

    expect(lost).toMatchObject({ kind: 'unknown', cause: 'connectionLost' })
    expect(server.requests).toHaveLength(2)
  })

  it('an answer of 10 MB is not read to its end', async () => {
    const { server, client } = await openClient()
    let sent = 0
    server.script = (_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10485760\r\n\r\n')
      const chunk = Buffer.alloc(65_536, 32)
      const more = () => {
        while (!socket.destroyed && sent < 10_485_760) {
          sent += chunk.length
          if (!socket.write(chunk)) return
        }
      }
      socket.on('drain', more)
      more()
    }

    const answer = await client.call('batchPlaceOrder', BATCH)

    expect(answer).toMatchObject({ kind: 'unknown', cause: 'tooLarge' })
  })

  it.each([['\u001B[2J'], ['12\r\n34'], ['=1+2'], [SECRETS.passphrase]])(
    '[ORD3] an order that is answered under the odd id %j is unknown, not accepted',
    async (orderId) => {
      const { server, client } = await openClient()
      const answered = { successList: [{ orderId, clientOid: 't1-0' }], failureList: [] }
      server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf(answered)))

      const answer = await client.call('batchPlaceOrder', BATCH)

      expect(answer).toMatchObject({
        kind: 'unknown',
        cause: 'unreadable',
        message: expect.stringMatching(/^data\.successList\.0\.orderId: no id of the exchange/),
      })
      expect(JSON.stringify(answer)).not.toContain('canary')
    },
  )

  it('why an order was refused is cleaned before our secrets are looked for, and what others called theirs stays', async () => {
    const { server, client } = await openClient()
    const errorMsg = `\u001B[31mwrong\r\n2026 INFO forged ${SECRETS.secret.split('').join('\u200B')}`
    const failureList = [
      { orderId: '', clientOid: 'another client: (1)', errorMsg, errorCode: '40\u0000762' },
    ]
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf({ successList: [], failureList })))

    const answer = await client.call('cancelAllOrders', { productType: 'USDT-FUTURES' })

    const cleaned = { errorMsg: 'wrong 2026 INFO forged [hidden]', errorCode: '40762' }
    expect(answer).toMatchObject({
      kind: 'accepted',
      data: { failureList: [{ ...cleaned, clientOid: 'another client: (1)' }] },
    })
  })

  it('an order is answered in 1 MiB at most, a whole market in as much as the configuration says', async () => {
    const { server, client } = await openClient()
    const rows = Array.from({ length: 20_000 }, () => ({
      symbol: 'BTCUSDT',
      baseCoin: 'BTC',
      quoteCoin: 'USDT',
    }))
    server.script = (_request, socket) => void socket.write(jsonAnswer(envelopeOf(rows)))

    const order = await client.call('batchPlaceOrder', BATCH)
    const symbols = await client.call('spotSymbols', {})

    expect(order).toMatchObject({ kind: 'unknown', cause: 'tooLarge' })
    expect(symbols).toMatchObject({ kind: 'accepted', data: { length: 20_000 } })
  })

  it('[ORD3] brackets by the million are not parsed: the order is unknown', async () => {
    const { server, client } = await openClient()
    const { server: market, client: reader } = await openClient()
    const deep = `{"code":"00000","data":${'['.repeat(500_000)}`
    server.script = (_request, socket) => void socket.write(rawAnswer({ body: deep }))
    market.script = (_request, socket) =>
      void socket.write(rawAnswer({ body: deep.padEnd(8_000_000, '[') }))
    const table = new TickerTable()

    const order = await client.call('batchPlaceOrder', BATCH)
    const tickers = await reader.readTickers(table, 'USDT-FUTURES')

    expect(order).toMatchObject({ kind: 'unknown', cause: 'unreadable' })
    expect(tickers).toMatchObject({ kind: 'unknown', cause: 'unreadable' })
  })
})

interface ExpectedAnswer {
  readonly kind: 'accepted' | 'refused' | 'unknown'
  readonly class?: string
  readonly cause?: string
  readonly [field: string]: unknown
}

describe('answers that say something else', () => {
  const batch = envelopeOf({ successList: [{ orderId: '1', clientOid: 't1-0' }], failureList: [] })
  const failed = (code: string, more = {}) => ({
    code,
    msg: 'sentence',
    requestTime: 1_700_000_000_000,
    ...more,
  })
  const cases: ReadonlyArray<readonly [string, Buffer, ExpectedAnswer]> = [
    ['success', jsonAnswer(batch), { kind: 'accepted', requestTime: 1_700_000_000_000 }],
    [
      'success packed with gzip unasked',
      rawAnswer({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(JSON.stringify(batch)) }),
      { kind: 'accepted' },
    ],
    [
      'what says gzip and is not',
      rawAnswer({ headers: { 'content-encoding': 'gzip' }, body: JSON.stringify(batch) }),
      { kind: 'unknown', cause: 'unreadable' },
    ],
    [
      'what is packed otherwise',
      rawAnswer({ headers: { 'content-encoding': 'br' }, body: 'x' }),
      { kind: 'unknown', cause: 'unreadable' },
    ],
    [
      'HTML from in front',
      rawAnswer({ status: 403, body: '<html>' }),
      { kind: 'unknown', cause: 'unreadable' },
    ],
    [
      'a redirect',
      rawAnswer({ status: 302, headers: { location: '/elsewhere' }, body: '' }),
      { kind: 'unknown', cause: 'unreadable', status: 302 },
    ],
    [
      'nothing at all',
      rawAnswer({ status: 204, headers: { 'content-length': '0' }, body: '' }),
      { kind: 'unknown', cause: 'unreadable', status: 204 },
    ],
    [
      'a bad gateway',
      rawAnswer({ status: 502, body: '<html>' }),
      { kind: 'unknown', cause: 'serverError' },
    ],
    [
      'a 500 with a code',
      jsonAnswer(failed('40009'), 500),
      { kind: 'unknown', cause: 'serverError' },
    ],
    ['no envelope', jsonAnswer([1, 2]), { kind: 'unknown', cause: 'unreadable' }],
    [
      'an envelope without a code',
      jsonAnswer({ msg: 'x' }),
      { kind: 'unknown', cause: 'unreadable' },
    ],
    ['a numeric code', jsonAnswer({ ...batch, code: 0 }), { kind: 'unknown', cause: 'unreadable' }],
    [
      'data of another shape',
      jsonAnswer(envelopeOf({ successList: 'all' })),
      { kind: 'unknown', cause: 'unreadable', code: '00000' },
    ],
    [
      'the same twice: bad UTF-8',
      rawAnswer({ body: Buffer.from([0x22, 0xff, 0x22]) }),
      { kind: 'unknown', cause: 'unreadable' },
    ],
    ['success under a 400', jsonAnswer(batch, 400), { kind: 'unknown', cause: 'ambiguousCode' }],
    [
      'a definite code',
      jsonAnswer(failed('40774'), 400),
      { kind: 'refused', class: 'definite', topic: 'positionMode' },
    ],
    [
      'a definite code under 200',
      jsonAnswer(failed('40754')),
      { kind: 'refused', class: 'definite' },
    ],
    [
      'a duplicate',
      jsonAnswer(failed('40786'), 400),
      { kind: 'refused', class: 'exists', topic: 'duplicate' },
    ],
    [
      'a stale timestamp',
      jsonAnswer(failed('40008'), 400),
      { kind: 'refused', class: 'retry', topic: 'clock' },
    ],
    [
      'an ambiguous code',
      jsonAnswer(failed('40725'), 400),
      { kind: 'unknown', cause: 'ambiguousCode' },
    ],
    [
      'a code nobody knows',
      jsonAnswer(failed('99999'), 400),
      { kind: 'unknown', cause: 'ambiguousCode' },
    ],
    [
      '40808 for a whole request',
      jsonAnswer(failed('40808'), 400),
      { kind: 'unknown', cause: 'ambiguousCode', code: '40808' },
    ],
    [
      '429',
      jsonAnswer(failed('429'), 429),
      { kind: 'refused', class: 'retry', topic: 'rate', code: '429' },
    ],
    [
      '429 without a body',
      rawAnswer({ status: 429, body: '' }),
      { kind: 'refused', class: 'retry', topic: 'rate', code: '429' },
    ],
    [
      '429 as a code under 200',
      jsonAnswer(failed('429')),
      { kind: 'refused', class: 'retry', topic: 'rate' },
    ],
    [
      'a text under message instead of msg',
      jsonAnswer({ code: '40754', message: 'other field' }, 400),
      { kind: 'refused', message: 'other field' },
    ],
    [
      'a requestTime in a string',
      jsonAnswer(failed('40754', { requestTime: '1700000000001' }), 400),
      { kind: 'refused', requestTime: 1_700_000_000_001 },
    ],
  ]

  for (const [what, bytes, expected] of cases) {
    it(`[ORD3] ${what}: ${expected.kind} ${expected.class ?? expected.cause ?? ''}`, async () => {
      const { server, client } = await openClient()
      server.script = (_request, socket) => void socket.write(bytes)

      expect(await client.call('batchPlaceOrder', BATCH)).toMatchObject(expected)
      expect(server.requests).toHaveLength(1)
    })
  }

  it('cuts control characters out of a foreign message, so that no log line can be forged', async () => {
    const { server, client } = await openClient()
    const msg = 'first\n\u001b[31msecond\u2028'
    server.script = (_request, socket) => void socket.write(jsonAnswer({ code: '40754', msg }, 400))

    expect(await client.call('batchPlaceOrder', BATCH)).toMatchObject({ message: 'first second ' })
  })
})

describe('secrets', () => {
  it('[SEC1] no answer or error holds a secret, whatever the exchange repeats', async () => {
    const { server, client } = await openClient()
    const msg = `${'x'.repeat(290)} ${Object.values(SECRETS).join(' ')}`
    const scripts: WireScript[] = [
      (_request, socket) => void socket.write(jsonAnswer({ code: '40009', msg }, 400)),
      (_request, socket) => void socket.write(jsonAnswer({ code: '40725', msg }, 400)),
      (_request, socket) => void socket.write(jsonAnswer({ code: '429', msg }, 429)),
      (request, socket) =>
        void socket.write(rawAnswer({ status: 502, body: JSON.stringify(request) })),
      (request, socket) =>
        void socket.write(jsonAnswer(envelopeOf({ successList: JSON.stringify(request) }))),
      (_request, socket) => void socket.resetAndDestroy(),
    ]
    const answers: unknown[] = []
    for (const script of scripts) {
      server.script = script
      answers.push(await client.call('batchPlaceOrder', BATCH))
    }

    expect(JSON.stringify(answers)).not.toContain('canary')
    expect(answers).toHaveLength(scripts.length)
  })

  it('[SEC1] a key that no header can carry is refused at the start, without being shown', async () => {
    const credentials = { ...CREDENTIALS, apiKey: new Secret('canary\nkey') }
    await expect(openClient({ credentials })).rejects.toThrow('CREDENTIALS_UNUSABLE')
    await expect(openClient({ credentials })).rejects.not.toThrow('canary')
  })

  it('[SEC1] calls no address in clear text, other than on this machine', async () => {
    for (const baseUrl of [
      'http://example.com',
      'ftp://localhost',
      'https://a.example/path',
      'nonsense',
    ]) {
      await expect(openClient({ baseUrl })).rejects.toThrow('EXCHANGE_URL_UNUSABLE')
    }
  })
})

describe('grants and the clock', () => {
  it('[LIM3] a 429 slows the endpoint down, and the token is given back', async () => {
    const { server, client } = await openClient()
    const grant = recordingGrant()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer({ code: '429', requestTime: 1_700_000_000_000 }, 429))

    await client.call('batchPlaceOrder', BATCH, { grant })

    expect(grant.ends).toEqual(['released 1700000000000, rate limited'])
  })

  it('asks the limiter where a call comes without a grant, and says so when there is none', async () => {
    const asked: unknown[] = []
    const full = {
      request: (...wish: unknown[]) => void asked.push(wish.slice(0, 2)),
    }
    const { client } = await openClient({
      limiter: { ...full, request: (...wish) => (full.request(...wish), undefined) },
    })

    const answer = await client.call('longShortRatio', { symbol: 'BTCUSDT' }, { priority: 1 })

    expect(asked).toEqual([['longShortRatio', 1]])
    expect(answer).toMatchObject({ kind: 'refused', class: 'notSent', code: 'LIMITER_FULL' })
  })

  it('gives up waiting for a grant at the deadline', async () => {
    let cancelled = 0
    const limiter = { request: () => ({ cancel: () => void cancelled++ }) }
    const { client } = await openClient({ limiter, requestTimeoutMs: 30 })

    const answer = await client.call('longShortRatio', { symbol: 'BTCUSDT' })

    expect(answer).toMatchObject({ kind: 'refused', class: 'notSent', code: 'LIMITER_TIMEOUT' })
    expect(cancelled).toBe(1)
  })

  it('says that the last answer was 429 where no grant comes for that', async () => {
    let isResting = false
    const granted = recordingGrant()
    const limiter: Pick<GrantSource, 'request'> = {
      request: (_endpoint, _priority, onGrant) => {
        if (!isResting) onGrant(granted)
        return { cancel: () => {} }
      },
    }
    const { client, server } = await openClient({ limiter, requestTimeoutMs: 1000 })
    server.script = (_request, socket) => void socket.write(jsonAnswer({ code: '429' }, 429))
    await client.call('longShortRatio', { symbol: 'BTCUSDT' })
    isResting = true

    const answer = await client.call('longShortRatio', { symbol: 'BTCUSDT' })

    expect(answer).toMatchObject({
      code: 'LIMITER_TIMEOUT',
      message: expect.stringMatching(/: the last answer was 429$/),
    })
  })

  it('learns the exchange clock from every answer', async () => {
    const { server, client, offset } = await openClient()
    server.script = (_request, socket) =>
      void socket.write(jsonAnswer(envelopeOf([], { requestTime: Date.now() - 5000 })))

    await client.call('longShortRatio', { symbol: 'BTCUSDT' })

    expect(Math.abs(offset.offsetMs + 5000)).toBeLessThan(200)
  })
})
