import { type Command } from 'commander'
import { type VerbFrame } from '../process/verb-frame.ts'
import { addConfigOptions, type ConfigOptions } from '../process/options.ts'
import { checkParity } from './run-parity.ts'

/** Something was wanted or filled otherwise. */
const EXIT_DIFFERENT = 1

/** `intentd parity`: a recorded run beside a backtest of the same prices. */
export function addParityCommand(program: Command, { version, setExit }: VerbFrame): void {
  addConfigOptions(program.command('parity'))
    .argument('<recording>', 'a .rec file, or a directory of them')
    .description('run the prices of a recording through the backtest, and compare what was wanted and filled')
    .action(async (recording: string, options: ConfigOptions) => {
      const { isSame, lines } = await checkParity(recording, options, version)
      process.stdout.write(lines.map((line) => `${line}\n`).join(''))
      setExit(isSame ? 0 : EXIT_DIFFERENT)
    })
}
