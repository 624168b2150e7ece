import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Heap and buffers each count by themselves. */
export function createMemoryCheck(maxMb: number): () => boolean {
  const max = maxMb * 1_000_000
  // Another thread may be about to use the flag, which belongs to the process, so it stays.
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  // With the flag set, later threads would get `gc` as a global, which is not for strategies.
  if ('gc' in globalThis) Reflect.set(globalThis, 'gc', undefined)
  return () => {
    const { external_memory: external, used_heap_size: used } = getHeapStatistics()
    if (external <= max && used <= max) return false
    collectGarbage()
    const left = getHeapStatistics()
    return left.external_memory > max || left.used_heap_size > max
  }
}
