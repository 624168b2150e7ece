import { type Command, InvalidArgumentError } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { FILL_MODELS } from '../../simulator/matching/fill-model.ts'
import { addPlayOptions, hungAfterOption, parseCount } from '../process/options.ts'
import { playWatched } from '../../backtest/playing/watched-play.ts'
import type { BiasOptions, BiasTask } from './run-check.ts'

const CUTS_DEFAULT = 4
const CUTS_MAX = 100

export function addCheckBiasCommand(program: Command, { version, setExit }: VerbFrame): void {
  addPlayOptions(program.command('check-bias'), FILL_MODELS)
    .argument('[config]', 'the configuration, as for run (default: config/paper.yaml)')
    .description('prove that no decision of a backtest used prices of the future')
    .option('--cuts <n>', 'at how many moments to cut off the future', parseCuts, CUTS_DEFAULT)
    .addOption(hungAfterOption())
    .action(
      async (config: string | undefined, options: BiasOptions & { readonly hungAfter: number }) => {
        const { hungAfter: hungAfterMs, ...checked } = options
        const task: BiasTask = { config, options: checked, version }
        setExit(
          await playWatched({
            file: './check-thread',
            askedBy: import.meta.url,
            task,
            hungAfterMs,
          }),
        )
      },
    )
}

function parseCuts(text: string): number {
  const cuts = parseCount(text)
  if (cuts >= 1 && cuts <= CUTS_MAX) return cuts
  throw new InvalidArgumentError(`write a whole number from 1 to ${CUTS_MAX}.`)
}
