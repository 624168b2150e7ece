import type { Command } from 'commander'
import type { BacktestCommandOptions } from '../backtest/opening/play-options.ts'
import { playBacktest } from '../backtest/playing/watched-play.ts'
import { FILL_MODELS } from '../simulator/matching/fill-model.ts'
import { addPlayOptions, hungAfterOption } from './process/options.ts'
import type { VerbFrame } from './process/verb-frame.ts'

export function addBacktestCommand(program: Command, { version, setExit }: VerbFrame): void {
  addPlayOptions(program.command('backtest'), [...FILL_MODELS, 'all'])
    .argument('[config]', 'the configuration, as for run (default: config/paper.yaml)')
    .description('run the configuration on past prices, and write a report')
    .option('--out <directory>', 'where the report goes (default: a directory under backtests/)')
    .addOption(hungAfterOption())
    .action(
      async (
        config: string | undefined,
        options: BacktestCommandOptions & { readonly hungAfter: number },
      ) => {
        const { hungAfter: hungAfterMs, ...played } = options
        setExit(await playBacktest({ config, options: played, version }, hungAfterMs))
      },
    )
}
