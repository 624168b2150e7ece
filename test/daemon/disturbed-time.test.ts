import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { CrashScene } from '../crash/crash-scene.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { HostileProxy } from '../support/hostile-proxy.ts'
import { type IntentdProcess, killLeftOver } from './intentd-process.ts'
import { shareOf } from '../support/share.ts'

afterAll(() => killLeftOver())

const STEPPED_CLOCK = new URL('./stepped-clock.ts', import.meta.url).href

const ORDINARY = {
  reading: 'pendingOnly',
  onRestart: 'cancel',
  scenario: SCENARIOS.normal,
} as const

/** Waits until orders have been accepted that were not there before. */
function untilTradesAgain(run: IntentdProcess): Promise<void> {
  const before = run.events('order.accepted').length
  return run.until('orders again', () => run.events('order.accepted').length > before)
}

const STEPS = [
  ['forward by five minutes', 5, 'one_way_mode'],
  ['forward by an hour', 60, 'hedge_mode'],
  ['back by five minutes', -5, 'hedge_mode'],
] as const

test.concurrent.each(shareOf(STEPS, 2))(
  '[ORD4] [ORD5] the clock steps %s and comes right again: the daemon trades on, the books agree',
  async (_, minutes, mode) => {
    const scene = await CrashScene.open({ ...ORDINARY, seed: 11, mode })
    const clockFile = scene.path('clock')
    const stepTo = (aheadMs: number) => writeFileSync(clockFile, String(aheadMs))
    try {
      stepTo(0)
      const run = scene.start({ INTENTD_CLOCK_FILE: clockFile }, STEPPED_CLOCK)
      await untilTradesAgain(run)
      stepTo(minutes * 60_000)
      await untilTradesAgain(run)
      stepTo(0)
      await untilTradesAgain(run)
      const { code } = await run.stop()

      expect(code).toBe(0)
      expect(scene.compare(run)).toEqual([])
      expect(run.events('trading.halted')).toEqual([])
    } finally {
      await scene.close()
    }
  },
)

/** Beyond the limit of the data's age, the request's time-out, and the acceptance window of whatever was on the wire. */
const STOPPED_MS = 2500
/** What the process has written when it is stopped arrives within this. */
const ON_ITS_WAY_MS = 250

test.concurrent('[MKT1] [RSK2] [ORD5] a process that stood still looks at the market before it sends, and at the kill file', async () => {
  const scene = await CrashScene.open({
    ...ORDINARY,
    seed: 12,
    mode: 'one_way_mode',
  })
  const proxy = await HostileProxy.start({
    target: scene.exchange.url,
    misanswer: () => undefined,
    every: 0,
  })
  scene.tradeAt(proxy.url)
  try {
    const run = scene.start()
    await untilTradesAgain(run)
    run.kill('SIGSTOP')
    await sleep(STOPPED_MS)
    const seenBefore = proxy.seen.length
    const sinceThen = () => proxy.seen.slice(seenBefore).map(({ name }) => name)
    run.kill('SIGCONT')
    await run.until('a batch', () => sinceThen().includes('batch-place-order'))
    expect(sinceThen().slice(0, sinceThen().indexOf('batch-place-order'))).toContain('tickers')

    await untilTradesAgain(run)
    run.kill('SIGSTOP')
    await sleep(ON_ITS_WAY_MS)
    const seenAtKill = proxy.seen.length
    scene.throwSwitch()
    run.kill('SIGCONT')
    await run.untilEvent('kill.clean')
    const sinceKill = proxy.seen
      .slice(seenAtKill)
      .filter(({ name }) => name === 'batch-place-order')
    const { code } = await run.stop()

    expect(code).toBe(0)
    expect(scene.compare(run)).toEqual([])
    // One that was past its last look when the process was stopped.
    expect(sinceKill.length).toBeLessThanOrEqual(1)
  } finally {
    await scene.close()
    await proxy.stop()
  }
})

test.concurrent('of two daemons that start in the same moment one trades, and the other says who holds the state', async () => {
  const scene = await CrashScene.open({ ...ORDINARY, seed: 13, mode: 'one_way_mode' })
  try {
    const runs = [scene.start(), scene.start()]
    const refused = await Promise.race(runs.map(async (run) => ({ run, ending: await run.ended })))
    const [winner] = runs.filter((run) => run !== refused.run)
    if (!winner) throw new Error('unreachable: there are two')
    await winner.untilEvent('order.accepted')
    const { code } = await winner.stop()

    expect(refused.ending).toEqual({ code: 75, signal: null })
    expect(refused.run.stderr.join('\n')).toMatch(
      /STATE_HELD: another daemon holds this state directory/,
    )
    expect(refused.run.stderr.join('\n')).toMatch(new RegExp(`pid +${winner.pid}`))
    expect(code).toBe(0)
    expect(scene.compare(winner)).toEqual([])
  } finally {
    await scene.close()
  }
})
