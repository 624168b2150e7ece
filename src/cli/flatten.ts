import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import {
  addOperatorCommand,
  commandDaemon,
  type CommandOptions,
} from './operator/operator-command.ts'

export function addFlattenCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatorCommand(program, 'flatten', '<scope>')
    .description(
      'cancel open orders, close what strategies hold, and allow nothing else until `release`',
    )
    .action(async (scope: string, options: CommandOptions) =>
      setExit(await commandDaemon({ kind: 'flatten', scope }, options)),
    )
}
