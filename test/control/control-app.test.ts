import crypto from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnswerFile } from '../../src/daemon/control/open-control.ts'
import { type Hono } from 'hono'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ProposalBench } from '../support/approval/memory-pairing.ts'
import { AnsweredRequests, REQUESTS_KEPT_MAX } from '../../src/control/answered-requests.ts'
import { type ControlAnswer, type ControlRequest } from '../../src/control/commands.ts'
import { buildControlApp } from '../../src/control/control-app.ts'
import { type Controlled } from '../../src/control/controlled.ts'
import { EVERY_MS } from '../../src/control/follow-events.ts'
import { EventHistory } from '../../src/control/event-history.ts'
import { type Entrance } from '../../src/control/access/guard.ts'
import { TurnQueue } from '../../src/control/access/turn-queue.ts'
import { Refusals } from '../../src/control/refusals.ts'
import { Secret } from '../../src/lib/secret.ts'

const TOKEN = 'canary-of-a-token-that-no-answer-may-hold'
const READ_TOKEN = 'canary-of-a-token-that-only-looks-at-things'
const HOST = '127.0.0.1:8790'
const AUTHORISED = { host: HOST, authorization: `Bearer ${TOKEN}` }
const RESTRICT: ControlRequest = {
  requestId: 'request-1',
  reason: 'odd prices',
  by: 'test',
  order: {
    kind: 'restrict',
    scope: 'BTCUSDT',
    mode: 'reducing',
  },
}

const STREAMS = ['/v1/events', '/v1/live']
/** Without what has to be asked for. */
const EXPECTED: Readonly<Record<string, number>> = {
  '/readyz': 503,
  '/v1/candles': 400,
  '/v1/instrument': 400,
  '/v1/plots': 400,
  '/v1/explain': 400,
  // The port answers it before the application.
  '/v1/proof': 404,
  // Its journal is a file.
  '/v1/fleet': 404,
  '/v1/reload': 404,
}

const PORT: Entrance = {
  via: 'port',
  hosts: [HOST, 'localhost:8790'],
  tokens: { full: new Secret(TOKEN), read: new Secret(READ_TOKEN) },
}
const AGENT_TOKEN = 'canary-of-a-token-that-assistants-show'
const SERVED: Entrance = {
  ...PORT,
  tokens: {
    full: new Secret(TOKEN),
    read: new Secret(READ_TOKEN),
    agent: new Secret(AGENT_TOKEN),
  },
}
const SOCKET: Entrance = { via: 'socket', hosts: [], tokens: undefined }

interface BenchOptions {
  readonly readOnly?: boolean
  readonly answered?: AnsweredRequests
  readonly daemon?: Partial<Controlled>
}

function answerOf(requestId: string, text = ''): ControlAnswer {
  return { requestId, isObeyed: true, text, held: [], lifted: [], stillHeld: {} }
}

class Bench {
  readonly refused: string[] = []
  readonly broken: string[] = []
  readonly commands: [ControlRequest, string, string?][] = []
  readonly events = new EventHistory(1000)
  now = 0
  readonly bench = new ProposalBench()
  readonly app: Hono

  constructor(
    entrance: Entrance,
    { readOnly = false, daemon = {}, answered = new AnsweredRequests() }: BenchOptions = {},
  ) {
    const commands = this.commands
    this.app = buildControlApp({
      entrance,
      readOnly,
      answered,
      proposals: this.bench.proposals,
      version: '1.2.3',
      monotonic: () => this.now,
      turns: new TurnQueue(),
      address: () => undefined,
      refusals: new Refusals((why) => this.refused.push(why)),
      onBroken: (reason) => this.broken.push(reason),
      daemon: {
        events: this.events,
        status: () => ({
          name: 'test',
          version: '1.2.3',
          environment: 'simulator',
          exchange: '',
          configOption: ' -c live.yaml',
          pid: 1,
          speed: 1,
          isReadOnly: readOnly,
          processStartedAt: 0,
          startedAt: 0,
          now: 0,
          accounts: [],
          off: [],
        }),
        planCommand: () => ({ changes: ['ends it'], notes: [] }),
        universes: () => [],
        positions: () => [],
        orders: () => [],
        fills: (limit) => Array.from({ length: limit }, () => ({}) as never),
        readiness: () => ({
          isReady: false,
          checks: {
            clock: {
              ok: false,
              found: 'not synchronised',
            },
          },
        }),
        journalFills: () => Promise.resolve({ journal: { run: 1, sequence: 9 }, fills: [] }),
        journalProfit: () =>
          Promise.resolve({ journal: { run: 1, sequence: 9 }, rows: [], uncounted: '' }),
        trades: () =>
          Promise.resolve({ journal: { run: 1, sequence: 9 }, trades: [], unexplained: [] }),
        candles: () => undefined,
        plots: () => Promise.resolve([]),
        keptCurve: () => Promise.resolve({ at: [], equity: [], netWithUnrealised: [], peak: [] }),
        curves: () => ({
          peak: null,
          at: [],
          netWithUnrealised: [],
          equity: [],
          strategies: {},
        }),
        whatIf: () => Promise.resolve([]),
        instrument: () => undefined,
        fleet: () => undefined,
        tryReload: () => undefined,
        denials: () => ({}),
        explain: () => Promise.resolve([]),
        journal: () => Promise.resolve([]),
        backtests: () => Promise.resolve([]),
        metrics: () => 'intentd_build_info 1\n',
        command: (request, via, approval) => {
          commands.push(approval ? [request, via, approval.text] : [request, via])
          return { answer: answerOf(request.requestId, `${commands.length}`) }
        },
        ...daemon,
      },
    })
  }

  get(path: string, headers: Readonly<Record<string, string>> = AUTHORISED, method = 'GET') {
    return this.app.request(`http://${HOST}${path}`, { method, headers })
  }

  post(body: unknown, headers: Readonly<Record<string, string>> = {}, path = '/v1/commands') {
    return this.app.request(`http://${HOST}${path}`, {
      method: 'POST',
      headers: { ...AUTHORISED, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }
}

describe('what can add risk', () => {
  const RELEASE = { ...RESTRICT, order: { kind: 'release', scope: 'BTCUSDT' } }
  const proposalOf = async (answer: Response) => {
    expect(answer.status).toBe(202)
    return ((await answer.json()) as ControlAnswer).proposal?.id ?? 'none'
  }

  test('is done at once at the socket, as before', async () => {
    const bench = new Bench(SOCKET)
    expect((await bench.post(RELEASE)).status).toBe(200)
    expect(bench.commands).toHaveLength(1)
  })

  test('is only proposed at the port, and done once with a code', async () => {
    const bench = new Bench(PORT)
    const proposed = await bench.post(RELEASE)
    const id = await proposalOf(proposed.clone())
    expect(await proposed.text()).toContain(`\`intentd confirm -c live.yaml ${id}\``)
    expect(await (await bench.get('/v1/proposals')).json()).toMatchObject([
      { id, by: 'port:control.token says "test"', reason: 'odd prices', changes: ['ends it'] },
    ])
    const code = bench.bench.code()
    const confirmation = { id, code, by: 'anna' }
    const wrong = { ...confirmation, code: code === '111111' ? '222222' : '111111' }
    expect((await bench.post(wrong, {}, '/v1/confirmations')).status).toBe(403)
    expect(bench.commands).toEqual([])

    const looking = { authorization: `Bearer ${READ_TOKEN}` }
    expect((await bench.post(confirmation, looking, '/v1/confirmations')).status).toBe(403)
    const done = await bench.post(confirmation, {}, '/v1/confirmations')
    expect(await done.json()).toMatchObject({ isObeyed: true })
    expect(bench.commands).toEqual([
      [
        RELEASE,
        'port:control.token',
        `proposal ${id} confirmed by port:control.token says "anna" with code ${Math.floor(bench.bench.now / 30_000)}`,
      ],
    ])
    expect(await (await bench.post(confirmation, {}, '/v1/confirmations')).json()).toMatchObject({
      isObeyed: true,
      text: expect.stringMatching(/^this proposal is over: it was confirmed with .*; sent again;/),
    })
    // The command sent again after its answer was lost.
    expect(await (await bench.post(RELEASE)).json()).toMatchObject({
      isObeyed: true,
      text: expect.stringMatching(/^sent again/),
    })
    expect(bench.commands).toHaveLength(1)
  })

  test.each([
    ['obeyed', true, { isObeyed: true, text: 'released' }],
    ['refused', false, { isObeyed: false, text: 'not done: nothing holds it' }],
    [
      'lost',
      true,
      { isObeyed: false, isUncertain: true as const, text: 'not confirmed: the run ended' },
    ],
  ])('tells a second confirmation what came of it: %s', async (_, isObeyed, end) => {
    const lasting = Promise.withResolvers<ControlAnswer>()
    const due: (() => void)[] = []
    const after = (_delayMs: number, act: () => void) => {
      due.push(act)
      return () => undefined
    }
    let acts = 0
    const command = () => {
      acts += 1
      const answer = { ...answerOf(RELEASE.requestId, 'at first'), isObeyed }
      return { answer, written: lasting.promise }
    }
    const answered = new AnsweredRequests({ timers: { after } })
    const bench = new Bench(PORT, { answered, daemon: { command } })
    const id = await proposalOf(await bench.post(RELEASE))
    const confirmation = { id, code: bench.bench.code(), by: 'anna' }
    const first = bench.post(confirmation, {}, '/v1/confirmations')
    await vi.waitUntil(() => due.length > 0)
    due.shift()?.()
    expect(await (await first).json()).toMatchObject({ isUncertain: true })
    lasting.resolve({ ...answerOf(RELEASE.requestId), ...end })

    const second = await bench.post({ id, code: 'none', by: 'anna' }, {}, '/v1/confirmations')
    expect(second.status).toBe(200)
    expect(await second.json()).toMatchObject({
      ...end,
      text: expect.stringMatching(new RegExp(`^this proposal is over: .*${end.text}$`)),
    })
    expect(acts).toBe(1)
  })

  test('is refused at the port without a pairing, with what to do', async () => {
    const bench = new Bench(PORT)
    bench.bench.store.pairing = undefined
    const answer = await bench.post(RELEASE)
    expect([answer.status, await answer.json()]).toEqual([
      403,
      { error: expect.stringContaining('run `intentd pair` at the machine') },
    ])
  })

  test('is proposed at the socket by those who ask for that', async () => {
    const bench = new Bench(SOCKET)
    await proposalOf(await bench.post(RELEASE, {}, '/v1/proposals'))
    expect(bench.commands).toEqual([])
    expect((await bench.post(RESTRICT, {}, '/v1/proposals')).status).toBe(400)
  })

  test('is neither proposed nor confirmed where commands are not taken', async () => {
    const bench = new Bench(SOCKET, { readOnly: true })
    expect((await bench.post(RELEASE, {}, '/v1/proposals')).status).toBe(403)
    const confirmation = { id: 'a41f9c', code: '123456', by: 'anna' }
    expect((await bench.post(confirmation, {}, '/v1/confirmations')).status).toBe(403)
  })
})

describe('[SEC2] who may speak to a daemon by its port', () => {
  const READS = [
    '/v1/status',
    '/v1/positions',
    '/v1/orders',
    '/v1/fills',
    '/v1/profit',
    '/v1/limiter',
  ]

  test.each([...READS, '/v1/events', '/metrics', '/nowhere'])(
    '%s needs the token, and says nothing without it',
    async (path) => {
      const bench = new Bench(PORT)
      const wrong = { host: HOST, authorization: `Bearer ${TOKEN.slice(0, -1)}x` }
      for (const headers of [{ host: HOST }, wrong, { host: HOST, authorization: TOKEN }]) {
        const answer = await bench.get(path, headers)
        expect(answer.status).toBe(401)
        expect(await answer.json()).toEqual({ error: 'no token, or another one' })
      }
      expect(bench.refused).toHaveLength(3)
    },
  )

  test('a token is compared in constant time, whatever its length, and always answered alike', async () => {
    const compared: number[][] = []
    const { timingSafeEqual } = crypto
    const use = (compare: typeof timingSafeEqual): void => {
      crypto.timingSafeEqual = compare
      syncBuiltinESMExports()
    }
    onTestFinished(() => use(timingSafeEqual))
    use((one, other) => {
      compared.push([one.byteLength, other.byteLength])
      return timingSafeEqual(one, other)
    })
    const bench = new Bench(PORT)
    const wrong = [
      '',
      'x',
      TOKEN.slice(0, -1),
      `${TOKEN}x`,
      TOKEN.replace('c', 'd'),
      'x'.repeat(4000),
    ]
    const answers = await Promise.all(
      wrong.map(async (token) => {
        const answer = await bench.get('/v1/status', {
          host: HOST,
          authorization: `Bearer ${token}`,
        })
        return [
          answer.status,
          [...answer.headers].toSorted(([one], [other]) => one.localeCompare(other)),
          await answer.text(),
        ]
      }),
    )
    expect(answers).toEqual(wrong.map(() => answers[0]))
    expect(answers[0]?.[0]).toBe(401)
    expect((await bench.get('/v1/status')).status).toBe(200)
    expect(compared.length).toBeGreaterThan(wrong.length)
    expect(new Set(compared.map(String))).toEqual(new Set(['32,32']))
  })

  test('the token that only looks reads everything, and whoever changes something with it is told where to go', async () => {
    const bench = new Bench(PORT)
    const looking = { host: HOST, authorization: `Bearer ${READ_TOKEN}` }
    for (const path of [...READS, '/metrics']) {
      expect((await bench.get(path, looking)).status).toBe(200)
      expect((await bench.get(path, looking, 'HEAD')).status).toBe(200)
    }
    expect(await (await bench.get('/readyz?verbose', looking)).text()).toContain('[-] clock')
    const changing = [
      await bench.post(RESTRICT, looking),
      await bench.get('/v1/addresses', { ...looking, 'content-type': 'application/json' }, 'POST'),
      await bench.get('/v1/status', looking, 'PUT'),
      await bench.get('/nowhere', looking, 'DELETE'),
    ]
    for (const answer of changing) {
      expect(answer.status).toBe(403)
      expect(await answer.json()).toEqual({
        error: expect.stringMatching(/only looks.*control\.token,/),
      })
    }
    expect(bench.commands).toEqual([])
    expect(bench.refused).toHaveLength(changing.length)
  })

  test('[SEC2] a stolen token of assistants opens /mcp alone, and no other token opens it', async () => {
    const bench = new Bench(SERVED)
    const stolen = { host: HOST, authorization: `Bearer ${AGENT_TOKEN}` }
    for (const path of [...READS, '/metrics', '/v1/events', '/v1/live', '/v1/proposals'])
      expect((await bench.get(path, stolen)).status).toBe(403)
    for (const path of ['/v1/commands', '/v1/proposals', '/v1/confirmations', '/v1/addresses'])
      expect((await bench.post(RESTRICT, stolen, path)).status).toBe(403)
    expect(await (await bench.get('/readyz?verbose', stolen)).text()).toBe('not ready\n')
    for (const token of [TOKEN, READ_TOKEN]) {
      const other = { authorization: `Bearer ${token}` }
      expect((await bench.post({}, other, '/mcp')).status).toBe(403)
    }
    expect((await bench.post({}, { authorization: 'Bearer guess' }, '/mcp')).status).toBe(401)
    const elsewhere = { ...stolen, origin: 'https://evil.example' }
    expect((await bench.post({}, elsewhere, '/mcp')).status).toBe(403)
    expect((await bench.post({}, { ...stolen, host: 'evil.example' }, '/mcp')).status).toBe(421)
    expect(bench.commands).toEqual([])

    expect((await bench.post({}, stolen, '/mcp')).status).toBe(404)
    expect((await new Bench(PORT).post({}, stolen, '/mcp')).status).toBe(401)
    const unserved = { authorization: `Bearer ${TOKEN}` }
    expect((await new Bench(PORT).post({}, unserved, '/mcp')).status).toBe(404)
  })

  test('a token in the address is none', async () => {
    const answer = await new Bench(PORT).get(`/v1/status?token=${TOKEN}&access_token=${TOKEN}`, {
      host: HOST,
    })
    expect(answer.status).toBe(401)
  })

  test.each(['evil.example:8790', '127.0.0.1', '127.0.0.1:80', 'localhost.evil.example:8790', ''])(
    'a name that resolves to this machine (Host %j) is refused, token or not',
    async (host) => {
      const answer = await new Bench(PORT).get('/v1/status', { ...AUTHORISED, host })
      expect(answer.status).toBe(421)
    },
  )

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ])('what a web page of another site sends (%j) is refused, token or not', async (headers) => {
    const bench = new Bench(PORT)
    expect((await bench.get('/v1/status', { ...AUTHORISED, ...headers })).status).toBe(403)
    expect((await bench.post(RESTRICT, headers)).status).toBe(403)
    expect(bench.commands).toEqual([])
  })

  const ORDERS: readonly ControlRequest['order'][] = [
    { kind: 'restrict', scope: '*', mode: 'halted' },
    { kind: 'flatten', scope: '*' },
    { kind: 'release', scope: '*' },
    { kind: 'kill' },
    { kind: 'releaseKill' },
    { kind: 'adopt', symbol: 'BTCUSDT', strategyId: 'grid-btc' },
    { kind: 'reload' },
    { kind: 'logLevel', level: 'error' },
  ]

  test.each(ORDERS)('the command $kind is obeyed for nobody else', async (order) => {
    const bench = new Bench(PORT)
    const refusals = [
      [{ host: 'evil.example:8790' }, 421],
      [{ origin: 'https://evil.example' }, 403],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ authorization: '' }, 401],
      [{ 'content-type': 'text/plain' }, 415],
    ] as const
    for (const [headers, status] of refusals) {
      expect((await bench.post({ ...RESTRICT, order }, headers)).status).toBe(status)
    }
    expect(bench.commands).toEqual([])
    const isProposed = ['release', 'releaseKill', 'reload', 'adopt'].includes(order.kind)
    expect((await bench.post({ ...RESTRICT, order })).status).toBe(isProposed ? 202 : 200)
    expect(bench.commands).toHaveLength(isProposed ? 0 : 1)
  })

  test('a page of its own may ask', async () => {
    const answer = await new Bench(PORT).get('/v1/status', {
      ...AUTHORISED,
      origin: `http://${HOST}`,
    })
    expect(answer.status).toBe(200)
  })

  test('no answer lets another site read it', async () => {
    const bench = new Bench(PORT)
    const answers = [await bench.get('/v1/status'), await bench.get('/livez', { host: HOST })]
    const preflight = await bench.app.request(`http://${HOST}/v1/commands`, {
      method: 'OPTIONS',
      headers: {
        host: HOST,
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
      },
    })
    expect(preflight.status).toBe(403)
    for (const { headers } of [...answers, preflight]) {
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('the health paths need no token and say only whether', async () => {
    const bench = new Bench(PORT)
    expect(await (await bench.get('/livez', { host: HOST })).text()).toBe('ok\n')
    const ready = await bench.get('/readyz?verbose', { host: HOST })
    expect([ready.status, await ready.text()]).toEqual([503, 'not ready\n'])
    const wrong = await bench.get('/readyz?verbose', { host: HOST, authorization: 'Bearer wrong' })
    expect(await wrong.text()).toBe('not ready\n')
    expect(await (await bench.get('/readyz?verbose')).text()).toBe(
      '[-] clock: not synchronised\nnot ready\n',
    )
  })
})

describe('commands', () => {
  test('one that is sent again is obeyed once, and answered as the first time, which it says', async () => {
    const bench = new Bench(SOCKET)
    const answers = await Promise.all([bench.post(RESTRICT), bench.post(RESTRICT)])
    const [first, second] = (await Promise.all(
      answers.map((answer) => answer.json()),
    )) as ControlAnswer[]
    expect(bench.commands).toEqual([[RESTRICT, `socket:uid ${process.geteuid?.()}`]])
    expect(second).toEqual({ ...first, text: 'sent again; when it came first: 1' })
  })

  test('one that was refused is judged anew when it is sent again', async () => {
    let isReady = false
    const bench: Bench = new Bench(SOCKET, {
      daemon: {
        command: ({ requestId }) => ({
          answer: {
            ...answerOf(requestId, isReady ? 'killed' : 'not now'),
            isObeyed: isReady,
          },
        }),
      },
    })
    const kill = { ...RESTRICT, order: { kind: 'kill' } }
    expect(await (await bench.post(kill)).json()).toMatchObject({
      isObeyed: false,
      text: 'not now',
    })
    isReady = true
    expect(await (await bench.post(kill)).json()).toMatchObject({ isObeyed: true, text: 'killed' })
  })

  test('an id that was used for another command is refused, in words that the command line uses too', async () => {
    const bench = new Bench(PORT)
    await bench.post(RESTRICT)
    const other = await bench.post({ ...RESTRICT, order: { kind: 'kill' } })
    expect(other.status).toBe(409)
    expect(await other.text()).toContain('--key')
    expect(bench.commands).toHaveLength(1)
  })

  test.each([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['an unknown order', { ...RESTRICT, order: { kind: 'sell' } }, 400],
    ['a key too many', { ...RESTRICT, extra: 1 }, 400],
    ['no reason', { ...RESTRICT, reason: '' }, 400],
    [
      'a scope without end',
      { ...RESTRICT, order: { kind: 'flatten', scope: 'x'.repeat(101) } },
      400,
    ],
    ['a body that is too large', { ...RESTRICT, reason: 'x'.repeat(70_000) }, 413],
  ])('%s is refused with its reason', async (_, body, status) => {
    const bench = new Bench(PORT)
    const answer = await bench.post(body)
    expect(answer.status).toBe(status)
    expect(((await answer.json()) as { error: string }).error).not.toBe('')
    expect(bench.commands).toEqual([])
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ])('a form of a web page (Content-Type %j) is none', async (type) => {
    const bench = new Bench(PORT)
    expect((await bench.post(RESTRICT, { 'content-type': type })).status).toBe(415)
    expect(bench.commands).toEqual([])
  })

  test('are not taken where the configuration says so', async () => {
    const bench = new Bench(SOCKET, { readOnly: true })
    expect((await bench.post(RESTRICT)).status).toBe(403)
    expect(bench.commands).toEqual([])
    expect((await bench.get('/v1/status')).status).toBe(200)
  })
})

describe('reads', () => {
  test('a question that makes no sense is refused', async () => {
    const bench = new Bench(PORT)
    for (const limit of ['0', '-1', '501', '1.5', 'all'])
      expect((await bench.get(`/v1/fills?limit=${limit}`)).status).toBe(400)
    expect((await (await bench.get('/v1/fills?limit=7')).json()) as unknown[]).toHaveLength(7)
  })

  test('[SEC1] a defect is logged, and its words do not leave', async () => {
    const status = (): never => {
      throw new Error(`the token is ${TOKEN}`)
    }
    const bench = new Bench(PORT, { daemon: { status } })
    const answer = await bench.get('/v1/status')
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining(TOKEN)])
    expect(bench.broken).toHaveLength(1)
  })

  test('every path has its place in the description', async () => {
    const bench = new Bench(PORT)
    const { paths } = (await (await bench.get('/openapi.json')).json()) as {
      paths: Record<string, object>
    }
    const read = Object.keys(paths).filter(
      (path) => 'get' in (paths[path] ?? {}) && !STREAMS.includes(path),
    )
    for (const path of read)
      expect([path, (await bench.get(path)).status]).toEqual([path, EXPECTED[path] ?? 200])
    expect(JSON.stringify(paths['/v1/commands'])).toContain('requestId')
    expect(await (await bench.get('/docs', { host: HOST })).text()).toContain('/v1/positions')
  })
})

describe('events', () => {
  const history = (count: number, beforeFirst = 1000): EventHistory => {
    const events = new EventHistory(beforeFirst)
    for (let index = 0; index < count; index++)
      events.add({ at: index, level: 'info', event: 'order.sent', fields: { index } })
    return events
  }

  test('[BND1] remembers warnings and errors when the rest is forgotten, and not without end', () => {
    const events = new EventHistory(1000)
    for (let index = 0; index < 10_000; index++)
      events.add({
        at: index,
        level: index % 20 === 0 ? 'error' : 'info',
        event: 'one',
        fields: {},
      })
    const read: number[] = []
    for (
      let from = 0, found = events.after(0, 150);
      found.events.length > 0;
      found = events.after(from, 150)
    ) {
      read.push(...found.events.map(({ id }) => id))
      from = read.at(-1) ?? Number.NaN
    }

    expect(read).toEqual([...new Set(read)].toSorted((one, other) => one - other))
    expect(read.at(-1)).toBe(11_000)
    const alerts = read.filter((id) => (id - 1001) % 20 === 0)
    expect(alerts.slice(-200)).toEqual(
      Array.from({ length: 200 }, (_, index) => 11_000 - 19 - 20 * (199 - index)),
    )
    expect(read.length).toBeLessThan(4200)
    expect(events.after(10_500, 10)).toMatchObject({ events: { length: 10 } })
  })

  test('go on behind an id, however long ago', () => {
    const events = history(10)
    expect(events.after(1007, 100)).toMatchObject({
      events: [{ id: 1008 }, { id: 1009 }, { id: 1010 }],
      missed: 0,
    })
    expect(events.after(1010, 100)).toEqual({ events: [], missed: 0 })
    expect(events.after(1002, 2).events.map(({ id }) => id)).toEqual([1003, 1004])
  })

  test('of another run are no gap', () => {
    for (const id of [0, 999, 5000])
      expect(history(3).after(id, 9)).toMatchObject({ events: { length: 3 }, missed: 0 })
  })

  test('that are not remembered any more are counted', () => {
    const events = history(10_000)
    const { events: kept, missed } = events.after(1005, 100_000)
    expect(kept.length).toBeGreaterThanOrEqual(2000)
    expect(kept.length).toBeLessThan(4000)
    expect(missed).toBe(10_000 - 5 - kept.length)
    expect(kept.at(-1)?.id).toBe(11_000)
  })

  test('that are forgotten between old alerts are counted once, and not for who begins', () => {
    const events = new EventHistory(1000)
    for (let index = 0; index < 20_000; index += 1)
      events.add({ at: index, level: index < 200 ? 'error' : 'info', event: 'one', fields: {} })
    const missedAfter = (id: number): number => {
      let [from, sum] = [id, 0]
      for (;;) {
        const { events: found, missed } = events.after(from, 200)
        if (found.length === 0) return sum
        sum += missed
        from = found.at(-1)?.id ?? from
      }
    }

    expect(missedAfter(0)).toBe(0)
    const kept = events.after(1000, 100_000).events.length
    expect(missedAfter(1000)).toBe(20_000 - kept)
  })

  test('by another method is not asked: nothing of the program fails for it', async () => {
    const bench = new Bench(PORT)
    for (const method of ['PUT', 'DELETE', 'PATCH'] as const)
      for (const path of ['/livez', '/readyz', '/', '/v1/status'])
        expect((await bench.get(path, AUTHORISED, method)).status).toBe(405)
  })

  test('are followed by so many at once, and by as many again when these have gone or were none', async () => {
    const bench = new Bench(PORT)
    for (let index = 0; index < 40; index += 1) {
      expect((await bench.get('/v1/live?after=abc')).status).toBe(400)
      expect((await bench.get('/v1/events', AUTHORISED, 'HEAD')).status).toBe(405)
    }
    const followAll = () =>
      Promise.all(Array.from({ length: 33 }, async () => bench.get('/v1/live?after=0')))

    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (let round = 0; round < 2; round += 1) {
      const answers = await followAll()
      const counted = [200, 503].map(
        (wanted) => answers.filter(({ status }) => status === wanted).length,
      )
      expect(counted).toEqual([32, 1])
      await Promise.all(answers.map(async ({ body }) => body?.cancel()))
      // Who goes is noticed when there is something to write.
      await vi.advanceTimersByTimeAsync(2 * EVERY_MS)
    }
  })

  test('reach whoever follows, from behind the id that it saw last', async () => {
    const bench = new Bench(PORT)
    const add = (index: number) =>
      bench.events.add({ at: 0, level: 'info', event: 'order.sent', fields: { index } })
    for (const index of [1, 2, 3]) add(index)
    const answer = await bench.get('/v1/events', { ...AUTHORISED, 'last-event-id': '1002' })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    const read = async (part: string): Promise<string> => {
      let text = ''
      while (!text.includes(part)) text += (await reader?.read())?.value ?? ''
      return text
    }
    expect(await read('up to date')).toBe(
      'id: 1003\nevent: log\ndata: {"id":1003,"at":0,"level":"info","event":"order.sent","fields":{"index":3}}\n\n: up to date\n\n',
    )
    add(4)
    expect(await read('"index":4')).toContain('id: 1004\n')
    await reader?.cancel()
  })
})

test('a command is known by its id from both entrances, and after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'answers-'))
  const troubles: string[] = []
  const openAnswers = () =>
    new AnsweredRequests({
      store: createAnswerFile(directory, (reason) => troubles.push(reason)),
    })
  const pause = { kind: 'restrict', scope: 'BTCUSDT', mode: 'halted' }
  const request = (requestId: string, order: object = pause) => ({
    requestId,
    reason: 'odd',
    by: 'me',
    order,
  })
  const answered = openAnswers()
  const [port, socket] = [new Bench(PORT, { answered }), new Bench(SOCKET, { answered })]
  const answers = await Promise.all([
    port.post(request('pause-00')),
    socket.post(request('pause-00')),
  ])
  const [one, other] = await Promise.all(answers.map((answer) => answer.json()))
  const isRepeated = { text: expect.stringMatching(/^sent again; when it came first: /) }
  expect(other).toEqual({ ...(one as object), ...isRepeated })
  expect(port.commands.length + socket.commands.length).toBe(1)
  await port.post(request('level-00', { kind: 'logLevel', level: 'debug' }))

  const next = new Bench(PORT, { answered: openAnswers() })
  expect(await (await next.post(request('pause-00'))).json()).toEqual({
    ...(one as object),
    ...isRepeated,
  })
  expect((await next.post(request('pause-00', { ...pause, mode: 'reducing' }))).status).toBe(409)
  expect(next.commands).toEqual([])
  // What ended with the process is ordered anew.
  await next.post(request('level-00', { kind: 'logLevel', level: 'debug' }))
  expect(next.commands).toHaveLength(1)

  // A dry run pushes out no answer.
  const dryRun = { kind: 'withdrawal', amount: '1', dryRun: true }
  for (let number = 0; number < REQUESTS_KEPT_MAX; number++) {
    next.now += 100
    await next.post(request(`dry-${1000 + number}`, dryRun))
  }
  const dried = new Bench(PORT, { answered: openAnswers() })
  await dried.post(request('pause-00'))
  expect(dried.commands).toEqual([])

  for (let number = 0; number < REQUESTS_KEPT_MAX; number++) {
    next.now += 100
    await next.post(request(`more-${1000 + number}`))
  }
  const last = new Bench(PORT, { answered: openAnswers() })
  await last.post(request('more-1000'))
  expect(last.commands).toEqual([])
  await last.post(request('pause-00'))
  expect(last.commands).toHaveLength(1)

  // Whether a release that waited for the proof of a kill came to its end is not known here any more.
  const kill = { scope: '*', mode: 'killed', code: 'kill', reason: '', by: '', at: 1 } as const
  const held = [{ ...kill, ends: '', command: null, isClosing: false, releasableAt: null }]
  const releaseKill = request('release-00', { kind: 'releaseKill' })
  const first = new Bench(SOCKET, {
    answered: openAnswers(),
    daemon: { command: ({ requestId }) => ({ answer: { ...answerOf(requestId), held } }) },
  })
  expect(await (await first.post(releaseKill)).json()).toMatchObject({ isObeyed: true })
  expect(await (await first.post(releaseKill)).json()).toMatchObject({ isObeyed: true })
  const second = new Bench(PORT, { answered: openAnswers() })
  const isForgotten = { isObeyed: false, text: expect.stringMatching(/another request id/) }
  expect(await (await second.post(releaseKill)).json()).toMatchObject(isForgotten)
  expect(second.commands).toEqual([])

  // A disk that takes nothing costs the memory of the command, not the command.
  rmSync(directory, { recursive: true })
  expect((await last.post(request('pause-09'))).status).toBe(200)
  expect(troubles).toHaveLength(1)
})

test('a dated release, flatten or close from before all that is remembered is outdated, after a restart and within a run; a kill and a restriction are obeyed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'outdated-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  let now = 1_767_225_600_000
  const openBench = () => {
    const store = createAnswerFile(directory, (reason) => expect.fail(reason))
    return new Bench(SOCKET, { answered: new AnsweredRequests({ store, now: () => now }) })
  }
  const send = async (bench: Bench, requestId: string, order: object) => {
    const answer = await bench.post({ requestId, reason: 'odd', by: 'me', order })
    const body = (await answer.json()) as { text?: string; error?: string }
    return [answer.status, body.error ?? body.text]
  }
  const flatten = { kind: 'flatten', scope: 'BTCUSDT' }
  const first = openBench()
  const id = `${now}-flatten`
  expect((await send(first, id, flatten))[0]).toBe(200)
  for (let number = 1; number < REQUESTS_KEPT_MAX; number++)
    await send(first, `${(now += 1000)}-more`, flatten)

  const full = openBench()
  expect(await send(full, id, flatten)).toEqual([200, expect.stringMatching(/^sent again/)])
  await send(full, `${(now += 1000)}-last`, flatten)
  const next = openBench()
  const outdated = [409, expect.stringMatching(/^outdated: .*with a new id$/)]
  for (const order of [
    flatten,
    { kind: 'release', scope: '*' },
    { kind: 'close', scope: '*', percent: 50 },
  ])
    expect(await send(next, id, order)).toEqual(outdated)
  expect(next.commands).toEqual([])
  expect((await send(next, `${now - 5000}-later`, flatten))[0]).toBe(200)
  expect((await send(next, id, { kind: 'kill' }))[0]).toBe(200)
  const pause = { kind: 'restrict', scope: '*', mode: 'halted' }
  expect((await send(next, id.replace('flatten', 'pause'), pause))[0]).toBe(200)
  // Its age is not known, so it counts as sent now.
  expect((await send(next, 'undated-flatten', flatten))[0]).toBe(200)

  const answered = new AnsweredRequests({ now: () => now })
  const within = new Bench(SOCKET, { answered })
  for (let number = 0; number <= 4000; number++) {
    const requestId = `${(now += 1)}-${number}`
    const request = { requestId, reason: 'odd', by: 'me', order: flatten } as ControlRequest
    await answered.once(request, () => ({ answer: answerOf(requestId) }))
  }
  expect(await send(within, `${now - 4000}-0`, flatten)).toEqual(outdated)
  expect(await send(within, `${now - 3999}-1`, flatten)).toEqual([
    200,
    expect.stringMatching(/^sent again/),
  ])
  expect(within.commands).toEqual([])
})
