import { cpSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const STATE = '.intentd/paper'

async function openScene() {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '60'])
  await exchange.untilEvent('simulator.listening')
  const options = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const run = async (...words: string[]) => {
    const command = project.start([...words, ...options], place.env)
    const { code } = await command.ended
    return { code, text: [...command.stdout, ...command.stderr].join('\n') }
  }
  return { project, place, exchange, run }
}

/** By the document: `mv STATE STATE.before; cp -a COPY STATE`. */
function restore({ directory }: Project, copy: string): void {
  rmSync(join(directory, `${STATE}.before`), { recursive: true, force: true })
  renameSync(join(directory, STATE), join(directory, `${STATE}.before`))
  cpSync(join(directory, copy), join(directory, STATE), { recursive: true })
}

test('[ORD2] [ORD5] a copy made while the daemon trades, put back after it had traded on, is refused; repaired from the exchange it trades', async () => {
  const { project, place, exchange, run } = await openScene()
  const first = startDaemon(project, place)
  await first.untilEvent('order.accepted', 4)
  const copied = await run('journal', 'backup', 'copies/one')
  expect(copied).toMatchObject({ code: 0 })
  expect(copied.text).toMatch(/^proved: +every record, row and sum/m)
  expect(copied.text).toMatch(/^files: +journal\.sqlite, .*instruments\.json/m)
  expect(statSync(join(project.directory, 'copies/one')).mode & 0o777).toBe(0o700)
  expect(existsSync(join(project.directory, 'copies/one.part'))).toBe(false)
  await first.untilEvent('order.accepted', first.events('order.accepted').length + 16)
  expect(await first.stop()).toMatchObject({ code: 0 })
  restore(project, 'copies/one')

  const second = startDaemon(project, place)
  expect(await second.ended).toMatchObject({ code: 78 })
  expect(String(second.events('state.older')[0]?.['reason'])).toMatch(/^STATE_OLDER_THAN_EXCHANGE/)
  expect(second.events('order.accepted')).toEqual([])
  expect(
    await run('repair', '--from-exchange', '--set', 'execution.acceptanceWindowMs=1000'),
  ).toMatchObject({
    code: 0,
  })
  const third = startDaemon(project, place)
  await third.untilEvent('daemon.running')
  expect(await run('release', '*', '--reason', 'compared')).toMatchObject({ code: 0 })
  await third.untilEvent('order.accepted')
  expect(await third.stop()).toMatchObject({ code: 0 })
  await exchange.stop()
})

test('[ORD5] a copy made while the daemon runs, put back before anything was traded since, goes on; without what it needs none is made', async () => {
  const { project, place, exchange, run } = await openScene()
  const first = startDaemon(project, place)
  await first.untilEvent('order.accepted', 4)
  expect(await run('restrict', '*', 'halted', '--reason', 'backup')).toMatchObject({ code: 0 })
  await first.untilEvent('cancelAll.answered', 2)
  expect(await run('journal', 'backup', 'copies/one')).toMatchObject({ code: 0 })
  expect(await first.stop()).toMatchObject({ code: 0 })
  restore(project, 'copies/one')

  const second = startDaemon(project, place)
  await second.untilEvent('daemon.running')
  expect(await run('release', '*', '--reason', 'restored')).toMatchObject({ code: 0 })
  await second.untilEvent('order.accepted', 4)
  expect(await second.stop()).toMatchObject({ code: 0 })
  expect(second.events('state.older')).toEqual([])
  await exchange.stop()

  const refused = async (...words: string[]) => {
    const { code, text } = await run('journal', 'backup', ...words)
    return { code, failure: /^[A-Z_]+/.exec(text)?.[0], text }
  }
  const url = 'journal.url=postgresql://intentd@db.example/intentd?sslmode=verify-full'
  const hint = expect.stringMatching(/pg_dump --format=custom --schema=/) as string
  expect(await refused('copies/two', '--set', url)).toEqual({
    code: 78,
    failure: 'BACKUP_ON_SERVER',
    text: hint,
  })
  expect(await refused(join(STATE, 'copy'))).toMatchObject({ code: 64, failure: 'BACKUP_INSIDE' })
  expect(await refused('copies/one')).toMatchObject({ code: 64, failure: 'BACKUP_EXISTS' })
  const nowhere = ['--set', 'state.directory=../none']
  expect(await refused('copies/two', ...nowhere)).toMatchObject({
    code: 66,
    failure: 'JOURNAL_COPY_NOTHING',
  })
  expect(existsSync(join(project.directory, 'copies/two'))).toBe(false)
})
