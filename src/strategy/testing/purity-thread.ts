// The thread in which strategies are asked along made-up prices: one that never comes back costs this thread alone.

import { resolve } from 'node:path'
import { decimal } from '../../lib/decimal.ts'
import { runTask } from '../../lib/supervised-thread.ts'
import { guardThread } from '../isolation/guard-thread.ts'
import { fileOfCode, loadStrategy } from '../load-strategy.ts'
import { strategyAtFault } from '../strategy-context.ts'
import { checkPurity } from './check-purity.ts'
import type { PurityData, PurityNews } from './watched-purity.ts'

await runTask<PurityData, PurityNews>(async ({ bindings, isGuarded }, report) => {
  const files = new Set(bindings.map(({ moduleFile }) => resolve(moduleFile)))
  process.on('uncaughtException', (error) => {
    // What a file leaves to fail by itself while it is loaded was reported when it was loaded before; it would end the
    // thread while another one is asked, which would be blamed.
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
})
