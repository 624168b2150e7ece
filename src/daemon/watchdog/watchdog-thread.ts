// The other thread of the watchdog: looks whether the event loop turns, and ends the process when it does not. It uses
// nothing of the main thread, which stands still when it is needed.

import { writeFileSync, writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { BEAT, RUNNING, type WatchdogData } from './watchdog-data.ts'

const { shared, checkMs, checksMax, names, descriptor, logName, noteFile } = workerData as WatchdogData
const view = new Int32Array(shared)

let [lastBeat, silent] = [Atomics.load(view, BEAT), 0]

// Checks are counted, not time: a machine that slept, and a process that was stopped, wake both threads.
setInterval(() => {
  const beat = Atomics.load(view, BEAT)
  silent = beat === lastBeat ? silent + 1 : 0
  lastBeat = beat
  if (silent >= checksMax) endProcess()
}, checkMs)

function endProcess(): void {
  const strategy = names[Atomics.load(view, RUNNING) - 1]
  const hungMs = silent * checkMs
  const at = Date.now()
  try {
    writeFileSync(noteFile, JSON.stringify({ at, hungMs, strategy }), { mode: 0o600 })
  } catch {
    // A full disk: the log says it.
  }
  const line = {
    level: 'fatal',
    time: new Date(at).toISOString(),
    name: logName,
    event: 'loop.hung',
    hungMs,
    strategy,
  }
  try {
    writeSync(descriptor, `${JSON.stringify(line)}\n`)
  } catch {
    // Nobody reads the log any more.
  }
  // No exit code gets past a main thread that stands still; the signal does.
  process.kill(process.pid, 'SIGABRT')
}
