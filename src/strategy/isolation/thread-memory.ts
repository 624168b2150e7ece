// What keeps a strategy from filling the memory of the process that it runs in.

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * V8's own limit of a thread, MB, far above what it is allowed: code that passes it in one step (a Map that doubles
 * its table, many arrays at once) ends the whole process, before the thread can be ended.
 */
export const THREAD_HEAP_LIMIT_MB = 4096
/** What the process may grow beside by itself while it waits for a strategy, MB. */
const OWN_GROWTH_MB = 64

/** For the thread itself, between two decisions: whether it keeps more than so many MB, objects and buffers each. */
export function createMemoryCheck(maxMb: number): () => boolean {
  const max = maxMb * 1_000_000
  // A flag is of the whole process: it is not taken back, for another thread may be about to use it.
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  // A thread that began after the flag was set has it as a global, which is not for strategies, and cannot be deleted.
  if ('gc' in globalThis) Reflect.set(globalThis, 'gc', undefined)
  return () => {
    const { external_memory: external, used_heap_size: used } = getHeapStatistics()
    if (external <= max && used <= max) return false
    // What nobody needs any more is not kept.
    collectGarbage()
    const left = getHeapStatistics()
    return left.external_memory > max || left.used_heap_size > max
  }
}

/** For whoever waits for it: whether the process has grown, since the first look, by more than a thread may take. */
export function watchGrowth(maxMb: number): () => boolean {
  let rssBefore: number | undefined
  return () => {
    const rss = process.memoryUsage.rss()
    rssBefore ??= rss
    return rss - rssBefore > (maxMb + OWN_GROWTH_MB) * 1_000_000
  }
}
