import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import {
  addOperatorCommand,
  commandDaemon,
  type CommandOptions,
} from './operator/operator-command.ts'

interface ReleaseOptions extends CommandOptions {
  readonly newPeak?: boolean
}

export function addReleaseCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatorCommand(program, 'release', '[scope]')
    .description('end what restricts a scope; without a scope, end a kill')
    .option(
      '--new-peak',
      'count every step of the drawdown from now on; else the last one goes on from its peak',
    )
    .action(async (scope: string | undefined, options: ReleaseOptions) => {
      const { newPeak } = options
      if (newPeak && scope === undefined)
        throw new InvalidArgumentError(
          '--new-peak needs a scope: an instrument, strategy:ID, or *.',
        )
      setExit(await commandDaemon({ kind: 'release', scope, newPeak }, options))
    })
}
