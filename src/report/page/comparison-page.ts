import type { RecipeDifference } from '../text/recipe-differences.ts'
import type { RunReport } from '../run-report.ts'
import type { ComparedRun } from '../text/terminal-report.ts'
import { moneyDecimals, showTime, withSign } from '../text/figures.ts'
import { type Cell, escapeHtml, renderList, renderSection, renderTable, toned } from './html.ts'
import { renderComparison, toDocument } from './page.ts'
import { renderEquities } from './run-charts.ts'

export interface NamedRun extends ComparedRun {
  readonly coin: string
}

export function renderComparisonPage(
  named: readonly NamedRun[],
  differences?: readonly RecipeDifference[],
): string {
  const runs = named.map(({ run }) => run)
  const names = named.map(({ name }) => name)
  const coin = named[0]?.coin ?? ''
  const isSameTime = runs.every(
    ({ series }) =>
      series.startAt === runs[0]?.series.startAt && series.stepMs === runs[0]?.series.stepMs,
  )
  const chart = isSameTime
    ? renderEquities(runs, names, coin)
    : runs.map((run, index) => renderEquities([run], [names[index] ?? ''], coin)).join('')
  const spans = named.map(
    ({ name, run }) =>
      `<li>${escapeHtml(name)}: ${showTime(run.fromAt)} to ${showTime(run.toAt)} UTC, fill model ${run.model}</li>`,
  )
  const warnings = [
    ...named.flatMap(({ name, madeUp }) => madeUp.map((text) => `${name}: ${text}`)),
    ...named.flatMap(({ name, run }) => run.restrictions.map((text) => `${name}: ${text}`)),
  ]
  const body = [
    `<h1>${names.map(escapeHtml).join(' and ')}</h1><ul class="sub">${spans.join('')}</ul>`,
    warnings.length === 0 ? '' : renderSection('What to know first', renderList(warnings)),
    differences === undefined ? '' : renderDifferences(named, differences),
    renderSection('Side by side', chart + renderComparison(runs, names)),
    renderSection('By strategy', renderStrategies(runs, names)),
  ].join('\n')
  return toDocument(names.join(' and '), body, { runs: runs.map(({ series }) => ({ series })) })
}

function renderDifferences(
  named: readonly NamedRun[],
  differences: readonly RecipeDifference[],
): string {
  const places = [named[0], named.at(-1)].map((one) => one?.place ?? '')
  const rows = differences.map(({ name, one, other }) => [name, one, other])
  return renderSection(
    'What differs',
    rows.length === 0
      ? '<p>Nothing: both ran the same program with the same settings on the same prices.</p>'
      : renderTable(['', ...places], rows, [0, 1, 2]),
    'Parameters, options, program and prices, as `run.json` of each has them; digests of files are cut.',
  )
}

function renderStrategies(runs: readonly RunReport[], names: readonly string[]): string {
  const ids = [
    ...new Set(runs.flatMap(({ strategies }) => strategies.map(({ name }) => name))),
  ].toSorted()
  const rows = ids.map((id): readonly Cell[] => [
    id,
    ...runs.flatMap(({ strategies, money }) => {
      const decimals = moneyDecimals(money)
      const part = strategies.find(({ name }) => name === id)
      if (part === undefined) return ['', '', '']
      const { fills, fees, profit } = part
      return [String(fills), withSign(-fees, decimals), toned(profit, withSign(profit, decimals))]
    }),
  ])
  const columns = names.flatMap((name) => [`${name}: fills`, 'fees', 'profit'])
  return renderTable(['', ...columns], rows)
}
