import { hash } from 'node:crypto'
import type { BacktestReport, RunReport } from '../run-report.ts'
import {
  describeHold,
  describeMadeUp,
  MADE_UP,
  moneyDecimals,
  showNumber,
  showBeside,
  showRatio,
  showShare,
  showTime,
  withSign,
} from '../text/figures.ts'
import { roundNumbers } from '../round-numbers.ts'
import {
  type Cell,
  escapeHtml,
  renderList,
  renderSection,
  renderTable,
  toned,
  toScriptJson,
} from './html.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { PAGE_STYLE } from './page-style.ts'
import { renderEquities, renderRunCharts } from './run-charts.ts'
import { renderRunTables } from './run-tables.ts'

/** One file: no network, readable without its script, in light and dark. */
export function renderPage(
  report: BacktestReport,
  recipe: Readonly<Record<string, unknown>>,
  command?: string,
): string {
  const { runs, coin, assumptions, coverage } = report
  const madeUp = describeMadeUp(coverage)
  const title = `Backtest of ${report.name}${madeUp.length === 0 ? '' : ` on ${MADE_UP}`}`
  const remarks = [...madeUp, ...report.remarks]
  const [first] = runs
  const span = first
    ? `${showTime(first.fromAt)} to ${showTime(first.toAt)} UTC`
    : 'nothing was played'
  const models = runs.map(({ model }) => model).join(', ')
  const body = [
    `<h1>${escapeHtml(title)}</h1><p class="sub">${span}${first?.isCut ? ', ended before the prices did' : ''} · fill model ${models} · ${escapeHtml(coin)}</p>`,
    remarks.length === 0 ? '' : renderSection('What to know first', renderList(remarks)),
    runs.length > 1 ? renderModels(report) : '',
    renderTabs(runs, coin),
    renderSection('Assumptions', renderList(assumptions)),
    renderSection('Prices', renderCoverage(report)),
    renderSection(
      'To run it again',
      `${command === undefined ? '' : `<pre><code>${escapeHtml(command)}</code></pre>`}<pre><code>${escapeHtml(JSON.stringify(recipe, undefined, 2))}</code></pre>`,
    ),
  ]
  return toDocument(title, body.join('\n'), {
    runs: runs.map(({ series, prices, plots = {} }) => ({
      series: readable(series),
      prices,
      plots: Object.fromEntries(
        Object.entries(plots).map(([symbol, columns]) => [symbol, Object.values(columns)]),
      ),
    })),
  })
}

const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src 'sha256-${hash('sha256', PAGE_SCRIPT, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export function toDocument(title: string, body: string, data: unknown): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${PAGE_STYLE}</style></head><body>
${body}
<script type="application/json" id="report">${toScriptJson(data, roundNumbers)}</script><script>${PAGE_SCRIPT}</script></body></html>
`
}

/** Drawdowns are shown below zero. */
function readable(series: RunReport['series']): unknown {
  return { ...series, drawdown: series.drawdown.map((depth) => -depth) }
}

function renderTabs(runs: readonly RunReport[], coin: string): string {
  const panels = runs.map((run, index) => `<div>${renderRun(run, index, coin)}</div>`)
  if (runs.length < 2) return panels.join('')
  const inputs = runs.map(
    ({ model }, index) =>
      `<input type="radio" name="model" id="tab${index}"${index === 0 ? ' checked' : ''}><label for="tab${index}">${escapeHtml(model)}</label>`,
  )
  const rules = runs.map((_, index) => `#tab${index}:checked ~ .panel${index}`).join(', ')
  const hidden = panels.map((panel, index) =>
    panel.replace('<div>', `<div class="panel panel${index}">`),
  )
  return `<style>${rules} { display: block }</style><div class="tabs">${inputs.join('')}${hidden.join('')}</div>`
}

function renderRun(run: RunReport, index: number, coin: string): string {
  const ends =
    run.restrictions.length === 0
      ? ''
      : renderSection('What ended the trading', renderList(run.restrictions))
  return `${ends}${renderTiles(run, coin)}${renderRunCharts(run, index, coin)}${renderRunTables(run, index, coin)}`
}

function ratioText(run: RunReport, name: string): string {
  const found = run.ratios.find((ratio) => ratio.name === name)
  return found ? showRatio(found) : 'n/a'
}

function renderTiles(run: RunReport, coin: string): string {
  const { money, buyAndHold, fills } = run
  const [opening, final] = [Number(money.opening), Number(money.final)]
  const decimals = moneyDecimals(money)
  const tiles: readonly (readonly [string, Cell, string])[] = [
    [
      'final equity',
      { text: showNumber(final, decimals) },
      `${coin}, from ${showNumber(opening, decimals)}`,
    ],
    [
      'total return',
      toned(final - opening, showShare(final / opening - 1)),
      `buy and hold ${showShare(buyAndHold.value)}: ${describeHold(buyAndHold)}`,
    ],
    [
      'deepest drawdown',
      { text: ratioText(run, 'deepest drawdown') },
      `${ratioText(run, 'time under water')} of the time under water`,
    ],
    [
      'Sharpe',
      { text: ratioText(run, 'Sharpe') },
      run.ratios.find(({ name }) => name === 'Sharpe')?.note
        ? 'per day, not annualised'
        : 'annualised, 365 days',
    ],
    [
      'fees',
      { text: withSign(-Number(money.fees), decimals) },
      `${fills.count} fills, ${(fills.makerShare * 100).toFixed(0)} % maker`,
    ],
    [
      'funding',
      toned(Number(money.funding), withSign(Number(money.funding), decimals)),
      'received, or paid',
    ],
    [
      'profit factor',
      { text: ratioText(run, 'profit factor') },
      `${ratioText(run, 'positions closed')} positions closed`,
    ],
    [
      'highest margin use',
      { text: ratioText(run, 'highest margin use') },
      'of the equity; at 100 % the exchange liquidates',
    ],
  ]
  const show = ([name, cell, note]: (typeof tiles)[number]): string => {
    const { text, tone = 'none' } = typeof cell === 'string' ? { text: cell } : cell
    return `<div class="tile"><span>${name}</span><b class="${tone}">${escapeHtml(text)}</b><small>${escapeHtml(note)}</small></div>`
  }
  return `<div class="tiles">${tiles.map(show).join('')}</div>`
}

function renderModels({ runs, coin }: BacktestReport): string {
  const names = runs.map(({ model }) => model)
  return renderSection(
    'The fill models side by side',
    renderEquities(runs, names, coin) + renderComparison(runs, names),
    'Nobody knows how one order more would have been filled. A result that holds under one model alone is no result.',
  )
}

export function renderComparison(runs: readonly RunReport[], names: readonly string[]): string {
  const row = (title: string, show: (run: RunReport) => Cell): readonly Cell[] => [
    title,
    ...runs.map(show),
  ]
  const gain = ({ money }: RunReport): number => Number(money.final) / Number(money.opening) - 1
  return renderTable(
    ['', ...names],
    [
      row('final equity', ({ money }) => ({
        text: showNumber(Number(money.final), moneyDecimals(money)),
      })),
      row('total return', (run) => toned(gain(run), showShare(gain(run)))),
      row('fees', ({ money }) => ({ text: withSign(-Number(money.fees), moneyDecimals(money)) })),
      row('funding', ({ money }) => ({
        text: withSign(Number(money.funding), moneyDecimals(money)),
      })),
      row('fills, maker share', ({ fills }) => ({
        text: `${fills.count}, ${(fills.makerShare * 100).toFixed(0)} %`,
      })),
      ...(runs[0]?.ratios ?? [])
        .filter(({ name }) => name !== 'total return')
        .map(({ name }) => {
          const found = runs.map(({ ratios }) => ratios.find((ratio) => ratio.name === name))
          return [name, ...showBeside(found).map((text) => ({ text }))]
        }),
    ],
  )
}

function renderCoverage({ coverage }: BacktestReport): string {
  const rows = coverage.map(({ symbol, source, kind, fromAt, toAt, rows: count, gaps, sha256 }) => [
    symbol,
    source,
    kind,
    { text: showTime(fromAt) },
    { text: showTime(toAt) },
    { text: String(count) },
    { text: String(gaps.count) },
    { text: sha256.slice(0, 12) },
  ])
  return renderTable(
    ['instrument', 'source', 'kind', 'from (UTC)', 'to', 'rows', 'gaps', 'SHA-256'],
    rows,
    [0, 1, 2],
  )
}
