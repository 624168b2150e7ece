import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { CrashScene } from '../crash/crash-scene.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { shareOf } from '../support/share.ts'
import { HostileProxy, MISANSWERS } from '../support/hostile-proxy.ts'
import { killLeftOver } from './intentd-process.ts'

afterAll(() => killLeftOver())

const NAMES = ['tickers', 'batch-place-order', 'cancel-all-orders', 'fills', 'single-position']

/** A daemon in ordinary use has about 150 MB; answers of ten megabytes must not pile up. */
const MEMORY_KB_MAX = 512 * 1024

/** Something was in flight when the stop had to end. */
const EXIT_UNCLEAN = 75

/** The most that a process ever had in memory, in KB; nothing where the system does not tell. */
function memoryPeakOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

describe('[ORD3] [ORD4] [ORD5] whatever comes instead of an answer, no order is doubled and none lost', () => {
  // A refused address ends a run that starts, as a wrong key does (several-accounts.test.ts).
  const misanswers = Object.entries(MISANSWERS).filter(([kind]) => kind !== 'refusedAddress')
  const kinds = shareOf(misanswers, 3).map(
    ([kind, misanswer], index) =>
      [kind, misanswer, index % 2 === 0 ? 'hedge_mode' : 'one_way_mode'] as const,
  )

  test.concurrent.each(kinds)('%s', async (kind, misanswer, mode) => {
    const scene = await CrashScene.open({
      seed: 7,
      mode,
      reading: 'pendingOnly',
      onRestart: 'cancel',
      scenario: SCENARIOS.normal,
    })
    const proxy = await HostileProxy.start({ target: scene.exchange.url, misanswer, every: 3 })
    scene.tradeAt(proxy.url)
    try {
      const run = scene.start()
      await run.until('wrong answers everywhere, and trades all the same', () => {
        const isEverywhere = NAMES.every((name) => proxy.misanswered(name) > 0)
        return isEverywhere && run.events('order.accepted').length > 0
      })
      const memoryPeak = memoryPeakOf(run.pid)
      let last = run
      let ending = await run.stop()
      if (ending.code === EXIT_UNCLEAN) {
        // A busy machine does not come to the end of such a stop in time: the next run finds out.
        proxy.relent()
        last = scene.start()
        await last.untilEvent('order.accepted')
        ending = await last.stop()
      }

      expect(ending).toEqual({ code: 0, signal: null })
      expect(scene.compare(last)).toEqual([])
      expect(scene.unknowns).toBeGreaterThan(0)
      expect(memoryPeak).toBeLessThan(MEMORY_KB_MAX)
      expect(proxy.seen.map(({ name }) => name)).not.toContain('elsewhere')
    } finally {
      await scene.close()
      await proxy.stop()
    }
  })
})
