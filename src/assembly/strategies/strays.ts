import process from 'node:process'
import { resolve } from 'node:path'
import type { ConfigDocuments, DaemonConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { systemTimers } from '../../lib/timers.ts'
import { fileOfCode } from '../../strategy/load-strategy.ts'
import { strategyAtFault } from '../../strategy/strategy-context.ts'
import { describeThrown } from '../../strategy/strategy-failure.ts'

/** Errors of strategy files during loading. */
export interface Strays {
  problemsOf(config: DaemonConfig, documents: ConfigDocuments): readonly Problem[]
}

const HINT = 'a strategy starts nothing of its own: take timers and promises out of its file'

export function describeStray(thrown: string): string {
  return `the strategy failed while it was being loaded: ${thrown}; ${HINT}`
}

export function catchStrays(): Strays {
  const caught = new Map<string, unknown>()
  const hear = (error: unknown): void => {
    const name = strategyAtFault()
    if (name !== undefined) caught.set(fileOfCode(name), error)
    else if (process.listenerCount('uncaughtException') === 1) {
      // Without this listener the error ends the process, as usual.
      process.off('uncaughtException', hear)
      systemTimers.after(0, () => {
        throw error
      })
    }
  }
  process.on('uncaughtException', hear)
  return {
    problemsOf({ strategies }, documents) {
      process.off('uncaughtException', hear)
      return strategies.flatMap(({ id, moduleFile }) => {
        const file = resolve(moduleFile)
        const source = caught.has(file) ? documents.strategies.get(id) : undefined
        const text = describeStray(describeThrown(caught.get(file)))
        return source === undefined ? [] : [source.problem(['module'], text)]
      })
    },
  }
}
