// One thread of a campaign: it runs the worlds it is told to, with a mutant planted before any of the
// product's code is loaded, and says what they came to.

import { parentPort, workerData } from 'node:worker_threads'
import { unreachable } from '../../src/lib/unreachable.ts'
import { plantMutant } from './mutant.ts'
import type { WorkerResult, WorkerSetup, WorkerTask } from './world-task.ts'
import type { CampaignSummary } from './campaign-summary.ts'

const { mutant } = workerData as WorkerSetup
const planted = mutant && plantMutant(mutant)
// Only now: what is loaded from here on has the mutant in it.
const { runWorld } = await import('../support/world/virtual-world.ts')
const { planOfSeed } = await import('../support/world/plan-of-seed.ts')
const { shrinkWorld } = await import('../support/world/shrink-world.ts')
const { drawTimeline } = await import('../support/world/timeline.ts')
const { addWorld, createSummary } = await import('./campaign-summary.ts')
const { LIQUIDATIONS, numberOf } = await import('../support/liquidations/liquidation-plan.ts')
const { tallyWorld } = await import('../support/liquidations/liquidation-tally.ts')
planted?.assertLoaded()

parentPort?.on('message', (task: WorkerTask) => parentPort?.postMessage(perform(task)))

function perform(task: WorkerTask): WorkerResult {
  switch (task.kind) {
    case 'run':
      return { kind: 'ran', summary: runSeeds(task.seeds) }
    case 'replay': {
      const { seed, violations } = runWorld(task.plan)
      return { kind: 'replayed', failure: violations[0] && { seed, violation: violations[0] } }
    }
    case 'shrink': {
      const shrunk = shrinkWorld({ plan: planOfSeed(task.seed) })
      return { kind: 'shrunk', shrunk, timeline: shrunk ? drawTimeline(shrunk.plan).lines : [] }
    }
    default:
      return unreachable(task)
  }
}

function runSeeds(seeds: readonly string[]): CampaignSummary {
  const summary = createSummary()
  for (const seed of seeds) {
    if (seed.startsWith(LIQUIDATIONS)) addLiquidationWorld(summary, seed)
    else addWorld(summary, runWorld(planOfSeed(seed)))
    if (summary.failures.length > 0) break
  }
  return summary
}

function addLiquidationWorld(summary: CampaignSummary, seed: string): void {
  const [detail] = tallyWorld(numberOf(seed)).failures
  summary.worlds += 1
  if (detail !== undefined)
    summary.failures.push({ seed, violation: { id: 'LIQUIDATED', at: 0, detail } })
}
