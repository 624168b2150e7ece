import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** Its fills show half a second late, and the daemon knows. */
const LATE_FILLS = ['--speed', '300', '--set', 'fillVisibilityLagMs=500']

test.concurrent('a daemon waits for an exchange that is down, and survives that it goes and comes back', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const simulate = () =>
    startExchange(project, place, [...LATE_FILLS, '--state', 'exchange.sqlite'])

  const daemon = startDaemon(project, place)
  const down = await daemon.untilEvent('read.failed')
  const first = simulate()
  await daemon.untilEvent('order.accepted')
  await first.stop()
  await daemon.untilEvent('read.failed', 2)
  const sentBefore = daemon.events('order.sent').length
  const second = simulate()
  await daemon.until('orders again', () => daemon.events('order.sent').length > sentBefore)
  const { code } = await daemon.stop()
  await second.stop()

  expect(down).toMatchObject({ level: 'warn', what: 'tickers' })
  expect(daemon.events('read.resumed').map(({ what }) => what)).toContain('tickers')
  expect(daemon.events('recovery.started')).toHaveLength(1)
  expect(daemon.events('position.adopted')).toEqual([])
  expect(code).toBe(0)
  const all = [...daemon.stdout, ...daemon.stderr, ...second.stdout].join('\n')
  for (const secret of Object.values(place.keys)) expect(all).not.toContain(secret)
})

test.concurrent('a stop while the exchange is down ends at once, and cleanly', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const daemon = startDaemon(project, place)
  await daemon.untilEvent('read.failed')

  const { code } = await daemon.stop()

  expect(code).toBe(0)
  expect(daemon.summary).toMatchObject({ clean: true, ordersSent: 0 })
})

test.concurrent('a second daemon on the account is refused in whatever directory, and told who trades it', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const first = startDaemon(project, place)
  await first.untilEvent('read.failed')

  const second = startDaemon(project, place, ['--set', 'state.directory=elsewhere'])
  const refused = await second.ended
  await first.stop('SIGKILL')
  const third = startDaemon(project, place, ['--set', 'state.directory=elsewhere'])
  await third.untilEvent('read.failed')
  await third.stop()

  expect(refused.code).toBe(75)
  expect(second.stderr.join('\n')).toMatch(
    /ACCOUNT_HELD: another daemon trades this account[^]*pid +\d+/,
  )
  expect(second.stderr.join('\n')).not.toContain(place.keys.key)
})
