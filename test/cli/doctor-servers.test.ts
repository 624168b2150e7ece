import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, test } from 'vitest'
import { examineServers } from '../../src/cli/doctor/examine-servers.ts'
import { type CheckFinding } from '../../src/cli/process/finding.ts'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { findPort } from '../support/free-port.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { redisMissing, RedisServer } from '../support/redis-server.ts'
import { MAIN, SIMULATOR_SECTION, Workspace } from '../config/workspace.ts'
import { Machine } from '../journal/postgres/scene.ts'

const workspaces: Workspace[] = []
const servers: RedisServer[] = []

afterEach(async () => {
  for (const workspace of workspaces.splice(0)) workspace.remove()
  for (const server of servers.splice(0)) await server.kill()
})

/** What is found of the servers that the configuration names with these settings. */
async function look(
  settings: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<readonly CheckFinding[]> {
  const workspace = new Workspace()
  workspaces.push(workspace)
  workspace.fill({ 'config/main.yaml': MAIN.replace(SIMULATOR_SECTION, ''), ...files })
  const { loaded, problems } = workspace.read(['exchange.baseUrl=http://127.0.0.1:1', ...settings])
  if (loaded === undefined) throw new Error(JSON.stringify(problems))
  const request = { cwd: workspace.directory, variables }
  const own = { keys: 'aaaa', by: 'this machine', setup: { risk: '1' } }
  return examineServers(loaded.config, request, { configOption: ' -c config/main.yaml', own })
}

const stateOf = (findings: readonly CheckFinding[]) =>
  Object.fromEntries(findings.map(({ what, state }) => [what, state]))

test('one machine stands on no server', async () => {
  expect(await look([])).toEqual([])
})

describe.skipIf(postgresMissing !== undefined)('of a journal on PostgreSQL', () => {
  const at = (place: PostgresPlace, url = place.url) => [
    `journal.url=${url}`,
    `journal.schema=${place.schema}`,
  ]
  const ask = async (place: PostgresPlace, sql: string): Promise<void> => {
    const connection = new PostgresConnection(place)
    try {
      await connection.query(sql)
    } finally {
      await connection.close()
    }
  }

  test('it is said whether the server answers, what a commit waits for, and how long', async () => {
    const place = (await postgresServer()).newPlace()
    const findings = await look(at(place))

    // The server of the tests does not wait for its disk.
    expect(stateOf(findings)).toMatchObject({ journal: 'ok', 'journal, durable': 'fail' })
    expect(findings[0]?.found).toMatch(/^PostgreSQL 1\d\S* .*has no journal of this account yet/)
    expect(findings[2]?.found).toMatch(/^a commit took \d+ ms; beyond 2000 ms orders are dropped$/)
    await expect(ask(place, `SELECT 1 FROM "${place.schema}".meta`)).rejects.toThrow(
      'does not exist',
    )
  })

  test('a journal that is in a file still is named, where a start would refuse it', async () => {
    const place = (await postgresServer()).newPlace()
    const [none] = await look(at(place), {}, { '.intentd/paper/journal.sqlite': 'not empty' })

    expect(none).toMatchObject({
      state: 'fail',
      found: expect.stringContaining('JOURNAL_NOT_COPIED'),
      advice: expect.stringContaining(
        '`intentd journal copy --to postgres -c config/main.yaml` moves it there',
      ),
    })
  })

  test('a user without the rights to show itself in the fleet is told which', async () => {
    const place = (await postgresServer()).newPlace()
    const [user, database] = [`alice_${process.pid}`, `fleet_${process.pid}`]
    await ask(place, `CREATE ROLE ${user} LOGIN`)
    await ask(place, `CREATE DATABASE ${database}`)
    const own = { ...place, url: place.url.replace(/[^/]+$/, database) }
    await ask(own, `GRANT CREATE ON DATABASE ${database} TO ${user}`)
    await ask(own, 'CREATE SCHEMA intentd_fleet')
    await ask(own, 'CREATE TABLE intentd_fleet.members (id text)')
    const asUser = at(own, own.url.replace('postgres@', `${user}@`))
    const barred = await look(asUser)
    await ask(own, `GRANT USAGE ON SCHEMA intentd_fleet TO ${user}`)
    const half = await look(asUser)
    await ask(
      own,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA intentd_fleet TO ${user}`,
    )
    const allowed = await look(asUser)

    const found = [barred, half, allowed].map((one) => stateOf(one)['journal, fleet'])
    expect(found).toEqual(['warn', 'warn', undefined])
    expect(barred.find(({ what }) => what === 'journal, fleet')?.advice).toMatch(
      /GRANT USAGE ON SCHEMA intentd_fleet/,
    )
  })

  test('it is tried again in the words of the start: no server, no database, another account, no right', async () => {
    const server = await postgresServer()
    const place = server.newPlace()
    const user = `nobody_${process.pid}`
    await ask(place, `CREATE ROLE ${user} LOGIN`)
    const closed = await look(
      at(place, `postgresql://postgres@127.0.0.1:${await findPort()}/postgres`),
    )
    const unknown = await look(at(place, `${place.url}_none`))
    const barred = await look(at(place, place.url.replace('postgres@', `${user}@`)))
    const machine = new Machine('a', place)
    await (await machine.open()).journal.close()
    const foreign = await look(at(place))
    machine.remove()

    expect([closed, unknown, barred, foreign].map(stateOf)).toEqual(
      Array(4).fill({ journal: 'fail' }),
    )
    expect(closed[0]?.found).toMatch(/ECONNREFUSED/)
    expect(unknown[0]).toMatchObject({
      found: expect.stringMatching(/3D000/),
      advice: expect.stringMatching(/createdb/),
    })
    expect(barred[0]).toMatchObject({
      found: expect.stringMatching(/may not make a schema/),
      advice: expect.stringMatching(/GRANT CREATE/),
    })
    expect(foreign[0]?.found).toMatch(/JOURNAL_FOREIGN/)
  })
})

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'of the certificate of shared limits it is said what is wrong, and what to do',
  async () => {
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-noenc',
      '-keyout',
      '-',
      '-out',
      '-',
    ]
    const subject = ['-subj', '/CN=localhost', '-days', '2']
    const made = spawnSync('openssl', ['req', '-x509', ...key, ...subject], { encoding: 'utf8' })
    const server = createServer({ key: made.stdout, cert: made.stdout }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo

    const found = await look([
      `exchange.shared.redis=rediss://127.0.0.1:${port}`,
      'exchange.shared.members=2',
    ])
    server.close()

    expect(found).toMatchObject([
      {
        state: 'fail',
        found: expect.stringMatching(/self-signed certificate/),
        advice:
          'if nobody known has signed its certificate, name a copy of it in the variable NODE_EXTRA_CA_CERTS',
      },
    ])
    expect(found[0]?.found).not.toContain('Connection is closed')
  },
)

describe.skipIf(redisMissing !== undefined)('of shared limits', () => {
  const at = ({ url }: { readonly url: string }) => [
    `exchange.shared.redis=${url}`,
    'exchange.shared.members=2',
  ]
  const start = async (password?: string): Promise<RedisServer> => {
    const server = await RedisServer.start(password === undefined ? {} : { password })
    servers.push(server)
    return server
  }

  test('it is said that the server answers, in which version, and takes the script', async () => {
    const [found] = await look(at(await start()))

    expect(found).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/version \d.*takes the script/),
    })
  })

  test('a password that is missing or wrong is named, and never shown; nobody there is said too', async () => {
    const server = await start('right-word')
    const missing = await look(at(server))
    const wrong = await look(at(server), { INTENTD_LIMITS_PASSWORD: 'other-word' })
    const right = await look(at(server), { INTENTD_LIMITS_PASSWORD: 'right-word' })
    const closed = await look(at({ url: `redis://127.0.0.1:${await findPort()}` }))

    expect([missing, wrong, right, closed].map(([one]) => one?.state)).toEqual([
      'fail',
      'fail',
      'ok',
      'fail',
    ])
    expect(missing[0]?.found).toMatch(/NOAUTH/)
    expect(wrong[0]?.found).toMatch(/WRONGPASS/)
    expect(closed[0]?.found).toMatch(/ECONNREFUSED/)
    expect(JSON.stringify([missing, wrong])).not.toMatch(/(?:right|other)-word/)
  })
  test('a user of its own that may do what the documentation says is let in, and one that may do less is not', async () => {
    const server = await start()
    const [, rights = ''] =
      /^user limits on >SECRET (.*)$/m.exec(readFileSync('docs/servers.md', 'utf8')) ?? []
    const redis = new Redis(server.url)
    const lookAs = (word: string) =>
      look(at({ url: server.url.replace('redis://', 'redis://limits@') }), {
        INTENTD_LIMITS_PASSWORD: word,
      })

    await redis.acl('SETUSER', 'limits', 'on', '>SECRET', ...rights.split(' '))
    const whole = await lookAs('SECRET')
    const wrong = await lookAs('other-word')
    await redis.acl('SETUSER', 'limits', '-set')
    const less = await lookAs('SECRET')
    const keys = await redis.keys('*')
    redis.disconnect()

    expect(stateOf(whole)).toEqual({ 'shared limits': 'ok' })
    expect(wrong[0]?.found).toMatch(/refuses user or password.*WRONGPASS/)
    expect(stateOf(less)).toEqual({ 'shared limits': 'fail' })
    expect(less[0]?.found).toContain(rights.slice(rights.indexOf('+')))
    expect(keys).toEqual([])
  })
})
