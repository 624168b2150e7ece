import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openWriting } from '../../src/journal/journal-layout.ts'
import { putWriter, readWriter } from '../../src/journal/journal-writer.ts'
import { type Project, Projects } from './project.ts'
import {
  findExchange,
  keysOf,
  type RemoteExchange,
  startDaemon,
  startExchange,
  toVariables,
} from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** As if the key had been another one until now. */
function rotateKey(project: Project): void {
  const database = openWriting(join(project.directory, '.intentd/paper/journal.sqlite'))
  const written = readWriter(database)
  if (written) putWriter(database, { ...written, keys: '0'.repeat(32) })
  database.close()
}

const rekeyOf =
  (project: Project, { url }: RemoteExchange) =>
  async (env: Readonly<Record<string, string>>, more: readonly string[] = []) => {
    const options = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${url}`]
    const run = project.start(['journal', 'rekey', ...options, ...more], env)
    const { code } = await run.ended
    return { code, said: [...run.stdout, ...run.stderr].join('\n') }
  }

test('a rotated key is taken over once its account agrees with the journal, and that of another account is refused', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '60'])
  await exchange.untilEvent('simulator.listening')
  // An order that rests could be filled between the two readings of a position that the command compares.
  const first = startDaemon(project, place, ['--set', 'onStop=cancel'])
  await first.untilEvent('order.fill', 2)
  await first.stop()
  const rekey = rekeyOf(project, place)
  rotateKey(project)

  expect(await rekey(toVariables(keysOf(project, 3)))).toMatchObject({
    code: 78,
    said: expect.stringContaining('STATE_OF_OTHER_ACCOUNT'),
  })
  const refused = startDaemon(project, place)
  expect(await refused.ended).toMatchObject({ code: 78 })
  expect(await rekey(place.env)).toMatchObject({
    code: 0,
    // Two fills may be an opening and its close.
    said: expect.stringMatching(
      /agrees: +positions of 2 instruments(, all flat)?\nagrees: +fill \d+[^]*taken:/,
    ),
  })
  expect(await rekey(place.env)).toMatchObject({
    code: 0,
    said: expect.stringContaining('nothing to do'),
  })
  const next = startDaemon(project, place)
  await next.untilEvent('order.accepted')
  expect(next.events('trading.halted')).toEqual([])
  expect(await next.stop()).toMatchObject({ code: 0 })
  await exchange.stop()
})

/** One order on each side of two instruments, which nothing fills in the time of a test. */
function placeFarAway(project: Project): void {
  for (const trend of ['btc', 'eth'])
    project.edit('config/paper.yaml', `  - strategies/trend-${trend}.yaml\n`, '')
  for (const grid of ['grid-btc', 'grid-eth']) {
    const file = `config/strategies/${grid}.yaml`
    const far = project
      .read(file)
      .replace(/(spacingBps|evels): \d+/g, (_, name: string) =>
        name === 'evels' ? 'evels: 1' : 'spacingBps: 400',
      )
    project.write(file, far)
  }
}

test('accounts without positions and fills are told apart by the names of open orders; where none rest, it takes a word', async () => {
  const project = projects.open()
  placeFarAway(project)
  const place = await findExchange(project)
  const other = { ...place, env: toVariables(keysOf(project, 3)) }
  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  const rekey = rekeyOf(project, place)
  for (const daemon of [
    startDaemon(project, place),
    startDaemon(project, other, ['--set', 'state.directory=elsewhere']),
  ]) {
    await daemon.untilEvent('order.accepted', 4)
    expect(await daemon.stop()).toMatchObject({ code: 0 })
    expect(daemon.events('order.fill')).toEqual([])
  }

  rotateKey(project)
  expect(await rekey(other.env)).toMatchObject({
    code: 78,
    said: expect.stringMatching(
      /STATE_OF_OTHER_ACCOUNT[^]*journal +2 orders rest\n +exchange +2 rested, 0 of them of the journal/,
    ),
  })
  expect(await rekey(place.env)).toMatchObject({
    code: 0,
    said: expect.stringMatching(
      /positions of 2 instruments, all flat\nagrees: +2 of 2 names of open orders of BTCUSDT[^]*taken: +the journal is that of this key now$/,
    ),
  })

  const next = startDaemon(project, place, ['--set', 'onStop=cancel'])
  await next.untilEvent('order.accepted', 4)
  expect(await next.stop()).toMatchObject({ code: 0 })
  rotateKey(project)
  for (const { env } of [place, other])
    expect(await rekey(env)).toMatchObject({
      code: 78,
      said: expect.stringMatching(
        /REKEY_UNPROVED[^]*journal +keys 00000000 of [^]*configuration +keys [0-9a-f]{8} of [^]*--unproved/,
      ),
    })
  expect(await rekey(place.env, ['--unproved'])).toMatchObject({
    code: 0,
    said: expect.stringMatching(/all flat\ntaken:[^]*on your word/),
  })
  await exchange.stop()
})
