import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { print } from '../process/operator.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import type { ConfigOptions } from '../../config/load-config.ts'
import { EXIT_SILENT, explainReply, findSocket, withClient } from '../operator/find-daemon.ts'
import { writeOut } from '../../lib/write-out.ts'

const EXIT_NO_PORT = 1

export function addDashboardCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('dashboard'))
    .description('print the address of the dashboard; it opens once, within a minute')
    .action(async (options: ConfigOptions) => setExit(await showAddress(options)))
}

async function showAddress(options: ConfigOptions): Promise<number> {
  const config = loadOperated(options)
  const socket = findSocket(config)
  if (socket === undefined) {
    print('no daemon runs with this configuration')
    return EXIT_SILENT
  }
  const reply = await withClient(socket, (client) => client.newAddress())
  if (reply.kind !== 'answered' || reply.status !== 200) return explainReply(config, reply)
  const { url } = reply.body as { readonly url: string | null }
  if (url === null) {
    print(
      config.control.port === undefined
        ? 'it has no port: set control.port, and start it again'
        : 'it does not listen at its port: `intentd status` says why',
    )
    return EXIT_NO_PORT
  }
  writeOut(`${url}\n`)
  return 0
}
