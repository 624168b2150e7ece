import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('a start on ticks that the journal does not convert to is refused, with both values', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--state', 'exchange.sqlite'])
  await exchange.untilEvent('simulator.listening')
  const first = startDaemon(project, place)
  await first.untilEvent('order.accepted')
  await first.stop()

  const named = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const checking = project.start(
    ['check', ...named, '--set', 'instruments.BTCUSDT.tickSize=7'],
    place.env,
  )
  const checked = await checking.ended
  const examining = project.start(
    ['doctor', '--json', ...named, '--set', 'instruments.BTCUSDT.tickSize=7'],
    place.env,
  )
  const examined = await examining.ended
  const second = startDaemon(project, place, ['--set', 'instruments.BTCUSDT.tickSize=7'])
  const { code } = await second.ended
  await exchange.stop()

  expect([checked.code, code]).toEqual([78, 78])
  expect(checking.stderr.join('\n')).toMatch(
    /config\/remote\.yaml:\d+:\d+ instruments: STATE_GRIDS_CHANGED[^]*instruments\.BTCUSDT: tickSize: "0\.1"/,
  )
  expect(examined.code).toBe(1)
  const { findings } = JSON.parse(examining.stdout.join('\n')) as {
    readonly findings: readonly Readonly<Record<string, string>>[]
  }
  expect(findings.filter(({ what }) => what === 'instruments')).toEqual([
    expect.objectContaining({
      state: 'fail',
      found: expect.stringMatching(
        /^a start refuses BTCUSDT: .*tickSize 0\.1.*tickSize 7/,
      ) as string,
    }),
  ])
  expect(examining.stdout.join('\n')).toContain('and flatten the instrument')
  const said = second.stderr.join('\n')
  expect(said).toMatch(
    /STATE_GRIDS_CHANGED[^]*tickSize 0\.1, lotSize 0\.001[^]*tickSize 7, lotSize 0\.001/,
  )
  expect(second.events('order.sent')).toEqual([])
})
