import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('[SEC1] a start warns of a server on another machine that is asked without TLS, before it asks it', async () => {
  // A name that no server has.
  const settings = ['journal.url=postgresql://intentd@db.invalid/d', 'journal.withoutTls=true']
  const keys = { INTENTD_JOURNAL_PASSWORD: 'canary' }

  const run = projects.open().run(
    settings.flatMap((setting) => ['--set', setting]),
    keys,
  )
  const { code } = await run.ended

  expect(run.events('server.inClear')).toMatchObject([{ level: 'warn', setting: 'journal.url' }])
  expect(code).not.toBe(0)
  const said = [...run.stdout, ...run.stderr].join('\n')
  expect(said).toContain('JOURNAL_UNREACHABLE')
  expect(said).not.toContain('canary')
})
