// Many worlds in which liquidations are looked for, on several threads; each thread runs this file too.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import {
  addTallies,
  type LiquidationTally,
  NO_WORLDS,
  tallyWorld,
} from '../support/liquidations/liquidation-tally.ts'

export interface LiquidationCampaign {
  readonly worlds: number
  /** The number of the first world. */
  readonly first: number
  readonly workers: number
  readonly onProgress?: (tally: LiquidationTally) => void
  readonly signal?: AbortSignal
}

/** Numbers of worlds: every so manieth. */
interface Share {
  readonly from: number
  readonly until: number
  readonly every: number
}

export async function runLiquidations(campaign: LiquidationCampaign): Promise<LiquidationTally> {
  const { worlds, first, workers, onProgress, signal } = campaign
  let whole = NO_WORLDS
  const work = (index: number): Promise<void> => {
    const share: Share = { from: first + index, until: first + worlds, every: workers }
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    signal?.addEventListener('abort', () => void worker.terminate())
    worker.on('message', (tally: LiquidationTally) => {
      whole = addTallies(whole, tally)
      onProgress?.(whole)
    })
    return new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('exit', () => resolve())
    })
  }
  await Promise.all(Array.from({ length: Math.min(workers, worlds) }, (_, index) => work(index)))
  return whole
}

if (!isMainThread && parentPort !== null) {
  const { from, until, every } = workerData as Share
  for (let world = from; world < until; world += every) parentPort.postMessage(tallyWorld(world))
}
