import { afterAll, expect, test } from 'vitest'
import { CrashScene } from '../crash/crash-scene.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { HostileProxy, MISANSWERS } from '../support/hostile-proxy.ts'
import { type IntentdProcess, killLeftOver } from './intentd-process.ts'

afterAll(() => killLeftOver())

/** A daemon that trades at an exchange whose answers can be spoilt. In hedge mode an order that opens never reduces. */
async function startTrading(misanswer: keyof typeof MISANSWERS) {
  const scene = await CrashScene.open({
    seed: 11,
    mode: 'hedge_mode',
    reading: 'pendingOnly',
    onRestart: 'cancel',
    scenario: SCENARIOS.normal,
  })
  const proxy = await HostileProxy.start({
    target: scene.exchange.url,
    every: 0,
    misanswer: MISANSWERS[misanswer],
  })
  scene.tradeAt(proxy.url)
  const run = scene.start()
  await run.untilEvent('order.accepted')
  const close = async (): Promise<void> => {
    await scene.close()
    await proxy.stop()
  }
  return { scene, proxy, run, close }
}

/** How often the endpoint was asked. */
const askedFor = ({ seen }: HostileProxy, name: string): number =>
  seen.filter((request) => request.name === name).length

const opened = (run: IntentdProcess): number =>
  run.events('order.sent').filter(({ action }) => String(action).startsWith('open')).length

test('one refused read is asked for again after a second, and nothing stands still', async () => {
  const { scene, proxy, run, close } = await startTrading('refusedAddress')
  try {
    proxy.spoilt.set('fills', 1)
    await run.until('a refused read', () => proxy.misanswered('fills') === 1)
    const refusedAt = proxy.seen.findIndex(({ isMisanswered }) => isMisanswered)
    await run.until('fills read again', () =>
      proxy.seen.slice(refusedAt + 1).some(({ name }) => name === 'fills'),
    )
    const sentBefore = run.events('order.sent').length
    await run.until('more orders', () => run.events('order.sent').length > sentBefore)

    const next = proxy.seen.findIndex(({ name }, index) => index > refusedAt && name === 'fills')
    const between = proxy.seen
      .slice(refusedAt + 1, next)
      .filter(({ name }) => name === 'single-position')
    // Positions are read three times a second and instrument: a minute of silence would be hundreds.
    expect(between.length).toBeLessThan(20)
    expect(run.events('account.refused')).toEqual([])
    expect(await run.stop()).toEqual({ code: 0, signal: null })
    expect(scene.compare(run)).toEqual([])
  } finally {
    await close()
  }
})

test.each(['refusedAddress', 'forbidden'] as const)(
  '[MKT3] while all reads are refused (%s) nothing that opens leaves; it is said, and heals by itself',
  async (misanswer) => {
    const { scene, proxy, run, close } = await startTrading(misanswer)
    try {
      for (const name of ['fills', 'single-position'])
        proxy.spoilt.set(name, Number.POSITIVE_INFINITY)
      const { reason } = await run.untilEvent('account.stale')
      await run.untilEvent('account.refused')
      const before = opened(run)
      const asked = askedFor(proxy, 'fills') + askedFor(proxy, 'single-position')
      await run.until(
        'reads that are asked for again',
        () => askedFor(proxy, 'fills') + askedFor(proxy, 'single-position') > asked,
      )

      expect(String(reason)).toMatch(
        misanswer === 'forbidden' ? /HTTP_403/ : /refused 40018: Invalid IP/,
      )
      expect(opened(run)).toBe(before)

      proxy.spoilt.clear()
      await run.untilEvent('account.fresh')
      await run.until('orders that open', () => opened(run) > before)
      expect(await run.stop()).toEqual({ code: 0, signal: null })
      expect(scene.compare(run)).toEqual([])
    } finally {
      await close()
    }
  },
)
