import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  addOperatorCommand,
  addUnclaimedOption,
  commandDaemon,
  type CommandOptions,
  type ReleaseOptions,
} from '../operator/operator-command.ts'

/** They are short forms of `restrict` and `release`. */
export function addModeCommands(program: Command, { setExit }: VerbFrame): void {
  const scopeOf = (name: string): string =>
    /^(\*$|strategy:)/.test(name) ? name : `strategy:${name}`
  addOperatorCommand(program, 'pause', '<strategy>')
    .description(
      'stop a strategy: it sends no orders until `resume`, and its open orders that add risk are cancelled',
    )
    .action(async (strategy: string, options: CommandOptions) =>
      setExit(
        await commandDaemon(
          { kind: 'restrict', scope: scopeOf(strategy), mode: 'halted' },
          options,
        ),
      ),
    )
  addUnclaimedOption(addOperatorCommand(program, 'resume', '<strategy>'))
    .description('end everything that restricts a strategy')
    .action(async (strategy: string, options: ReleaseOptions) => {
      const { unclaimed } = options
      const scope = scopeOf(strategy)
      setExit(await commandDaemon({ kind: 'release', scope, unclaimed }, options))
    })
  addUnclaimedOption(addOperatorCommand(program, 'mode', '<scope>'))
    .description(
      'allow everything (a release), only orders that reduce, or none; orders that add risk are cancelled',
    )
    .addArgument(
      new Argument('<mode>', 'the trading mode').choices(['active', 'reducing', 'halted']),
    )
    .action(
      async (scope: string, mode: 'active' | 'reducing' | 'halted', options: ReleaseOptions) => {
        const { unclaimed } = options
        if (unclaimed && mode !== 'active')
          throw new InvalidArgumentError('--unclaimed goes with active alone, which is a release.')
        setExit(
          await commandDaemon(
            mode === 'active'
              ? { kind: 'release', scope, unclaimed }
              : { kind: 'restrict', scope, mode },
            options,
          ),
        )
      },
    )
}
