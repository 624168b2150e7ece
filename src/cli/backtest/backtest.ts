import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { BacktestRun } from '../../backtest/backtest-run.ts'
import { loadConfig } from '../../config/load-config.ts'
import { systemClock } from '../../lib/clock.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { systemTimers } from '../../lib/timers.ts'
import { type BacktestReport, type RunReport } from '../../report/run-report.ts'
import { describeReport } from '../../report/text/terminal-report.ts'
import { directoryOf, writeReport } from '../../report/write-report.ts'
import { FILL_MODELS, type FillModelName } from '../../simulator/matching/fill-model.ts'
import { collect, type ConfigOptions, parseCount, toConfigRequest } from '../process/options.ts'
import { onStopSignals } from '../process/signals.ts'
import { type RunFrame } from '../run.ts'
import { listAssumptions } from './assumptions.ts'
import { hashProgram, prepareBacktest, type PreparedBacktest } from './open-backtest.ts'
import { ProgressBar } from './progress-bar.ts'

interface BacktestOptions extends Pick<ConfigOptions, 'set'> {
  readonly market: readonly string[]
  readonly days: number
  readonly from?: number
  readonly to?: number
  readonly out?: string
  readonly model?: FillModelName | 'all'
  readonly seed?: number
  readonly balance?: string
}

const DAYS_DEFAULT = 30
/** Ten years. */
const DAYS_MAX = 3650
/** Virtual time between two looks at the terminal. */
const CHUNK_MS = 300_000
/** Others of this process (Ctrl-C) get their turn this often. */
const TURN_MS = 100

/** `intentd backtest`: the configured strategies on prices of the past, and a report. */
export function addBacktestCommand(program: Command, { version, setExit }: RunFrame): void {
  program
    .command('backtest')
    .argument('[config]', 'the configuration, as for run (default: config/paper.yaml)')
    .description('trade prices of the past in virtual time, and write a report')
    .option(
      '--market <file>',
      'prices: FILE or SYMBOL=FILE, again for another instrument; or `seeded`',
      collect,
      [],
    )
    .option('--days <n>', `length of a seeded market (${DAYS_DEFAULT})`, parseDays, DAYS_DEFAULT)
    .option('--from <date>', 'begin there: 2025-06-01 or 2025-06-01T12:00, UTC', parseDate)
    .option('--to <date>', 'end there', parseDate)
    .option('--out <directory>', 'where the report goes (default: a directory under backtests/)')
    .addOption(
      new Option('--model <name>', 'what is assumed of fills (default: as configured)').choices([
        ...FILL_MODELS,
        'all',
      ]),
    )
    .option('--seed <n>', 'of everything that is drawn (default: as configured)', parseCount)
    .option('--balance <amount>', 'margin coin at the start (default: as configured, or 10000)', parseBalance)
    .option('--set <path=value>', 'override a setting of the main file; may be given again', collect, [])
    .action(async (config: string | undefined, options: BacktestOptions) => {
      await backtest(config, options, version)
      setExit(0)
    })
}

async function backtest(
  config: string | undefined,
  options: BacktestOptions,
  version: string,
): Promise<void> {
  const loaded = loadConfig(toConfigRequest({ config, set: options.set }))
  const prepared = await prepareBacktest(loaded, {
    files: filesOf(options, Object.entries(loaded.config.simulator?.market.recordings ?? {})),
    ...{ days: options.days, fromAt: options.from, toAt: options.to },
    ...{ seed: options.seed, balance: options.balance, version },
  })
  const models = options.model === 'all' ? FILL_MODELS : [options.model ?? prepared.fillModel]
  const recipe = describeRecipe(prepared, { models, version, set: options.set })
  const directory = resolve(
    options.out ?? `backtests/${loaded.config.name}-${sha256Hex([JSON.stringify(recipe)]).slice(0, 8)}`,
  )
  const { runs, remarks } = await playModels(prepared, models, directory)
  const report: BacktestReport = {
    ...{
      format: 1,
      name: loaded.config.name,
      coin: loaded.config.account.marginCoin,
      coverage: prepared.coverage,
    },
    assumptions: listAssumptions(prepared, models),
    remarks: [...remarks, ...prepared.remarks],
    runs,
  }
  const page = writeReport(directory, report, recipe)
  process.stdout.write([...describeReport(report), `  ${page}`, ''].join('\n'))
}

/** `seeded` alone stands for no file. */
function filesOf(
  { market }: BacktestOptions,
  configured: readonly (readonly [string, string])[],
): readonly string[] {
  if (market.length === 1 && market[0] === 'seeded') return []
  return market.length > 0 ? market : configured.map(([symbol, file]) => `${symbol}=${file}`)
}

/** One model after the other; a signal ends it, with what was done. */
async function playModels(prepared: PreparedBacktest, models: readonly FillModelName[], directory: string) {
  const progress = new ProgressBar(process.stderr, systemClock)
  const spanMs = prepared.toAt - prepared.fromAt
  const runs: RunReport[] = []
  let stoppedBy: string | undefined
  const forget = onStopSignals((why) => (stoppedBy = why))
  try {
    for (const [index, model] of models.entries()) {
      if (stoppedBy !== undefined) break
      const run = new BacktestRun(prepared.open(model, directoryOf(directory, model, models.length)))
      let turnAt = systemClock.monotonic()
      while (stoppedBy === undefined && run.playTo(run.now + CHUNK_MS)) {
        progress.show(
          (index + (run.now - prepared.fromAt) / spanMs) / models.length,
          `${model} ${toDay(run.now)}`,
        )
        if (systemClock.monotonic() - turnAt < TURN_MS) continue
        await new Promise<void>((done) => systemTimers.after(0, done))
        turnAt = systemClock.monotonic()
      }
      runs.push(run.finish())
    }
  } finally {
    forget()
    progress.clear()
  }
  return { runs, remarks: remarksOn(stoppedBy, models, runs) }
}

function remarksOn(
  stoppedBy: string | undefined,
  models: readonly FillModelName[],
  runs: readonly RunReport[],
): readonly string[] {
  if (stoppedBy === undefined) return []
  const left = models.slice(runs.length)
  const missing = left.length === 0 ? '' : ` Not run: ${left.join(', ')}.`
  return [`Ended early by ${stoppedBy}: this is what was done until then.${missing}`]
}

/** Everything that the result hangs on. The same recipe gives the same files to the byte. */
function describeRecipe(
  { config, coverage, codeHashes, fromAt, toAt, seed, simulator }: PreparedBacktest,
  {
    models,
    version,
    set,
  }: { readonly models: readonly string[]; readonly version: string; readonly set: readonly string[] },
) {
  // Places differ from machine to machine.
  const { file: _file, state: _state, strategies, ...settings } = config
  const { market: _market, ...exchange } = simulator
  const placed = strategies.map(({ file: _strategyFile, moduleFile: _module, ...strategy }) => strategy)
  return {
    format: 1,
    version,
    node: process.version,
    ...{ from: new Date(fromAt).toISOString(), to: new Date(toAt).toISOString() },
    ...{ models, seed, balance: simulator.startingBalance, set },
    /** This run by itself. */
    tries: 1,
    sha256: {
      config: sha256Hex([JSON.stringify({ ...settings, strategies: placed, simulator: exchange })]),
      program: hashProgram(),
      strategies: codeHashes,
      prices: Object.fromEntries(coverage.map(({ symbol, sha256, source }) => [symbol, sha256 || source])),
    },
  }
}

function parseDays(text: string): number {
  const days = parseCount(text)
  if (days >= 1 && days <= DAYS_MAX) return days
  throw new InvalidArgumentError(`write a whole number from 1 to ${DAYS_MAX}.`)
}

function parseDate(text: string): number {
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z?)?$/.test(text)
  const at = isDate ? Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text) : Number.NaN
  // A 30th of February would be a day of March, and nothing was traded before 1970.
  if (!(at > 0) || !new Date(at).toISOString().startsWith(text.slice(0, 10)))
    throw new InvalidArgumentError('write a date such as 2025-06-01 or 2025-06-01T12:00 (UTC).')
  return at
}

function parseBalance(text: string): string {
  if (!/^\d+(?:\.\d+)?$/.test(text) || Number(text) <= 0)
    throw new InvalidArgumentError('write an amount such as 10000.')
  return text
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
