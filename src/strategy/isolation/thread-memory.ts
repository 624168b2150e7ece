import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Between decisions, heap or buffers keep more than `maxMb` each. */
export function createMemoryCheck(maxMb: number): () => boolean {
  const max = maxMb * 1_000_000
  // Flags belong to the process. This one stays, because another thread may be about to use it.
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  // A later thread has `gc` as a global, which cannot be deleted and is not for strategies.
  if ('gc' in globalThis) Reflect.set(globalThis, 'gc', undefined)
  return () => {
    const { external_memory: external, used_heap_size: used } = getHeapStatistics()
    if (external <= max && used <= max) return false
    // Garbage does not count.
    collectGarbage()
    const left = getHeapStatistics()
    return left.external_memory > max || left.used_heap_size > max
  }
}
