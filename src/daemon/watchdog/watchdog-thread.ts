// The other thread of the watchdog: looks whether the event loop turns, and ends the process when it does not. It uses
// nothing of the main thread, which stands still when it is needed.

import { write, writeFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { hungMsOf, readMainThread } from './main-thread.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { BEAT, RUNNING, type WatchdogData } from './watchdog-data.ts'

const { shared, checkMs, checksMax, strategies, descriptor, logName, noteFile } =
  workerData as WatchdogData
const view = new Int32Array(shared)

/** How long the process is left for its last line: it may hang because nobody reads its log. */
const LAST_LINE_MS = 1000

/** As the daemon's own writes it. */
const logger: Pick<DaemonLogger, 'log'> = {
  log(level, event, fields) {
    const time = new Date(systemClock.now()).toISOString()
    const line = `${JSON.stringify({ level, time, name: logName, event, ...fields })}\n`
    write(descriptor, line, abort)
  },
}

let [lastBeat, hungMs] = [Atomics.load(view, BEAT), 0]
let thread = readMainThread(process.pid)
check()

/**
 * Checks are counted, not time: a machine that slept, and a process that was stopped, wake both threads. Of the time
 * between two checks counts what the main thread could use.
 */
function check(): void {
  const beat = Atomics.load(view, BEAT)
  const now = readMainThread(process.pid)
  hungMs = beat === lastBeat ? hungMs + hungMsOf(checkMs, thread, now) : 0
  lastBeat = beat
  thread = now
  if (hungMs >= checkMs * checksMax) return endProcess()
  systemTimers.after(checkMs, check)
}

function endProcess(): void {
  const running = strategies[Atomics.load(view, RUNNING) - 1]
  const strategy = running?.id
  try {
    const note = JSON.stringify({ at: systemClock.now(), hungMs, strategy })
    writeFileSync(running?.noteFile ?? noteFile, note, { mode: 0o600 })
  } catch {
    // A full disk: the log says it.
  }
  systemTimers.after(LAST_LINE_MS, abort)
  logger.log('fatal', 'loop.hung', { hungMs, strategy })
}

/** No exit code gets past a main thread that stands still; the signal does. */
function abort(): void {
  process.kill(process.pid, 'SIGABRT')
}
