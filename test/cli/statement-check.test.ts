import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'
import { findExchange, startDaemon, startExchange } from '../daemon/remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('a statement is compared with what the exchange answers over HTTP, fill by fill', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--speed', '600'])
  await exchange.untilEvent('simulator.listening')
  // Nothing rests any more as it ends, so nothing is filled while both are read.
  const set = ['--set', 'account.capital="10000"', '--set', 'onStop=cancel']
  const daemon = startDaemon(project, place, set)
  await daemon.untilEvent('order.fill', 5)
  await daemon.stop()

  const named = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const checking = project.start(
    ['statement', '--from', '2020-01-01', '--check', '--json', ...named],
    place.env,
  )
  const { code } = await checking.ended
  await exchange.stop()

  const { checks, journal } = JSON.parse(checking.stdout.join('\n')) as {
    readonly checks: readonly Readonly<Record<'what' | 'state' | 'found', string>>[]
    readonly journal: { readonly run: number; readonly sequence: number }
  }
  const found = Object.fromEntries(checks.map((one) => [one.what, `${one.state}, ${one.found}`]))
  expect(found).toMatchObject({
    fills: expect.stringMatching(/^agrees, \d+ fills, one by one/) as string,
    positions: 'agrees, 2 instruments, as of now',
  })
  expect(code).toBe(0)
  expect(journal.run).toBe(1)
  expect(journal.sequence).toBeGreaterThan(5)
})
