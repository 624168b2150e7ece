// Uses nothing of the main thread, which may be stuck.

import { write, writeFileSync } from 'node:fs'
import { systemClock } from '../../lib/clock.ts'
import { Patience, readThreadTime, runTask } from '../../lib/supervised-thread.ts'
import { systemTimers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { BEAT, RUNNING, type WatchdogData } from './watchdog.ts'

/** The last line may take so long: the process may hang because nothing reads its log. */
const LAST_LINE_MS = 1000

await runTask<WatchdogData, never>((data) => {
  const view = new Int32Array(data.shared)
  const patience = new Patience(data.checkMs, () => readThreadTime(process.pid))
  const check = (): void => {
    const hungMs = patience.check(Atomics.load(view, BEAT))
    if (hungMs >= data.checkMs * data.checksMax)
      return endProcess(data, hungMs, Atomics.load(view, RUNNING))
    systemTimers.after(data.checkMs, check)
  }
  check()
  return new Promise(() => undefined)
})

function endProcess(data: WatchdogData, hungMs: number, number: number): void {
  const { strategies, noteFile } = data
  const logger = createLogger(data)
  const running = strategies[number - 1]
  const strategy = running?.id
  try {
    const note = JSON.stringify({ at: systemClock.now(), hungMs, strategy })
    writeFileSync(running?.noteFile ?? noteFile, note, { mode: 0o600 })
  } catch {} // The disk may be full; the log has it.
  systemTimers.after(LAST_LINE_MS, abort)
  logger.log('fatal', 'loop.hung', { hungMs, strategy })
}

function createLogger({ descriptor, logName }: WatchdogData): Pick<DaemonLogger, 'log'> {
  return {
    log(level, event, fields) {
      const time = new Date(systemClock.now()).toISOString()
      const line = `${JSON.stringify({ level, time, name: logName, event, ...fields })}\n`
      write(descriptor, line, abort)
    },
  }
}

/** A stuck main thread prevents any exit code, but not the signal. */
function abort(): void {
  process.kill(process.pid, 'SIGABRT')
}
