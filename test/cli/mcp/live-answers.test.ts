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
  ['only some are asked for', [ORDER], { symbol: 'ETHUSDT' }],
])('the command answers where %s', async (_, answer, args) => {
  const { call, ran } = await open(answer)

  expect(await call('orders', args)).toMatchObject({ data: [], notes: 'by the command' })
  expect(ran).toHaveLength(1)
})

test('trades come from the journal, whatever a daemon says', async () => {
  const { call, ran, asked } = await open([])
  await call('trades')
  expect([ran.length, asked]).toEqual([1, []])
})
