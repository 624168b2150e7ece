import type { Command } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { addConfigOptions, addParamOption, hungAfterOption } from './process/options.ts'
import { playWatched } from '../backtest/playing/watched-play.ts'
import type { ConfigOptions } from '../config/load-config.ts'
import type { ParityTask } from '../backtest/parity/run-parity.ts'

interface ParityOptions extends ConfigOptions {
  readonly hungAfter: number
  readonly out?: string
}

export function addParityCommand(program: Command, { version, setExit }: VerbFrame): void {
  addParamOption(addConfigOptions(program.command('parity')))
    .argument('<recording>', 'a .rec file, or a directory of them')
    .description(
      'compare a recorded run with a backtest on the same prices: what was wanted and filled',
    )
    .option('--out <directory>', 'write a report of both runs there, for `intentd compare`')
    .addOption(hungAfterOption())
    .action(async (recording: string, options: ParityOptions) => {
      const { hungAfter: hungAfterMs, out, ...compared } = options
      const task: ParityTask = { recording, options: compared, out, version }
      setExit(
        await playWatched({
          file: '../backtest/parity/parity-thread',
          askedBy: import.meta.url,
          task,
          hungAfterMs,
        }),
      )
    })
}
