import { describeReport } from '../../report/text/terminal-report.ts'
import { describeRecipe } from './recipe.ts'
import { resolve } from 'node:path'
import { ReportedBacktest, type ReportedBacktestOptions } from '../reported-backtest.ts'
import { loadConfig, type LoadedConfig, toConfigRequest } from '../../config/load-config.ts'
import { systemClock } from '../../lib/clock.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { Failure } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import type { BacktestReport, RunReport } from '../../report/run-report.ts'
import { directoryOf, writeReport } from '../../report/write-report.ts'
import { CandleTapes } from '../../simulator/market/recorded/candle-tape.ts'
import { FILL_MODELS, type FillModelName } from '../../simulator/matching/fill-model.ts'
import { describeThrown, onBreakdown, strategyFailure } from '../../strategy/strategy-failure.ts'
import { watchImpureCalls } from '../../strategy/testing/impure-calls.ts'
import { SEEDED, withRecorded } from '../../assembly/instruments/played-request.ts'
import { listAssumptions } from '../opening/assumptions.ts'
import { withKeptTickers } from '../opening/kept-universe.ts'
import { UniverseRecording } from '../../recording/universe/universe-recording.ts'
import {
  backtestCommand,
  type BacktestCommandOptions,
  type PlayOptions,
} from '../opening/play-options.ts'
import {
  type BacktestRequest,
  looksOf,
  prepareBacktest,
  type PreparedBacktest,
} from '../opening/prepare-backtest.ts'
import type { PlayMarks, PlayWatcher } from './thread-protocol.ts'
import { ProgressBar } from './progress-bar.ts'
import { keepReportWritable, REPORTS, ReportDirectory } from './report-directory.ts'

const DAYS_DEFAULT = 30
/** In virtual time. */
const PROGRESS_STEP_MS = 300_000
/** The event loop gets a turn at least so often, so that Ctrl-C takes effect. */
const TURN_MS = 100

interface OpeningOptions {
  readonly watcher?: PlayWatcher
  readonly runsHere?: boolean
  /** Candles that other backtests drew. Absent: only fill models of this one share them. */
  readonly tapes?: CandleTapes
}

/** @throws ConfigError, or Failure for prices that cannot be played */
export async function openBacktest(
  config: string | undefined,
  options: PlayOptions,
  version: string,
  { watcher, runsHere = true, tapes }: OpeningOptions = {},
): Promise<{ readonly loaded: LoadedConfig; readonly prepared: PreparedBacktest }> {
  const range = { fromAt: options.from, toAt: options.to }
  const given = toConfigRequest({ config, set: options.set, param: options.param })
  const universe = options.universe === undefined ? undefined : openUniverse(options)
  const recorded = await withRecorded(given, options)
  const loaded = loadConfig(universe ? withKeptTickers(recorded, universe, range) : recorded)
  const prepared = await prepareWatched(loaded, watcher, {
    files: filesOf(options, Object.entries(loaded.config.simulator?.market.recordings ?? {})),
    feeds: options.feed,
    days: options.days ?? DAYS_DEFAULT,
    ...range,
    universe,
    seed: options.seed,
    balance: options.balance,
    version,
    runsHere,
    tapes: tapes ?? (options.model === 'all' ? new CandleTapes() : undefined),
  })
  return { loaded, prepared }
}

/**
 * Tells the watcher which file is being loaded, so that an endless loop can be named, and the
 * strategies.
 */
export async function prepareWatched(
  loaded: LoadedConfig,
  watcher: PlayWatcher | undefined,
  request: BacktestRequest,
): Promise<PreparedBacktest> {
  const onLoading = (file: string): void => watcher?.post({ kind: 'loading', file })
  const prepared = await prepareBacktest(loaded, { ...request, onLoading })
  watcher?.post({ kind: 'loading' })
  watcher?.post({ kind: 'begun', strategies: prepared.strategyIds })
  return prepared
}

/** @throws Failure for a strategy that broke the run, after its report was written */
export async function runBacktest(
  config: string | undefined,
  options: BacktestCommandOptions,
  version: string,
  watcher: PlayWatcher,
): Promise<void> {
  const impure = watchImpureCalls()
  keepReportWritable(options.out)
  const { loaded, prepared } = await openBacktest(config, options, version, { watcher })
  const models = options.model === 'all' ? FILL_MODELS : [options.model ?? prepared.fillModel]
  const recipe = describeRecipe(prepared, {
    models,
    version,
    set: options.set,
    param: options.param,
  })
  const name = `${REPORTS}/${loaded.config.name}-${sha256Hex([JSON.stringify(recipe)]).slice(0, 8)}`
  const directory = new ReportDirectory(resolve(options.out ?? name))
  watcher.post({ kind: 'unfinished', directory: directory.unfinished })
  try {
    const { runs, ended } = await playModels({
      prepared,
      models,
      watcher,
      directory: directory.unfinished,
    })
    const report: BacktestReport = {
      format: 1,
      name: loaded.config.name,
      coin: loaded.config.account.marginCoin,
      coverage: prepared.coverage,
      params: prepared.params,
      assumptions: listAssumptions(prepared, models),
      remarks: [...remarksOn(ended, models, runs), ...impure.describe(), ...prepared.listRemarks()],
      looks: looksOf(prepared),
      runs,
    }
    writeReport(directory.unfinished, report, {
      recipe: endedAt(recipe, runs, ended),
      models: models.length,
      command: backtestCommand(config, options),
    })
    const place = directory.install(ended === undefined)
    const lines = [...describeReport(report), `  ${resolve(place, 'report.html')}`, '']
    watcher.post({ kind: 'report', text: lines.join('\n'), exit: 0 })
    if (ended?.failure !== undefined) throw ended.failure
    assertNobodyFailed(runs)
  } finally {
    directory.discard()
    impure.forget()
  }
}

function openUniverse({ universe = '', market }: PlayOptions): UniverseRecording {
  if (!market.includes(SEEDED)) return new UniverseRecording(resolve(universe))
  throw new Failure({
    code: 'BACKTEST_UNIVERSE_MADE_UP',
    sentence: 'kept tickers cannot stand beside made-up prices',
    facts: { universe, market: SEEDED },
    hint: `leave out --market ${SEEDED}: instruments without a file of prices trade on the kept tickers`,
  })
}

function filesOf(
  { market, days }: PlayOptions,
  configured: readonly (readonly [string, string])[],
): readonly string[] {
  if (!market.includes(SEEDED)) {
    const files =
      market.length > 0 ? market : configured.map(([symbol, file]) => `${symbol}=${file}`)
    if (files.length === 0 || days === undefined) return files
    throw new Failure({
      code: 'BACKTEST_DAYS_UNUSED',
      sentence: 'with prices from files, the files decide how long the backtest is',
      facts: { days, market: files.join(', ') },
      hint: 'omit --days; --from and --to select a part of the files',
    })
  }
  if (market.length === 1) return []
  throw new Failure({
    code: 'BACKTEST_MARKET_MIXED',
    sentence: 'a seeded market takes no prices from files',
    facts: { market: market.join(', ') },
    hint: `name files with --market, or ${SEEDED} alone`,
  })
}

interface EarlyEnd {
  readonly why: string
  /** Undefined after a signal. */
  readonly failure?: Error
}

interface PlayedModels {
  readonly prepared: PreparedBacktest
  readonly models: readonly FillModelName[]
  readonly directory: string
  readonly watcher: PlayWatcher
}

/**
 * A signal or a stray failure of a strategy ends the runs early, and what was done until then is
 * reported.
 */
async function playModels({ prepared, models, directory, watcher }: PlayedModels) {
  const { marks, isTTY } = watcher
  const progress = new ProgressBar(
    { isTTY, write: (text) => watcher.post({ kind: 'progress', text }) },
    systemClock,
  )
  const runs: RunReport[] = []
  const watch = watchForEnd(marks)
  try {
    for (const [index, model] of models.entries()) {
      if (watch.ended !== undefined) break
      const opened = prepared.optionsFor(model, directoryOf(directory, model, models.length))
      const run = new ReportedBacktest(markDecisions(opened, marks))
      await playRun(run, watch, (at) => {
        marks.beat(at)
        const share = (at - prepared.fromAt) / (prepared.toAt - prepared.fromAt)
        progress.show((index + share) / models.length, `${model} ${toDay(at)}`)
      })
      runs.push(run.finish())
      marks.beat()
    }
  } finally {
    watch.forget()
    progress.clear()
  }
  return { runs, ended: watch.ended }
}

/** @param onPlayed Unix ms */
export async function playRun(
  run: ReportedBacktest,
  watch: { readonly ended: EarlyEnd | undefined },
  onPlayed: (at: number) => void,
): Promise<void> {
  let turnAt = systemClock.monotonic()
  while (watch.ended === undefined && run.runUntil(run.now + PROGRESS_STEP_MS)) {
    onPlayed(run.now)
    if (systemClock.monotonic() - turnAt < TURN_MS) continue
    await turn()
    turnAt = systemClock.monotonic()
  }
  // A promise that was rejected at the end of the run still counts as a failure.
  await turn()
}

function turn(): Promise<void> {
  return new Promise<void>((done) => systemTimers.after(0, done))
}

/** Tells the watcher which strategy is deciding, so that one that hangs can be named. */
export function markDecisions(
  opened: ReportedBacktestOptions,
  marks: PlayMarks,
): ReportedBacktestOptions {
  const { backtest } = opened
  const marked = [...backtest.strategies].map(([id, { strategy, params }], index) => {
    const decide: typeof strategy.decide = (snapshot, context) => {
      marks.beat(snapshot.exchangeTime)
      marks.decides(index + 1)
      try {
        return strategy.decide(snapshot, context)
      } finally {
        marks.decides(0)
      }
    }
    return [id, { strategy: { ...strategy, decide }, params }] as const
  })
  return { ...opened, backtest: { ...backtest, strategies: new Map(marked) } }
}

/** A signal or an uncaught error ends a run early. */
export function watchForEnd(marks: PlayMarks) {
  let broken: EarlyEnd | undefined
  const forget = onBreakdown((error, strategy) => (broken ??= toEarlyEnd(error, strategy)))
  return {
    forget,
    get ended(): EarlyEnd | undefined {
      if (broken === undefined && marks.stoppedBy !== undefined) broken = { why: marks.stoppedBy }
      return broken
    },
  }
}

function toEarlyEnd(error: unknown, strategy: string | undefined): EarlyEnd {
  if (strategy === undefined)
    return {
      why: 'an error of the program',
      failure: error instanceof Error ? error : new Error(String(error)),
    }
  const failure = strategyFailure('STRATEGY_STRAY', {
    facts: { strategy, thrown: describeThrown(error) },
    hint: 'decide must be synchronous: no timers, no promises',
    cause: error,
  })
  return {
    why: `strategy ${strategy}, whose code failed outside of decide (${describeThrown(error)})`,
    failure,
  }
}

function remarksOn(
  ended: EarlyEnd | undefined,
  models: readonly FillModelName[],
  runs: readonly RunReport[],
): readonly string[] {
  if (ended === undefined) return []
  const left = models.slice(runs.length)
  const missing = left.length === 0 ? '' : ` Not run: ${left.join(', ')}.`
  return [`Ended early by ${ended.why}: this is what was done until then.${missing}`]
}

function endedAt(
  recipe: ReturnType<typeof describeRecipe>,
  runs: readonly RunReport[],
  ended: EarlyEnd | undefined,
) {
  if (ended === undefined) return recipe
  const toTime = (at: number): string => new Date(at).toISOString()
  const playedTo = Object.fromEntries(runs.map(({ model, toAt }) => [model, toTime(toAt)]))
  const to = toTime(Math.max(...runs.map(({ toAt }) => toAt)))
  return { ...recipe, to, endedEarly: { by: ended.why, asked: recipe.to, playedTo } }
}

function assertNobodyFailed(runs: readonly RunReport[]): void {
  const halted = runs.flatMap(({ model, restrictions }) =>
    restrictions
      .filter((text) => text.includes('(strategyFailed)'))
      .map((text) => [model, text] as const),
  )
  if (halted.length === 0) return
  throw new Failure({
    code: 'BACKTEST_STRATEGY_HALTED',
    sentence: 'a strategy was halted during the run, because its decisions failed',
    facts: Object.fromEntries(halted),
    hint: 'the report holds what was done until then; intentd check shows what a strategy throws on made-up prices',
  })
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
