import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openWriting } from '../../src/journal/journal-layout.ts'
import { putWriter, readWriter } from '../../src/journal/journal-writer.ts'
import { Projects } from './project.ts'
import { findExchange, keysOf, startDaemon, startExchange, toVariables } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('a rotated key is taken over once its account agrees with the journal, and that of another account is refused', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '60'])
  await exchange.untilEvent('simulator.listening')
  const first = startDaemon(project, place)
  await first.untilEvent('order.fill', 2)
  await first.stop()
  const options = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const rekey = async (env: Readonly<Record<string, string>>) => {
    const run = project.start(['journal', 'rekey', ...options], env)
    const { code } = await run.ended
    return { code, said: [...run.stdout, ...run.stderr].join('\n') }
  }
  // As if the key had been another one until now.
  const database = openWriting(join(project.directory, '.intentd/paper/journal.sqlite'))
  const written = readWriter(database)
  if (written) putWriter(database, { ...written, keys: '0'.repeat(32) })
  database.close()

  expect(await rekey(toVariables(keysOf(project, 3)))).toMatchObject({
    code: 78,
    said: expect.stringContaining('STATE_OF_OTHER_ACCOUNT'),
  })
  const refused = startDaemon(project, place)
  expect(await refused.ended).toMatchObject({ code: 78 })
  expect(await rekey(place.env)).toMatchObject({
    code: 0,
    said: expect.stringMatching(/agrees: +positions of 2 instruments\nagrees: +fill \d+[^]*taken:/),
  })
  expect(await rekey(place.env)).toMatchObject({ code: 0, said: expect.stringContaining('nothing to do') })
  const next = startDaemon(project, place)
  await next.untilEvent('order.accepted')
  expect(next.events('trading.halted')).toEqual([])
  expect(await next.stop()).toMatchObject({ code: 0 })
  await exchange.stop()
})
