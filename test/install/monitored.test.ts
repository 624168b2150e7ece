// Real daemons, watched by the real Prometheus with the delivered files; the real Alertmanager hands on what fires.
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { findExchange, startDaemon, startExchange } from '../daemon/remote-exchange.ts'
import { findPort } from '../support/free-port.ts'
import {
  MonitoringServer,
  prometheusMissing,
  type QueriedRule,
} from '../support/prometheus-server.ts'
import { jsonAnswer, rawAnswer, WireServer } from '../support/wire-server.ts'
import { writeStrategy } from '../support/made-limits.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const folder = mkdtempSync(join(tmpdir(), 'intentd-monitored-'))
const projects = new Projects()
const server = new WireServer()
let baseUrl: string

beforeAll(async () => {
  baseUrl = await server.start()
  // The target of intentd's own alerts is broken, Alertmanager's is not.
  server.script = ({ target }, socket) =>
    void socket.write(
      target.startsWith('/ops') ? rawAnswer({ status: 500, body: 'broken' }) : jsonAnswer({}),
    )
})
afterAll(async () => {
  await MonitoringServer.stopAll()
  await projects.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Says which position it wants: always the same, or the other side again and again, which costs fees. */
const HOLDER = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'holder',
  params: z.strictObject({ flips: z.boolean() }),
  initialState: () => ({}),
  decide({ instruments, exchangeTime }, { params }) {
    const side = params.flips && Math.floor(exchangeTime / 4000) % 2 === 1 ? -1 : 1
    return { intents: instruments.map((market) => market.target(side * market.lots('0.02'))), state: {} }
  },
})
`
/** Fewer readings than usual: the machine has four more servers to run. */
const CALM = ['tickersMs=500', 'positionsMs=2000', 'fillsMs=1000'].flatMap((one) => [
  '--set',
  `polling.${one}`,
])
/** Each step takes a second or two, and may take a minute on a machine with other work. */
const TEST_MS_MAX = 1_800_000
const LIST = /^strategies:\n(?: {2}- .*\n)+/m

function openProject(strategies: readonly string[], flips: boolean): Project {
  const project = projects.open()
  project.write('strategies/holder.ts', HOLDER)
  project.write(
    'config/strategies/holder.yaml',
    writeStrategy({
      id: 'holder',
      module: '../../strategies/holder.ts',
      instruments: ['BTCUSDT'],
      isolation: 'inline',
      params: { flips },
      risk: { positionMax: '0.1', positionNotionalMax: '9000', orderSizeMax: '0.1' },
    }),
  )
  listStrategies(project, 'config/paper.yaml', strategies)
  const alerts =
    '\nalerts:\n  targets:\n    - { name: ops, kind: json, variable: INTENTD_ALERT_OPS }\n'
  project.write('config/paper.yaml', project.read('config/paper.yaml') + alerts)
  return project
}

function listStrategies(project: Project, file: string, strategies: readonly string[]): void {
  const lines = strategies.map((name) => `  - strategies/${name}.yaml\n`).join('')
  project.write(file, project.read(file).replace(LIST, `strategies:\n${lines}`))
}

/** A delivered file with what a user would change in it. @throws when that is not there */
function rewrite(
  name: string,
  changes: readonly (readonly [from: string | RegExp, to: string])[],
): string {
  let text = readFileSync(join(DEPLOY, name), 'utf8')
  for (const [from, to] of changes) {
    const changed = text.replaceAll(from, to)
    if (changed === text) throw new Error(`not in ${name}: ${String(from)}`)
    text = changed
  }
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** As a user copies it for Prometheus. */
function copyToken(daemon: IntentdProcess): string {
  const file = join(folder, 'intentd.token')
  copyFileSync(String(daemon.events('control.listening')[0]?.['readToken']), file)
  chmodSync(file, 0o400)
  return file
}

function instanceOf(daemon: IntentdProcess): string {
  return new URL(String(daemon.events('control.listening')[0]?.['url'])).host
}

async function watch(daemons: readonly IntentdProcess[], token: string): Promise<MonitoringServer> {
  const alertmanagerPort = await findPort()
  const sooner = [
    [/group_wait: \w+/g, 'group_wait: 1s'],
    [/group_interval: \w+/g, 'group_interval: 1s'],
  ] as const
  const address = [/http:\/\/127\.0\.0\.1:9095\//g, `${baseUrl}/operator`] as const
  await MonitoringServer.startAlertmanager(
    rewrite('alertmanager.yml', [...sooner, address]),
    alertmanagerPort,
  )
  rewrite('prometheus-alerts.yml', [[/for: \w+/g, 'for: 2s']])
  return MonitoringServer.startPrometheus(
    rewrite('prometheus.yml', [
      [/_interval: 15s/g, '_interval: 1s'],
      ['credentials_file: /etc/prometheus/intentd.token', `credentials_file: ${token}`],
      ['"127.0.0.1:8791"', daemons.map((daemon) => `"${instanceOf(daemon)}"`).join(', ')],
      ['"127.0.0.1:9093"', `"127.0.0.1:${alertmanagerPort}"`],
    ]),
  )
}

type FiringAlert = QueriedRule['alerts'][number]

/** Waits until it fires for this daemon, and reaches the operator. */
async function untilFires(
  prometheus: MonitoringServer,
  name: string,
  instance: string,
): Promise<FiringAlert> {
  const found: FiringAlert[] = []
  await prometheus.poll(`${name} fires`, async () => {
    const rule = (await prometheus.rules()).find((one) => one.name === name)
    const alerts = rule?.alerts ?? []
    found.push(
      ...alerts.filter(
        ({ labels, state }) => state === 'firing' && labels['instance'] === instance,
      ),
    )
    return found.length > 0
  })
  await prometheus.poll(`${name} reaches the operator`, () =>
    Promise.resolve(received().some((labels) => labels['alertname'] === name)),
  )
  const [alert] = found
  if (alert === undefined) throw new Error('unreachable: it was found')
  expect(Object.values(alert.annotations).join('\n')).not.toMatch(/<error|<no value>|%!|\{\{/)
  return alert
}

/** What Alertmanager has handed on. */
function received(): readonly Readonly<Record<string, string>>[] {
  return server.requests
    .filter(({ target }) => target.startsWith('/operator'))
    .flatMap(
      ({ body }) => (JSON.parse(body) as { alerts: { labels: Record<string, string> }[] }).alerts,
    )
    .map(({ labels }) => labels)
}

interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[]
  }
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}

const dashboard = JSON.parse(
  readFileSync(join(DEPLOY, 'grafana-dashboard.json'), 'utf8'),
) as Dashboard

/** Each expression asks for the instance that is chosen, wherever it names a series. */
test('every expression of the dashboard obeys the selector of instances', () => {
  const expressions = dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr),
  )
  expect(expressions.length).toBeGreaterThan(40)
  for (const expr of expressions) {
    const series = [...expr.matchAll(/\b(?:intentd|process)_[a-z_]+(.{20})/g)]
    expect([expr, series.length > 0]).toEqual([expr, true])
    for (const [, next] of series)
      expect([expr, next]).toEqual([expr, '{instance=~"$instance'.slice(0, 20)])
  }
})

async function untilDashboardShows(prometheus: MonitoringServer, instance: string): Promise<void> {
  const variable = dashboard.templating.list.find(({ name }) => name === 'instance')
  expect(variable?.definition).toBe('label_values(intentd_build_info, instance)')
  const instances = (await prometheus.query('intentd_build_info')).map(
    ({ metric }) => metric['instance'],
  )
  expect(instances).toContain(instance)
  for (const { title, targets = [] } of dashboard.panels)
    for (const { expr } of targets) {
      const asked = expr.replaceAll('$instance', instance).replaceAll('$__rate_interval', '30s')
      await prometheus.poll(`${title} shows something: ${asked}`, async () => {
        const series = await prometheus.query(asked)
        return series.length > 0 && series.every(({ metric }) => metric['instance'] === instance)
      })
    }
}

/** What a machine that is busy with tests may bring about by itself. */
const OF_PACE =
  /^Intentd(?:LoopHeldUp|JournalLate|NotReady|StalePrices|Readings|ReadFailing|ExchangeSilent|Requests|RateLimited|Clock|FiguresDisputed|UnknownOrder|LossUnknown)/

describe.skipIf(prometheusMissing !== undefined)(
  `a daemon that Prometheus watches (${prometheusMissing ?? 'checked'})`,
  () => {
    test(
      'is silent in an orderly run, and a pause, a limit on losses, failing alerts and reads, and its end are told',
      async () => {
        const holding = openProject(['grid-btc', 'holder'], false)
        const variables = { INTENTD_ALERT_OPS: `${baseUrl}/orderly` }
        // A reload takes another free port where the configuration names none.
        const one = holding.run([...CALM, '--set', `control.port=${await findPort()}`], variables)
        await one.untilEvent('order.fill')
        const readToken = String(one.events('control.listening')[0]?.['readToken'])

        const losing = openProject(['holder'], true)
        losing.edit(
          'config/paper.yaml',
          'daily: "2000"',
          'daily: "1"\n    drawdown: { warn: 0.05, reducing: 0.1, flatten: 0.2 }',
        )
        losing.edit('config/paper.yaml', 'marginCoin: USDT', 'marginCoin: USDT\n  capital: "10000"')
        const place = await findExchange(losing)
        const exchange = startExchange(losing, place, [
          '--speed',
          '60',
          '--set',
          'fillVisibilityLagMs=500',
        ])
        const two = startDaemon(
          losing,
          { ...place, env: { ...place.env, INTENTD_ALERT_OPS: `${baseUrl}/ops` } },
          [...CALM, '--set', `control.readTokenFile=${readToken}`],
        )
        await two.untilEvent('order.fill')

        const prometheus = await watch([one, two], copyToken(one))
        const [first, second] = [instanceOf(one), instanceOf(two)]
        await prometheus.poll(
          'both are read',
          async () => (await prometheus.query('up == 1')).length === 2,
        )
        await untilDashboardShows(prometheus, first)
        await untilDashboardShows(prometheus, second)
        const rules = await prometheus.rules()
        expect(rules.length).toBeGreaterThan(30)
        expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
        const early = await prometheus.query(`ALERTS{instance="${first}",alertstate="firing"}`)
        const names = early.map(({ metric }) => metric['alertname'] ?? '')
        expect(names.filter((name) => !OF_PACE.test(name))).toEqual([])

        // A limit on losses, which holds the account reducing; and what tells of it is broken.
        const reached = await untilFires(prometheus, 'IntentdLossLimitReached', second)
        expect(reached.labels).toMatchObject({ code: 'dailyLoss', severity: 'critical' })
        await untilFires(prometheus, 'IntentdReducing', second)
        const failing = await untilFires(prometheus, 'IntentdAlertsFailing', second)
        expect(failing.labels).toMatchObject({ target: 'ops' })

        // A paused strategy, and then one whose position nobody trades any more.
        const pause = holding.start(['pause', 'holder', '--reason', 'drill'])
        expect((await pause.ended).code).toBe(0)
        const paused = await untilFires(prometheus, 'IntentdStrategyPaused', first)
        expect(paused.labels).toMatchObject({ strategy: 'holder', mode: 'halted' })
        expect(paused.annotations['description']).toContain('`intentd resume holder --reason TEXT`')
        listStrategies(holding, 'config/paper.yaml', ['grid-btc'])
        one.kill('SIGHUP')
        const unattended = await untilFires(prometheus, 'IntentdPositionUnattended', first)
        expect(unattended.labels).toMatchObject({ instrument: 'BTCUSDT' })

        // The exchange is gone, and then the daemon.
        await exchange.stop('SIGKILL')
        for (const name of ['IntentdReadFailing', 'IntentdReadingsStale', 'IntentdStalePrices'])
          await untilFires(prometheus, name, second)
        await untilFires(prometheus, 'IntentdExchangeSilent', second)
        await two.stop('SIGKILL')
        await untilFires(prometheus, 'IntentdDown', second)
        await one.stop()
      },
      TEST_MS_MAX,
    )
  },
)
