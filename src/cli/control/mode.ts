import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  addOperatorCommand,
  addUnclaimedOption,
  commandDaemon,
  type ReleaseOptions,
} from '../operator/operator-command.ts'

type WantedMode = 'active' | 'reducing' | 'halted'

const MODES: readonly WantedMode[] = ['active', 'reducing', 'halted']

export function addModeCommands(program: Command, { setExit }: VerbFrame): void {
  const change = async (
    scope: string,
    mode: WantedMode,
    options: ReleaseOptions,
  ): Promise<void> => {
    const { unclaimed } = options
    if (unclaimed && mode !== 'active')
      throw new InvalidArgumentError('--unclaimed goes with active alone, which is a release.')
    const order =
      mode === 'active'
        ? ({ kind: 'release', scope, unclaimed } as const)
        : ({ kind: 'restrict', scope, mode } as const)
    setExit(await commandDaemon(order, options))
  }
  addOperatorCommand(program, 'pause', '<scope>')
    .description(
      'short for `mode SCOPE halted`: no orders until `resume`; open orders that add risk are cancelled',
    )
    .action((scope: string, options: ReleaseOptions) => change(scope, 'halted', options))
  addUnclaimedOption(addOperatorCommand(program, 'resume', '<scope>'))
    .description('short for `mode SCOPE active`: end everything that restricts a scope')
    .action((scope: string, options: ReleaseOptions) => change(scope, 'active', options))
  addUnclaimedOption(addOperatorCommand(program, 'mode', '<scope>'))
    .alias('restrict')
    .description(
      'allow only orders that reduce, or none, and cancel those that add risk; never loosens, except by active, which is a release',
    )
    .addArgument(new Argument('<mode>', 'the trading mode').choices(MODES))
    .action(change)
}
