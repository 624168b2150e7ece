import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { ConfigError, formatProblems } from '../config/yaml/problem.ts'
import { Failure } from '../lib/failure.ts'
import { addAlertCommand } from './alert.ts'
import { addArchiveCommand } from './archive.ts'
import { addBacktestCommand } from './backtest/backtest.ts'
import { addCompareCommand } from './backtest/compare.ts'
import { addCallCommand } from './call/call.ts'
import { addCheckCommand } from './check.ts'
import { addEventsCommand } from './control/events.ts'
import { addFillsCommand } from './control/fills.ts'
import { addLogLevelCommand } from './control/log-level.ts'
import { addModeCommands } from './control/mode.ts'
import { addOrdersCommand } from './control/orders.ts'
import { addPositionsCommand } from './control/positions.ts'
import { addProfitCommand } from './control/profit.ts'
import { addStatusCommand } from './control/status.ts'
import { addCheckBiasCommand } from './check-bias/check-bias.ts'
import { addDoctorCommand } from './doctor/doctor.ts'
import { addExplainCommand } from './explain/explain.ts'
import { addFlattenCommand } from './flatten.ts'
import { addKillCommand } from './kill.ts'
import { EXITS, exitOf } from './process/exit-codes.ts'
import { addDataCommand } from './prices/data.ts'
import { addImportCommand } from './prices/import.ts'
import { addRecordCommand } from './prices/record.ts'
import { addReleaseCommand } from './release.ts'
import { addRepairCommand } from './repair.ts'
import { addPlanCommand } from './reload/plan.ts'
import { addReloadCommand } from './reload/reload.ts'
import { addReplayCommand } from './replay/replay.ts'
import { addRestrictCommand } from './restrict.ts'
import { adviseAgain } from './process/options.ts'
import { addParityCommand } from './parity/parity.ts'
import { addRunCommand } from './run.ts'
import { addInitCommand } from './setup/init.ts'
import { addTestCommand } from './setup/test-strategies.ts'
import { addSimulateCommand } from './simulate/simulate.ts'
import { addSweepCommand } from './sweep/sweep.ts'
import { addNewStrategyCommand } from './strategies/new-strategy.ts'

/**
 * The command line: one verb a file. Resolves with the exit code: 0 done, 64 not understood, and what
 * `process/exit-codes.ts` says of an error.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const version = readVersion()
  let exitCode = 0
  const program = new Command('intentd')
    .description('A trading daemon that polls, decides, batches and trades through rate limits.')
    .version(version)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(--help lists what there is)')
  const setExit = (code: number): void => {
    exitCode = code
  }
  addInitCommand(program)
  addRunCommand(program, { version, setExit })
  addBacktestCommand(program, { version, setExit })
  addCompareCommand(program, setExit)
  addStatusCommand(program, setExit)
  addPositionsCommand(program, setExit)
  addOrdersCommand(program, setExit)
  addFillsCommand(program)
  addProfitCommand(program)
  addEventsCommand(program, setExit)
  addSweepCommand(program, { version, setExit })
  addCheckBiasCommand(program, { version, setExit })
  addParityCommand(program, { version, setExit })
  addExplainCommand(program, setExit)
  addKillCommand(program, setExit)
  addRestrictCommand(program, setExit)
  addModeCommands(program, setExit)
  addFlattenCommand(program, setExit)
  addReleaseCommand(program, setExit)
  addLogLevelCommand(program, setExit)
  addCheckCommand(program, setExit)
  addPlanCommand(program, setExit)
  addReloadCommand(program, setExit)
  addNewStrategyCommand(program)
  addDoctorCommand(program, setExit)
  addTestCommand(program, setExit)
  addRepairCommand(program, setExit)
  addArchiveCommand(program, setExit)
  addAlertCommand(program, setExit)
  addSimulateCommand(program, setExit)
  addImportCommand(program, setExit)
  addDataCommand(program, setExit)
  addRecordCommand(program, setExit)
  addCallCommand(program, setExit)
  addReplayCommand(program, { version, setExit })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return explain(error, argv)
  }
}

function explain(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXITS.usage
  process.stderr.write(`${textOf(error, argv)}\n`)
  return exitOf(error)
}

function textOf(error: unknown, argv: readonly string[]): string {
  if (error instanceof ConfigError) return formatProblems(error.problems, adviseAgain(argv))
  if (error instanceof Failure) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  return version
}
