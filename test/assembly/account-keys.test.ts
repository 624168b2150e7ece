import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openReading } from '../../src/journal/journal-layout.ts'
import { readWriter } from '../../src/journal/journal-writer.ts'
import { type Project, Projects } from '../daemon/project.ts'
import {
  findExchange,
  keysOf,
  startDaemon,
  startExchange,
  toVariables,
} from '../daemon/remote-exchange.ts'
import { shareOf } from '../support/share.ts'

const projects = new Projects()
afterAll(() => projects.close())

async function openExchange(project: Project) {
  const place = await findExchange(project)
  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  return { place, exchange }
}

const WRONG_KEYS = [
  ['INTENTD_API_KEY', 'wrongkey'],
  ['INTENTD_API_SECRET', 'wrongsecret'],
  ['INTENTD_API_PASSPHRASE', 'wrongpassphrase'],
] as const

test.concurrent.each(shareOf(WRONG_KEYS, 3))(
  'a wrong %s is one error that names it, and the end',
  async (variable, wrong) => {
    const project = projects.open()
    const { place, exchange } = await openExchange(project)

    const daemon = startDaemon(project, { ...place, env: { ...place.env, [variable]: wrong } })
    const { code } = await daemon.ended
    await exchange.stop()

    const troubles = daemon.log.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))
    expect(code).toBe(78)
    expect(troubles).toMatchObject([{ event: 'account.refused' }])
    expect(String(troubles[0]?.['reason'])).toMatch(
      new RegExp(`the exchange refuses ${variable}\n`),
    )
    expect([...daemon.stdout, ...daemon.stderr].join('\n')).not.toContain(wrong)
  },
)

test.concurrent('keys of another account on an old state are refused, and a new key of the same one is said how', async () => {
  const project = projects.open()
  const { place, exchange } = await openExchange(project)
  const first = startDaemon(project, place)
  await first.untilEvent('daemon.running')
  await first.stop()

  const other = startDaemon(project, { ...place, env: toVariables(keysOf(project, 3)) })
  const { code } = await other.ended
  const again = startDaemon(project, place)
  await again.untilEvent('daemon.running')
  await again.stop()
  await exchange.stop()

  const reason = String(other.events('account.refused')[0]?.['reason'])
  expect(code).toBe(78)
  expect(reason).toMatch(
    /^STATE_OF_OTHER_KEYS: [^]*journal +keys [0-9a-f]{8} of [^]*INTENTD_API_KEY[^]*configuration +keys [0-9a-f]{8} of [^]*journal rekey/,
  )
  expect(other.events('recovery.started')).toEqual([])
})

test.concurrent('the note of an earlier version beside the journal counts, and goes into the journal', async () => {
  const project = projects.open()
  const { place, exchange } = await openExchange(project)
  project.write('.intentd/paper/account.fingerprint', `${'0'.repeat(32)}\n`)
  const other = startDaemon(project, place)
  const { code } = await other.ended
  rmSync(join(project.directory, '.intentd/paper'), { recursive: true })
  const first = startDaemon(project, place)
  await first.untilEvent('daemon.running')
  await first.stop()
  const file = join(project.directory, '.intentd/paper/journal.sqlite')
  const database = openReading(file)
  const noted = readWriter(database)
  database.close()
  await exchange.stop()

  expect(code).toBe(78)
  expect(String(other.events('account.refused')[0]?.['reason'])).toContain('an earlier version')
  expect(noted?.keys).toMatch(/^[0-9a-f]{32}$/)
  expect(existsSync(join(project.directory, '.intentd/paper/account.fingerprint'))).toBe(false)
})
