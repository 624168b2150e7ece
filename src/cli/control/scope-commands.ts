import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  addOperatorCommand,
  addUnclaimedOption,
  commandDaemon,
  type CommandOptions,
  type ReleaseOptions,
} from '../operator/operator-command.ts'

interface PeakOptions extends ReleaseOptions {
  readonly newPeak?: boolean
}

interface AdoptOptions extends CommandOptions {
  readonly to: string
}

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

export function addFlattenCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatorCommand(program, 'flatten', '<scope>')
    .description(
      'cancel open orders, close what strategies hold, and allow nothing else until `release`',
    )
    .action(async (scope: string, options: CommandOptions) =>
      setExit(await commandDaemon({ kind: 'flatten', scope }, options)),
    )
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
