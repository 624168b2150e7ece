// The thread in which strategies are asked along made-up prices: one that never comes back costs this thread alone.

import { resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { decimal } from '../../lib/decimal.ts'
import { guardThread } from '../isolation/guard-thread.ts'
import { fileOfCode, loadStrategy } from '../load-strategy.ts'
import { strategyAtFault } from '../strategy-context.ts'
import { checkPurity } from './check-purity.ts'
import type { PurityData, PurityNews } from './watched-purity.ts'

const { bindings, isGuarded } = workerData as PurityData
const files = new Set(bindings.map(({ moduleFile }) => resolve(moduleFile)))

process.on('uncaughtException', (error) => {
  // What a file leaves to fail by itself while it is loaded, whoever loaded it before has said; it would end the thread
  // while another one is asked, which would be blamed.
  if (files.has(fileOfCode(strategyAtFault() ?? ''))) return
  throw error
})

if (isGuarded) guardThread()
for (const { moduleFile, params, instruments } of bindings) {
  const strategy = await loadStrategy(moduleFile)
  report({ kind: 'begun' })
  const known = instruments.map((one) => ({ ...one, notionalMin: decimal(one.notionalMin) }))
  report({ kind: 'checked', check: checkPurity(strategy, params, known) })
}

function report(news: PurityNews): void {
  parentPort?.postMessage(news)
}
