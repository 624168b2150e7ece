// Loaded before a daemon: at SIGUSR2 the thread of its control port hangs, and at SIGWINCH it exits.

import { createRequire, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import type * as WorkerThreads from 'node:worker_threads'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'

const channel = new BroadcastChannel('fault of the port')

if (isMainThread) {
  channel.unref()
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof WorkerThreads
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(file: string | URL, options: ConstructorParameters<typeof Worker>[1]) {
      const isPort = String(file).includes('/port-thread')
      const execArgv = isPort ? ['--import', fileURLToPath(import.meta.url)] : []
      super(file, { ...options, execArgv })
    }
  }
  syncBuiltinESMExports()
  process.on('SIGUSR2', () => channel.postMessage('hang'))
  process.on('SIGWINCH', () => channel.postMessage('exit'))
} else {
  channel.unref()
  channel.onmessage = (message) => {
    if ((message as MessageEvent).data === 'exit') process.exit(1)
    for (;;);
  }
}
