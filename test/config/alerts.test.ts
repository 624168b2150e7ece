import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadAlertSecrets } from '../../src/config/alert-secrets.ts'
import { alertsSchema } from '../../src/config/schema/alerts-schema.ts'
import { ConfigError, formatProblems } from '../../src/config/yaml/problem.ts'
import { MAIN, Workspace } from './workspace.ts'

const CANARY = 'canary-9d21e07b'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

/** The problems of the whole configuration with this section at its end. */
function complaints(section: string): readonly string[] {
  workspace.fill({ 'config/main.yaml': `${MAIN}alerts:\n${section}` })
  return workspace.complain()
}

function secretsOf(targets: readonly object[], variables: Readonly<Record<string, string>>) {
  return loadAlertSecrets(alertsSchema.parse({ targets }), { cwd: workspace.directory, variables })
}

function refusedBecause(variables: Readonly<Record<string, string>>): string {
  const target = { name: 'ops', kind: 'slack', variable: 'INTENTD_ALERT_OPS' }
  try {
    secretsOf([target], variables)
    return 'not refused'
  } catch (error) {
    return error instanceof ConfigError ? formatProblems(error.problems, '') : String(error)
  }
}

test('a whole section is read, with its defaults', () => {
  const section = [
    '  targets:',
    '    - { name: ops, kind: slack, variable: INTENTD_ALERT_OPS }',
    '    - { name: phone, kind: telegram, variable: INTENTD_ALERT_BOT, chat: -1001234, least: urgent }',
    '  heartbeat: { variable: INTENTD_ALERT_MONITOR }',
    '  digestAt: 08:00',
    '  quiet: { from: "22:00", to: "07:00" }',
    '  timezone: Europe/Berlin',
    '',
  ].join('\n')

  expect(complaints(section)).toEqual([])
})

test('[CFG1] what cannot be meant together is reported, each in its place', () => {
  const section = [
    '  targets:',
    '    - { name: ops, kind: slack, variable: INTENTD_ALERT_OPS, chat: "@a" }',
    '    - { name: ops, kind: telegram, variable: INTENTD_ALERT_BOT }',
    '  quiet: { from: "22:00", to: "22:00" }',
    '  timezone: Mars/Olympus',
    '',
  ].join('\n')

  expect(complaints(section).map((one) => one.replace(/^\S+ /, ''))).toEqual([
    'alerts.targets.0.chat: slack has no use for it: remove it',
    'alerts.targets.1.name: another target is called ops',
    'alerts.targets.1.kind: telegram needs the id of a chat: set chat',
    'alerts.quiet.to: quiet hours end when they begin: remove them',
    'alerts.timezone: expected a time zone such as UTC or Europe/Berlin',
  ])
})

test('a section that would send nothing anywhere is refused', () => {
  expect(complaints('  digestAt: "08:00"\n')).toEqual([
    expect.stringContaining('list targets or a heartbeat'),
  ])
})

test('[SEC1] an address that was pasted in the place of its variable is not repeated', () => {
  const found = complaints(
    `  targets:\n    - { name: ops, kind: slack, variable: "https://hooks.example/${CANARY}" }\n` +
      `    - { name: b, kind: slack, webhookUrl: "https://hooks.example/${CANARY}" }\n` +
      `  heartbeat: { variable: ${CANARY} }\n`,
  )

  expect(found.join('\n')).toContain('got a value that is not shown')
  expect(found.join('\n')).toContain('secrets do not belong in YAML')
  expect(found.join('\n')).not.toContain(CANARY)
})

test('no variable but one of the alerts can be named: the keys of the exchange go nowhere', () => {
  const found = complaints(
    '  targets:\n    - { name: ops, kind: json, variable: INTENTD_API_SECRET }\n',
  )

  expect(found).toEqual([
    expect.stringContaining('the name of a variable such as "INTENTD_ALERT_PHONE"'),
  ])
})

test('addresses and tokens come from the environment, from files that it names, and from .env', () => {
  workspace.write('bot-token', '123:abc\n')
  workspace.write('.env', 'INTENTD_ALERT_OPS=https://hooks.example/services/one\n')
  const ops = { name: 'ops', kind: 'slack', variable: 'INTENTD_ALERT_OPS' }
  const phone = { name: 'phone', kind: 'telegram', variable: 'INTENTD_ALERT_BOT', chat: '7' }

  const { targets } = secretsOf([ops, phone], { INTENTD_ALERT_BOT_FILE: 'bot-token' })

  expect(targets.map(({ url }) => url.reveal())).toEqual([
    'https://hooks.example/services/one',
    'https://api.telegram.org/bot123:abc/sendMessage',
  ])
  expect(JSON.stringify(targets)).not.toContain('hooks.example')
})

test('powers of single people are read by their ids; an id of nobody is reported at its line', () => {
  const complain = (powers: string): readonly string[] => {
    const chat = `chat: { variable: INTENTD_CHAT_TOKEN, people: [42], powers: ${powers} }\n`
    workspace.fill({ 'config/main.yaml': `${MAIN}${chat}` })
    return workspace.complain()
  }

  expect(complain('{ 42: { safer: false } }')).toEqual([])
  const [problem, ...others] = complain('{ 43: { safer: false } }')
  expect(problem).toMatch(/^config\/main\.yaml:\d+:\d+ .*chat\.powers\.43.*not among people/)
  expect(others).toEqual([])
})

test('[SEC1] an address that must not be called is refused without being repeated', () => {
  const unsafe = [`http://hooks.example/${CANARY}`, `ftp://hooks.example/${CANARY}`, `${CANARY}`]

  const found = unsafe.map((address) => refusedBecause({ INTENTD_ALERT_OPS: address }))

  for (const text of found) expect(text).toContain('INTENTD_ALERT_OPS: expected an https address')
  expect(found.join('\n')).not.toContain(CANARY)
  expect(refusedBecause({ INTENTD_ALERT_OPS: 'http://127.0.0.1:9/hook' })).toBe('not refused')
  expect(refusedBecause({})).toContain('INTENTD_ALERT_OPS: missing')
})
