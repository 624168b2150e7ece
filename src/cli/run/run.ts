import { type Command, Option } from 'commander'
import { processVariables } from '../../config/secrets.ts'
import { isEmbedded } from '../../assembly/state/state-place.ts'
import { Failure } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { addMarketOptions } from '../process/market-options.ts'
import { addConfigOptions, addParamOption, parseDuration } from '../process/options.ts'
import { createSupervisor } from '../process/supervisor.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { run, type RunOptions, type StandbyStart, type WaitingStandby } from './run-daemon.ts'

export function addRunCommand(program: Command, { version, setExit }: VerbFrame): void {
  addRunOptions(program.command('run'))
    .description('trade; by default on paper, with the simulator inside the daemon')
    .action(async (options: RunOptions) => setExit(await run(options, version)))
}

export function addStandbyCommand(program: Command, { version, setExit }: VerbFrame): void {
  addRunOptions(program.command('standby'))
    .description('follow the journal of a daemon on another machine, and take over when it is gone')
    .action(async (options: RunOptions) => setExit(await standBy(options, version)))
}

function addRunOptions(command: Command): Command {
  return addMarketOptions(addParamOption(addConfigOptions(command)))
    .option(
      '--trust-files',
      'start although other users may replace files that are read (doctor names them)',
    )
    .option('--for <duration>', 'stop in good order after 30s, 5m, 2h …', parseDuration)
    .addOption(
      new Option(
        '--summary <form>',
        'print a summary at the end on standard output; logs go to standard error',
      ).choices(['json', 'text']),
    )
}

async function standBy(options: RunOptions, version: string): Promise<number> {
  try {
    return await run(options, version, createStandby)
  } catch (error) {
    if (error instanceof Failure && error.code === 'STANDBY_ENDED') return 0
    throw error
  }
}

function createStandby({ accounts, stops, logger }: StandbyStart): WaitingStandby {
  for (const { config } of accounts) {
    if (config.journal === undefined || isEmbedded(config)) throw impossible(config.file)
  }
  let looks = 0
  const supervisor = createSupervisor({
    variables: processVariables(),
    timers: systemTimers,
    heartbeat: () => looks,
    onTrouble: (reason) => logger.log('warn', 'supervisor.notNotified', { reason }),
  })
  return {
    isOver: () => stops.wasAsked(),
    onLooked() {
      looks += 1
      if (looks === 1) supervisor.ready('standing by')
    },
    close: () => supervisor.close(),
  }
}

function impossible(file: string): Failure {
  return new Failure({
    code: 'STANDBY_IMPOSSIBLE',
    sentence: 'there is no journal that a standby could follow',
    facts: { file },
    hint: 'a standby needs journal.url, and an exchange outside of the daemon',
  })
}
