/** What supervisors are notified of: pm2 by a message, systemd by sd_notify(3). Without either nothing happens. */
import { execFile } from 'node:child_process'
import { type Variables } from '../../config/secrets.ts'
import { type Timers } from '../../lib/timers.ts'

/** `systemd-notify` answers within 20 ms; one that hangs must not pile up. */
const NOTIFY_MS_MAX = 10_000

export interface SupervisorOptions {
  readonly variables: Variables
  readonly timers: Timers
  /** Grows while the trading loop goes round. */
  readonly heartbeat: () => number
  /** A notification that did not leave, and why. */
  readonly onTrouble: (reason: string) => void
}

export interface Supervisor {
  /** The daemon is up: from now on the watchdog is fed. */
  ready(): void
  stopping(): void
  /** Nothing is fed any more. */
  close(): void
}

/**
 * The watchdog is fed three times in WatchdogSec, each time only when the heartbeat has grown: a loop that stands
 * still is killed by systemd, though timers still fire.
 */
export function createSupervisor({ variables, timers, heartbeat, onTrouble }: SupervisorOptions): Supervisor {
  const isSystemd = variables['NOTIFY_SOCKET'] !== undefined
  const watchdogMs = Number(variables['WATCHDOG_USEC'] ?? 0) / 1000
  let seen = -1
  let cancel = (): void => undefined
  // Node has no datagram sockets of this family, so a child sends: the unit has NotifyAccess=all for it.
  const notify = (...states: readonly string[]): void => {
    if (!isSystemd) return
    execFile('systemd-notify', states, { timeout: NOTIFY_MS_MAX, env: { ...variables } }, (error) => {
      if (error) onTrouble(error.message)
    })
  }
  const feed = (): void => {
    const beats = heartbeat()
    if (beats !== seen) notify('WATCHDOG=1')
    seen = beats
    cancel = timers.after(watchdogMs / 3, feed)
  }
  return {
    ready() {
      process.send?.('ready')
      notify('READY=1', 'STATUS=trading')
      if (isSystemd && watchdogMs > 0) feed()
    },
    stopping: () => notify('STOPPING=1', 'STATUS=stopping'),
    close: () => cancel(),
  }
}
