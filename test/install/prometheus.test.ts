import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { prometheusMissing } from '../support/prometheus-server.ts'
import { CASES, ORDERLY, type RuleCase } from './alert-rules.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const folder = mkdtempSync(join(tmpdir(), 'intentd-prometheus-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const rules = parse(readFileSync(join(DEPLOY, 'prometheus-alerts.yml'), 'utf8')) as {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly labels: Readonly<Record<string, string>>
      readonly annotations: Readonly<Record<string, string>>
    }[]
  }[]
}
const alertRules = rules.groups.flatMap((group) => group.rules)

const read = (path: string): string => readFileSync(path, 'utf8')

test('the scrape configuration fits the delivered unit and the configuration that it runs', () => {
  const unit = read('deploy/intentd.service')
  const [, directory = ''] = /^WorkingDirectory=(.+)$/m.exec(unit) ?? []
  expect(unit).toContain('--config config/live.yaml')
  const live = parse(read('config/live.example.yaml')) as {
    readonly state: { readonly directory: string }
    readonly control: { readonly port: number }
  }
  const token = join(directory, 'config', live.state.directory, 'control.read.token')
  const text = read('deploy/prometheus.yml')
  const { scrape_configs: jobs } = parse(text) as {
    readonly scrape_configs: readonly {
      readonly authorization: { readonly credentials_file: string }
      readonly static_configs: readonly { readonly targets: readonly string[] }[]
    }[]
  }

  expect(jobs.map(({ static_configs: [one] }) => one?.targets)).toEqual([
    [`127.0.0.1:${live.control.port}`],
  ])
  const copy = `install -m 0400 -o prometheus`
  const command = `${token} ${jobs[0]?.authorization.credentials_file ?? ''}`
  for (const page of [text, read('docs/monitoring.md')]) {
    expect(page).toContain(copy)
    expect(page).toContain(command)
  }
})

/** What a program says of a file, and whether it is content. */
function check(...command: readonly string[]): {
  readonly status: number | null
  readonly said: string
} {
  const [program = '', ...args] = command
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

function writeTests(cases: readonly RuleCase[]): string {
  const file = join(folder, 'rules.yml')
  const tests = cases.map(({ fires, series }, index) => ({
    name: `${index}: ${fires.join(', ') || 'nothing fires'}`,
    interval: '1m',
    input_series: Object.entries({ ...ORDERLY, ...series }).flatMap(([name, values]) =>
      values === undefined ? [] : [{ series: name, values }],
    ),
    promql_expr_test: [
      {
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '40m',
        exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  }))
  const ruleFile = join(DEPLOY, 'prometheus-alerts.yml')
  writeFileSync(file, stringify({ rule_files: [ruleFile], evaluation_interval: '1m', tests }))
  return file
}

test('every alert rule has a severity, says what happened and what to do, has cases, and is in the page', () => {
  const page = readFileSync('docs/monitoring.md', 'utf8')
  const fired = new Set(CASES.flatMap(({ fires }) => fires))
  for (const { alert, labels, annotations } of alertRules) {
    expect(labels['severity']).toMatch(/^(?:critical|warning)$/)
    expect(Object.keys(annotations)).toEqual(['summary', 'description'])
    expect([alert, fired.has(alert), page.includes(`\`${alert}\``)]).toEqual([alert, true, true])
  }
})

describe.skipIf(prometheusMissing !== undefined)(
  `the files for Prometheus and Alertmanager (${prometheusMissing ?? 'checked'})`,
  () => {
    test('are content with themselves', () => {
      expect(
        check('promtool', 'check', 'rules', join(DEPLOY, 'prometheus-alerts.yml')),
      ).toMatchObject({
        status: 0,
        said: expect.stringContaining(`${alertRules.length} rules found`),
      })
      expect(check('amtool', 'check-config', join(DEPLOY, 'alertmanager.yml'))).toMatchObject({
        status: 0,
      })
    })

    test('fire what they should, and nothing else', () => {
      const { status, said } = check('promtool', 'test', 'rules', writeTests(CASES))

      expect(said).toContain('SUCCESS')
      expect(status).toBe(0)
    })

    test('an expectation that is wrong is found', () => {
      const wrong: RuleCase = { fires: ['IntentdHalted'], series: {} }

      expect(check('promtool', 'test', 'rules', writeTests([wrong]))).toMatchObject({ status: 1 })
    })
  },
)
