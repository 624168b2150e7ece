import { BacktestRun } from '../../backtest/backtest-run.ts'
import { type Agreement, compareDecisions, EffectLog, firstDifference } from './effect-log.ts'
import { systemClock } from '../../lib/clock.ts'
import { showTime } from '../../report/text/figures.ts'
import type { PreparedBacktest } from '../../backtest/opening/prepare-backtest.ts'
import { ProgressBar } from '../../backtest/playing/progress-bar.ts'
import type { PlayOptions } from '../../backtest/opening/play-options.ts'
import type { PlayWatcher } from '../../backtest/playing/play-message.ts'
import {
  markDecisions,
  openBacktest,
  playRun,
  watchForEnd,
} from '../../backtest/playing/run-backtest.ts'
import { type BiasCheck, judgeOutsideFiles, type OpenedFile } from './outside-files.ts'
import { watchReads } from './outside-files.ts'

export interface BiasOptions extends PlayOptions {
  readonly cuts: number
}

export interface BiasTask {
  readonly config: string | undefined
  readonly options: BiasOptions
  readonly version: string
}

/** Whole hours, so that both runs read prices at the same moments. */
const GRID_MS = 3_600_000
/** The next equal share is warm-up. */
const LATER_SHARE = 0.25

interface PlayedCheck {
  readonly prepared: PreparedBacktest
  readonly log: EffectLog
}

/**
 * The whole range, then without the future, then with a later start. @throws Failure for a strategy
 * whose code failed outside of decide
 */
export async function checkBias(
  { config, options, version }: BiasTask,
  watcher: PlayWatcher,
): Promise<BiasCheck> {
  const { marks, isTTY, post } = watcher
  const watch = watchForEnd(marks)
  const reads = new Map<string, OpenedFile>()
  const forget = watchReads((strategy, file) =>
    reads.set(`${strategy} ${file}`, { strategy, file }),
  )
  const progress = new ProgressBar(
    { isTTY, write: (text) => post({ kind: 'progress', text }) },
    systemClock,
  )
  let done = 0
  const play = async (
    range: Pick<PlayOptions, 'from' | 'to'>,
    label: string,
  ): Promise<PlayedCheck> => {
    const { prepared } = await openBacktest(config, { ...options, ...range }, version, { watcher })
    const log = new EffectLog()
    const model =
      options.model === undefined || options.model === 'all' ? prepared.fillModel : options.model
    const opened = markDecisions(prepared.open(model, undefined), marks)
    const run = new BacktestRun({ ...opened, onStep: (step) => log.stepped(step) })
    await playRun(run, watch, (at) => {
      marks.beat(at)
      const share = (at - prepared.fromAt) / (prepared.toAt - prepared.fromAt)
      progress.show((done + share) / (options.cuts + 2), label)
    })
    if (watch.ended?.failure !== undefined) throw watch.ended.failure
    done += 1
    return { prepared, log }
  }
  try {
    const whole = await play(options, 'the whole')
    const future = await checkFuture(whole, options.cuts, (to) =>
      play({ ...rangeOf(whole), to }, 'the future cut off'),
    )
    const past = await checkPast(whole, (from) =>
      play({ ...rangeOf(whole), from }, 'a later start'),
    )
    const files = judgeOutsideFiles(whole.prepared, {
      opened: [...reads.values()],
      played: [...options.market, ...(options.feed ?? [])],
    })
    return {
      isBiased: future.isBiased || files.isBiased,
      lines: [...future.lines, ...files.lines, '', ...past],
    }
  } finally {
    forget()
    watch.forget()
    progress.clear()
  }
}

function rangeOf({ prepared: { fromAt, toAt } }: PlayedCheck): {
  readonly from: number
  readonly to: number
} {
  return { from: fromAt, to: toAt }
}

function hourAt({ prepared: { fromAt, toAt } }: PlayedCheck, share: number): number {
  const grid = (toAt - fromAt) * share < GRID_MS ? GRID_MS / 60 : GRID_MS
  return fromAt + Math.floor(((toAt - fromAt) * share) / grid) * grid
}

async function checkFuture(
  whole: PlayedCheck,
  cuts: number,
  play: (to: number) => Promise<PlayedCheck>,
): Promise<BiasCheck> {
  const lines: string[] = []
  let isBiased = false
  for (let cut = 1; cut <= cuts; cut++) {
    const to = hourAt(whole, cut / (cuts + 1))
    if (to <= whole.prepared.fromAt) continue
    const part = await play(to)
    const difference = firstDifference(
      whole.log.steps,
      part.log.steps,
      Math.min(to, part.prepared.toAt),
    )
    isBiased ||= difference !== undefined
    lines.push(
      difference === undefined
        ? `without what came after ${showTime(to)}: the same effects to the byte`
        : `without what came after ${showTime(to)}: other effects, from ${new Date(difference.at).toISOString()} on, ${nameOf(difference.strategyId)}`,
    )
  }
  lines.push(
    isBiased
      ? 'biased: what was done hangs on prices that were not there yet, or on an earlier run of the same process'
      : 'no effect changed: nothing was decided on prices that were not there yet',
  )
  return { isBiased, lines }
}

function nameOf(strategyId: string): string {
  return strategyId === '' ? 'first seen in what no strategy decided' : `of strategy ${strategyId}`
}

async function checkPast(
  whole: PlayedCheck,
  play: (from: number) => Promise<PlayedCheck>,
): Promise<readonly string[]> {
  const from = hourAt(whole, LATER_SHARE)
  const warmAt = hourAt(whole, 2 * LATER_SHARE)
  if (from <= whole.prepared.fromAt) return []
  const later = await play(from)
  const agreements = compareDecisions(whole.log.decisions, later.log.decisions, {
    fromAt: warmAt,
    gridMs: whole.prepared.polling.tickersMs,
  })
  return [
    `begun at ${showTime(from)} instead, decisions from ${showTime(warmAt)} on:`,
    ...[...agreements].map(
      ([strategyId, agreement]) => `  ${strategyId}: ${describeAgreement(agreement)}`,
    ),
  ]
}

function describeAgreement({ compared, same, firstAt, lastAt }: Agreement): string {
  if (firstAt === undefined || lastAt === undefined)
    return `all ${compared} the same: nothing hangs on where the history began`
  return `${same} of ${compared} the same; the first other one at ${showTime(firstAt)}, the last at ${showTime(lastAt)}: its state or its orders hang on where the history began`
}
