import { afterAll, expect, test } from 'vitest'
import { describeDatabase, lookSideBySide } from '../../src/cli/fleet/fleet.ts'
import { Projects } from '../daemon/project.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'

const projects = new Projects()
afterAll(() => projects.close())

test.skipIf(postgresMissing !== undefined).each([
  ['status', 'there is no journal in this database yet'],
  ['alerts', 'no account of this database has raised an alert within a month'],
])(
  'fleet %s reads every database of a configuration, and names one out of reach',
  async (verb, said) => {
    const project = projects.open()
    const paper = project.read('config/paper.yaml')
    project.write('config/paper.yaml', `${paper}\naccounts: [second.yaml, third.yaml]\n`)
    const { url } = await (await postgresServer()).newDatabase()
    for (const [name, journal] of [
      ['second', ''],
      ['third', `journal: { url: "${url}" }`],
    ] as const) {
      const own = paper
        .replace('name: paper', `name: ${name}`)
        .replace('.intentd/paper', `.intentd/${name}`)
      project.write(`config/${name}.yaml`, `${own}\n${journal}\n`)
    }
    const main = ['--set', 'journal.url=postgresql://intentd@127.0.0.1:1/base']
    const fleet = project.start(['fleet', verb, ...main])

    expect((await fleet.ended).code).toBe(75)
    const { host, pathname } = new URL(url)
    expect(fleet.stdout.join('\n')).toContain(`${host}${pathname}`)
    expect(fleet.stdout.join('\n')).toContain(said)
    expect(fleet.stderr.join('\n')).toMatch(/127\.0\.0\.1:1\/base: JOURNAL_UNREACHABLE/)
    expect(fleet.stderr.join('\n')).toMatch(
      /second: its journal is a file; `intentd status.*second\.yaml` shows it/,
    )
  },
)

test('a database that does not answer keeps no other waiting', async () => {
  const seen: string[] = []
  let answer = (): void => undefined
  const silent = new Promise<void>((resolve) => (answer = resolve))
  const database = (name: string) => ({ name, reader: { close: () => Promise.resolve() } })
  const looking = lookSideBySide([database('silent'), database('quick')], async ({ name }) => {
    if (name === 'silent') await silent
    seen.push(name ?? '')
    if (name === 'quick') answer()
    return name === 'silent' ? 75 : 0
  })

  expect(await looking).toBe(75)
  expect(seen).toEqual(['quick', 'silent'])
})

test('one of several that is away while they are watched is shown as that', async () => {
  const away = {
    assertVersion: () => Promise.reject(new Error('away')),
    read: () => Promise.reject(new Error('')),
  }
  const watched = { json: undefined, isWatched: true }

  expect((await describeDatabase({ name: 'db/base', reader: away }, watched)).text).toBe(
    '== db/base\n  ! away\n',
  )
  await expect(describeDatabase({ name: undefined, reader: away }, watched)).rejects.toThrow('away')
})
