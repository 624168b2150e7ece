// The thread in which strategies are asked along made-up prices: one that never comes back costs this thread alone.

import { parentPort, workerData } from 'node:worker_threads'
import { decimal } from '../../lib/decimal.ts'
import { loadStrategy } from '../load-strategy.ts'
import { checkPurity } from './check-purity.ts'
import { type PurityData, type PurityNews } from './watched-purity.ts'

const { bindings } = workerData as PurityData

for (const { moduleFile, params, instruments } of bindings) {
  const strategy = await loadStrategy(moduleFile)
  report({ kind: 'begun' })
  const known = instruments.map((one) => ({ ...one, notionalMin: decimal(one.notionalMin) }))
  report({ kind: 'checked', check: checkPurity(strategy, params, known) })
}

function report(news: PurityNews): void {
  parentPort?.postMessage(news)
}
