import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const STATE = '.intentd/paper'
const COPY = 'backup'

/** By the document: the daemon is stopped, and the whole state directory copied, or put back. */
function copyState(project: Project, from: string, to: string): void {
  rmSync(join(project.directory, to), { recursive: true, force: true })
  cpSync(join(project.directory, from), join(project.directory, to), { recursive: true })
}

test('[ORD2] [RSK2] a copy of before, put back after the daemon had traded on, is refused and never traded; the positions of the exchange are taken over', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '60'])
  await exchange.untilEvent('simulator.listening')
  const first = startDaemon(project, place)
  await first.untilEvent('order.accepted', 4)
  expect(await first.stop()).toMatchObject({ code: 0 })
  copyState(project, STATE, COPY)
  const second = startDaemon(project, place)
  await second.untilEvent('order.accepted', 20)
  expect(await second.stop()).toMatchObject({ code: 0 })
  copyState(project, COPY, STATE)

  const third = startDaemon(project, place)
  expect(await third.ended).toMatchObject({ code: 78 })
  const reason = String(third.events('state.older')[0]?.['reason'])
  expect(reason).toMatch(/^STATE_OLDER_THAN_EXCHANGE: [^]*intentd repair --from-exchange/)
  expect(third.events('order.accepted')).toEqual([])
  const fourth = startDaemon(project, place)
  expect(await fourth.ended).toMatchObject({ code: 78 })
  expect(fourth.stderr.join('\n')).toContain('STATE_OLDER_THAN_EXCHANGE')
  expect(fourth.events('recovery.started')).toEqual([])

  const options = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const repair = project.start(
    ['repair', '--from-exchange', ...options, '--set', 'execution.acceptanceWindowMs=1000'],
    place.env,
  )
  expect([await repair.ended, repair.stderr.join('\n')]).toMatchObject([{ code: 0 }, ''])
  expect(repair.stdout.join('\n')).toMatch(
    /waiting: +1 s[^]*cancelled: +\d+ orders?[^]*position: +BTCUSDT [^]*intentd release '\*'/,
  )
  const fifth = startDaemon(project, place)
  await fifth.untilEvent('daemon.running')
  expect(fifth.events('order.sent')).toEqual([])
  const release = project.start(['release', '*', ...options, '--reason', 'compared'], place.env)
  expect(await release.ended).toMatchObject({ code: 0 })
  await fifth.untilEvent('order.accepted')
  expect(fifth.events('position.unexplained')).toEqual([])
  expect(await fifth.stop()).toMatchObject({ code: 0 })
  await exchange.stop()
})

test('a copy that is put back before anything was traded since goes on', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '60'])
  await exchange.untilEvent('simulator.listening')
  const first = startDaemon(project, place)
  await first.untilEvent('order.accepted', 4)
  await first.stop()
  copyState(project, STATE, COPY)
  copyState(project, COPY, STATE)
  const second = startDaemon(project, place)
  await second.untilEvent('order.accepted', 4)
  expect(await second.stop()).toMatchObject({ code: 0 })
  expect(second.events('state.older')).toEqual([])
  await exchange.stop()
})
