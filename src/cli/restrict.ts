import { Argument, type Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import {
  addOperatorCommand,
  commandDaemon,
  type CommandOptions,
} from './operator/operator-command.ts'

export function addRestrictCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatorCommand(program, 'restrict', '<scope>')
    .description(
      'allow only orders that reduce, or none, until `release`, and cancel those that add risk; never loosens',
    )
    .addArgument(
      new Argument('<mode>', 'reducing: only orders that reduce; halted: none').choices([
        'reducing',
        'halted',
      ]),
    )
    .action(async (scope: string, mode: 'reducing' | 'halted', options: CommandOptions) =>
      setExit(await commandDaemon({ kind: 'restrict', scope, mode }, options)),
    )
}
