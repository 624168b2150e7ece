import { systemTimers } from '../lib/timers.ts'
import { showDuration } from '../report/text/figures.ts'
import { openProgramThread } from '../lib/program-thread.ts'
import { withoutPlace } from '../lib/without-place.ts'
import { HEAP_MB_MAX } from '../backtest/playing/watched-play.ts'
import type { TrialAnswer, TrialOrder } from './play-trial.ts'

/** Runs a trial in a thread; never throws. @param limitMs Real time of the whole trial. @param stop Ends it, and all. */
export function runTrial(
  order: TrialOrder,
  limitMs: number,
  stop: AbortSignal,
): Promise<TrialAnswer | undefined> {
  return new Promise((resolve) => {
    const thread = openProgramThread('./trial-thread', import.meta.url, {
      workerData: { order },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    })
    const end = (outcome: TrialAnswer | undefined): void => {
      cancel()
      stop.removeEventListener('abort', abort)
      resolve(outcome !== undefined && 'failed' in outcome ? withoutPlaces(outcome) : outcome)
      void thread.terminate()
    }
    const abort = (): void => end(undefined)
    const cancel = systemTimers.after(limitMs, () =>
      end({ failed: `not done after ${showDuration(limitMs)} (--trial-limit)`, isTimeOut: true }),
    )
    stop.addEventListener('abort', abort)
    thread.once('message', (text: string) => end(JSON.parse(text) as TrialAnswer))
    thread.once('error', (error) =>
      end({ failed: error instanceof Error ? error.message : String(error) }),
    )
    thread.once('exit', () => end({ failed: 'the thread ended by itself' }))
  })
}

/** The table of a sweep is the same, on whatever machine a trial fails. */
function withoutPlaces<Failed extends { readonly failed: string }>(outcome: Failed): Failed {
  return { ...outcome, failed: withoutPlace(outcome.failed, process.cwd()) }
}
