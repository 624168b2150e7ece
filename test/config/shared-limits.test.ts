import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadLimitsPassword } from '../../src/config/secrets.ts'
import { warnOfClearText } from '../../src/config/clear-text.ts'
import { MAIN, SIMULATOR_SECTION, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const fill = (exchange: string) =>
  workspace.fill({ 'config/main.yaml': `${MAIN}exchange: ${exchange}\n` })

it('[CFG1] refuses shared limits on the simulator inside, without a number of members, with a password', () => {
  fill('{ shared: { redis: "rediss://h:6379", members: 2 } }')
  expect(workspace.complain().join('\n')).toMatch(/exchange\.shared: .*set exchange\.baseUrl/)

  fill('{ baseUrl: "http://127.0.0.1:1", shared: { redis: "rediss://h:6379" } }')
  expect(workspace.complain().join('\n')).toMatch(/members/)

  fill('{ baseUrl: "http://127.0.0.1:1", shared: { redis: "rediss://:word@h:6379", members: 2 } }')
  expect(workspace.complain().join('\n')).toMatch(
    /exchange\.shared\.redis: .*INTENTD_LIMITS_PASSWORD/,
  )
})

it('[SEC1] has the password from the environment, and only where limits are shared', () => {
  const exchange =
    '{ baseUrl: "http://127.0.0.1:1", shared: { redis: "rediss://h:6379", members: 2 } }'
  const main = `${MAIN.replace(SIMULATOR_SECTION, '')}exchange: ${exchange}\n`
  workspace.fill({ 'config/main.yaml': main })
  const config = workspace.read().loaded?.config
  const request = { cwd: workspace.directory, variables: { INTENTD_LIMITS_PASSWORD: 'word' } }

  expect(config && loadLimitsPassword(config, request)?.reveal()).toBe('word')
  expect(loadLimitsPassword({ exchange: {} } as never, request)).toBeUndefined()
})

it.each(['require', 'no-verify', 'prefer'])(
  'a mode of TLS that does not say what is checked is refused: %s',
  (mode) => {
    const journal = `{ url: "postgresql://u@h/d?sslmode=${mode}" }`
    workspace.fill({ 'config/main.yaml': `${MAIN}journal: ${journal}\n` })

    expect(workspace.complain().join('\n')).toMatch(
      /journal.*: sslmode=.*write sslmode=verify-full/,
    )
  },
)

it.each([
  ['name: fleet', '{ url: "postgresql://u@127.0.0.1/d" }', 'intentd_fleet'],
  ['name: sweeps', '{ url: "postgresql://u@127.0.0.1/d" }', 'intentd_sweeps'],
  ['name: mine', '{ url: "postgresql://u@127.0.0.1/d", schema: public }', 'public'],
  ['name: mine', '{ url: "postgresql://u@127.0.0.1/d", schema: pg_mine }', 'pg_mine'],
])("the schema of a journal is nobody else's: %s, %s", (name, journal, schema) => {
  workspace.fill({ 'config/main.yaml': `${MAIN.replace(/name: .*/, name)}journal: ${journal}\n` })

  expect(workspace.complain().join('\n')).toMatch(
    new RegExp(`journal.*: the schema ${schema} is not for a journal`),
  )
})

it('a user in the address needs a password: without one the client would log in as nobody', () => {
  const config = (redis: string) => ({ exchange: { shared: { redis } } }) as never
  const without = { cwd: workspace.directory, variables: {} }
  const request = { cwd: workspace.directory, variables: { INTENTD_LIMITS_PASSWORD: 'word' } }

  expect(() => loadLimitsPassword(config('rediss://limits@h:6379'), without)).toThrow(
    /INTENTD_LIMITS_PASSWORD.*names the user limits/,
  )
  expect(loadLimitsPassword(config('rediss://limits@h:6379'), request)?.reveal()).toBe('word')
  expect(loadLimitsPassword(config('rediss://h:6379'), without)).toBeUndefined()
})

const shared = (redis: string, more = '') =>
  `{ baseUrl: "http://127.0.0.1:1", shared: { redis: "${redis}", members: 2${more} } }`
const complaintsOf = (settings: string): string => {
  workspace.fill({ 'config/main.yaml': `${MAIN.replace(SIMULATOR_SECTION, '')}${settings}\n` })
  return workspace.complain().join('\n')
}

it.each([
  'journal: { url: "postgresql://u@db.example/d" }',
  'journal: { url: "postgresql://u@db.example/d?sslmode=disable" }',
  'journal: { url: "postgresql://u@10.0.0.5/d" }',
  // What the driver asks, whatever stands before it.
  'journal: { url: "postgresql://u@127.0.0.1/d?host=db.example" }',
  `exchange: ${shared('redis://cache.example:6379')}`,
  `exchange: ${shared('redis://10.0.0.6:6379')}`,
])('[SEC1] a server on another machine is not asked in clear: %s', (settings) => {
  const one = settings.startsWith('journal')
    ? `exchange: { baseUrl: "http://127.0.0.1:1" }\n${settings}`
    : settings

  expect(complaintsOf(one)).toMatch(
    /^config\/main\.yaml:\d+:\d+ (journal\.url|exchange\.shared\.redis): this is another machine, and nothing is encrypted: .*withoutTls: true/,
  )
})

it.each([
  ['postgresql://u@db.example/d?sslmode=verify-full&sslmode=disable', 'stands there twice'],
  ['postgresql://u@db.example/d?sslmode=verify-full&ssl=0', 'in place of ssl'],
  ['postgresql://u@db.example/d?sslmode=verify-full&uselibpqcompat=true', 'in place of ssl'],
  ['postgresql:///d', 'name the server'],
])(
  'an address that does not say which server, or how it is checked, is refused: %s',
  (url, why) => {
    expect(
      complaintsOf(`exchange: { baseUrl: "http://127.0.0.1:1" }\njournal: { url: "${url}" }`),
    ).toContain(why)
  },
)

it('what is set in the address of Redis would be set in its client', () => {
  const found = complaintsOf(`exchange: ${shared('rediss://cache.example:6379?tls=false')}`)

  expect(found).toContain('nothing belongs behind the server')
})

it.each([
  'postgresql://u@db.example/d?sslmode=verify-full',
  'postgresql://u@127.0.0.1/d',
  'postgresql://u@localhost:5433/d',
  'postgresql://u@[::1]/d',
  'postgresql://u@h/d?host=/var/run/postgresql',
  'postgresql://u@%2Fvar%2Frun%2Fpostgresql/d',
])('this machine, a socket, and a server that is checked pass without a word: %s', (url) => {
  const settings = `exchange: ${shared('rediss://cache.example:6379')}\njournal: { url: "${url}" }\n`
  workspace.fill({ 'config/main.yaml': `${MAIN.replace(SIMULATOR_SECTION, '')}${settings}` })
  const { loaded } = workspace.read()

  expect(loaded && warnOfClearText(loaded)).toEqual([])
})

it('withoutTls allows it, and each is warned of at its place', () => {
  const settings = `exchange: ${shared('redis://cache.example:6379', ', withoutTls: true')}\njournal: { url: "postgresql://u@db.example/d", withoutTls: true }\n`
  workspace.fill({ 'config/main.yaml': `${MAIN.replace(SIMULATOR_SECTION, '')}${settings}` })
  const { loaded } = workspace.read()

  expect(loaded && warnOfClearText(loaded).map(({ path }) => path)).toEqual([
    'journal.url',
    'exchange.shared.redis',
  ])
})
