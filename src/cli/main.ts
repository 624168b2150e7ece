import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import type { Verb } from '../control/powers.ts'
import { ConfigError, formatProblems, hideLogins } from '../config/yaml/problem.ts'
import { Failure } from '../lib/failure.ts'
import { EXITS, exitOf } from './process/exit-codes.ts'
import { middlemanKind, refuseMiddleman } from './process/middleman.ts'
import { adviseAgain } from './process/options.ts'
import type { AddVerb, VerbFrame } from './process/verb-frame.ts'
import { writeAside } from '../lib/write-out.ts'

interface Verbs {
  readonly names: readonly Verb[]
  readonly load: () => Promise<AddVerb>
}

export const VERBS: readonly Verbs[] = [
  { names: ['init'], load: async () => (await import('./setup/init.ts')).addInitCommand },
  { names: ['run'], load: async () => (await import('./run/run.ts')).addRunCommand },
  {
    names: ['backtest'],
    load: async () => (await import('./backtest.ts')).addBacktestCommand,
  },
  {
    names: ['compare'],
    load: async () => (await import('./compare.ts')).addCompareCommand,
  },
  { names: ['status'], load: async () => (await import('./control/status.ts')).addStatusCommand },
  {
    names: ['positions'],
    load: async () => (await import('./control/positions.ts')).addPositionsCommand,
  },
  {
    names: ['instruments'],
    load: async () => (await import('./instruments.ts')).addInstrumentsCommand,
  },
  {
    names: ['universe'],
    load: async () => (await import('./control/universe.ts')).addUniverseCommand,
  },
  { names: ['whatif'], load: async () => (await import('./control/what-if.ts')).addWhatIfCommand },
  { names: ['orders'], load: async () => (await import('./control/orders.ts')).addOrdersCommand },
  { names: ['fills'], load: async () => (await import('./control/fills.ts')).addFillsCommand },
  { names: ['trades'], load: async () => (await import('./control/trades.ts')).addTradesCommand },
  { names: ['profit'], load: async () => (await import('./control/profit.ts')).addProfitCommand },
  {
    names: ['statement'],
    load: async () => (await import('./control/statement.ts')).addStatementCommand,
  },
  { names: ['events'], load: async () => (await import('./control/events.ts')).addEventsCommand },
  { names: ['sweep'], load: async () => (await import('./sweep.ts')).addSweepCommand },
  {
    names: ['check-bias'],
    load: async () => (await import('./check-bias/check-bias.ts')).addCheckBiasCommand,
  },
  { names: ['parity'], load: async () => (await import('./parity.ts')).addParityCommand },
  { names: ['standby'], load: async () => (await import('./run/run.ts')).addStandbyCommand },
  { names: ['handover'], load: async () => (await import('./handover.ts')).addHandoverCommand },
  { names: ['fleet'], load: async () => (await import('./fleet/fleet.ts')).addFleetCommand },
  {
    names: ['explain'],
    load: async () => (await import('./explain/explain.ts')).addExplainCommand,
  },
  { names: ['kill'], load: async () => (await import('./kill/kill.ts')).addKillCommand },
  {
    names: ['pause', 'resume', 'mode', 'restrict'],
    load: async () => (await import('./control/scope-commands.ts')).addModeCommands,
  },
  {
    names: ['confirm'],
    load: async () => (await import('./control/confirm.ts')).addConfirmCommand,
  },
  { names: ['pair'], load: async () => (await import('./control/pair.ts')).addPairCommand },
  {
    names: ['flatten'],
    load: async () => (await import('./control/scope-commands.ts')).addFlattenCommand,
  },
  {
    names: ['order'],
    load: async () => (await import('./control/by-hand.ts')).addOrderCommand,
  },
  {
    names: ['close'],
    load: async () => (await import('./control/by-hand.ts')).addCloseCommand,
  },
  {
    names: ['cancel'],
    load: async () => (await import('./control/by-hand.ts')).addCancelCommand,
  },
  {
    names: ['deposit'],
    load: async () => (await import('./control/deposit.ts')).addDepositCommand,
  },
  {
    names: ['withdrawal'],
    load: async () => (await import('./control/deposit.ts')).addWithdrawalCommand,
  },
  {
    names: ['adopt'],
    load: async () => (await import('./control/scope-commands.ts')).addAdoptCommand,
  },
  {
    names: ['release'],
    load: async () => (await import('./control/scope-commands.ts')).addReleaseCommand,
  },
  {
    names: ['dashboard'],
    load: async () => (await import('./control/dashboard.ts')).addDashboardCommand,
  },
  {
    names: ['log-level'],
    load: async () => (await import('./control/log-level.ts')).addLogLevelCommand,
  },
  {
    names: ['signal'],
    load: async () => (await import('./control/signal.ts')).addSignalCommand,
  },
  { names: ['check'], load: async () => (await import('./check.ts')).addCheckCommand },
  { names: ['plan'], load: async () => (await import('./reload/plan.ts')).addPlanCommand },
  { names: ['reload'], load: async () => (await import('./reload/reload.ts')).addReloadCommand },
  {
    names: ['new-strategy'],
    load: async () => (await import('./strategies/new-strategy.ts')).addNewStrategyCommand,
  },
  { names: ['doctor'], load: async () => (await import('./doctor/doctor.ts')).addDoctorCommand },
  { names: ['accept'], load: async () => (await import('./accept/accept.ts')).addAcceptCommand },
  {
    names: ['test'],
    load: async () => (await import('./setup/test-strategies.ts')).addTestCommand,
  },
  { names: ['repair'], load: async () => (await import('./repair.ts')).addRepairCommand },
  { names: ['journal'], load: async () => (await import('./journal.ts')).addJournalCommand },
  { names: ['archive'], load: async () => (await import('./archive.ts')).addArchiveCommand },
  { names: ['alert'], load: async () => (await import('./alert.ts')).addAlertCommand },
  {
    names: ['simulate'],
    load: async () => (await import('./simulate/simulate.ts')).addSimulateCommand,
  },
  { names: ['import'], load: async () => (await import('./prices/import.ts')).addImportCommand },
  {
    names: ['download'],
    load: async () => (await import('./prices/download.ts')).addDownloadCommand,
  },
  { names: ['data'], load: async () => (await import('./prices/data.ts')).addDataCommand },
  { names: ['record'], load: async () => (await import('./prices/record.ts')).addRecordCommand },
  { names: ['call'], load: async () => (await import('./call/call.ts')).addCallCommand },
  { names: ['chat'], load: async () => (await import('./chat/chat.ts')).addChatCommand },
  { names: ['mcp'], load: async () => (await import('./mcp/mcp.ts')).addMcpCommand },
  { names: ['replay'], load: async () => (await import('./replay/replay.ts')).addReplayCommand },
]

/** @returns the exit code (`process/exit-codes.ts`) */
export async function main(argv: readonly string[]): Promise<number> {
  const refusal = refuseMiddleman(argv, middlemanKind())
  if (refusal !== undefined) {
    writeAside(`${refusal}\n`)
    return EXITS.usage
  }
  let exitCode = 0
  const program = await createProgram(neededFor(argv), (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return explain(error, argv)
  }
}

export async function createProgram(
  verbs: readonly Verbs[],
  setExit: VerbFrame['setExit'],
): Promise<Command> {
  const version = readVersion()
  const program = new Command('intentd')
    .description('A trading daemon that polls, decides, batches and trades through rate limits.')
    .version(version)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(--help lists what there is)')
    // An unknown word may be an address with a password.
    .configureOutput({ outputError: (text, write) => write(hideLogins(text)) })
  for (const addVerb of await Promise.all(verbs.map(({ load }) => load())))
    addVerb(program, { version, setExit })
  return program
}

function neededFor([word = '']: readonly string[]): readonly Verbs[] {
  if (word === '--version' || word === '-V') return []
  const asked = VERBS.filter(({ names }) => names.some((name) => name === word))
  return asked.length > 0 ? asked : VERBS
}

function explain(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    const advice = error.code === 'commander.unknownCommand' ? adviseForWord(argv[0]) : undefined
    if (advice !== undefined) writeAside(`${argv[0]}: ${advice}\n`)
    return error.exitCode === 0 ? 0 : EXITS.usage
  }
  writeAside(`${textOf(error, argv)}\n`)
  return exitOf(error)
}

const OTHER_WORDS: Readonly<Record<string, string>> = {
  balance:
    '`intentd status` shows equity, `intentd profit` what was made; the API has no call for balances',
  config: '`intentd check` reads the configuration, `intentd plan` shows what a change would do',
  'dry-run': '`intentd run` trades on paper, unless its configuration says otherwise',
  exit: '`intentd flatten SCOPE --reason "..."` closes what strategies hold',
  forceexit: '`intentd flatten SCOPE --reason "..."` closes what strategies hold',
  logs: 'the log is its standard output: `journalctl -u intentd`, `pm2 logs intentd`, or the terminal; `intentd events --follow` shows what happens',
  performance: '`intentd profit` and `intentd trades`',
  start: '`intentd run`',
  stop: 'a daemon stops by Ctrl-C, `systemctl stop intentd`, `pm2 stop intentd` or SIGTERM; `intentd pause STRATEGY` and `intentd kill` stop trading while it runs',
  stopentry: '`intentd mode SCOPE reducing` lets only orders that reduce pass',
  trade: '`intentd run`',
}

function adviseForWord(word = ''): string | undefined {
  return Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined
}

function textOf(error: unknown, argv: readonly string[]): string {
  if (error instanceof ConfigError) {
    const { problems, again = adviseAgain(argv, problems), kept } = error
    return formatProblems(problems, again, kept)
  }
  if (error instanceof Failure) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  return version
}

export { endThreads } from '../lib/supervised-thread.ts'
export { isUnread } from '../logging/log-output.ts'
