import { type Cell, escapeHtml, renderSection, renderTable, toned } from '../report/page/html.ts'
import { toDocument } from '../report/page/page.ts'
import { MADE_UP, showNumber, showShare } from '../report/text/figures.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import type { HeatMap } from './landscape.ts'
import type { ParamSet } from './param-sets.ts'
import type { FoldRow, SweepReport, SweepRow } from './sweep-report.ts'

/** sweep.json and trials.csv have the other trials. */
const ROWS_MAX = 500

export function renderSweepPage(report: SweepReport): string {
  const {
    from,
    to,
    method,
    objective,
    trials,
    folds,
    heatMap,
    madeUp = [],
    periodMs,
    coin,
  } = report
  const title = `Sweep of ${report.name}${madeUp.length === 0 ? '' : ` on ${MADE_UP}`}`
  const remarks = [...madeUp, ...report.remarks]
  const period = showDuration(periodMs)
  const body = [
    `<h1>${escapeHtml(title)}</h1><p class="sub">${shortTime(from)} to ${shortTime(to)} UTC · ${method}, ${trials.length} combinations · best by ${objective} · ${escapeHtml(coin)}</p>`,
    remarks.length === 0
      ? ''
      : renderSection(
          'What to know first',
          `<ul>${remarks.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>`,
        ),
    renderTiles(report),
    folds.length === 0
      ? ''
      : renderSection(
          'Walk-forward',
          renderFolds(folds),
          'Each window was tried alone, from flat, with the parameters that were best on everything before it. This is what following the sweep would have earned.',
        ),
    renderSection(
      'Trials',
      renderTrials(trials),
      `Score: ${objective === 'sharpe' ? `mean over standard deviation of the returns of each ${period}, not annualised` : 'the return'}. In sample and out of sample: the mean over the windows of the same figure, of the parts of this run.`,
    ),
    heatMap === null
      ? ''
      : renderSection(
          `${heatMap.rowName} and ${heatMap.columnName}`,
          renderHeatMap(heatMap),
          'The mean score of what was tried there. A good place has good neighbours.',
        ),
    renderSection(
      'In sample and out of sample',
      renderScatter(trials),
      'A dot each trial. Where what was good before stays good, the dots rise from left to right.',
    ),
    renderSection('To run one again', renderCommands(trials, folds)),
  ]
  return toDocument(title, body.join('\n'), {})
}

function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

export function showParams(params: ParamSet): string {
  return Object.entries(params)
    .map(([name, text]) => `${name}=${text}`)
    .join(' ')
}

function renderTiles({
  trials,
  folds,
  deflated,
  overfitting,
  tries,
  periodMs,
}: SweepReport): string {
  const [best] = trials
  const share = (value: number | null | undefined): string =>
    value === null || value === undefined ? 'n/a' : `${(value * 100).toFixed(0)} %`
  const compounded =
    folds.reduce((product, { figures }) => product * (1 + (figures?.return ?? 0)), 1) - 1
  const tiles: readonly (readonly [string, string, string])[] = [
    [
      'best trial',
      showShare(best?.figures?.return ?? Number.NaN),
      best?.isIsolated
        ? 'an isolated peak: its neighbours are far worse'
        : 'total return on the range that it was chosen on',
    ],
    [
      'out of sample',
      folds.length === 0 ? 'n/a' : showShare(compounded),
      'the windows of the walk-forward, one after the other',
    ],
    [
      'deflated Sharpe ratio',
      share(deflated?.probability),
      deflated === null
        ? 'too few trials'
        : `that ${deflated.sharpe.toFixed(3)} per ${showDuration(periodMs)} is above ${deflated.expectedMax.toFixed(3)}, the best of ${tries} worthless tries`,
    ],
    [
      'probability of overfitting',
      share(overfitting?.probability),
      overfitting === null
        ? 'too few trials, or too short'
        : `the best of a half below the median of the other; 50 % is chance (${overfitting.combinations} halves)`,
    ],
  ]
  const show = ([name, value, note]: (typeof tiles)[number]): string =>
    `<div class="tile"><span>${name}</span><b>${escapeHtml(value)}</b><small>${escapeHtml(note)}</small></div>`
  return `<div class="tiles">${tiles.map(show).join('')}</div>`
}

function numberCell(value: number | null, decimals = 4): Cell {
  return value === null ? { text: 'n/a' } : toned(value, showNumber(value, decimals))
}

function shareCell(value: number | null | undefined): Cell {
  return value === null || value === undefined ? { text: 'n/a' } : toned(value, showShare(value))
}

function renderTrials(trials: readonly SweepRow[]): string {
  const names = Object.keys(trials[0]?.params ?? {})
  const rows = trials
    .slice(0, ROWS_MAX)
    .map((row): readonly Cell[] => [
      row.id,
      ...names.map((name) => ({ text: row.params[name] ?? '' })),
      numberCell(row.score),
      numberCell(row.inSample),
      numberCell(row.outOfSample),
      shareCell(row.figures?.return),
      shareCell(row.figures?.drawdown),
      { text: row.figures === null ? '' : String(row.figures.fills) },
      [
        row.failed,
        row.isIsolated ? 'isolated peak' : '',
        row.isWhole ? '' : `to ${shortTime(row.to)} only`,
        ...(row.figures?.restrictions ?? []),
      ]
        .filter((text) => text !== '')
        .join('; '),
    ])
  const columns = [
    'trial',
    ...names,
    'score',
    'in sample',
    'out of sample',
    'return',
    'drawdown',
    'fills',
    'note',
  ]
  const table = renderTable(columns, rows, [0, columns.length - 1])
  const left = trials.length - ROWS_MAX
  return left > 0 ? `${table}<p class="note">and ${left} more in trials.csv</p>` : table
}

function renderFolds(folds: readonly FoldRow[]): string {
  const rows = folds.map((fold): readonly Cell[] => [
    `${shortTime(fold.outOfSample.from)} to ${shortTime(fold.outOfSample.to)}`,
    showParams(fold.params),
    numberCell(fold.inSample.score),
    numberCell(fold.outOfSample.score),
    shareCell(fold.figures?.return),
    shareCell(fold.figures?.drawdown),
    { text: fold.figures === null ? fold.failed : String(fold.figures.fills) },
    (fold.figures?.restrictions ?? []).join('; '),
  ])
  return renderTable(
    [
      'window (UTC)',
      'chosen',
      'score before',
      'score in it',
      'return',
      'drawdown',
      'fills',
      'note',
    ],
    rows,
    [0, 1, 7],
  )
}

function paramOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

function renderHeatMap({ rows, columns, cells, rowName, columnName }: HeatMap): string {
  const values = cells.flat().filter((value) => value !== null)
  const strongest = Math.max(1e-12, ...values.map(Math.abs))
  const cell = (value: number | null): string => {
    if (value === null) return '<td></td>'
    const tint = value >= 0 ? '--heat-good' : '--heat-bad'
    const strength = (0.08 + (0.6 * Math.abs(value)) / strongest).toFixed(2)
    return `<td style="--tint:var(${tint});--strength:${strength}">${showNumber(value, 4)}</td>`
  }
  const head = columns.map((text) => `<th>${escapeHtml(text)}</th>`).join('')
  const body = rows.map(
    (text, index) =>
      `<tr><td class="text">${escapeHtml(text)}</td>${(cells[index] ?? []).map(cell).join('')}</tr>`,
  )
  return `<div class="scroll heat"><table><thead><tr><th class="text">${escapeHtml(paramOf(rowName))} \\ ${escapeHtml(paramOf(columnName))}</th>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}

function labelled({ low, span }: { low: number; span: number }, share: number): readonly number[] {
  return [low, 0, low + span].filter((value) => value === 0 || Math.abs(value) > share * span)
}

function renderScatter(trials: readonly SweepRow[]): string {
  const dots = trials.flatMap(({ inSample, outOfSample }) =>
    inSample === null || outOfSample === null ? [] : [{ x: inSample, y: outOfSample }],
  )
  if (dots.length === 0) return '<p>There was no walk-forward.</p>'
  const scaleOf = (values: readonly number[]): { low: number; span: number } => {
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
    const margin = (high - low || 1) * 0.05
    return { low: low - margin, span: high - low + 2 * margin || 1 }
  }
  const [x, y] = [scaleOf(dots.map((dot) => dot.x)), scaleOf(dots.map((dot) => dot.y))]
  const left = (value: number): string => (((value - x.low) / x.span) * 100).toFixed(2)
  const top = (value: number): string => (100 - ((value - y.low) / y.span) * 100).toFixed(2)
  const path = dots.map((dot) => `M${left(dot.x)} ${top(dot.y)}h0`).join('')
  const zero = `<line x1="0" x2="100" y1="${top(0)}" y2="${top(0)}"/><line x1="${left(0)}" x2="${left(0)}" y1="0" y2="100"/>`
  const labels = labelled(y, 0.07)
    .map((value) => `<span class="y" style="top:${top(value)}%">${showNumber(value, 4)}</span>`)
    .join('')
  const ends = labelled(x, 0.15)
    .map((value) => `<span style="left:${left(value)}%">${showNumber(value, 4)}</span>`)
    .join('')
  return `<figure style="margin:0"><figcaption><strong>score out of sample over score in sample</strong></figcaption>
<div class="frame"><div class="plot" style="height:300px"><svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="score out of sample over score in sample"><g class="grid">${zero}</g><path class="dots" style="--c:var(--blue)" d="${path}"/></svg></div>${labels}</div><div class="xs ends">${ends}</div></figure>`
}

const COMMANDS_SHOWN = 5

function renderCommands(trials: readonly SweepRow[], folds: readonly FoldRow[]): string {
  const shown = [...trials.slice(0, COMMANDS_SHOWN), ...folds]
  const lines = shown.map(({ id, command }) => `# ${id}\n${command}`)
  // Lines break only before an option.
  const code = escapeHtml(lines.join('\n')).replaceAll(
    / (--[a-z-]+)/g,
    ' <span class="option">$1</span>',
  )
  return `<pre><code>${code}</code></pre>`
}
