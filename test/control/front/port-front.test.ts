import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test, vi } from 'vitest'
import { TurnQueue } from '../../../src/control/access/turn-queue.ts'
import { PortFront } from '../../../src/control/front/port-front.ts'
import type { PortNews, PassedRequest, ToPort } from '../../../src/control/front/port-messages.ts'
import { type OpenPort, ServedPort } from '../../../src/control/front/served-port.ts'
import { ManualTime } from '../../support/manual-time.ts'

const FULL = 'f'.repeat(40)
const KILL = { requestId: 'request-1', reason: 'odd', by: 'test', order: { kind: 'kill' } }

const fronts: PortFront[] = []
afterEach(async () => {
  for (const front of fronts.splice(0)) await front.stop()
})

/** The front of a port. The test is the thread that trades. */
class FrontBench {
  readonly time = new ManualTime(0)
  readonly news: PortNews[] = []
  readonly front = new PortFront({
    host: '127.0.0.1',
    port: 0,
    tokens: { full: FULL, read: 'r'.repeat(40) },
    monotonic: () => this.time.monotonic(),
    timers: this.time,
    post: (news) => this.news.push(news),
    onBroken: (reason) => expect.fail(reason),
  })
  #port = 0

  async open(): Promise<this> {
    fronts.push(this.front)
    this.#port = await this.front.start()
    return this
  }

  get passed(): readonly PassedRequest[] {
    return this.news.flatMap((news) => (news.kind === 'passed' ? [news.request] : []))
  }

  get left(): readonly number[] {
    return this.news.flatMap((news) => (news.kind === 'left' ? [news.id] : []))
  }

  send(path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): ClientRequest {
    const sent = request({
      host: '127.0.0.1',
      port: this.#port,
      path,
      method,
      agent: false,
      headers: { authorization: `Bearer ${FULL}`, 'content-type': 'application/json' },
    })
    sent.on('error', () => undefined)
    sent.end(body === undefined ? '' : JSON.stringify(body))
    return sent
  }

  /** Sent and passed on. */
  async pass(path: string, body?: object): Promise<ClientRequest> {
    const count = this.passed.length
    const sent = this.send(path, body)
    await vi.waitFor(() => expect(this.passed.length).toBe(count + 1))
    return sent
  }

  /** Sent, and joined to one that asked the same. */
  async join(path: string): Promise<ClientRequest> {
    const count = this.passed.length
    const sent = this.send(path)
    // A later one that is refused has been read after it.
    await answerOf(this.send('/v1/commands', undefined, 'OPTIONS'))
    expect(this.passed.length).toBe(count)
    return sent
  }
}

async function answerOf(sent: ClientRequest): Promise<IncomingMessage & { body: string }> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return Object.assign(answer, { body: await text(answer) })
}

test('[BND1] a look for which the thread that trades has no turn is answered 503, and nobody joins it', async () => {
  const bench = await new FrontBench().open()
  const first = answerOf(await bench.pass('/livez'))
  const joined = answerOf(await bench.join('/livez'))
  bench.front.hear({ kind: 'full', id: 1 })
  for (const answer of await Promise.all([first, joined])) {
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(JSON.parse(answer.body)).toEqual({ error: 'too many requests wait already' })
  }
  await bench.pass('/livez')
  expect(bench.passed.map(({ target }) => target)).toEqual(['/livez', '/livez'])
})

test('[BND1] the thread that trades says which look it has no turn for, and keeps nothing of it', async () => {
  const posted: ToPort[] = []
  let hear: (news: PortNews) => void = () => expect.fail('the port is not open')
  const open: OpenPort = (_, { onNews }) => {
    hear = onNews
    return {
      listening: Promise.resolve(1),
      post: (sent) => posted.push(sent),
      stop: async () => {},
    }
  }
  const seen: AbortSignal[] = []
  const port = new ServedPort({
    open,
    task: { host: '127.0.0.1', port: 0, tokens: { full: FULL, read: 'r' } },
    turns: new TurnQueue(),
    serve: async ({ signal }) => {
      seen.push(signal)
      return new Response('ok')
    },
    onRefused: () => {},
    onBroken: (reason) => expect.fail(reason),
    onEnded: () => {},
  })
  for (let id = 1; id <= 66; id++) {
    const look = { id, kind: 'look', method: 'GET', target: '/livez', headers: {} } as const
    hear({ kind: 'passed', request: { ...look, body: undefined } })
  }
  expect(posted).toEqual([
    { kind: 'full', id: 65 },
    { kind: 'full', id: 66 },
  ])
  await vi.waitFor(() => expect(posted).toHaveLength(66))
  expect(seen).toHaveLength(64)
  expect(port.openRequests).toBe(0)
})

test.each(['its sender leaves', 'the thread of the port ends'])(
  '[RSK3] a kill that was passed on is obeyed although %s, and what only looks is not served',
  async (how) => {
    let handlers: Parameters<OpenPort>[1] | undefined
    const served: string[] = []
    const port = new ServedPort({
      open: (_, given) => {
        handlers = given
        return { listening: Promise.resolve(1), post: () => {}, stop: async () => {} }
      },
      task: { host: '127.0.0.1', port: 0, tokens: { full: FULL, read: 'r' } },
      turns: new TurnQueue(),
      serve: async (passed) => {
        served.push(`${passed.method} ${await passed.text()}`)
        return new Response('ok')
      },
      onRefused: () => {},
      onBroken: (reason) => expect.fail(reason),
      onEnded: () => {},
    })
    const body = JSON.stringify(KILL)
    const kill = {
      kind: 'kill',
      method: 'POST',
      target: '/v1/commands',
      headers: {},
      body,
    } as const
    const look = { kind: 'look', method: 'GET', target: '/v1/status', headers: {} } as const
    handlers?.onNews({ kind: 'passed', request: { id: 1, ...kill } })
    handlers?.onNews({ kind: 'passed', request: { id: 2, ...look, body: undefined } })
    if (how === 'its sender leaves') for (const id of [1, 2]) handlers?.onNews({ kind: 'left', id })
    else handlers?.onEnded('its thread has ended')

    await vi.waitFor(() => expect(served).toEqual([`POST ${body}`]))
    expect(port.openRequests).toBe(0)
  },
)

test('whoever joined a request and leaves is forgotten, and the last one ends it', async () => {
  const bench = await new FrontBench().open()
  const first = await bench.pass('/livez')
  const joined = await bench.join('/livez')
  first.destroy()
  const third = await bench.join('/livez')
  expect(bench.left).toEqual([])
  joined.destroy()
  third.destroy()
  await vi.waitFor(() => expect(bench.left).toEqual([1]))
  await bench.pass('/livez')
})

test('[BND1] a look that is not answered for ten seconds gets 504 and is forgotten; a stream goes on', async () => {
  const bench = await new FrontBench().open()
  const stream = await bench.pass('/v1/events')
  const health = answerOf(await bench.pass('/livez'))
  const headers = { 'content-type': 'text/event-stream' }
  bench.front.hear({ kind: 'answer', id: 1, answer: { status: 200, headers, body: undefined } })
  const [followed] = (await once(stream, 'response')) as [IncomingMessage]
  await bench.time.pass(9_999)
  expect(bench.left).toEqual([])
  await bench.time.pass(1)
  expect((await health).statusCode).toBe(504)
  expect(bench.left).toEqual([2])
  await bench.pass('/livez')
  bench.front.hear({ kind: 'chunk', id: 1, chunk: Buffer.from('data: x\n\n') })
  expect(String((await once(followed, 'data'))[0])).toBe('data: x\n\n')
})

test('a command that is not answered for thirty seconds is said to be unknown, and is still obeyed', async () => {
  const bench = await new FrontBench().open()
  const kill = answerOf(await bench.pass('/v1/commands', KILL))
  await bench.time.pass(30_000)
  const { statusCode, body } = await kill
  expect(statusCode).toBe(504)
  expect(body).toContain('same requestId')
  expect(bench.left).toEqual([])
  expect(bench.time.timersWaiting).toBe(0)
})

test('[BND1] what is posted and looks is counted with the looks; a confirmation too many gets 503, health has places of its own', async () => {
  const bench = await new FrontBench().open()
  for (let index = 0; index < 30; index++) await bench.pass(`/v1/orders?symbol=x${index}`)
  for (let index = 0; index < 30; index++) await bench.pass('/v1/confirmations', { id: index })
  const refused = await answerOf(bench.send('/v1/confirmations', { id: 'late' }))
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
  expect((await answerOf(bench.send('/v1/orders?symbol=y'))).statusCode).toBe(503)
  await bench.pass('/livez')
  await bench.pass('/v1/commands', KILL)
  expect(bench.passed.at(-1)?.kind).toBe('kill')
})
