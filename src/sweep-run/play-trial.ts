import { ReportedBacktest } from '../backtest/reported-backtest.ts'
import { type DaemonConfig, loadConfig, toConfigRequest } from '../config/load-config.ts'
import { messageOf } from '../lib/failure.ts'
import type { RunReport } from '../report/run-report.ts'
import { describeDifference } from '../sweep/recipe-difference.ts'
import type { TrialFigures, TrialOutcome } from '../sweep/trial.ts'
import type { PreparedBacktest } from '../backtest/opening/prepare-backtest.ts'
import { narrow } from '../backtest/opening/priced-instruments.ts'
import type { PlayOptions } from '../backtest/opening/play-options.ts'
import { openBacktest, playRun } from '../backtest/playing/play-in-thread.ts'
import { describeRecipe } from '../backtest/playing/recipe.ts'
import { withRecorded } from '../assembly/instruments/played-request.ts'
import type { CandleTapes } from '../simulator/market/recorded/candle-tape.ts'
import { onBreakdown } from '../strategy/strategy-failure.ts'

export interface TrialOrder {
  readonly config: string | undefined
  readonly options: PlayOptions
  readonly version: string
  /** Period of the returns. */
  readonly periodMs: number
  /** The recipe of a sweep on another machine, whose inputs must equal ours. */
  readonly sweep?: SweepRecipe
}

export interface SweepRecipe {
  /** JSON of {@link recipeOf}. */
  readonly recipe: string
  /** `--param` of the sweep, without those of the trial. */
  readonly param: readonly string[]
}

/** `refused`: this machine's inputs differ, so nothing was computed. */
export type TrialAnswer = TrialOutcome | { readonly refused: string }

/**
 * @param tapes candles that earlier trials have drawn
 * @throws what `backtest` would end with
 */
export async function playTrial(order: TrialOrder, tapes: CandleTapes): Promise<TrialAnswer> {
  const watch: { ended: { why: string } | undefined } = { ended: undefined }
  const forget = onBreakdown((error, strategy) => {
    watch.ended ??= { why: `${strategy === undefined ? '' : `${strategy}: `}${messageOf(error)}` }
  })
  try {
    return await playWatched(order, tapes, watch)
  } finally {
    forget()
  }
}

async function playWatched(
  order: TrialOrder,
  tapes: CandleTapes,
  watch: { readonly ended: { readonly why: string } | undefined },
): Promise<TrialAnswer> {
  const { config, options, version, periodMs } = order
  const { prepared } = await openBacktest(config, options, version, { tapes })
  const difference = await differenceOf(order, prepared)
  if (difference !== undefined) return { refused: difference }
  const model =
    options.model === undefined || options.model === 'all' ? prepared.fillModel : options.model
  const run = new ReportedBacktest({ ...prepared.optionsFor(model, undefined), bucketMs: periodMs })
  await playRun(run, watch, () => undefined)
  if (watch.ended !== undefined) return { failed: watch.ended.why }
  const report = run.finish()
  const broken = report.restrictions.find((text) => text.includes('(strategyFailed)'))
  if (broken !== undefined) return { failed: broken }
  return { figures: toFigures(report), returns: toReturns(report) }
}

/** Says whether the trial failed by itself, or this machine's inputs differ. */
export async function judgeUnopened(order: TrialOrder, error: unknown): Promise<TrialAnswer> {
  const failed = { failed: messageOf(error) }
  const { config, options, version, sweep } = order
  if (sweep === undefined) return failed
  try {
    const { prepared } = await openBacktest(config, { ...options, param: sweep.param }, version)
    const difference = await differenceOf(order, prepared)
    return difference === undefined ? failed : { refused: difference }
  } catch (missing) {
    return { refused: messageOf(missing) }
  }
}

/** Without the trial's own parameters, which the sweep's recipe lacks. */
async function differenceOf(
  { config, options, version, sweep }: TrialOrder,
  prepared: PreparedBacktest,
): Promise<string | undefined> {
  if (sweep === undefined) return undefined
  const { set } = options
  const { param } = sweep
  const { config: whole } = loadConfig(
    await withRecorded(toConfigRequest({ config, set, param }), options),
  )
  return describeDifference(
    sweep.recipe,
    recipeOf({ prepared, config: whole }, { ...options, param }, version),
  )
}

export interface RecipeOf {
  readonly prepared: PreparedBacktest
  /** Not narrowed to the instruments with prices. */
  readonly config: DaemonConfig
}

/** Equal for all trials of a sweep, even if a price file has no row in a trial's part. */
export function recipeOf(
  { prepared, config }: RecipeOf,
  options: PlayOptions,
  version: string,
): string {
  const { model = prepared.fillModel, set, param } = options
  const { prices } = prepared
  const opened = { ...prepared, config: narrow(config, prices), coverage: prices }
  const {
    from: _from,
    to: _to,
    params: _params,
    ...recipe
  } = describeRecipe(opened, { models: [model], version, set, param })
  return JSON.stringify(recipe)
}

function toFigures(report: RunReport): TrialFigures {
  const { money, ratios, fills, liquidations, restrictions } = report
  const ratioOf = (name: string): number | null =>
    ratios.find((ratio) => ratio.name === name)?.value ?? null
  return {
    final: money.final,
    fees: money.fees,
    funding: money.funding,
    return: ratioOf('total return'),
    drawdown: ratioOf('deepest drawdown'),
    sharpe: ratioOf('Sharpe'),
    positions: ratioOf('positions closed'),
    winners: ratioOf('winners'),
    fills: fills.count,
    liquidations,
    restrictions,
  }
}

/** Returns from the end of one period to the next; 0 without a quote. */
function toReturns({ series, money }: RunReport): readonly number[] {
  let before = Number(money.opening)
  return series.close.map((close) => {
    const equity = Number.isNaN(close) ? before : close
    const value = before > 0 ? equity / before - 1 : 0
    before = equity
    return value
  })
}
