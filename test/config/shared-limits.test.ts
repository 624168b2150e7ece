import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadLimitsPassword } from '../../src/config/secrets.ts'
import { MAIN, SIMULATOR_SECTION, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const fill = (exchange: string) => workspace.fill({ 'config/main.yaml': `${MAIN}exchange: ${exchange}\n` })

it('[CFG1] refuses shared limits on the simulator inside, without a number of members, with a password', () => {
  fill('{ shared: { redis: "redis://h:6379", members: 2 } }')
  expect(workspace.complain().join('\n')).toMatch(/exchange\.shared: .*set exchange\.baseUrl/)

  fill('{ baseUrl: "http://127.0.0.1:1", shared: { redis: "redis://h:6379" } }')
  expect(workspace.complain().join('\n')).toMatch(/members/)

  fill('{ baseUrl: "http://127.0.0.1:1", shared: { redis: "redis://:word@h:6379", members: 2 } }')
  expect(workspace.complain().join('\n')).toMatch(/exchange\.shared\.redis: .*INTENTD_LIMITS_PASSWORD/)
})

it('[SEC1] has the password from the environment, and only where limits are shared', () => {
  const exchange = '{ baseUrl: "http://127.0.0.1:1", shared: { redis: "redis://h:6379", members: 2 } }'
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

    expect(workspace.complain().join('\n')).toMatch(/journal.*: sslmode=.*write sslmode=verify-full/)
  },
)

it.each([
  ['name: fleet', '{ url: "postgresql://u@h/d" }', 'intentd_fleet'],
  ['name: sweeps', '{ url: "postgresql://u@h/d" }', 'intentd_sweeps'],
  ['name: mine', '{ url: "postgresql://u@h/d", schema: public }', 'public'],
  ['name: mine', '{ url: "postgresql://u@h/d", schema: pg_mine }', 'pg_mine'],
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

  expect(() => loadLimitsPassword(config('redis://limits@h:6379'), without)).toThrow(
    /INTENTD_LIMITS_PASSWORD.*names the user limits/,
  )
  expect(loadLimitsPassword(config('redis://limits@h:6379'), request)?.reveal()).toBe('word')
  expect(loadLimitsPassword(config('redis://h:6379'), without)).toBeUndefined()
})
