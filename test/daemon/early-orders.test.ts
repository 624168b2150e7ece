import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { CONTROL_SOCKET } from '../../src/assembly/state/state-place.ts'
import type { ControlAnswer } from '../../src/control/commands.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { CONFIG_FILE, STATE, writeCrashConfig } from '../crash/crash-config.ts'
import { CrashExchange } from '../crash/crash-exchange.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { Projects } from './project.ts'

const projects = new Projects()
const closing: (() => unknown)[] = []
afterAll(async () => {
  await projects.close()
  for (const close of closing) await close()
})

const SIGNAL_AT_LOAD = new URL('./signal-at-load.ts', import.meta.url).href
const OLDER_NODE = new URL('./older-node.ts', import.meta.url).href
const MODE = 'one_way_mode'

test('a SIGHUP while the daemon starts does not end it', async () => {
  const run = projects.open().start(['run', '--set', 'simulator.speed=60'], {}, SIGNAL_AT_LOAD)
  await run.untilEvent('daemon.running')

  expect(await run.stop()).toEqual({ code: 0, signal: null })
})

test('nor does it behind a launcher on an older Node, which passes a later one on', async () => {
  const project = projects.open()
  const run = project.start(['run', '--set', 'simulator.speed=60'], {}, OLDER_NODE)
  await run.untilEvent('daemon.running')
  project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 6')
  run.kill('SIGHUP')
  await run.until('reloaded', () =>
    run.events('reload.begun').some(({ settings }) => String(settings).includes('8 -> 6')),
  )

  expect(await run.stop()).toEqual({ code: 0, signal: null })
  const passed = new Set(run.stdout.filter((line) => / pm2: /.test(line)))
  expect([...passed]).toEqual([
    'to pm2: "question"',
    'from pm2: "answer to question"',
    'to pm2: "ready"',
  ])
})

/** An exchange that takes requests and never answers, so that no run begins. */
async function openSilence(): Promise<Server> {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

test('[RSK2] a kill at the socket before the run has begun writes the kill file, which the next start obeys', async () => {
  const exchange = await CrashExchange.start({
    seed: 7,
    mode: MODE,
    reading: 'replay',
    scenario: SCENARIOS.normal,
  })
  closing.push(() => exchange.stop())
  const { port } = (await openSilence()).address() as AddressInfo
  const project = projects.open()
  const policies = { onRestart: 'adopt', onStop: 'cancel' } as const
  const { size } = SCENARIOS.normal
  writeCrashConfig(project, { mode: MODE, url: `http://127.0.0.1:${port}`, size, policies })
  const state = join(project.directory, STATE)
  const early = project.start(['run', '-c', CONFIG_FILE], exchange.credentials)
  await early.untilEvent('control.listening')
  const client = new ControlClient(join(state, CONTROL_SOCKET))
  const reply = await client.command({
    requestId: 'request-1',
    reason: 'a drill',
    by: 'anna',
    order: { kind: 'kill' },
  })
  await client.close()
  const answer = reply.kind === 'answered' ? (reply.body as ControlAnswer) : undefined
  expect(answer).toMatchObject({ isObeyed: true })
  expect(answer?.text).toMatch(
    /^killed here, also after a restart: .*KILL is there; the run has not begun: .* before its first order$/,
  )
  expect(JSON.parse(readFileSync(join(state, 'KILL'), 'utf8'))).toMatchObject({
    reason: 'a drill',
    by: expect.stringMatching(/^socket:.* says "anna"$/),
  })
  await early.stop('SIGKILL')

  project.edit(CONFIG_FILE, `http://127.0.0.1:${port}`, exchange.url)
  const next = project.start(['run', '-c', CONFIG_FILE], exchange.credentials)
  await next.untilEvent('kill.clean')
  await vi.waitFor(() => expect(existsSync(join(state, 'KILL.state'))).toBe(true), 60_000)
  expect(next.events('trading.killed')).toMatchObject([{ reason: 'a drill' }])
  expect(next.events('order.sent')).toEqual([])
  expect(await next.stop()).toMatchObject({ code: 0 })
})
