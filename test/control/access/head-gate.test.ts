import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { AnsweredRequests } from '../../../src/control/answered-requests.ts'
import type { Controlled } from '../../../src/control/controlled.ts'
import { ControlServer } from '../../../src/control/control-server.ts'
import { EventHistory } from '../../../src/control/event-history.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { openPortHere } from '../../support/control-front.ts'
import { ProposalBench } from '../../support/approval/memory-pairing.ts'

const FULL = 'f'.repeat(40)
const READ = 'r'.repeat(40)
const AGENT = 'a'.repeat(40)
const RESTRICT = { kind: 'restrict', scope: 'BTCUSDT', mode: 'halted' }

const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface Asked {
  readonly token?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

class GateBench {
  /** What a view that is counted in parts waits for. */
  #counted: Promise<void> | undefined
  now = 0
  looks = 0
  whatIfs = 0
  readonly commands: string[] = []
  readonly refused: string[] = []
  readonly directory = mkdtempSync(join(tmpdir(), 'gate-'))
  readonly agentSocket = join(this.directory, 'mcp.sock')
  readonly agent = new Agent({ keepAlive: true, maxSockets: 20 })
  readonly server = new ControlServer({
    socket: join(this.directory, 'control.sock'),
    agents: { socket: this.agentSocket, powers: ['look', 'research'] },
    port: {
      host: '127.0.0.1',
      number: 0,
      tokens: { full: new Secret(FULL), read: new Secret(READ), agent: new Secret(AGENT) },
    },
    version: '1.2.3',
    readOnly: false,
    monotonic: () => this.now,
    openPort: openPortHere(() => this.now),
    answered: new AnsweredRequests(),
    proposals: new ProposalBench().proposals,
    onRefused: (why, count) => this.refused.push(...Array<string>(count).fill(why)),
    onBroken: (reason) => expect.fail(reason),
    onUnreachable: (address) => expect.fail(address),
    daemon: {
      events: new EventHistory(10),
      readiness: () => ({ isReady: true, checks: {} }),
      status: () => ({ look: ++this.looks }) as unknown as ReturnType<Controlled['status']>,
      positions: () => [],
      whatIf: async () => {
        this.whatIfs += 1
        const seen = this.commands.length
        await this.#counted
        return [seen] as unknown as Awaited<ReturnType<Controlled['whatIf']>>
      },
      command: ({ requestId, order }) => {
        this.commands.push(order.kind)
        const nothing = { held: [], lifted: [], stillHeld: {} }
        return { answer: { requestId, isObeyed: true, text: 'done', ...nothing } }
      },
    } as Partial<Controlled> as Controlled,
  })

  async open(): Promise<this> {
    await this.server.start()
    closing.push(async () => {
      this.agent.destroy()
      await this.server.stop()
      rmSync(this.directory, { recursive: true })
    })
    return this
  }

  async ask(path: string, { token, body, headers }: Asked = {}): Promise<Answered> {
    const sent = request(`${this.server.baseUrl}${path}`, {
      agent: this.agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    sent.end(body === undefined ? '' : JSON.stringify(body))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      text: await text(answer),
    }
  }

  holdCount(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#counted = promise
    return resolve
  }

  many(count: number, ask: (index: number) => Promise<Answered>): Promise<readonly Answered[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => ask(index)))
  }

  command(index: number, order: object): Promise<Answered> {
    const body = { requestId: `request-${index}`, reason: 'odd', by: 'test', order }
    return this.ask('/v1/commands', { token: FULL, body })
  }
}

const tally = (answers: readonly Answered[]): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('[BND1] looks have a rate for each kind of token, and are refused with Retry-After, and so are commands; health checks, a kill, a halt and a flatten never are', async () => {
  const bench = await new GateBench().open()
  const looks = await bench.many(200, (index) =>
    bench.ask(`/v1/orders?symbol=${'x'.repeat(201)}${index}`, { token: READ }),
  )
  expect(tally(looks)).toEqual({ 400: 120, 429: 80 })
  const refused = looks.find(({ status }) => status === 429)
  expect(refused?.headers['retry-after']).toBe('1')
  expect(refused?.headers['cache-control']).toBe('no-store')
  expect(JSON.parse(refused?.text ?? '')).toEqual({ error: 'more than 1200 requests a minute' })

  expect(tally(await bench.many(200, () => bench.ask('/livez')))).toEqual({ 200: 200 })
  expect(tally(await bench.many(200, () => bench.ask('/readyz')))).toEqual({ 200: 200 })
  expect((await bench.ask('/readyz?verbose', { token: READ })).status).toBe(429)
  const commands = await bench.many(80, (index) =>
    bench.command(index, { ...RESTRICT, mode: 'reducing' }),
  )
  expect(tally(commands)).toEqual({ 200: 60, 429: 20 })
  expect(commands.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1')
  const kills = await bench.many(80, (index) => bench.command(100 + index, { kind: 'kill' }))
  expect(tally(kills)).toEqual({ 200: 80 })
  const flatten = { kind: 'flatten', scope: '*' }
  const halts = await bench.many(80, (index) =>
    bench.command(200 + index, index % 2 === 0 ? flatten : { ...RESTRICT, mode: 'halted' }),
  )
  expect(tally(halts)).toEqual({ 200: 80 })
  expect(bench.commands).toHaveLength(220)
  expect((await bench.ask('/v1/positions', { token: FULL })).status).toBe(200)
  bench.now += 1000
  const later = await bench.many(40, (index) => bench.ask(`/v1/nothing?${index}`, { token: READ }))
  expect(tally(later)).toEqual({ 404: 20, 429: 20 })
})

test('[BND1] what can add risk is planned at most so often, and what makes safer is obeyed meanwhile', async () => {
  const bench = await new GateBench().open()
  const release = { kind: 'release', scope: '*' }
  const proposed = await bench.many(60, (index) => bench.command(index, release))
  // Twenty are planned, and eight may wait for their code.
  expect(tally(proposed)).toEqual({ 202: 8, 429: 52 })
  await bench.ask('/livez')
  expect(bench.refused).toEqual(Array.from({ length: 40 }, () => 'more than 60 proposals a minute'))
  expect((await bench.command(99, { kind: 'kill' })).status).toBe(200)
  expect(bench.commands).toEqual(['kill'])
})

test('what many ask for is made four times a second, and anew after a command', async () => {
  const bench = await new GateBench().open()
  const look = async (token = READ): Promise<unknown> =>
    JSON.parse((await bench.ask('/v1/status', { token })).text)
  expect(await look()).toEqual({ look: 1 })
  const many = await bench.many(300, () => bench.ask('/v1/status', { token: READ }))
  expect(tally(many)).toEqual({ 200: 300 })
  expect([await look(FULL), bench.looks]).toEqual([{ look: 1 }, 1])
  expect((await bench.ask('/v1/status')).status).toBe(401)
  expect((await bench.ask('/v1/status', { token: AGENT })).status).toBe(403)
  await bench.command(1, RESTRICT)
  expect(await look()).toEqual({ look: 2 })
  bench.now += 249
  expect(await look()).toEqual({ look: 2 })
  bench.now += 1
  expect(await look()).toEqual({ look: 3 })
})

test('an answer that was begun before a command and is done after it is not shown to who comes later', async () => {
  const bench = await new GateBench().open()
  const look = async (): Promise<unknown> =>
    JSON.parse((await bench.ask('/v1/whatif', { token: READ })).text)
  const go = bench.holdCount()
  const first = look()
  while (bench.whatIfs === 0) await bench.ask('/livez')
  await bench.command(1, RESTRICT)
  go()
  expect(await first).toEqual([0])
  expect(await look()).toEqual([1])
  expect([await look(), bench.whatIfs]).toEqual([[1], 2])
})

test('[SEC2] a head is judged before its body has come, and a request behind an unanswered one ends the connection', async () => {
  const bench = await new GateBench().open()
  const port = Number(new URL(bench.server.baseUrl ?? '').port)
  const exchange = async (bytes: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(bytes)
    return text(socket)
  }
  const head = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`
  const refused = await exchange(
    `POST /v1/commands HTTP/1.1\r\n${head}Content-Length: 70000\r\n\r\n{`,
  )
  expect(refused).toMatch(/^HTTP\/1.1 401 [^]*WWW-Authenticate: Bearer\r\n[^]*no token/)
  const token = `Authorization: Bearer ${FULL}\r\n`
  const foreign = await exchange(
    `GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n${token}Transfer-Encoding: chunked\r\n\r\n`,
  )
  expect(foreign).toMatch(/^HTTP\/1.1 421 /)
  const look = `GET /v1/status HTTP/1.1\r\n${head}${token}\r\n`
  expect(await exchange(look.repeat(50))).not.toMatch(/HTTP[^]*HTTP/)
  expect(bench.looks).toBeLessThanOrEqual(1)
  await bench.ask('/livez')
  expect(bench.refused).toContain('a request behind one that is not answered yet')
})

test('a command whose length is not said before is obeyed at port and socket, up to the same bound', async () => {
  const found: number[] = []
  const bench = await new GateBench().open()
  const { hostname, port } = new URL(bench.server.baseUrl ?? '')
  const send = async (to: object, reason: string, kind: string): Promise<number> => {
    const sent = request({
      ...to,
      path: '/v1/commands',
      method: 'POST',
      headers: { authorization: `Bearer ${FULL}`, 'content-type': 'application/json' },
    })
    const body = { requestId: `of-${kind}-${found.length}`, reason, by: 'test' }
    const whole = JSON.stringify({ ...body, order: kind === 'kill' ? { kind } : RESTRICT })
    sent.write(whole.slice(0, 9))
    sent.end(whole.slice(9))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode ?? 0
  }
  const ways = [
    { hostname, port, agent: bench.agent },
    { socketPath: bench.server.socket, agent: bench.agent, setHost: true },
  ]
  for (const way of ways) {
    for (const kind of ['restrict', 'kill'])
      found.push(await send(way, `odd ${ways.indexOf(way)}`, kind))
    found.push(await send(way, 'x'.repeat(70_000), 'kill'))
  }
  expect(found).toEqual([200, 200, 413, 200, 200, 413])
  expect(bench.commands).toEqual(['restrict', 'kill', 'restrict', 'kill'])
})

test('while all places are taken by others, a kill is still heard', async () => {
  const bench = await new GateBench().open()
  const port = Number(new URL(bench.server.baseUrl ?? '').port)
  const head = `GET /livez HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
  const sit = async (token: string): Promise<void> => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    closing.push(() => void socket.destroy())
    socket.write(`${head}Authorization: Bearer ${token}\r\n\r\n`)
    await once(socket, 'data')
  }
  for (const [token, places] of [
    [FULL, 64],
    [READ, 48],
    [AGENT, 32],
    ['none', 32],
  ] as const)
    for (let place = 0; place < places; place++) await sit(token)
  expect((await bench.command(1, { kind: 'kill' })).status).toBe(200)
})

test('a proof is given at any rate, also while looks without a token are refused', async () => {
  const bench = await new GateBench().open()
  const proof = (): Promise<Answered> => bench.ask(`/v1/proof?nonce=${'0f'.repeat(16)}`)
  const looks = await bench.many(130, (index) => bench.ask(`/openapi.json?${index}`))
  expect(tally(looks)[429]).toBe(10)
  const proofs = await bench.many(150, proof)
  expect(tally(proofs)).toEqual({ 200: 150 })
  expect(JSON.parse(proofs[0]?.text ?? '')).toEqual({
    proofs: [expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)],
  })
})

test('whoever answers proves that it knows the tokens, without showing them', async () => {
  const bench = await new GateBench().open()
  const nonce = 'ab'.repeat(16)
  const prove = (token: string): string =>
    createHmac('sha256', token).update(`intentd proof ${nonce}`).digest('hex')
  const { text: proved } = await bench.ask(`/v1/proof?nonce=${nonce}`)
  expect(JSON.parse(proved)).toEqual({ proofs: [FULL, READ].map(prove) })
  expect((await bench.ask('/v1/proof?nonce=short')).status).toBe(400)
})

test('[SEC2] a path that the application could read as another one is none', async () => {
  const bench = await new GateBench().open()
  const port = Number(new URL(bench.server.baseUrl ?? '').port)
  const order = { kind: 'restrict', scope: '*', mode: 'reducing' }
  const body = JSON.stringify({ requestId: 'request-1', reason: 'odd', by: 'test', order })
  for (const path of ['/v1/%63ommands', '/v1/./commands', '/x/../v1/commands', '/v1\\commands']) {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${FULL}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect([path, await text(socket)]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 404 /)])
  }
  expect(bench.commands).toEqual([])
})

test('a target that names the host too is judged by its path', async () => {
  const bench = await new GateBench().open()
  const { host, port } = new URL(bench.server.baseUrl ?? '')
  const ask = async (path: string, token: string): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `GET http://${host}${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    return text(socket)
  }
  expect(await ask('/livez', 'none')).toMatch(/^HTTP\/1.1 200 [^]*ok\n$/)
  expect(await ask('/v1/status', READ)).toMatch(/^HTTP\/1.1 200 [^]*"look":1/)
  expect(await ask('/v1/status', READ)).toMatch(/^HTTP\/1.1 200 [^]*"look":1/)
  expect(await ask('/v1/status', 'none')).toMatch(/^HTTP\/1.1 401 /)
})

test('a kill is obeyed before commands that came earlier, then what halts and flattens', async () => {
  const bench = await new GateBench().open()
  const orders = [
    ...Array.from({ length: 15 }, () => ({ kind: 'restrict', scope: '*', mode: 'reducing' })),
    { kind: 'flatten', scope: '*' },
    { kind: 'kill' },
  ]
  await bench.ask('/openapi.json')
  const port = Number(new URL(bench.server.baseUrl ?? '').port)
  const sockets = await Promise.all(
    orders.map(async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    }),
  )
  // The server takes one connection in a turn; then all are read in one.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  for (const [index, order] of orders.entries()) {
    const body = JSON.stringify({ requestId: `request-${index}`, reason: 'odd', by: 'test', order })
    sockets[index]?.write(
      `POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${FULL}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  }
  await Promise.all(sockets.map((socket) => text(socket)))
  expect(bench.commands).toHaveLength(17)
  expect(bench.commands.indexOf('kill')).toBeLessThan(bench.commands.indexOf('flatten'))
  expect(bench.commands.indexOf('flatten')).toBeLessThan(8)
})

async function serveAgents(bench: GateBench, answer: 'none' | 'head'): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.flushHeaders()
    if (answer === 'head') outgoing.write('event: message\ndata: {"progress":5}\n\n')
  })
  server.listen(bench.agentSocket)
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

const CALL = { jsonrpc: '2.0', id: 'call-7', method: 'tools/call' }

test('[SEC3] the server of assistants hears from the daemon which powers they have now, and not from them', async () => {
  const bench = await new GateBench().open()
  const asked = once(await serveAgents(bench, 'head'), 'request')
  const sent = request(`${bench.server.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${AGENT}`,
      'content-type': 'application/json',
      'intentd-agent-powers': 'look,research,safer,riskier',
    },
  })
  sent.on('error', () => undefined).end(JSON.stringify(CALL))
  const [incoming] = (await asked) as [IncomingMessage]

  expect(incoming.headers['intentd-agent-powers']).toBe('look,research')
  sent.destroy()
})

test('an assistant that waits while the daemon reloads is told to send its request again: by 503, or in the stream that has begun', async () => {
  const waiting = await new GateBench().open()
  const asked = once(await serveAgents(waiting, 'none'), 'request')
  const answer = waiting.ask('/mcp', { token: AGENT, body: CALL })
  await asked
  await waiting.server.stop()
  expect(await answer).toMatchObject({
    status: 503,
    headers: { 'retry-after': '2' },
    text: expect.stringContaining('send it again') as string,
  })

  const begun = await new GateBench().open()
  await serveAgents(begun, 'head')
  const sent = request(`${begun.server.baseUrl}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT}`, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify(CALL))
  const [stream] = (await once(sent, 'response')) as [IncomingMessage]
  const [first] = (await once(stream, 'data')) as [Buffer]
  expect(String(first)).toContain('progress')
  const rest = text(stream)
  await begun.server.stop()
  const [, data = ''] = /^data: (.*)$/m.exec(await rest) ?? []
  expect(JSON.parse(data)).toEqual({
    jsonrpc: '2.0',
    id: 'call-7',
    error: { code: -32_000, message: expect.stringContaining('send it again') as string },
  })
})

test('[BND1] requests of assistants are passed on at their rate, sixteen at a time; without a server they are told so', async () => {
  const bench = await new GateBench().open()
  const unserved = await bench.many(80, () => bench.ask('/mcp', { token: AGENT, body: CALL }))
  expect(tally(unserved)).toEqual({ 429: 20, 503: 60 })
  expect(unserved.find(({ status }) => status === 503)?.text).toContain('intentd mcp --http')

  bench.now += 60_000
  await serveAgents(bench, 'none')
  const asked = bench.many(18, () => bench.ask('/mcp', { token: AGENT, body: CALL }))
  while (bench.refused.filter((why) => why.includes('open already')).length < 2)
    await bench.ask('/livez')
  await bench.server.stop()
  expect(tally(await asked)).toEqual({ 429: 2, 503: 16 })
})

test('[BND1] three hundred loops that connect, send a byte and connect again keep out no command that is slower than they are', async () => {
  const bench = await new GateBench().open()
  const port = Number(new URL(bench.server.baseUrl ?? '').port)
  let isOver = false
  closing.push(() => void (isOver = true))
  const sit = (): void => {
    if (isOver) return
    const socket = connect(port, '127.0.0.1', () => socket.write('G')).on('error', () => {})
    socket.resume().once('close', sit)
    closing.push(() => void socket.destroy())
  }
  for (let index = 0; index < 300; index++) sit()
  for (let index = 0; index < 5; index++) {
    bench.now += 100
    const command = connect(port, '127.0.0.1')
    await once(command, 'connect')
    // The server takes one connection in a turn: these are before it, and others come behind it.
    for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate)
    const asked = { requestId: `request-${index}`, reason: 'odd', by: 'test', order: RESTRICT }
    const body = JSON.stringify(asked)
    command.write(
      `POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${FULL}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(await text(command)).toMatch(/^HTTP\/1.1 200 /)
  }
  isOver = true
  expect(bench.commands).toHaveLength(5)
})

test('a method that no request may have gets 405, like any other that is not served', async () => {
  const bench = await new GateBench().open()
  const { host, port } = new URL(bench.server.baseUrl ?? '')
  for (const method of ['TRACE', 'PUT', 'OPTIONS']) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `${method} /v1/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer ${FULL}\r\n\r\n`,
    )
    const answer = await text(socket)
    expect([method, answer]).toEqual([method, expect.stringMatching(/^HTTP\/1.1 405 /)])
    expect(answer).toMatch(/^allow: GET, HEAD, POST\r$/im)
  }
})
