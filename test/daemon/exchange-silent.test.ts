import { expect, test } from 'vitest'
import { SYMBOL } from '../engine/engine-bench.ts'
import { LASTING_MS, MarketScene, POLL_MS } from './market-scene.ts'

/** For so long prices are not called stale: a few polls may miss. */
const PATIENCE_MS = 10_000

test('[MKT1] an exchange that stops answering: nothing is placed on old prices, and who must act hears of each step', async () => {
  // Nothing of the account is read in this scene.
  const scene = new MarketScene((event) => event !== 'readings.late')
  const { bench, exchange, logged, alerts } = scene
  const { dataAgeMaxMs } = bench.settings.limits
  await scene.pollFor(2 * POLL_MS)
  logged.length = 0
  exchange.answers = false
  const silentFrom = scene.elapsedMs()
  const silentMs = (): number => scene.elapsedMs() - silentFrom

  await scene.poll()
  expect([logged, alerts]).toEqual([['read.failed'], []])

  // A wish that comes up now finds prices that are too old.
  await scene.pollFor(dataAgeMaxMs)
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  expect(scene.asksToPlace()).toBe(false)
  while (alerts.length === 0) await scene.pollFor(POLL_MS)
  expect(alerts).toEqual(['urgent: data.stale'])
  expect(silentMs()).toBeLessThanOrEqual(dataAgeMaxMs + PATIENCE_MS + 2000)

  while (alerts.length === 1) await scene.pollFor(POLL_MS)
  expect(alerts.slice(1)).toEqual(['urgent: reads of tickers fail: their data get old'])
  expect(silentMs() - POLL_MS).toBe(LASTING_MS)
  expect(scene.asksToPlace()).toBe(false)

  exchange.answers = true
  await scene.pollFor(1000)
  expect(alerts.slice(2)).toEqual(['info: read.resumed', 'info: data.fresh'])
  expect(scene.asksToPlace()).toBe(true)
})
