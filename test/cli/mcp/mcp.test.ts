import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type IntentdProcess } from '../../daemon/intentd-process.ts'
import { type Project, Projects } from '../../daemon/project.ts'

const LAUNCHER = fileURLToPath(new URL('../../../bin/intentd.mjs', import.meta.url))

const projects = new Projects()
let project: Project
let daemon: IntentdProcess

beforeAll(async () => {
  project = projects.open()
  daemon = project.run()
  await daemon.untilEvent('order.accepted')
})

afterAll(async () => {
  await daemon.stop()
  await projects.close()
})

interface Answered {
  readonly isError?: boolean
  readonly structuredContent?: {
    readonly source: { readonly command: string; readonly exitCode: number | null }
    readonly data: unknown
    readonly notes: string
  }
  readonly content: readonly { readonly text?: string }[]
}

/** A public client, and the program as an assistant's host starts it. */
async function withAgent(
  set: readonly string[],
  use: (client: Client, call: (name: string, args?: object) => Promise<Answered>) => Promise<void>,
): Promise<void> {
  const { directory } = project
  const client = new Client({ name: 'assistant', version: '1' })
  const overrides = set.flatMap((one) => ['--set', one])
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, 'mcp', ...overrides],
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, XDG_STATE_HOME: directory },
    }),
  )
  try {
    await use(
      client,
      async (name, args = {}) =>
        (await client.callTool(
          { name, arguments: { ...args } },
          { timeout: 50_000, resetTimeoutOnProgress: true, onprogress: () => undefined },
        )) as unknown as Answered,
    )
  } finally {
    await client.close()
  }
}

test('reports of backtests and sweeps are resources: listed, short, and no other file', async () => {
  const written = (path: string, text: string): void => {
    mkdirSync(join(project.directory, dirname(path)), { recursive: true })
    writeFileSync(join(project.directory, path), text)
  }
  const series = Array.from({ length: 5000 }, (_, index) => index)
  written('backtests/paper-1/report.json', JSON.stringify({ name: 'paper', series }))
  written('sweeps/paper/trials.csv', 'trial,score\n1,0.5\n')
  written('backtests/.hidden/report.json', '{}')
  await withAgent([], async (client) => {
    const { resources } = await client.listResources()
    const read = async (uri: string) => JSON.stringify(await client.readResource({ uri }))
    const report = await read('intentd://reports/backtests/paper-1')

    expect(
      resources.map(({ uri }) => uri).filter((uri) => uri.startsWith('intentd://reports/')),
    ).toEqual(
      expect.arrayContaining([
        'intentd://reports/backtests/paper-1',
        'intentd://reports/sweeps/paper',
      ]),
    )
    expect(resources.some(({ uri }) => uri.includes('hidden'))).toBe(false)
    expect(report).toContain('5000 values, which the file holds')
    expect(await read('intentd://reports/sweeps/paper')).toContain('trial,score')
    for (const other of ['backtests/.hidden', 'backtests/..', 'config/paper', 'sweeps/none'])
      await expect(read(`intentd://reports/${other}`)).rejects.toThrow(/report|resource|found/i)
  })
})

test('by default an assistant looks: the figures of the command line, with their source, and the docs', async () => {
  await withAgent([], async (client, call) => {
    const { tools } = await client.listTools()
    const { resources } = await client.listResources()
    const guide = await client.readResource({ uri: 'intentd://docs/strategies.md' })
    const status = await call('status')
    const orders = await call('orders', { symbol: 'BTCUSDT' })
    const explained = await call('explain', { subject: 'BTCUSDT', since: '10m' })
    const checked = await call('check')
    const refused = await call('orders', { symbol: '--config=/etc/passwd' })

    expect(tools.map(({ name }) => name)).not.toContain('kill')
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    expect(resources.map(({ uri }) => uri)).toContain('intentd://docs/configuration.md')
    expect(JSON.stringify(guide)).toContain('decide')
    expect(status.structuredContent).toMatchObject({
      source: { command: expect.stringMatching(/^intentd status --json /), exitCode: 0 },
      data: { accounts: [{ mode: 'active' }] },
    })
    expect(orders.structuredContent?.data).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ symbol: 'BTCUSDT', state: 'live' })]),
    )
    expect(JSON.stringify(explained.structuredContent?.data)).toContain('grid-btc')
    expect(checked.structuredContent?.source.exitCode).toBe(0)
    expect(refused.isError).toBe(true)
    await expect(call('kill', { reason: 'I was told to' })).rejects.toThrow(/kill/)
  })
})

test('with control.agents it researches and makes the account safer; the journal says who, and a person ends it', async () => {
  const allowed = ['control.agents={research: true, safer: true}']
  await withAgent(allowed, async (_, call) => {
    const [tested, second] = await Promise.all([call('test'), call('backtest', { days: 1 })])
    const halted = await call('restrict', {
      scope: 'BTCUSDT',
      mode: 'halted',
      reason: 'the news',
    })
    const nowhere = await call('restrict', { scope: 'NONESUCH', mode: 'halted', reason: 'odd' })
    const status = await call('status')

    expect(nowhere).toMatchObject({
      isError: true,
      structuredContent: { source: { exitCode: 64 } },
    })
    expect(halted.isError).toBeUndefined()
    expect(tested.structuredContent).toMatchObject({
      source: { command: 'intentd test', exitCode: 0 },
    })
    expect(second).toMatchObject({ isError: true, content: [{ text: /runs already/ }] })
    expect(halted.structuredContent?.source.exitCode).toBe(0)
    expect(status.structuredContent?.data).toMatchObject({
      accounts: [
        { restrictions: [{ reason: 'the news', by: expect.stringContaining('agent mcp for ') }] },
      ],
    })
  })
  const released = project.start(['release', 'BTCUSDT', '--reason', 'looked at'])
  expect(await released.ended).toMatchObject({ code: 0 })
})

test('where the configuration allows it, an assistant begins a strategy and tries it, and writes nothing else', async () => {
  const allowed = ['control.agents={research: true, strategies: "../drafts"}']
  await withAgent(allowed, async (client, call) => {
    const { tools } = await client.listTools()
    const begun = await call('new_strategy', { name: 'mine', like: 'trend' })
    const again = await call('new_strategy', { name: 'mine' })
    const checked = await call('check', { draft: 'mine' })
    const outside = await call('check', { draft: '../config/paper' })

    expect(tools.map(({ name }) => name)).toContain('new_strategy')
    expect(begun.structuredContent?.source.exitCode).toBe(0)
    expect(readdirSync(join(project.directory, 'drafts')).toSorted()).toEqual([
      'mine.paper.yaml',
      'mine.ts',
      'mine.yaml',
    ])
    expect(again.structuredContent?.source.exitCode).not.toBe(0)
    expect(again.isError).toBe(true)
    expect(again.structuredContent?.notes).toContain('exists already')
    expect(checked.structuredContent?.source.command).toContain('drafts/mine.paper.yaml')
    expect(checked.structuredContent?.source.exitCode).toBe(0)
    expect(outside.isError).toBe(true)
  })
  await withAgent(['control.agents={research: true}'], async (client, call) => {
    const { tools } = await client.listTools()
    const nowhere = await call('check', { draft: 'mine' })

    expect(tools.map(({ name }) => name)).not.toContain('new_strategy')
    expect(nowhere.isError).toBe(true)
    expect(JSON.stringify(nowhere.content)).toContain('control.agents.strategies')
  })
})

test('without a daemon the journal answers', async () => {
  await daemon.stop()

  await withAgent([], async (_, call) => {
    const fills = await call('fills', { limit: 5 })
    const status = await call('status')
    expect(fills.structuredContent?.source.exitCode).toBe(0)
    expect(status.structuredContent?.notes).toMatch(/no daemon runs/)
    expect(status.structuredContent?.data).toMatchObject({ accounts: [{}] })
  })
})
