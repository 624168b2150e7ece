import type { Command } from 'commander'
import type { ConfigOptions, DaemonConfig } from '../../config/load-config.ts'
import type { ControlAnswer, ProposalView } from '../../control/commands.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import { EXIT_SILENT, explainReply, findSocket, withClient } from '../operator/find-daemon.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { describeProposal } from '../operator/propose-command.ts'
import { printAnswer } from '../operator/send-command.ts'
import { askLine } from '../process/ask-line.ts'
import { callerName, print, printResult } from '../process/operator.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

const EXIT_NOT_DONE = 1

export function addConfirmCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('confirm'))
    .description(
      'confirm what a chat, an assistant or the port has proposed, with a one-time code that it asks for',
    )
    .argument('[id]', 'of the proposal; without it, what waits is listed')
    .action(async (id: string | undefined, options: ConfigOptions) =>
      setExit(await confirm(id, options)),
    )
}

async function confirm(id: string | undefined, options: ConfigOptions): Promise<number> {
  const config = loadOperated(options)
  const socket = findSocket(config)
  if (socket === undefined) {
    print('no daemon runs with this configuration, so nothing waits')
    return EXIT_SILENT
  }
  const reply = await withClient(socket, (client) => client.read('/v1/proposals'))
  if (reply.kind !== 'answered' || reply.status !== 200) return explainReply(config, reply)
  const waiting = reply.body as readonly ProposalView[]
  const shown = id === undefined ? waiting : waiting.filter((one) => one.id === id)
  for (const line of shown.flatMap(describeProposal)) printResult(line)
  if (id === undefined) {
    if (waiting.length === 0) printResult('nothing waits')
    return 0
  }
  // Sent all the same: the daemon says what became of a proposal that is over.
  const code = shown.length === 0 ? 'none' : await askLine('code of the authenticator: ')
  if (code === undefined || code === '') {
    print('not done: no code was given, on standard input')
    return EXIT_NOT_DONE
  }
  return send(config, socket, { id, code })
}

async function send(
  config: DaemonConfig,
  socket: string,
  { id, code }: { readonly id: string; readonly code: string },
): Promise<number> {
  const confirmation = { id, code, by: callerName() }
  const reply = await withClient(socket, (client) => client.confirm(confirmation))
  if (reply.kind !== 'answered' || reply.status !== 200) return explainReply(config, reply)
  const answer = reply.body as ControlAnswer
  const exitCode = printAnswer(answer)
  if (answer.isUncertain) print(adviseRepeating(id, answer.requestId))
  return exitCode
}

/** A restart drops proposals; the key stays that of the command. */
function adviseRepeating(id: string, key: string): string {
  return `to learn what came of it: confirm ${id} again, which needs no code; after a restart, send the command itself again with --key ${toShellWord(key)}`
}
