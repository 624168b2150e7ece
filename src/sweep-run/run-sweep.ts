import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readStrategyCode } from '../assembly/state/running-config.ts'
import { backtestCommand, type PlayOptions } from '../backtest/opening/play-options.ts'
import type { PreparedBacktest } from '../backtest/opening/prepare-backtest.ts'
import { narrow } from '../backtest/opening/priced-instruments.ts'
import { ProgressBar } from '../backtest/playing/progress-bar.ts'
import { openBacktest } from '../backtest/playing/play-in-thread.ts'
import { playBacktest } from '../backtest/playing/watched-play.ts'
import {
  type ConfigRequest,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../config/load-config.ts'
import { systemClock } from '../lib/clock.ts'
import { sha256Hex } from '../lib/digest.ts'
import { makeDirectory, writeDurably } from '../lib/durable-file.ts'
import { Failure, headlineOf, messageOf } from '../lib/failure.ts'
import { onStopSignals } from '../lib/stop-signals.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { writeAside, writeOut } from '../lib/write-out.ts'
import { cutIntoBuckets } from '../report/collect/equity-series.ts'
import { describeMadeUp, showNumber, showShare } from '../report/text/figures.ts'
import { cutFolds } from '../sweep/folds.ts'
import { listParamSets } from '../sweep/param-sets.ts'
import { countTrials, cutRounds, nextTrials, type SweepPlan } from '../sweep/schedule.ts'
import type { SweepFile } from '../sweep/sweep-file.ts'
import { renderSweepPage, showParams } from '../sweep/sweep-page.ts'
import { buildSweepReport, isEndedEarly, NOT_RUN, type SweepReport } from '../sweep/sweep-report.ts'
import { nameTrial, type Trial, type TrialOutcome, type TrialRow } from '../sweep/trial.ts'
import { recipeOf } from './play-trial.ts'
import {
  assertStrategies,
  assertValuesAcceptedInThread,
  loadSweepFile,
} from './sweep-file-problems.ts'
import { runHere, type TrialRunner } from './trial-pool.ts'

export interface SweepOptions extends PlayOptions {
  readonly params: string
  readonly out?: string
  readonly jobs: number
  readonly trialLimit: number
  readonly trial?: string
  readonly queue?: string
}

interface OpenSweep {
  readonly config: string | undefined
  readonly options: SweepOptions
  readonly version: string
  readonly file: SweepFile
  readonly prepared: PreparedBacktest
  readonly plan: SweepPlan
  readonly periodMs: number
  readonly recipe: string
  readonly prices: string
  readonly directory: string
  readonly remarks: readonly string[]
}

/** `stopped`: by a signal; the same command continues. `failed`: no trial has figures. */
export type SweepEnd = 'whole' | 'stopped' | 'failed'

export async function runSweep(
  config: string | undefined,
  options: SweepOptions,
  version: string,
): Promise<SweepEnd> {
  const sweep = await openSweep(config, options, version)
  if (options.trial !== undefined) return await runOne(sweep, options.trial)
  const log = new TrialLog(sweep.directory)
  const runner = await openRunner(sweep)
  let isDone: boolean
  try {
    isDone = await runTrials(sweep, log, runner)
  } finally {
    await runner.close()
  }
  const report = toReport(sweep, log)
  if (report.trials.some(({ failed }) => failed !== NOT_RUN)) {
    const page = writeFiles(sweep.directory, report)
    writeOut([...describeSweep(report), '', `  ${page}`, ''].join('\n'))
  }
  if (!isDone) {
    writeAside('not done; the same command goes on where this one ended\n')
    return 'stopped'
  }
  if (report.trials.some(({ figures }) => figures !== null)) return 'whole'
  writeAside('every trial failed: why stands behind its parameters\n')
  return 'failed'
}

async function openSweep(
  config: string | undefined,
  options: SweepOptions,
  version: string,
): Promise<OpenSweep> {
  const read = loadSweepFile(options.params)
  const { file } = read
  const { loaded, prepared } = await openBacktest(config, options, version, { runsHere: false })
  assertStrategies(
    read,
    loaded.config.strategies.filter(({ enabled }) => enabled).map(({ id }) => id),
  )
  const { fromAt, toAt, coverage } = prepared
  const { startAt, stepMs, count } = cutIntoBuckets(fromAt, toAt)
  const sets = listParamSets(file)
  await assertValuesAcceptedInThread({ config, options }, options.trialLimit)
  const rounds = file.method === 'halving' ? cutRounds(fromAt, toAt, sets.length) : [toAt]
  const isSeeded = coverage.every(({ kind }) => kind === 'seeded')
  const usedShare = rounds.length === 1 ? 0 : ((rounds.at(-2) ?? fromAt) - fromAt) / (toAt - fromAt)
  const folds = isSeeded ? [] : cutFolds(count, file.folds, usedShare)
  const plan: SweepPlan = {
    sets,
    objective: file.objective,
    fromAt,
    rounds,
    folds,
    periodAt: (period) => (period === count ? toAt : Math.max(fromAt, startAt + period * stepMs)),
  }
  for (const part of listParts(plan)) assertPriced(prepared, part)
  return {
    config,
    options,
    version,
    file,
    prepared,
    plan,
    periodMs: stepMs,
    recipe: recipeOf(
      {
        prepared,
        config: loaded.config,
      },
      options,
      version,
    ),
    prices: namePrices(coverage),
    directory: resolve(options.out ?? `sweeps/${loaded.config.name}`),
    remarks: [
      ...(isSeeded && file.folds > 0
        ? ['A seeded market begins anew in each run: there is no walk-forward on it.']
        : []),
      ...(!isSeeded && folds.length < file.folds
        ? ['The prices are too short for the walk-forward that was asked for.']
        : []),
      ...prepared.listRemarks(),
    ],
  }
}

function assertPriced(prepared: PreparedBacktest, part: TrialPart): void {
  const unpriced = prepared.unpricedIn(part)
  if (Object.keys(unpriced).length === 0) return
  const [from, to] = [part.fromAt, part.toAt].map((at) => new Date(at).toISOString())
  throw new Failure({
    code: 'SWEEP_PRICES_OUTSIDE',
    sentence:
      'a strategy trades an instrument that has no prices in a part of the range that trials play alone',
    facts: { part: `${from} to ${to}`, ...unpriced },
    hint: 'choose --from and --to so that each file of prices has rows in every part; or play the whole range only: `method: grid` (or random) and `folds: 0`; or leave the strategy out: enabled: false in its file',
  })
}

function namePrices(coverage: PreparedBacktest['coverage']): string {
  const prices = Object.fromEntries(
    coverage.map(({ symbol, sha256, source }) => [symbol, sha256 || source]),
  )
  return sha256Hex([JSON.stringify(prices)]).slice(0, 16)
}

function optionsOf(
  { options, plan, prepared }: Pick<OpenSweep, 'options' | 'plan' | 'prepared'>,
  trial: Trial,
): PlayOptions {
  const { market, feed, universe, days, model, seed, balance, set, param } = options
  const params = Object.entries(trial.params).map(([name, text]) => `${name}=${text}`)
  const isWhole = trial.fromAt === plan.fromAt && trial.toAt === prepared.toAt
  const range = isWhole
    ? { from: options.from, to: options.to }
    : { from: trial.fromAt, to: trial.toAt }
  const given = { market, feed, universe, days, model, seed, balance, set }
  return { ...given, param: [...param, ...params], ...range }
}

function commandOf(sweep: OpenSweep, trial: Trial): string {
  return backtestCommand(sweep.config, optionsOf(sweep, trial))
}

/** Loads the queue's code only if one is used. */
async function openRunner({
  options,
  recipe,
  periodMs,
  prepared,
}: OpenSweep): Promise<TrialRunner> {
  const { queue, jobs, trialLimit } = options
  if (queue === undefined) return runHere(jobs, trialLimit)
  const { openQueuedTrials } = await import('./queue/queued-trials.ts')
  return await openQueuedTrials(queue, {
    name: prepared.config.name,
    recipe,
    periodMs,
    param: options.param,
    limitMs: trialLimit,
  })
}

async function runTrials(sweep: OpenSweep, log: TrialLog, runner: TrialRunner): Promise<boolean> {
  const { plan, version, config, periodMs, recipe, prices } = sweep
  const stop = new AbortController()
  const forget = onStopSignals(() => stop.abort())
  const progress = new ProgressBar(process.stderr, systemClock)
  const find = finderOf(sweep, log)
  const known = countDone(sweep, log)
  const total = Math.max(1, countTrials(plan) - known)
  let done = 0
  const orderOf = (trial: Trial) => ({
    config,
    options: optionsOf(sweep, trial),
    version,
    periodMs,
  })
  let changed: Failure | undefined
  const hear = (trial: Trial, outcome: TrialOutcome): void => {
    changed ??= findChanged(sweep)
    if (changed !== undefined) return stop.abort()
    const { fromAt, toAt, params } = trial
    const [from, to] = [fromAt, toAt].map((at) => new Date(at).toISOString()) as [string, string]
    log.add({ ...nameTrial(recipe, trial), prices, params, from, to, outcome })
    done += 1
    progress.show(
      done / Math.max(done, total),
      `trial ${known + done} of ${known + total}${runner.describe()}`,
    )
  }
  try {
    for (let trials = nextTrials(plan, find); trials.length > 0; trials = nextTrials(plan, find)) {
      await runner.run({ trials, orderOf, hear, stop: stop.signal })
      if (changed !== undefined) throw changed
      if (stop.signal.aborted) return false
    }
    return true
  } finally {
    forget()
    progress.clear()
  }
}

/** Workers compare their inputs with the recipe themselves. */
function findChanged({ config, options, prepared }: OpenSweep): Failure | undefined {
  const { queue, set, param } = options
  return queue === undefined
    ? findChange(toConfigRequest({ config, set, param }), prepared)
    : undefined
}

function countDone(sweep: OpenSweep, log: TrialLog): number {
  const find = finderOf(sweep, log)
  return listTrials(sweep).filter((trial) => find(trial) !== undefined).length
}

function finderOf({ recipe }: OpenSweep, log: TrialLog) {
  return (trial: Trial) => log.find(nameTrial(recipe, trial).id)?.outcome
}

function toReport(sweep: OpenSweep, log: TrialLog): SweepReport {
  const { plan, recipe, prepared, file, periodMs, prices } = sweep
  const find = finderOf(sweep, log)
  const isWhole = nextTrials(plan, find).length === 0
  const cut = `Ended early: ${countDone(sweep, log)} of ${countTrials(plan)} trials were run. The same command goes on.`
  const remarks = isWhole ? sweep.remarks : [cut, ...sweep.remarks]
  return buildSweepReport({
    plan,
    find,
    name: (trial) => ({
      id: nameTrial(recipe, trial).id,
      command: commandOf(sweep, trial),
    }),
    head: {
      name: prepared.config.name,
      coin: prepared.config.account.marginCoin,
      method: file.method,
      periodMs,
      madeUp: describeMadeUp(prepared.coverage),
    },
    tries: log.countTries(prices),
    remarks,
  })
}

function writeFiles(directory: string, report: SweepReport): string {
  writeDurably(join(directory, 'sweep.json'), `${JSON.stringify(report)}\n`)
  const cells = report.trials.map(
    ({ id, params, score, inSample, outOfSample, figures, failed, to }) => [
      id,
      to,
      showParams(params),
      score,
      inSample,
      outOfSample,
      figures?.final,
      figures?.return,
      figures?.drawdown,
      figures?.sharpe,
      figures?.fills,
      figures?.fees,
      failed.replaceAll(/["\n]/g, ' '),
      figures?.restrictions.join('; '),
    ],
  )
  const columns =
    'trial,to,params,score,in_sample,out_of_sample,final,return,drawdown,sharpe,fills,fees,failed,ended'
  const lines = cells.map((row) =>
    row
      .map((cell) => (typeof cell === 'string' ? `"${cell.replaceAll('"', '""')}"` : (cell ?? '')))
      .join(','),
  )
  writeDurably(join(directory, 'trials.csv'), `${[columns, ...lines].join('\n')}\n`)
  const page = join(directory, 'sweep.html')
  writeDurably(page, renderSweepPage(report))
  return page
}

async function runOne(sweep: OpenSweep, id: string): Promise<SweepEnd> {
  const { recipe, config, version, directory, options } = sweep
  const trial = listTrials(sweep).find((one) => nameTrial(recipe, one).id === id)
  if (trial === undefined) {
    throw new Failure({
      code: 'SWEEP_TRIAL_UNKNOWN',
      sentence: 'no trial of this sweep has that name',
      facts: { trial: id },
      hint: 'name a trial of its table, and use the same options, prices and code',
    })
  }
  writeAside(`${commandOf(sweep, trial)}\n`)
  const backtest = { ...optionsOf(sweep, trial), out: join(directory, `trial-${id}`) }
  await playBacktest({ config, options: backtest, version }, options.trialLimit)
  return 'whole'
}

function listTrials({ plan }: OpenSweep): readonly Trial[] {
  const parts = listParts(plan)
  return plan.sets.flatMap((params) => parts.map((part) => ({ params, ...part })))
}

type TrialPart = Pick<Trial, 'fromAt' | 'toAt'>

/** Lists the parts of the range that rounds and the walk-forward play. */
function listParts({ rounds, folds, fromAt, periodAt }: SweepPlan): readonly TrialPart[] {
  return [
    ...rounds.map((toAt) => ({ fromAt, toAt })),
    ...folds.map(({ outOfSample: { from, to } }) => ({
      fromAt: periodAt(from),
      toAt: periodAt(to),
    })),
  ]
}

/**
 * Trials read files anew, so results after a change would be stored under the old files' name.
 * @returns SWEEP_FILES_CHANGED, or undefined
 */
export function findChange(
  request: ConfigRequest,
  prepared: Pick<PreparedBacktest, 'config' | 'code' | 'coverage'>,
): Failure | undefined {
  const found = describeChange(request, prepared)
  if (found === undefined) return undefined
  return new Failure({
    code: 'SWEEP_FILES_CHANGED',
    sentence: 'files of the sweep were changed while it ran',
    facts: { found },
    hint: 'repeat the command: it begins with the files as they are now, or continues if they are changed back',
  })
}

function describeChange(
  request: ConfigRequest,
  { config, code, coverage }: Pick<PreparedBacktest, 'config' | 'code' | 'coverage'>,
): string | undefined {
  let now: DaemonConfig
  try {
    now = narrow(loadConfig(request).config, coverage)
  } catch (error) {
    return headlineOf(error)
  }
  if (!isDeepStrictEqual(now, config)) return 'another configuration'
  const changed = now.strategies.find(
    ({ id, moduleFile }) =>
      code[id] !== undefined && !isDeepStrictEqual(readStrategyCode(moduleFile), code[id]),
  )
  return changed === undefined ? undefined : `other code of ${changed.id}`
}

const ROWS = 10

export function describeSweep(report: SweepReport): readonly string[] {
  const {
    madeUp = [],
    name,
    method,
    trials,
    from,
    to,
    objective,
    folds,
    tries,
    deflated,
    overfitting,
    periodMs,
  } = report
  const number = (value: number | null): string =>
    (value === null ? 'n/a' : showNumber(value, 4)).padStart(11)
  const share = (value: number | null | undefined): string =>
    showShare(value ?? Number.NaN).padStart(11)
  const header = ['score', 'in sample', 'out of s.'].map((title) => title.padStart(11)).join('')
  const failed = trials.filter(({ failed: reason }) => reason !== '' && reason !== NOT_RUN).length
  return [
    '',
    `  ${name}: ${from.slice(0, 16)} to ${to.slice(0, 16)} UTC, ${method}, ${trials.length} combinations, best by ${objective}`,
    ...madeUp.map((text) => `  ${text}`),
    '',
    `  ${'trial'.padEnd(13)}${header}${'return'.padStart(11)}${'drawdown'.padStart(11)}  parameters`,
    ...trials.slice(0, ROWS).map((row) => {
      const figures = `${number(row.score)}${number(row.inSample)}${number(row.outOfSample)}${share(row.figures?.return)}${share(row.figures?.drawdown)}`
      const reach = row.isWhole ? '' : ' (a shorter stretch)'
      const note = row.failed === '' ? reach : ` (${row.failed.split('\n', 1)[0]})`
      return `  ${row.id.padEnd(13)}${figures}  ${showParams(row.params)}${row.isIsolated ? ' (isolated peak)' : ''}${markEnded(row)}${note}`
    }),
    ...(trials.length > ROWS ? [`  and ${trials.length - ROWS} more`] : []),
    '',
    `  score: ${objective === 'sharpe' ? `mean over standard deviation of the returns of each ${showDuration(periodMs)}, not annualised` : 'the return'}`,
    '  in sample, out of s.: the mean over the windows of the same figure, of the parts of this run',
    ...(folds.length === 0
      ? []
      : [
          '',
          '  walk-forward: chosen on everything before, tried in the window',
          `  ${'window (UTC)'.padEnd(36)}${['before', 'in it', 'return'].map((title) => title.padStart(11)).join('')}  parameters`,
        ]),
    ...folds.map(
      ({ outOfSample, inSample, figures, params }) =>
        `  ${outOfSample.from.slice(0, 16)} to ${outOfSample.to.slice(0, 16)}${number(inSample.score)}${number(outOfSample.score)}${share(figures?.return)}  ${showParams(params)}${markEnded({ figures })}`,
    ),
    '',
    ...(deflated === null
      ? []
      : [
          `  deflated Sharpe ratio: ${(deflated.probability * 100).toFixed(0)} % that ${deflated.sharpe.toFixed(4)} per ${showDuration(periodMs)} is above ${deflated.expectedMax.toFixed(4)}, the best of ${tries} worthless tries`,
        ]),
    ...(overfitting === null
      ? []
      : [
          `  probability of overfitting: ${(overfitting.probability * 100).toFixed(0)} % (50 % is chance)`,
        ]),
    ...(failed === 0 ? [] : [`  ${failed} of ${trials.length} failed`]),
    ...report.remarks.map((remark) => `  note: ${remark}`),
  ]
}

function markEnded(row: Parameters<typeof isEndedEarly>[0]): string {
  return isEndedEarly(row) ? ' (trading ended early)' : ''
}

const LOG_FILE = 'trials.jsonl'

/** A killed sweep continues from this log, and the number of tries is never lost. */
class TrialLog {
  readonly #file: string
  readonly #rows = new Map<string, TrialRow>()

  /** @throws Failure SWEEP_UNWRITABLE */
  constructor(directory: string) {
    this.#file = join(directory, LOG_FILE)
    this.#write(() => makeDirectory(directory))
    if (existsSync(this.#file)) this.#write(() => this.#read())
  }

  find(id: string): TrialRow | undefined {
    return this.#rows.get(id)
  }

  add(row: TrialRow): void {
    this.#rows.set(row.id, row)
    this.#write(() => appendFileSync(this.#file, `${JSON.stringify(row)}\n`))
  }

  /** Counts distinct combinations, with any configuration and code. */
  countTries(prices: string): number {
    return new Set(
      [...this.#rows.values()].filter((row) => row.prices === prices).map(({ tried }) => tried),
    ).size
  }

  /** Drops a line that a kill cut off; trials that timed out are tried again. */
  #read(): void {
    const text = readFileSync(this.#file, 'utf8')
    const end = text.lastIndexOf('\n') + 1
    if (end < text.length) truncateSync(this.#file, Buffer.byteLength(text.slice(0, end)))
    for (const line of text.slice(0, end).split('\n')) {
      if (line === '') continue
      const row = parseBoundedJson(line) as TrialRow
      if (!('failed' in row.outcome && row.outcome.isTimeOut === true)) this.#rows.set(row.id, row)
    }
  }

  #write(work: () => unknown): void {
    try {
      work()
    } catch (cause) {
      throw new Failure({
        code: 'SWEEP_UNWRITABLE',
        sentence: 'the results of the sweep cannot be written there',
        facts: { file: this.#file, found: messageOf(cause) },
        hint: 'name a directory with --out where this user may write',
        cause,
      })
    }
  }
}
