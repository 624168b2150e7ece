import { afterAll, expect, test, vi } from 'vitest'
import { type IntentdProcess } from './intentd-process.ts'
import { type Project, Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

// Real processes, several at a time: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

/** Its fills show half a second late, and the daemon knows. */
const SIMULATE = ['simulate', '--speed', '300', '--set', 'fillVisibilityLagMs=500']

/** A port that was free a moment ago, and the credentials that go with the configuration. */
async function findExchange(project: Project) {
  const probe = project.start(['simulate', '--port', '0', '--print-accounts'])
  const listening = await probe.untilEvent('simulator.listening')
  await probe.stop()
  const accounts = JSON.parse(probe.stdout[0] ?? '') as { key: string; secret: string; passphrase: string }[]
  const [account] = accounts
  if (!account) throw new Error('the simulator has no account')
  const url = String(listening['url'])
  const env = {
    INTENTD_API_KEY: account.key,
    INTENTD_API_SECRET: account.secret,
    INTENTD_API_PASSPHRASE: account.passphrase,
  }
  return { account, url, env, port: new URL(url).port }
}

/** A daemon that trades on an exchange in another process. */
function startDaemon(
  project: Project,
  { url, env }: Awaited<ReturnType<typeof findExchange>>,
): IntentdProcess {
  const paper = project.read('config/paper.yaml')
  const inside = /^simulator:\n(?: .*\n)+/m
  project.write('config/remote.yaml', paper.replace(inside, ''))
  const args = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${url}`, '--summary', 'json']
  return project.run([...args, '--set', 'execution.fillVisibilityMs=600'], env)
}

test.concurrent('a daemon waits for an exchange that is down, and survives that it goes and comes back', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const simulate = () => project.start([...SIMULATE, '--port', place.port, '--state', 'exchange.sqlite'])

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
  for (const secret of [place.account.key, place.account.secret, place.account.passphrase])
    expect(all).not.toContain(secret)
}, 40_000)

test.concurrent('a stop while the exchange is down ends at once, and cleanly', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const daemon = startDaemon(project, place)
  await daemon.untilEvent('read.failed')

  const { code } = await daemon.stop()

  expect(code).toBe(0)
  expect(daemon.summary).toMatchObject({ clean: true, ordersSent: 0 })
})
