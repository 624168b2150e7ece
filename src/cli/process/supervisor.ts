/**
 * Notifies pm2 by a message, systemd by sd_notify(3), and the health check of a container by the
 * time of the file INTENTD_HEARTBEAT_FILE.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import type { Variables } from '../../config/secrets.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'

const HEARTBEAT_FILE_MS = 5000

/** `systemd-notify` answers within 20 ms; any that hang must not pile up. */
const NOTIFY_MS_MAX = 10_000

export interface SupervisorOptions {
  readonly variables: Variables
  readonly timers: Timers
  readonly heartbeat: () => number
  readonly onTrouble: (reason: string) => void
}

export interface Supervisor {
  ready(status?: string): void
  stopping(): void
  close(): void
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { variables, onTrouble } = options
  const isSystemd = variables['NOTIFY_SOCKET'] !== undefined
  const watchdogMs = Number(variables['WATCHDOG_USEC'] ?? 0) / 1000
  const file = variables['INTENTD_HEARTBEAT_FILE']
  const cancels: (() => void)[] = []
  // Node has no Unix datagram sockets, so a program sends (NotifyAccess=all).
  const notify = (...states: readonly string[]): void => {
    if (!isSystemd) return
    execFile(
      'systemd-notify',
      states,
      { timeout: NOTIFY_MS_MAX, env: { ...variables } },
      (error) => {
        if (error) onTrouble(error.message)
      },
    )
  }
  return {
    ready(status = 'trading') {
      process.send?.('ready')
      notify('READY=1', `STATUS=${status}`)
      if (isSystemd && watchdogMs > 0) {
        cancels.push(whileBeating(options, watchdogMs / 3, () => notify('WATCHDOG=1')))
      }
      if (file === undefined) return
      const write = (): void =>
        void writeFile(file, '').catch((error: unknown) => onTrouble(messageOf(error)))
      cancels.push(whileBeating(options, HEARTBEAT_FILE_MS, write))
    },
    stopping: () => notify('STOPPING=1', 'STATUS=stopping'),
    close: () => {
      for (const cancel of cancels.splice(0)) cancel()
    },
  }
}

function whileBeating(
  { timers, heartbeat }: SupervisorOptions,
  everyMs: number,
  act: () => void,
): () => void {
  let seen = -1
  let cancel = (): void => undefined
  const look = (): void => {
    const beats = heartbeat()
    if (beats !== seen) act()
    seen = beats
    cancel = timers.after(everyMs, look)
  }
  look()
  return () => cancel()
}
