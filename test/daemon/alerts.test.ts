import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonAnswer, rawAnswer, WireServer } from '../support/wire-server.ts'
import { Projects } from './project.ts'

const CANARY = 'canary-83b0c6d1'

const projects = new Projects()
const server = new WireServer()
let baseUrl: string
beforeAll(async () => {
  baseUrl = await server.start()
})
afterAll(async () => {
  await projects.close()
  await server.stop()
})

const SECTION = `
alerts:
  targets:
    - { name: ops, kind: json, variable: INTENTD_ALERT_OPS }
    - { name: phone, kind: slack, variable: INTENTD_ALERT_PHONE }
    - { name: trades, kind: json, variable: INTENTD_ALERT_TRADES, least: urgent, trades: fills }
  heartbeat: { variable: INTENTD_ALERT_MONITOR, everyMs: 1000 }
`

function openProject() {
  const project = projects.open()
  project.write('config/paper.yaml', project.read('config/paper.yaml') + SECTION)
  const variables = {
    INTENTD_ALERT_OPS: `${baseUrl}/ops/${CANARY}`,
    INTENTD_ALERT_PHONE: `${baseUrl}/phone/${CANARY}`,
    INTENTD_ALERT_TRADES: `${baseUrl}/trades/${CANARY}`,
    INTENTD_ALERT_MONITOR: `${baseUrl}/ping/${CANARY}`,
  }
  return { project, variables }
}

interface Received {
  readonly event?: string
  readonly title?: string
  readonly lines?: readonly string[]
}

/** What a target was sent, by its path. */
function received(path: string): readonly Received[] {
  return server.requests
    .filter(({ target }) => target.startsWith(`/${path}/`))
    .map(({ body }) => JSON.parse(body === '' ? '{}' : body) as Received)
}

async function untilReceived(event: string): Promise<void> {
  await expect
    .poll(() => received('ops').map((one) => one.event), { timeout: 240_000 })
    .toContain(event)
}

test('[SEC1] a run says that it started, what was halted and that it stopped; its monitor is called; no address is logged', async () => {
  let isRefusing = false
  server.script = ({ target }, socket) => {
    // One target refuses everything in the end, and repeats what it was called by.
    const answer =
      isRefusing && target.startsWith('/phone')
        ? rawAnswer({ status: 403, body: target })
        : jsonAnswer({})
    socket.write(answer)
  }
  const { project, variables } = openProject()
  const levels = ['--set', 'log.level=error', '--set', 'log.heartbeatMs=1000']
  const run = project.run(levels, variables)

  await untilReceived('daemon.running')
  await expect.poll(() => received('ping').length, { timeout: 240_000 }).toBeGreaterThan(1)
  // A busy machine may have prices that are too old for a while.
  const trades = ({ state }: Readonly<Record<string, unknown>>) =>
    state === 'trading' || state === 'nothing to trade'
  await run.until('a heartbeat of one that trades', () =>
    run.events('daemon.heartbeat').some(trades),
  )
  isRefusing = true
  const restrict = project.start(['restrict', 'BTCUSDT', 'halted', '--reason', 'odd prices'])
  expect(await restrict.ended).toMatchObject({ code: 0 })
  await untilReceived('trading.halted')
  expect(await run.stop()).toMatchObject({ code: 0 })

  expect(received('ops').map(({ event }) => event)).toContain('daemon.stopped')
  expect(received('ops').find(({ event }) => event === 'trading.halted')).toMatchObject({
    title: 'paper (simulator): trading is halted for BTCUSDT (operator)',
    command: expect.stringMatching(
      /^intentd release BTCUSDT --reason "\.\.\." -c \/.*paper\.yaml --set /,
    ),
  })
  expect(run.events('daemon.heartbeat').find(trades)).toMatchObject({
    level: 'info',
    phase: 'running',
  })
  expect([...run.stdout, ...run.stderr].join('\n')).not.toContain(CANARY)
})

test('a target gets fills and closed trades, also of those of the last flatten', async () => {
  server.script = (_request, socket) => void socket.write(jsonAnswer({}))
  const { project, variables } = openProject()
  const earlier = received('trades').length
  const receivedNow = () => received('trades').slice(earlier)
  const run = project.run(['--set', 'onStop=flatten'], variables)
  await run.untilEvent('order.fill', 3)
  await expect
    .poll(() => receivedNow().map(({ title }) => title), { timeout: 240_000 })
    .toContainEqual(expect.stringMatching(/ fills?$/))
  expect(await run.stop()).toMatchObject({ code: 0 })

  const closed = run.events('trade.closed')
  expect(closed.length).toBeGreaterThan(0)
  const messages = receivedNow().filter(({ event }) => event === 'alert.trades')
  const shown = messages.flatMap(({ lines = [] }) =>
    lines.filter((line) => / to .*: [+-]/.test(line)),
  )
  expect(shown).toHaveLength(closed.length)
  expect(messages.at(-1)?.lines?.at(-1)).toMatch(/^equity: [\d,.]+ USDT$/)
  const listed = project.start(['trades', '--json', '--limit', '500'])
  await listed.ended
  const trades = JSON.parse(listed.stdout.join('\n')) as { net: string }[]
  expect(closed.map(({ net }) => net)).toEqual(trades.map(({ net }) => net))
})

test('`alert --test` says what each target answered, without its address', async () => {
  server.script = ({ target }, socket) => {
    if (target.startsWith('/phone')) socket.write(rawAnswer({ status: 404, body: `no ${target}` }))
    else socket.write(rawAnswer({ body: 'ok' }))
  }
  const { project, variables } = openProject()

  const tried = project.start(['alert', '--test'], variables)
  const end = await tried.ended

  expect(end.code).toBe(75)
  expect(tried.stdout).toEqual([
    'ops (json): delivered, answers 200: ok',
    'phone (slack): NOT delivered, answers 404: no [hidden]',
    'trades (json): delivered, answers 200: ok',
  ])
  expect(tried.stderr).toEqual([])
})

test('without an address `check` and `run` name the variable, and nothing starts', async () => {
  const { project } = openProject()

  for (const verb of ['check', 'run', 'alert --test']) {
    const tried = project.start(verb.split(' '))
    expect(await tried.ended).toMatchObject({ code: 78 })
    expect(tried.stderr.join('\n')).toContain('INTENTD_ALERT_PHONE: missing')
  }
})
