import type { DaemonConfig } from '../../config/load-config.ts'
import type { ControlAnswer, ControlRequest } from '../../control/commands.ts'
import type { StatusView } from '../../control/views.ts'
import { systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { findSocket, withClient } from '../operator/find-daemon.ts'
import { newRequestId } from '../operator/request-id.ts'
import { callerName, print, printResult } from '../process/operator.ts'

const LOOK_MS = 250
const EXIT_NOT_PROVED = 75

export interface SocketKill {
  readonly reason: string
  readonly withinMs: number
  /** Why there is no file. */
  readonly error: unknown
}

/**
 * Where no file can be made a daemon that answers obeys all the same.
 * @returns the exit code; undefined if nobody has obeyed
 */
export async function killAtSocket(
  config: DaemonConfig,
  { reason, withinMs, error }: SocketKill,
): Promise<number | undefined> {
  const socket = findSocket(config)
  if (socket === undefined) return undefined
  const cause = error instanceof Error ? (error.cause ?? error) : error
  print(`the kill file cannot be made (${messageOf(cause)}): the daemon is asked at its socket`)
  const order: ControlRequest['order'] = { kind: 'kill' }
  const request = { requestId: newRequestId(), by: callerName(), reason, order }
  const reply = await withClient(socket, (client) => client.command(request))
  if (reply.kind !== 'answered' || reply.status !== 200) {
    const found = reply.kind === 'silent' ? reply.reason : JSON.stringify(reply.body)
    print(`it has not obeyed at its socket either: ${found}`)
    return undefined
  }
  const { isObeyed, isUncertain, text } = reply.body as ControlAnswer
  printResult(text)
  if (!isObeyed && !isUncertain) return undefined
  if (!(await isProved(socket, withinMs))) {
    printResult('not proved in this time: its log and the exchange say how far it is')
    return EXIT_NOT_PROVED
  }
  printResult('clean: nothing rests, twice confirmed; so the daemon says for all of its accounts')
  if (isObeyed) return 0
  printResult('a restart may not know of this kill: free disk space, and say it again')
  return EXIT_NOT_PROVED
}

async function isProved(socket: string, withinMs: number): Promise<boolean> {
  const endAt = systemClock.monotonic() + withinMs
  for (;;) {
    const reply = await withClient(socket, (client) => client.read('/v1/status'))
    if (reply.kind === 'answered' && reply.status === 200) {
      const { accounts } = reply.body as StatusView
      if (accounts.length > 0 && accounts.every(({ kill }) => kill?.phase === 'clean')) return true
    }
    if (systemClock.monotonic() >= endAt) return false
    await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve))
  }
}
