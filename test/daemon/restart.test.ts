import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { shareOf } from '../support/share.ts'
import { type IntentdProcess } from './intentd-process.ts'
import { Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

// On its way to a market that is so quick, a post-only order may be crossed and cancelled: nobody is told.
const FAST = [
  '--set',
  'simulator.speed=1200',
  '--set',
  'simulator.entryLatencyMs=0',
  '--summary',
  'json',
]

/** What a run found when it began. */
function foundBy(run: IntentdProcess): Readonly<Record<string, unknown>> {
  return run.events('recovery.started')[0] ?? {}
}

test.concurrent('[ORD5] a stop and a start: the same orders, positions and strategy state', async () => {
  const project = projects.open()
  const first = project.run(FAST)
  await first.untilEvent('order.fill', 3)

  await first.stop()
  const second = project.run(FAST)
  await second.untilEvent('daemon.running')
  await second.stop()

  const { summary } = first
  const found = foundBy(second)
  expect(found['openOrders']).toBe(summary.exchange?.openOrders)
  expect(found).toMatchObject({ epoch: 2, strategyStates: 4 })
  expect(sizesOf(found['positions'])).toEqual(sizesOf(summary.positions))
  expect(second.summary).toMatchObject({ clean: true, exchange: { agrees: true, differences: [] } })
  expect(second.summary.allRuns.fills).toBeGreaterThanOrEqual(summary.thisRun.fills)
})

test.concurrent('another balance is another simulated account, and the one of before is named', async () => {
  const project = projects.open()
  const first = project.run(FAST)
  await first.untilEvent('daemon.running')
  await first.stop()
  const second = project.run([...FAST, '--set', 'simulator.startingBalance=20000'])
  await second.untilEvent('daemon.running')
  await second.stop()

  const [opened] = first.events('daemon.opened')
  expect(first.events('simulator.otherAccount')).toEqual([])
  expect(second.events('simulator.otherAccount')).toMatchObject([{ before: opened?.['state'] }])
  expect(foundBy(second)).toMatchObject({ epoch: 1 })
})

/** Net sizes by symbol, whether a short is a minus or a word. */
function sizesOf(positions: unknown): Record<string, number> {
  const sizes: Record<string, number> = {}
  for (const [name, size] of Object.entries(positions ?? {})) {
    const [symbol = '', side = 'long'] = name.split(' ')
    sizes[symbol] = (sizes[symbol] ?? 0) + (side === 'short' ? -1 : 1) * Number(size)
  }
  return sizes
}

test.concurrent.each(shareOf(['one', 'two'], 2))(
  '[ORD5] killed at random moments, world %s: no order doubled, none lost, the books agree',
  async (world) => {
    const project = projects.open()
    const random = createRandom(`kill ${world}`)
    const sent: unknown[] = []
    const returned = new Set<unknown>()
    for (let epoch = 1; epoch <= 4; epoch++) {
      const run = project.run(FAST)
      const lines = 3 + random.integer(80)
      await run.until(`${lines} lines`, () => run.log.length >= lines)
      await run.stop('SIGKILL')
      sent.push(...run.events('order.sent').map(({ clientOid }) => clientOid))
      for (const event of ['order.notSent', 'order.queuedAgain']) {
        for (const { clientOid } of run.events(event)) returned.add(clientOid)
      }
      expect(foundBy(run), `run ${epoch}`).toMatchObject({ epoch })
    }

    const last = project.run(FAST)
    await last.untilEvent('daemon.running')
    const { code } = await last.stop()

    expect(code).toBe(0)
    expect(foundBy(last)).toMatchObject({ epoch: 5 })
    expect(last.summary.exchange?.differences).toEqual([])
    expect(last.summary.exchange?.differences).toEqual([])
    expect(last.events('position.adopted')).toEqual([])
    // On a busy machine a batch may not leave in time: what surely did not leave is sent under its own name.
    const doubled = sent.filter((clientOid, index) => sent.indexOf(clientOid) !== index)
    expect(doubled.filter((clientOid) => !returned.has(clientOid))).toEqual([])
  },
)

test.concurrent('a second daemon on the same state is refused, and told who holds it', async () => {
  const project = projects.open()
  const first = project.run(['--summary', 'json'])
  await first.untilEvent('daemon.running')

  const second = project.run()
  const refused = await second.ended
  const { code } = await first.stop()

  expect(refused.code).toBe(75)
  expect(second.stderr.join('\n')).toMatch(/STATE_HELD: another daemon holds this state directory/)
  expect(second.stderr.join('\n')).toMatch(
    /pid +\d+\n +host .+\n +since .+\n +name +paper\n +command +run/,
  )
  expect(second.log).toEqual([])
  expect(code).toBe(0)
  expect(first.summary.exchange?.differences).toEqual([])
})

test.concurrent('a second signal ends at once', async () => {
  const project = projects.open()
  const run = project.run(['--set', 'simulator.answerDelayMs=3000'])
  await run.untilEvent('recovery.started')
  run.kill('SIGINT')
  await run.untilEvent('daemon.stopRequested')
  // Two within a moment are one that came twice, so the second is sent until it is taken for a second.
  const again = setInterval(() => run.kill('SIGINT'), 50)

  const ending = await run.ended
  clearInterval(again)

  expect(ending).toEqual({ code: null, signal: 'SIGINT' })
  expect(run.events('daemon.stopped')).toEqual([])
})
