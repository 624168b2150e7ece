import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { IS_WHOLE } from '../support/share.ts'
import { LEASE_MUTANTS } from './lease-mutants.ts'
import { runLeaseWorld } from './lease-world.ts'

const WORLDS = IS_WHOLE ? 200 : 15
/** With an error in it, one world in five at least must notice. */
const MUTANT_WORLDS = IS_WHOLE ? 100 : 20
const NOTICED_ONE_IN = 5
/** Not a promise about speed, but an end. */
const PATIENCE_MS = 60_000

test('[ORD1] [ORD2] of processes that take a lease from each other, only the last one writes and is heard', async () => {
  const sums = { takeovers: 0, acted: 0 }
  for (let seed = 1; seed <= WORLDS; seed++) {
    const { violations, takeovers, acted } = await runLeaseWorld(seed)
    expect([seed, violations]).toEqual([seed, []])
    sums.takeovers += takeovers
    sums.acted += acted
  }
  expect(sums.takeovers).toBeGreaterThan(WORLDS)
  expect(sums.acted).toBeGreaterThan(100 * WORLDS)
})

test.each(LEASE_MUTANTS)(
  'is noticed in one world of five: $what',
  { timeout: PATIENCE_MS },
  async (mutant) => {
    const workerData = { mutant, worlds: MUTANT_WORLDS }
    const worker = new Worker(new URL('./lease-worker.ts', import.meta.url), { workerData })

    const [noticed] = (await once(worker, 'message')) as [number]
    await worker.terminate()

    expect(noticed).toBeGreaterThanOrEqual(MUTANT_WORLDS / NOTICED_ONE_IN)
  },
)
