import { isMainThread } from 'node:worker_threads'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Loaded before the program of a soak: it says what stays after a garbage collection, each time it is signalled. */
if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    collect()
    process.stderr.write(`heapBytes ${process.memoryUsage().heapUsed}\n`)
  })
}
