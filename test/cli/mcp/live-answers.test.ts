import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterEach, expect, test } from 'vitest'
import { createAgentServers } from '../../../src/cli/mcp/agent-server.ts'
import type { VerbRun } from '../../../src/cli/process/run-verb.ts'

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

const ORDER = {
  clientOid: 'a-1',
  orderId: '1',
  strategy: 'grid',
  symbol: 'BTCUSDT',
  purpose: 'quote',
  action: 'openLong',
  price: '60000',
  size: '0.01',
  filled: '0',
  state: 'live',
  tag: '',
  force: 'post_only',
  key: '',
  reason: '',
}

async function listTools(headers?: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const create = createAgentServers({
    version: '0',
    config: { file: '/srv/paper.yaml', set: [] },
    powers: new Set(['look', 'research', 'safer', 'riskier']),
    by: 'agent mcp at the port',
  })
  const [own, other] = InMemoryTransport.createLinkedPair()
  const requestInfo = headers && new Request('http://localhost/mcp', { headers })
  await create(requestInfo && { requestInfo }).connect(other)
  const client = new Client({ name: 'assistant', version: '1' })
  await client.connect(own)
  clients.push(client)
  return (await client.listTools()).tools.map(({ name }) => name)
}

test('[SEC3] at the port an assistant has the powers that the running daemon names with its request', async () => {
  const all = await listTools()
  expect(all).toEqual(expect.arrayContaining(['status', 'backtest', 'kill', 'release']))

  const shut = await listTools({ 'intentd-agent-powers': 'look,research' })
  expect(shut).toEqual(expect.arrayContaining(['status', 'backtest']))
  for (const name of ['kill', 'restrict', 'flatten', 'close', 'cancel', 'release', 'reload'])
    expect(shut).not.toContain(name)
  expect(await listTools({ 'intentd-agent-powers': 'everything' })).toEqual([])
})

/** An assistant, what it made run, and what it asked of the daemon that answers so. */
async function open(answer: unknown) {
  const ran: string[] = []
  const asked: string[] = []
  const create = createAgentServers({
    version: '0',
    config: { file: '/srv/paper.yaml', set: [] },
    powers: new Set(['look']),
    by: 'agent mcp',
    askDaemon: (path) => {
      asked.push(path)
      return Promise.resolve(answer)
    },
    run: ({ words }): Promise<VerbRun> => {
      ran.push(words.join(' '))
      return Promise.resolve({ code: 0, output: '[]', aside: 'by the command', isCut: false })
    },
  })
  const [own, other] = InMemoryTransport.createLinkedPair()
  await create().connect(other)
  const client = new Client({ name: 'assistant', version: '1' })
  await client.connect(own)
  clients.push(client)
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })).structuredContent
  return { call, ran, asked }
}

test('what a running daemon answers needs no process, and is said as the command says it', async () => {
  const { call, ran, asked } = await open([ORDER])

  expect(await call('orders')).toEqual({
    source: {
      command: 'intentd orders --json --config=/srv/paper.yaml',
      at: expect.any(String) as string,
      exitCode: 0,
      isCut: false,
    },
    data: [ORDER],
    notes: '',
  })
  expect([ran, asked]).toEqual([[], ['/v1/orders']])
})

test.each([
  ['no daemon answers', undefined, {}],
  ['its answer is that of another version', [{ ...ORDER, state: 7 }], {}],
  ['the answer is longer than a command may print', Array.from({ length: 2000 }, () => ORDER), {}],
])('the command answers where %s', async (_, answer, args) => {
  const { call, ran } = await open(answer)

  expect(await call('orders', args)).toMatchObject({ data: [], notes: 'by the command' })
  expect(ran).toHaveLength(1)
})

test('of the daemon’s orders those that are asked for are chosen as the command chooses them', async () => {
  const others = [
    { ...ORDER, symbol: 'ETHUSDT' },
    { ...ORDER, strategy: 'trend' },
  ]
  const { call, ran } = await open([ORDER, ...others])

  expect(await call('orders', { symbol: 'ETHUSDT' })).toMatchObject({ data: [others[0]] })
  expect(await call('orders', { strategy: 'trend' })).toMatchObject({ data: [others[1]] })
  expect(await call('orders', { strategy: 'trend', symbol: 'ETHUSDT' })).toMatchObject({ data: [] })
  expect(ran).toEqual([])
})

const STORY = {
  title: 'BTCUSDT',
  moments: [{ at: 1, sequence: 7, what: 'denied', text: 'grid: POSITION_LIMIT' }],
  verdict: 'now: nothing rests',
}

test('the daemon explains with the words of the command; where it finds nothing, the command says where to look', async () => {
  const found = await open([STORY])
  expect(await found.call('explain', { subject: 'BTCUSDT', limit: 8 })).toMatchObject({
    data: [STORY],
  })
  await found.call('explain', { subject: 'BTCUSDT', since: '2025-06-02T06:00Z' })
  expect([found.ran, found.asked]).toEqual([
    [],
    [
      '/v1/explain?subject=BTCUSDT&limit=8',
      `/v1/explain?subject=BTCUSDT&since=${Date.UTC(2025, 5, 2, 6)}&limit=50`,
    ],
  ])

  const nothing = await open([])
  expect(await nothing.call('explain', { subject: 'nobody' })).toMatchObject({
    notes: 'by the command',
  })
  const unreadable = await open([STORY])
  await unreadable.call('explain', { subject: 'BTCUSDT', since: 'yesterday' })
  await unreadable.call('explain', { subject: 'BTCUSDT', since: '10x' })
  expect([unreadable.ran.length, unreadable.asked]).toEqual([2, []])
})

test('the daemon answers what a move would do, and what universes choose', async () => {
  const { call, ran, asked } = await open([])
  await call('whatif', { move: ['-20%'], fillAll: true })
  await call('whatif')
  await call('universe', { strategy: 'trend' })
  await call('whatif', { move: ['-5%', 'BTCUSDT=-20%', 'ETHUSDT=+10%'] })
  await call('whatif', { move: ['BTCUSDT=-20%'] })

  expect([asked, ran]).toEqual([
    [
      '/v1/whatif?move=-0.2&moves=&fill=all',
      '/v1/whatif?move=-0.1&moves=&fill=reached',
      '/v1/universe',
      '/v1/whatif?move=-0.05&moves=BTCUSDT%3A-0.2%2CETHUSDT%3A0.1&fill=reached',
      '/v1/whatif?move=0&moves=BTCUSDT%3A-0.2&fill=reached',
    ],
    [],
  ])
  // The command says how far a price can move.
  await call('whatif', { move: ['-99.5%'] })
  await call('whatif', { move: ['BTCUSDT=-99.5%'] })
  expect([asked.length, ran.length]).toEqual([5, 2])
})

const JOURNAL = { run: 3, sequence: 1234 }
const FROM = 'journal record 1234 of run 3'
const SPAN = { since: '2025-06-02T06:00Z', until: '2025-06-03' }
const SPAN_ASKED = `since=${Date.UTC(2025, 5, 2, 6)}&until=${Date.UTC(2025, 5, 3)}`
const FILL = {
  kind: 'fill',
  tradeId: 't1',
  at: 1,
  orderId: 'o1',
  clientOid: 'c1',
  strategyId: 'grid',
  owner: 'strategy',
  symbol: 'BTCUSDT',
  side: 'buy',
  tradeSide: 'open',
  price: '60000',
  size: '0.01',
  profit: '',
  fee: '0.1',
  coin: 'USDT',
  scope: 'taker',
  source: 'API',
  fillKind: 'trade',
  otherFees: '',
  reason: '',
  tag: '',
}

test('the daemon answers with the fills of its journal, of all runs', async () => {
  const { call, ran, asked } = await open({ journal: JOURNAL, fills: [FILL] })

  expect(await call('fills', { ...SPAN, symbol: 'BTCUSDT', limit: 5 })).toMatchObject({
    data: [FILL],
    notes: `from ${FROM}\n`,
  })
  expect([ran, asked]).toEqual([[], [`/v1/journal/fills?${SPAN_ASKED}&symbol=BTCUSDT&limit=5`]])
})

const TRADE = {
  strategyId: 'grid',
  symbol: 'BTCUSDT',
  side: 'long',
  openedAt: 1,
  closedAt: 2,
  size: '0.01',
  entryPrice: '60000',
  exitPrice: null,
  gross: '1',
  fees: '0.1',
  otherFees: {},
  funding: '0',
  net: '0.9',
  coin: 'USDT',
  share: null,
  fills: 2,
  reason: 'order',
  entryTag: '',
  exitTag: '',
  uncounted: '',
}

test('closed trades of the daemon cite its journal, and what its fills do not explain is said', async () => {
  const { call, ran, asked } = await open({
    journal: JOURNAL,
    trades: [TRADE],
    unexplained: [['grid', 'BTCUSDT']],
  })

  expect(await call('trades', { strategy: 'grid' })).toMatchObject({
    data: [{ ...TRADE, journal: JOURNAL }],
    notes: `the fills of the journal do not explain what grid holds of BTCUSDT: some of its trades may be wrong\nfrom ${FROM}\n`,
  })
  expect([ran, asked]).toEqual([[], ['/v1/trades?strategy=grid&limit=50']])
})

test('sums of profit are those of the daemon, with the words of the command', async () => {
  const row = {
    name: 'grid',
    coin: 'USDT',
    fills: 2,
    net: '0.9',
    realised: '1',
    fees: '0.1',
    funding: '',
    uncounted: '',
  }
  const { call, ran, asked } = await open({ journal: JOURNAL, rows: [row], uncounted: '' })

  expect(await call('profit', { by: 'strategy', since: SPAN.since })).toMatchObject({
    data: [{ ...row, journal: JOURNAL }],
    notes: expect.stringMatching(
      new RegExp(`^from ${FROM}; net is realised less fees[^]*of its own lots`),
    ),
  })
  expect([ran, asked]).toEqual([
    [],
    [`/v1/journal/profit?by=strategy&since=${Date.UTC(2025, 5, 2, 6)}`],
  ])
})

test('the command says whether a strategy or an instrument without rows is known', async () => {
  for (const [name, answer] of [
    ['fills', { journal: JOURNAL, fills: [] }],
    ['trades', { journal: JOURNAL, trades: [], unexplained: [] }],
  ] as const) {
    const { call, ran } = await open(answer)
    expect(await call(name)).toMatchObject({ data: [], notes: `from ${FROM}\n` })
    expect(ran).toEqual([])
    await call(name, { strategy: 'gird' })
    await call(name, { symbol: 'BTCUSTD' })
    expect(ran).toHaveLength(2)
  }
})

test('the command reads the journal where a standby answers, which reads none', async () => {
  const journal = { run: 0, sequence: 0 }
  for (const [name, answer] of [
    ['fills', { journal, fills: [] }],
    ['trades', { journal, trades: [], unexplained: [] }],
    ['profit', { journal, rows: [], uncounted: '' }],
  ] as const) {
    const { call, ran } = await open(answer)
    expect(await call(name)).toMatchObject({ notes: 'by the command' })
    expect(ran).toHaveLength(1)
  }
})

const WHATIF = {
  name: 'paper',
  coin: 'USDT',
  equity: '10000',
  prices: {},
  notCounted: [],
  scenario: {
    moves: {},
    fill: 'reached',
    filled: 0,
    realised: '0',
    fees: '0',
    funding: '0',
    equity: '10000',
    change: '0',
    need: '0',
    free: '10000',
    marginRatio: 0,
    isLiquidated: false,
    liquidation: null,
    positions: [],
  },
  rows: [],
  curve: { moves: [], none: [], reached: [], liquidations: { none: [], reached: [] } },
}

test('the command names the instruments where the daemon does not know one of a move', async () => {
  const { call, ran } = await open([
    { ...WHATIF, notCounted: ['BTCUSTD is not an instrument of this account'] },
  ])
  await call('whatif', { move: ['ETHUSDT=-20%'] })
  expect(ran).toEqual([])
  await call('whatif', { move: ['ETHUSDT=-20%', 'BTCUSTD=-20%'] })
  expect(ran).toHaveLength(1)
})
