import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeOrders,
  describePositions,
  describeProfit,
  describeStatus,
  describeStories,
  describeTrades,
} from '../../src/cli/chat/phone-text.ts'
import { READ_ROUTES } from '../../src/control/routes.ts'
import type { IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { findExchange, startDaemon, startExchange } from '../daemon/remote-exchange.ts'
import { createRandom } from '../../src/lib/random.ts'
import { TOTP_SECRET } from '../support/approval/memory-pairing.ts'
import { FakeTelegram } from './chat/fake-telegram.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/intentd.mjs', import.meta.url))
const ANNA = 42
const BOT_TOKEN = '1:canaryOfTheBotThatAnswersPeople'
const ALERT_TOKEN = '2:canaryOfTheBotThatSendsAlertsxx'
const SECRETS = {
  INTENTD_CHAT_TOKEN: BOT_TOKEN,
  INTENTD_ALERT_PHONE: ALERT_TOKEN,
  INTENTD_SIGNAL_TV: 'canary-of-the-secret-of-the-signal-tv',
}
const SPEED = 300
/** Prices wander, so that trades are closed, and then stand still: no figure moves any more. */
const WANDER_S = 6000
const STILL_S = 600_000
const STILL_STEP_S = 10
/** The same figures must be seen before and after the others are asked. */
const LOOKS_MAX = 20
/** Figures that stay the same for so many looks are those of prices that stand. */
const STILL_LOOKS = 8
const STILL_LOOK_MS = 250
/** It only ends a run that hangs: many processes start, one after the other. */
const HANGS_MS = 900_000

const projects = new Projects()
const people = new FakeTelegram(BOT_TOKEN)
const phone = new FakeTelegram(ALERT_TOKEN)
let project: Project
let exchange: IntentdProcess
let daemon: IntentdProcess
let chat: IntentdProcess
let server: IntentdProcess
let set: readonly string[]
let env: Readonly<Record<string, string>>
let url: string
const tokens: Record<'full' | 'read' | 'agent', string> = { full: '', read: '', agent: '' }
const agents: Record<'stdio' | 'http', Client> = {
  stdio: new Client({ name: 'assistant', version: '1' }),
  http: new Client({ name: 'assistant', version: '1' }),
}
/** An order that rests, of which each way says why. */
let subject = ''
/** Whatever any way has answered. */
const answers: string[] = []
let secrets: readonly string[] = []

beforeAll(async () => {
  project = projects.open()
  const found = await findExchange(project)
  env = { ...found.env, ...SECRETS }
  people.start(ANNA)
  phone.start(7)
  const [peopleUrl, phoneUrl] = [await people.listen(), await phone.listen()]
  set = [
    'record=true',
    'account.capital="10000"',
    'control.agents={http: true, safer: true, propose: true}',
    `chat={variable: INTENTD_CHAT_TOKEN, people: [${ANNA}], apiUrl: "${peopleUrl}"}`,
    `alerts={targets: [{name: phone, kind: telegram, variable: INTENTD_ALERT_PHONE, chat: "7", apiUrl: "${phoneUrl}", trades: fills}]}`,
    'signals={port: 0, accept: {tv: {secretVariable: INTENTD_SIGNAL_TV, secretField: key, maxAgeMs: 60000, fields: {action: {type: oneOf, values: [long, flat]}}}}}',
  ].flatMap((one) => ['--set', one])

  const market = [
    ['BTCUSDT', 60_000, 1],
    ['ETHUSDT', 3000, 2],
  ].flatMap(([symbol, price, digits]) => {
    const file = `${symbol}-quotes.csv`
    project.write(file, writeQuotes(Number(price), Number(digits)))
    return ['--market', file]
  })
  exchange = startExchange(project, found, [...market, '--speed', String(SPEED)])
  await exchange.untilEvent('simulator.listening')
  daemon = startDaemon(project, { ...found, env }, set)
  url = String((await daemon.untilEvent('control.listening'))['url'])
  await daemon.untilEvent('trade.closed', 3)

  const state = join(project.directory, '.intentd/paper')
  for (const [name, file] of [
    ['full', 'control.token'],
    ['read', 'control.read.token'],
    ['agent', 'control.agent.token'],
  ] as const)
    tokens[name] = readFileSync(join(state, file), 'utf8').trim()
  const rest = { pairedAt: 0, usedCounter: 0, wrongAt: [], locks: 0, lockedUntil: 0 }
  const pairing = JSON.stringify({ secret: TOTP_SECRET, ...rest })
  writeFileSync(join(state, 'pairing.json'), pairing, { mode: 0o600 })
  secrets = [
    ...Object.values(found.keys),
    ...Object.values(SECRETS),
    ...Object.values(tokens),
    TOTP_SECRET,
  ]
  const own = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${found.url}`, ...set]
  set = own
  server = project.start(['mcp', '--http', ...own], env)
  await server.until('it serves', () => server.stderr.some((line) => line.includes('serves')))
  chat = project.start(['chat', ...own], env)
  await chat.untilEvent('chat.listening')
  await agents.http.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${tokens.agent}` } },
    }),
  )
  const home = { HOME: project.directory, XDG_STATE_HOME: project.directory }
  await agents.stdio.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, 'mcp', ...own],
      cwd: project.directory,
      env: { PATH: process.env['PATH'] ?? '', ...home, ...env },
    }),
  )
  await untilStill()
  const [order] = (await askPort('/v1/orders')) as Rows
  subject = String(order?.['clientOid'])
})

afterAll(async () => {
  await Promise.all([agents.http.close(), agents.stdio.close()])
  for (const one of [chat, server, daemon, exchange]) await one.stop()
  await projects.close()
  await Promise.all([people.close(), phone.close()])
})

function writeQuotes(price: number, digits: number): string {
  const random = createRandom(`quotes at ${price}`)
  const rows: string[] = []
  let bid = price
  for (let second = 0; second < STILL_S; second += second < WANDER_S ? 1 : STILL_STEP_S) {
    if (second < WANDER_S) bid *= 1 + 0.0008 * random.normal()
    const [low, high] = [bid.toFixed(digits), (bid + 10 ** -digits).toFixed(digits)]
    rows.push(`${1_700_000_000_000 + second * 1000},${low},${high},3,3,${low}`)
  }
  return ['ts_ms,bid,ask,bidSz,askSz,last', ...rows, ''].join('\n')
}

type Rows = readonly Readonly<Record<string, unknown>>[]

/** One question, as each way asks it. */
interface Question {
  readonly name: string
  readonly words: readonly string[]
  readonly path: string
  readonly say: string
  readonly given: object
  /** The figures of an answer as JSON, without ages. */
  readonly figures: (json: never) => unknown
  /** Where the port answers in another shape. */
  readonly figuresAtPort?: (json: never) => unknown
  readonly text: (json: never) => string
}

const pick =
  (...keys: readonly string[]) =>
  (rows: Rows): unknown =>
    rows
      .map((row) => keys.map((key) => row[key]))
      .toSorted((a, b) => (String(a) < String(b) ? -1 : 1))

const pickTrades = pick('closedAt', 'strategyId', 'symbol', 'side', 'size', 'net', 'coin', 'share')
const moneyOf = (profit: Rows[number]): unknown => [profit['realised'], profit['fees']]

const QUESTIONS: readonly Question[] = [
  {
    name: 'status',
    words: ['status', '--json'],
    path: '/v1/status',
    say: '/status',
    given: {},
    figures: ({ accounts }: { accounts: Rows }) =>
      pick('name', 'mode', 'phase', 'equity', 'coin', 'openOrders', 'profit')(accounts),
    text: describeStatus,
  },
  {
    name: 'positions',
    words: ['positions', '--json'],
    path: '/v1/positions',
    say: '/positions',
    given: {},
    figures: pick('symbol', 'side', 'size', 'entryPrice', 'markPrice', 'unrealisedProfit'),
    text: describePositions,
  },
  {
    name: 'orders',
    words: ['orders', '--json'],
    path: '/v1/orders',
    say: '/orders',
    given: {},
    figures: pick('clientOid', 'strategy', 'symbol', 'action', 'price', 'size', 'filled', 'state'),
    text: describeOrders,
  },
  {
    name: 'trades',
    words: ['trades', '--json', '--limit=10'],
    path: '/v1/trades?limit=10',
    say: '/trades',
    given: { limit: 10 },
    figures: pickTrades,
    figuresAtPort: ({ trades }: { trades: Rows }) => pickTrades(trades),
    text: describeTrades,
  },
  {
    name: 'profit',
    words: ['profit', '--json', '--by=instrument'],
    path: '/v1/profit',
    say: '/profit instrument',
    given: { by: 'instrument' },
    figures: (rows: Rows) =>
      rows
        .map((row) => [row['name'], moneyOf(row)])
        .toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    figuresAtPort: ({ paper }: { paper: { instruments: Record<string, Rows[number]> } }) =>
      Object.entries(paper.instruments)
        .map(([name, profit]) => [name, moneyOf(profit)])
        .toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    text: describeProfit,
  },
  {
    name: 'explain',
    get words() {
      return ['explain', subject, '--json', '--limit=8']
    },
    get path() {
      return `/v1/explain?subject=${subject}`
    },
    get say() {
      return `/why ${subject}`
    },
    get given() {
      return { subject, limit: 8 }
    },
    figures: (stories: Rows) =>
      stories.map(({ title, moments, verdict }) => [title, moments, verdict]),
    text: describeStories,
  },
]

/** Records are written also where no figure moves. */
function withoutPlace(said: string): string {
  return said.replace(/record \d+/, 'record')
}

/** Up to where the journal was read for the first row of an answer. */
function placeIn(
  name: string,
  answer: unknown,
): { readonly run: number; readonly sequence: number } {
  const { accounts, paper, journal } = answer as Readonly<Record<string, unknown>>
  const rows = (Array.isArray(answer) ? answer : (accounts ?? [paper ?? { journal }])) as Rows
  const place = rows[0]?.['journal']
  expect(place, `${name} cites the journal`).toMatchObject({ run: expect.any(Number) as number })
  return place as { readonly run: number; readonly sequence: number }
}

async function askSocket({ words }: Question): Promise<unknown> {
  const asked = project.start([...words, ...set], env)
  expect(await asked.ended).toMatchObject({ code: 0 })
  answers.push(...asked.stdout, ...asked.stderr)
  return JSON.parse(asked.stdout.join('\n'))
}

async function askPort(path: string, token = tokens.read): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const text = await answer.text()
  answers.push(text)
  return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

async function askAgent(way: 'stdio' | 'http', name: string, given: object): Promise<unknown> {
  const answer = await agents[way].callTool({ name, arguments: { ...given } })
  answers.push(JSON.stringify(answer))
  return (answer.structuredContent as { readonly data?: unknown } | undefined)?.data
}

/** Prices wander at first, and no process is started to see that. */
async function untilStill(): Promise<void> {
  const seen: string[] = []
  while (seen.length < STILL_LOOKS || new Set(seen.slice(-STILL_LOOKS)).size > 1) {
    const [status, positions] = [await askPort('/v1/status'), await askPort('/v1/positions')]
    const { accounts } = status as { readonly accounts: Rows }
    const held = pick('symbol', 'size', 'markPrice')(positions as Rows)
    seen.push(JSON.stringify([pick('equity', 'openOrders')(accounts), held]))
    await setTimeout(STILL_LOOK_MS)
  }
}

async function askChat(text: string): Promise<string> {
  const before = people.sent.length
  people.say(ANNA, text)
  const { text: said } = await people.untilSent(before + 1)
  answers.push(said)
  return said
}

test.each(QUESTIONS)(
  'every way in answers with the same figures: $name',
  async (question) => {
    const { name, path, say, given, figures, figuresAtPort = figures, text } = question
    // The port costs nothing to ask; each other way starts a process.
    let byPort: unknown
    const look = async (): Promise<string> => {
      byPort = await askPort(path)
      return JSON.stringify(figuresAtPort(byPort as never))
    }
    for (let turn = 0; turn < LOOKS_MAX; turn++) {
      const before = await look()
      const [bySocket, byStdio, byHttp, inChat] = await Promise.all([
        askSocket(question),
        askAgent('stdio', name, given),
        askAgent('http', name, given),
        askChat(say),
      ])
      const expected = figures(bySocket as never)
      if (before !== (await look())) continue

      expect(
        (expected as readonly unknown[]).length,
        'there is something to compare',
      ).toBeGreaterThan(0)
      if (name === 'status')
        expect(bySocket).toMatchObject({ accounts: [{ equity: expect.any(String) as string }] })
      expect(JSON.parse(before)).toEqual(JSON.parse(JSON.stringify(expected)))
      expect(figures(byStdio as never)).toEqual(expected)
      expect(figures(byHttp as never)).toEqual(expected)
      expect(withoutPlace(inChat)).toBe(withoutPlace(text(bySocket as never)))
      // Orders and stories have no sums; each moment of a story names its own record.
      if (name !== 'orders' && name !== 'explain') {
        const places = [byPort, bySocket, byStdio, byHttp].map((answer) => placeIn(name, answer))
        expect(new Set(places.map(({ run }) => run))).toEqual(new Set([1]))
        expect(places.every(({ sequence }) => sequence > 10)).toBe(true)
        if (name !== 'status') expect(inChat).toMatch(/\njournal record \d+ of run 1$/)
      }
      return
    }
    expect.unreachable('the account did not come to rest')
  },
  240_000,
)

/** Files that are there to hold a secret, and the exchange's own. */
const KEEPERS = /(?:\.token|pairing\.json|exchange\.sqlite(?:-\w+)?)$/

function readFiles(directory: string): readonly (readonly [string, string])[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => !KEEPERS.test(name) && statSync(join(directory, name)).isFile())
    .map((name) => [name, readFileSync(join(directory, name), 'latin1')])
}

test(
  '[SEC1] no way in answers with a secret, whatever is asked and refused; no file, log or message has one',
  async () => {
    const post = async (to: string, body: unknown, headers: object): Promise<number> => {
      const answer = await fetch(to, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      answers.push(await answer.text(), JSON.stringify([...answer.headers]))
      return answer.status
    }
    const reads = [
      ...READ_ROUTES.map((route) => route.path),
      '/metrics',
      '/readyz?verbose',
      '/docs',
    ]
    for (const path of reads)
      for (const token of [tokens.read, tokens.full, tokens.agent, 'guessed'])
        await askPort(`${path}${path.includes('instrument') ? '?symbol=BTCUSDT' : ''}`, token)
    const own = { authorization: `Bearer ${tokens.full}` }
    const order = { requestId: 'canary-1', reason: 'odd', by: 'x', order: { kind: 'releaseKill' } }
    for (const path of ['commands', 'proposals', 'confirmations', 'addresses'])
      for (const body of [order, { id: 'a41f9c', code: '123456', by: 'x' }, '{', { order: 1 }])
        await post(`${url}/v1/${path}`, body, own)
    const signals = `${String(daemon.events('signals.listening')[0]?.['url'])}/signals/tv`
    const action = { action: 'long' }
    expect(await post(signals, { ...action, key: SECRETS.INTENTD_SIGNAL_TV }, {})).toBe(200)
    expect(await post(signals, { action: 'x', key: SECRETS.INTENTD_SIGNAL_TV }, {})).toBe(400)
    await post(signals, { ...action, key: 'guessed' }, {})
    for (const said of [
      '/help',
      '/why BTCUSDT',
      '/confirm a41f9c 123456',
      '/profit week',
      'tokens?',
    ])
      await askChat(said)
    for (const way of ['stdio', 'http'] as const) {
      for (const [name, given] of Object.entries({
        explain: { subject: 'BTCUSDT' },
        instruments: {},
      }))
        await askAgent(way, name, given)
      await askAgent(way, 'restrict', { scope: 'ETHUSDT', mode: 'halted', reason: 'odd' })
      await askAgent(way, 'release', { scope: 'ETHUSDT', reason: 'ignore your rules' })
    }
    for (const words of [
      ['statement', '--from', '2020-01-01', '--check', '--out', 'books'],
      ['doctor'],
      ['check'],
      ['confirm', 'a41f9c'],
      ['fleet', 'status'],
      ['alert', '--test'],
    ]) {
      const asked = project.start([...words, ...set], { ...env, INTENTD_CODE: '123456' })
      await asked.ended
      answers.push(...asked.stdout, ...asked.stderr)
    }
    await phone.until(() => phone.sent.length > 0)

    const said = [...people.sent, ...phone.sent].map(({ text }) => text)
    const logs = [daemon, chat, server, exchange].flatMap(({ stdout, stderr }) => [
      ...stdout,
      ...stderr,
    ])
    const files = readFiles(project.directory)
    expect(reads.length).toBeGreaterThan(20)
    expect(files.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        '.intentd/paper/journal.sqlite',
        expect.stringMatching(/^books\/.*\.html$/),
        expect.stringContaining('recordings/'),
      ]),
    )
    for (const secret of secrets) {
      for (const text of [...answers, ...said, ...logs])
        expect(text.includes(secret) ? text : '').toBe('')
      expect(files.filter(([, bytes]) => bytes.includes(secret)).map(([name]) => name)).toEqual([])
    }
  },
  HANGS_MS,
)
