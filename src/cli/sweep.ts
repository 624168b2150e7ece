import { availableParallelism } from 'node:os'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { VerbFrame } from './process/verb-frame.ts'
import { FILL_MODELS } from '../simulator/matching/fill-model.ts'
import { addPlayOptions, assertDatabase, durationOption, parseCount } from './process/options.ts'
import { EXITS } from './process/exit-codes.ts'
import { runSweep, type SweepEnd, type SweepOptions } from '../sweep-run/run-sweep.ts'

const TRIAL_LIMIT_MS = 3_600_000
const JOBS_MAX = 256
const QUEUE_FLAGS = '--queue <url>'
const ENDS: Readonly<Record<SweepEnd, number>> = { whole: 0, stopped: EXITS.temporary, failed: 1 }

export function addSweepCommand(program: Command, { version, setExit }: VerbFrame): void {
  const sweep = addPlayOptions(program.command('sweep'), FILL_MODELS)
    .argument('[config]', 'the configuration, as for run (default: config/paper.yaml)')
    .description('try many combinations of parameters, and say what the best of them are worth')
    .option('--params <file>', 'the parameters to try, in YAML (docs/sweep.md)')
    .option('--out <directory>', 'where results are kept (default: a directory under sweeps/)')
    .addOption(jobsOption('--jobs <n>'))
    .addOption(
      durationOption(
        '--trial-limit <duration>',
        'real time that one trial may take',
        TRIAL_LIMIT_MS,
      ),
    )
    .option('--trial <id>', 'run this one trial as a backtest, with its report')
    .option(QUEUE_FLAGS, 'let workers compute the trials, by a queue on this PostgreSQL server')
  sweep.action(
    async (config: string | undefined, { params, ...options }: Partial<SweepOptions>) => {
      // A required option of commander would be required of a worker too.
      if (params === undefined)
        sweep.error("error: required option '--params <file>' not specified")
      assertAddress(sweep, options.queue)
      const whole = { ...options, params } as SweepOptions
      setExit(ENDS[await runSweep(config, whole, version)])
    },
  )
  sweep
    .command('worker')
    .description('compute trials of sweeps that were started with --queue')
    .option(QUEUE_FLAGS, 'the PostgreSQL server with the queue')
    .addOption(jobsOption('--threads <n>'))
    .action(async ({ threads }: { readonly threads: number }, command: Command) => {
      // Commander gives this option to the parent command, wherever it stands.
      const { queue } = command.optsWithGlobals<{ readonly queue?: string }>()
      if (queue === undefined) command.error("error: required option '--queue <url>' not specified")
      assertAddress(command, queue)
      const { runWorker } = await import('../sweep-run/queue/sweep-worker.ts')
      await runWorker({ queue, threads }, version)
      setExit(0)
    })
}

/** Other users see arguments, and the option's parser would show the value (SEC1). */
function assertAddress(command: Command, queue: string | undefined): void {
  assertDatabase(command, QUEUE_FLAGS, queue)
  const url = queue === undefined ? undefined : new URL(queue)
  if (url === undefined || (url.password === '' && !url.searchParams.has('password'))) return
  command.error(
    `error: option '${QUEUE_FLAGS}': a password does not belong here: put it into the variable INTENTD_SWEEP_PASSWORD`,
  )
}

function jobsOption(flags: string): Option {
  return new Option(flags, 'trials at a time')
    .argParser(parseJobs)
    .default(availableParallelism(), 'one per core')
}

function parseJobs(text: string): number {
  const jobs = parseCount(text)
  if (jobs >= 1 && jobs <= JOBS_MAX) return jobs
  throw new InvalidArgumentError(`write a whole number from 1 to ${JOBS_MAX}.`)
}
