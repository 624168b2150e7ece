import { isDeepStrictEqual } from 'node:util'
import type { Instrument } from '../../domain/instrument.ts'
import { messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { openProgramThread } from '../../lib/program-thread.ts'
import { THREAD_HEAP_LIMIT_MB, watchGrowth } from '../isolation/thread-memory.ts'
import type { Strategy } from '../define-strategy.ts'
import { checkPurity, type PurityCheck } from './check-purity.ts'

/** Real time that a strategy has, ms. */
const LIMIT_MS = 10_000
/** Real time to load its file, ms: that has a limit of its own. */
const LOAD_MS_MAX = 90_000
const MEMORY_MB = 512
const MEMORY_LOOKED_AT_MS = 50

/** A strategy with what it is given. */
export interface Binding {
  readonly name: string
  /** Where it was loaded in this thread: it is asked here if its params cannot cross into another one. */
  readonly strategy?: Strategy
  /** Whether it reaches as little while it is checked as in a thread of its own. */
  readonly isGuarded: boolean
  readonly moduleFile: string
  /** As the strategy's own schema gave them back. */
  readonly params: unknown
  readonly instruments: readonly Instrument[]
}

export interface PurityData {
  readonly isGuarded: boolean
  readonly bindings: readonly {
    readonly moduleFile: string
    readonly params: unknown
    readonly instruments: readonly (Omit<Instrument, 'notionalMin'> & {
      readonly notionalMin: string
    })[]
  }[]
}

export type PurityNews =
  | { readonly kind: 'begun' }
  | { readonly kind: 'checked'; readonly check: PurityCheck }

/**
 * {@link checkPurity} of each, in a thread of its own: the caller goes on meanwhile, and one that does not come back
 * within the limit, ends its thread or fills the memory is a problem of its own.
 */
export async function checkPurities(
  bindings: readonly Binding[],
  { limitMs = LIMIT_MS }: { readonly limitMs?: number } = {},
): Promise<readonly PurityCheck[]> {
  const checks: PurityCheck[] = []
  while (checks.length < bindings.length) {
    const rest = bindings.slice(checks.length)
    const [next] = rest as [Binding]
    const { strategy, params, instruments } = next
    if (strategy === undefined || isPlain(params))
      checks.push(...(await checkInThread(rest, limitMs)))
    else checks.push(checkPurity(strategy, params, instruments))
  }
  return checks
}

/** Whether it is the same on the other side of a thread. */
function isPlain(params: unknown): boolean {
  try {
    return isDeepStrictEqual(structuredClone(params), params)
  } catch {
    return false
  }
}

/** Of the first of them at least, and up to one that ends the thread, cannot cross into it or may do more or less there. */
function checkInThread(
  bindings: readonly Binding[],
  limitMs: number,
): Promise<readonly PurityCheck[]> {
  const isGuarded = bindings[0]?.isGuarded ?? true
  const end = bindings.findIndex((one) => one.isGuarded !== isGuarded || !isPlain(one.params))
  const crossing = end < 0 ? bindings : bindings.slice(0, end)
  const workerData: PurityData = {
    isGuarded,
    bindings: crossing.map(({ moduleFile, params, instruments }) => ({
      moduleFile,
      params,
      instruments: instruments.map((one) => ({
        ...one,
        notionalMin: one.notionalMin.toString(),
      })),
    })),
  }
  const worker = openProgramThread('./purity-thread', import.meta.url, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_LIMIT_MB },
  })
  const checks: PurityCheck[] = []
  return new Promise((resolve) => {
    const fail = (problem: string): void => {
      const name = crossing[checks.length]?.name
      checks.push({ problems: [`${name} ${problem}`], notes: [] })
      finish()
    }
    const finish = (): void => {
      cancelTimer()
      cancelLook()
      worker.removeAllListeners()
      // What comes of it after its end is of nobody's concern.
      worker.on('error', () => {})
      void worker.terminate()
      resolve(checks)
    }
    const late = (ms: number) =>
      systemTimers.after(ms, () =>
        fail(`did not come back on made-up prices within ${ms / 1000} s; look for an endless loop`),
      )
    let cancelTimer = late(LOAD_MS_MAX)
    const isGrown = watchGrowth(MEMORY_MB)
    let cancelLook = (): void => {}
    const look = (): void => {
      if (isGrown()) fail(`takes more than ${MEMORY_MB} MB of memory on made-up prices`)
      else cancelLook = systemTimers.after(MEMORY_LOOKED_AT_MS, look)
    }
    look()
    worker.on('message', (news: PurityNews) => {
      cancelTimer()
      if (news.kind === 'checked') checks.push(news.check)
      if (checks.length === crossing.length) return finish()
      cancelTimer = late(news.kind === 'begun' ? limitMs : LOAD_MS_MAX)
    })
    worker.on('error', (error) => fail(`failed on made-up prices: ${messageOf(error)}`))
    worker.on('exit', () =>
      fail('ended its thread on made-up prices; a strategy may not end anything'),
    )
  })
}
