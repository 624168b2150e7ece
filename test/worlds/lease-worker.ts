// A thread that runs worlds of the lease with a mutant planted before any of the product's code is loaded, and says
// how many of them noticed.

import { parentPort, workerData } from 'node:worker_threads'
import { plantMutant } from './mutant.ts'
import type { Mutant } from './mutant.ts'

const { mutant, worlds } = workerData as { readonly mutant: Mutant; readonly worlds: number }
const planted = plantMutant(mutant)
const { runLeaseWorld } = await import('./lease-world.ts')
planted.assertLoaded()

let noticed = 0
for (let seed = 1; seed <= worlds; seed++) {
  const { violations } = await runLeaseWorld(seed)
  if (violations.length > 0) noticed += 1
}
parentPort?.postMessage(noticed)
