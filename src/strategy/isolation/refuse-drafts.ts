import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isAnyWithin } from '../../config/draft-strategies.ts'
import { strategyFailure } from '../strategy-failure.ts'
import { isThreadGuarded } from './guard-thread.ts'

const folders = new Set<string>()

/**
 * An assistant may write to these folders, so without the guard this thread loads no code from
 * them, whichever module imports it.
 */
export function refuseDrafts(drafts: readonly string[]): void {
  if (drafts.length === 0 || isThreadGuarded()) return
  if (folders.size === 0)
    registerHooks({
      load(url, context, nextLoad) {
        if (url.startsWith('file:')) assertNoDraft(fileURLToPath(url))
        return nextLoad(url, context)
      },
    })
  for (const folder of drafts) folders.add(folder)
}

function assertNoDraft(file: string): void {
  if (![...folders].some((folder) => isAnyWithin(folder, [file]))) return
  throw strategyFailure('STRATEGY_DRAFT', {
    facts: { file },
    hint: 'an assistant may write it (control.agents.strategies): import it from no strategy with isolation: inline, and play it beside none; or read it, and move it out of that folder',
  })
}
