// A strategy that never returns costs only this thread.

import { resolve } from 'node:path'
import { decimal } from '../../lib/decimal.ts'
import { runTask } from '../../lib/supervised-thread.ts'
import { guardThread } from '../isolation/guard-thread.ts'
import { refuseDrafts } from '../isolation/refuse-drafts.ts'
import { fileOfCode, loadStrategy } from '../load-strategy.ts'
import { strategyAtFault } from '../strategy-failure.ts'
import { checkPurity } from './check-purity.ts'
import type { PurityData, PurityNews } from './watched-purity.ts'

await runTask<PurityData, PurityNews>(async ({ bindings, isGuarded, drafts }, report) => {
  const files = new Set(bindings.map(({ moduleFile }) => resolve(moduleFile)))
  process.on('uncaughtException', (error) => {
    // Loading has reported these files already; here another strategy would be blamed.
    if (files.has(fileOfCode(strategyAtFault() ?? ''))) return
    throw error
  })
  if (isGuarded) guardThread()
  else refuseDrafts(drafts)
  for (const { moduleFile, params, instruments } of bindings) {
    const strategy = await loadStrategy(moduleFile)
    report({ kind: 'begun' })
    const known = instruments.map((one) => ({ ...one, notionalMin: decimal(one.notionalMin) }))
    report({ kind: 'checked', check: checkPurity(strategy, params, known) })
  }
})
