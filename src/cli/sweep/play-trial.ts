import { BacktestRun } from '../../backtest/backtest-run.ts'
import { messageOf } from '../../lib/failure.ts'
import { type RunReport } from '../../report/run-report.ts'
import { type TrialFigures, type TrialOutcome } from '../../sweep/trial.ts'
import { type PlayOptions } from '../backtest/play-options.ts'
import { openBacktest, playRun } from '../backtest/run-backtest.ts'
import { onBreakdown } from '../process/signals.ts'

export interface TrialOrder {
  readonly config: string | undefined
  readonly options: PlayOptions
  readonly version: string
  /** Of the returns, ms. */
  readonly periodMs: number
}

/** Plays a trial to the end of its prices. @throws what `backtest` would end with. */
export async function playTrial({ config, options, version, periodMs }: TrialOrder): Promise<TrialOutcome> {
  const watch: { ended: { why: string } | undefined } = { ended: undefined }
  onBreakdown((error, strategy) => {
    watch.ended ??= { why: `${strategy === undefined ? '' : `${strategy}: `}${messageOf(error)}` }
  })
  const { prepared } = await openBacktest(config, options, version)
  const model = options.model === undefined || options.model === 'all' ? prepared.fillModel : options.model
  const run = new BacktestRun({ ...prepared.open(model, undefined), bucketMs: periodMs })
  await playRun(run, watch, () => undefined)
  if (watch.ended !== undefined) return { failed: watch.ended.why }
  const report = run.finish()
  const broken = report.restrictions.find((text) => text.includes('(strategyFailed)'))
  if (broken !== undefined) return { failed: broken }
  return { figures: toFigures(report), returns: toReturns(report) }
}

function toFigures(report: RunReport): TrialFigures {
  const { money, ratios, fills, liquidations } = report
  const ratioOf = (name: string): number | null => ratios.find((ratio) => ratio.name === name)?.value ?? null
  return {
    ...{ final: money.final, fees: money.fees, funding: money.funding },
    ...{ return: ratioOf('total return'), drawdown: ratioOf('deepest drawdown'), sharpe: ratioOf('Sharpe') },
    ...{ positions: ratioOf('positions closed'), winners: ratioOf('winners') },
    ...{ fills: fills.count, liquidations },
  }
}

/** From the end of a period to the end of the next; one without a quote has none. */
function toReturns({ series, money }: RunReport): readonly number[] {
  let before = Number(money.opening)
  return series.close.map((close) => {
    const equity = Number.isNaN(close) ? before : close
    const value = before > 0 ? equity / before - 1 : 0
    before = equity
    return value
  })
}
