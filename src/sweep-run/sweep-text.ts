import { showNumber, showShare } from '../report/text/figures.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { showParams } from '../sweep/sweep-page.ts'
import { isEndedEarly, NOT_RUN, type SweepReport } from '../sweep/sweep-report.ts'

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
    ...(folds.length === 0
      ? []
      : ['', '  walk-forward: chosen on everything before, tried in the window']),
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
