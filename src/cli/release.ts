import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { addOperatorCommand, commandDaemon, type CommandOptions } from './operator/operator-command.ts'

/** `intentd release`: ends a kill, or what holds an instrument, a strategy or the account, with a reason. */
export function addReleaseCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatorCommand(program, 'release', '[scope]')
    .description('end what restricts a scope; without a scope, end a kill')
    .action(async (scope: string | undefined, options: CommandOptions) =>
      setExit(await commandDaemon({ kind: 'release', scope }, options)),
    )
}
