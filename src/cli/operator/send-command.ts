import type { DaemonConfig } from '../../config/load-config.ts'
import type { ControlAnswer, ControlRequest } from '../../control/commands.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import { operatorName, print, printResult } from '../process/operator.ts'
import { EXIT_SILENT, explainReply, findSocket, withClient } from './find-daemon.ts'

const EXIT_NOT_DONE = 1
const EXIT_WAITING = 75

export interface SentCommand {
  readonly key: string
  readonly reason: string
  readonly order: ControlRequest['order']
  readonly words: { readonly withoutDaemon: string; readonly unanswered: string }
}

/** Unlike a command file, it is lost if no daemon runs. @returns the exit code */
export async function sendCommand(
  config: DaemonConfig,
  { key, reason, order, words }: SentCommand,
): Promise<number> {
  const socket = findSocket(config)
  if (socket === undefined) {
    print(words.withoutDaemon)
    return EXIT_SILENT
  }
  const request = { requestId: key, by: operatorName(), reason, order }
  const reply = await withClient(socket, (client) => client.command(request))
  if (reply.kind !== 'answered') {
    const code = explainReply(config, reply)
    if ('dryRun' in order && order.dryRun === true)
      print('the dry run was not answered; it does nothing, so ask again')
    else print(`${words.unanswered}: give it again with --key ${toShellWord(key)}`)
    return code
  }
  if (reply.status !== 200) return explainReply(config, reply)
  return printAnswer(reply.body as ControlAnswer, key)
}

/** @returns the exit code */
export function printAnswer({ isObeyed, isUncertain, text }: ControlAnswer, key?: string): number {
  printResult(text)
  if (isUncertain && key !== undefined) print(`to send it again: --key ${toShellWord(key)}`)
  if (isUncertain) return EXIT_WAITING
  return isObeyed ? 0 : EXIT_NOT_DONE
}
