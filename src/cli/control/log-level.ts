import { Argument, type Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import type { ControlAnswer, ControlRequest } from '../../control/commands.ts'
import { newRequestId } from '../operator/request-id.ts'
import { operatorName, print, printResult } from '../process/operator.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import type { ConfigOptions } from '../../config/load-config.ts'
import { EXIT_SILENT, explainReply, findSocket, withClient } from '../operator/find-daemon.ts'

export function addLogLevelCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('log-level'))
    .description('change how much a running daemon logs, until it ends')
    .addArgument(new Argument('<level>').choices(['trace', 'debug', 'info', 'warn', 'error']))
    .action(async (level: 'info', options: ConfigOptions) =>
      setExit(await setLogLevel(level, options)),
    )
}

async function setLogLevel(level: 'info', options: ConfigOptions): Promise<number> {
  const config = loadOperated(options)
  const socket = findSocket(config)
  if (socket === undefined) {
    print('no daemon runs with this configuration; log.level is what the next one begins with')
    return EXIT_SILENT
  }
  const request: ControlRequest = {
    requestId: newRequestId(),
    by: operatorName(),
    reason: 'ordered at the command line',
    order: {
      kind: 'logLevel',
      level,
    },
  }
  const reply = await withClient(socket, (client) => client.command(request))
  if (reply.kind !== 'answered' || reply.status !== 200) return explainReply(config, reply)
  printResult((reply.body as ControlAnswer).text)
  return 0
}
