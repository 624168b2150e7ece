// What keeps a strategy from filling the memory of the process that it runs in.

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

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
