import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import {
  addOperatorCommand,
  addUnclaimedOption,
  commandDaemon,
  type ReleaseOptions,
} from './operator/operator-command.ts'

interface PeakOptions extends ReleaseOptions {
  readonly newPeak?: boolean
}

export function addReleaseCommand(program: Command, { setExit }: VerbFrame): void {
  addUnclaimedOption(addOperatorCommand(program, 'release', '[scope]'))
    .description('end what restricts a scope; without a scope, end a kill')
    .option(
      '--new-peak',
      'count every step of the drawdown from now on; else the last one goes on from its peak',
    )
    .action(async (scope: string | undefined, options: PeakOptions) => {
      const { newPeak, unclaimed } = options
      const narrowing = newPeak ? '--new-peak' : unclaimed ? '--unclaimed' : undefined
      if (narrowing !== undefined && scope === undefined)
        throw new InvalidArgumentError(
          `${narrowing} needs a scope: an instrument, strategy:ID, or *.`,
        )
      setExit(await commandDaemon({ kind: 'release', scope, newPeak, unclaimed }, options))
    })
}
