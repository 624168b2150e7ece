import { availableParallelism } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { type VerbFrame } from '../process/verb-frame.ts'
import { FILL_MODELS } from '../../simulator/matching/fill-model.ts'
import { addPlayOptions } from '../backtest/backtest.ts'
import { EXITS } from '../process/exit-codes.ts'
import { parseCount, parseDuration } from '../process/options.ts'
import { runSweep, type SweepOptions } from './run-sweep.ts'

/** Longer than any trial that is not stuck takes: a year of minutes takes some of them. */
const TRIAL_LIMIT_MS = 3_600_000
const JOBS_MAX = 256

/** `intentd sweep`: many combinations of parameters on the same prices. */
export function addSweepCommand(program: Command, { version, setExit }: VerbFrame): void {
  addPlayOptions(program.command('sweep'), FILL_MODELS)
    .argument('[config]', 'the configuration, as for run (default: config/paper.yaml)')
    .description('try many combinations of parameters, and say what the best of them is worth')
    .requiredOption('--params <file>', 'YAML: what is tried (docs/sweep.md)')
    .option('--out <directory>', 'where results are kept (default: a directory under sweeps/)')
    .option('--jobs <n>', 'trials at a time (default: one each core)', parseJobs, availableParallelism())
    .option(
      '--trial-limit <duration>',
      'real time that one trial may take (1h)',
      parseDuration,
      TRIAL_LIMIT_MS,
    )
    .option('--trial <id>', 'run this one trial as a backtest, with its report')
    .action(async (config: string | undefined, options: SweepOptions) => {
      setExit((await runSweep(config, options, version)) ? 0 : EXITS.temporary)
    })
}

function parseJobs(text: string): number {
  const jobs = parseCount(text)
  if (jobs >= 1 && jobs <= JOBS_MAX) return jobs
  throw new InvalidArgumentError(`write a whole number from 1 to ${JOBS_MAX}.`)
}
