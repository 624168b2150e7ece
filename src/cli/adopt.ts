import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import {
  addOperatorCommand,
  commandDaemon,
  type CommandOptions,
} from './operator/operator-command.ts'

interface AdoptOptions extends CommandOptions {
  readonly to: string
}

export function addAdoptCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatorCommand(program, 'adopt', '<symbol>')
    .description(
      'hand the part of a position that no strategy holds to one that trades the instrument',
    )
    .requiredOption('--to <strategy>', 'the id of the strategy that takes it over')
    .action(async (scope: string, { to, ...options }: AdoptOptions) =>
      setExit(await commandDaemon({ kind: 'adopt', scope, strategy: to }, options)),
    )
}
