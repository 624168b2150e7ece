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
  // The command says which instruments there are, and how far a price can move.
  await call('whatif', { move: ['BTCUSTD=-20%'] })
  await call('whatif', { move: ['-99.5%'] })

  expect(asked).toEqual([
    '/v1/whatif?move=-0.2&moves=&fill=all',
    '/v1/whatif?move=-0.1&moves=&fill=reached',
    '/v1/universe',
  ])
  expect(ran).toHaveLength(2)
})

test('trades come from the journal, whatever a daemon says', async () => {
  const { call, ran, asked } = await open([])
  await call('trades')
  expect([ran.length, asked]).toEqual([1, []])
})
