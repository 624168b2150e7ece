import { hash } from 'node:crypto'
import { showCount } from '../../lib/text/show-count.ts'
import { toFlatFields } from '../../lib/flat-fields.ts'
import { roundNumbers } from '../round-numbers.ts'
import type { BacktestReport, RunReport } from '../run-report.ts'
import {
  describeHold,
  describeMadeUp,
  MADE_UP,
  moneyDecimals,
  showBeside,
  showNumber,
  showRatio,
  showShare,
  showTime,
  withSign,
} from '../text/figures.ts'
import {
  type Cell,
  escapeHtml,
  renderList,
  renderSection,
  renderTable,
  SCROLL_STYLE,
  toned,
  toScriptJson,
} from './html.ts'
import { renderEquities, renderRunCharts } from './run-charts.ts'
import { renderRunTables } from './run-tables.ts'

const PAGE_STYLE = `
:root { color-scheme: light dark; --bg: #fbfbfa; --card: #fff; --text: #1d2126; --soft: #5f6873; --edge: #e2e4e7;
  --blue: #1f66d0; --grey: #8a929c; --red: #c23a2b; --good: #17784b; --bad: #b42a1c; --teal: #0c8a83; --orange: #cf6a12;
  --violet: #7a4fc4; --magenta: #b4307c; --olive: #6f7a12; --heat-good: 23 120 75; --heat-bad: 194 58 43 }
@media (prefers-color-scheme: dark) { :root { --bg: #14171a; --card: #1b1f24; --text: #e6e8ea; --soft: #9aa4af;
  --edge: #2d333a; --blue: #6aa6ff; --grey: #8b949e; --red: #ff7b6b; --good: #4fc98d; --bad: #ff8a7a; --teal: #3fd0c4;
  --orange: #ffa047; --violet: #b795ff; --magenta: #ff86c3; --olive: #bccb4c; --heat-good: 79 201 141; --heat-bad: 255 123 107 } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 20px 64px; max-width: 1180px; background: var(--bg); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif }
h1 { font-size: 24px; margin: 0 0 2px; overflow-wrap: anywhere } h2 { font-size: 18px; margin: 0 0 10px } h3 { font-size: 15px; margin: 18px 0 8px }
p { margin: 0 0 10px } .note, .sub { color: var(--soft); font-size: 13.5px; max-width: 75ch } .sub { margin-bottom: 18px }
section { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 18px 20px; margin: 0 0 16px }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 10px; margin: 0 0 16px }
.tile { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 10px 14px }
.tile span { display: block; color: var(--soft); font-size: 12.5px } .tile b { font-size: 21px; font-weight: 600; white-space: nowrap }
.tile small { display: block; color: var(--soft); font-size: 12px }
.good { color: var(--good) } .bad { color: var(--bad) }
${SCROLL_STYLE}
table { border-collapse: collapse; width: 100%; font-size: 13.5px }
th, td { padding: 5px 10px; text-align: right; border-bottom: 1px solid var(--edge); white-space: nowrap; font-variant-numeric: tabular-nums }
th { color: var(--soft); font-weight: 500 } th.text, td.text { text-align: left; white-space: normal; min-width: 110px }
table.wide { font-size: 12px } .wide :is(th, td) { padding: 5px 4px } .wide :is(th, td).text { min-width: 0 }
td.text:first-child { font-weight: 500 } tbody tr:last-child td { border-bottom: 0 }
.formula td:nth-child(3) { color: var(--soft); min-width: 280px }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 28px } .pair > * { min-width: 0 }
ul { margin: 0; padding-left: 20px } li { margin: 0 0 5px; overflow-wrap: anywhere }
.chart { margin: 0 0 20px } .chart:last-child { margin-bottom: 0 }
figcaption { display: flex; flex-wrap: wrap; gap: 2px 16px; align-items: baseline; font-size: 13px; margin-bottom: 6px; min-height: 22px }
figcaption strong { font-size: 14px } figcaption time { color: var(--soft); font-variant-numeric: tabular-nums }
.key { color: var(--soft); white-space: nowrap } .key b { color: var(--text); margin-left: 5px; font-weight: 600; font-variant-numeric: tabular-nums }
.key i { display: inline-block; width: 14px; height: 0; border-top: 2px solid var(--c); vertical-align: 4px; margin-right: 5px }
.key i.dots { width: 7px; height: 7px; border: 0; border-radius: 50%; background: var(--c); vertical-align: 1px }
.key i.band, .key i.area { height: 9px; border: 0; background: var(--c); opacity: .35; vertical-align: 0 }
.frame { position: relative; padding-left: 62px } .plot { position: relative; border-bottom: 1px solid var(--edge) }
.plot svg { display: block; width: 100%; height: 100%; overflow: hidden }
.grid line { stroke: var(--edge); vector-effect: non-scaling-stroke }
path { vector-effect: non-scaling-stroke; fill: none } .line { stroke: var(--c); stroke-width: 1.6px; stroke-linejoin: round }
.area { fill: var(--c); opacity: .18 } .band { fill: var(--c); opacity: .22 }
.dots { stroke: var(--c); stroke-width: 4px; stroke-linecap: round; opacity: .7 }
.y { position: absolute; left: 0; width: 56px; text-align: right; font-size: 11.5px; color: var(--soft); transform: translateY(-50%); font-variant-numeric: tabular-nums; white-space: nowrap }
.xs { position: relative; height: 18px; margin-left: 62px; font-size: 11.5px; color: var(--soft) }
.xs span { position: absolute; transform: translateX(-50%); white-space: nowrap; top: 2px }
.cursor { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--soft); display: none; pointer-events: none }
.xs.ends span:first-child { transform: none } .xs.ends span:last-child { transform: translateX(-100%) }
.heat table { width: auto } .heat td { text-align: center; border: 2px solid var(--card); border-radius: 6px; min-width: 76px } .heat th { text-align: center }
.heat :is(th, td):first-child { width: 1px; min-width: 0; white-space: nowrap; text-align: left; position: sticky; left: 0; background: var(--card) }
.heat td[style] { background: rgb(var(--tint) / var(--strength)) }
.bars { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: 3px; height: 110px; align-items: stretch }
.bars div { position: relative } .bars i { position: absolute; left: 0; right: 0; background: var(--good); border-radius: 2px; min-height: 1px; opacity: .8 }
.bars i.down { background: var(--bad) } .bar-names { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: 3px; font-size: 11px; color: var(--soft); text-align: center }
.tabs > input { position: absolute; opacity: 0 } .tabs > label { display: inline-block; padding: 6px 16px; margin: 0 6px 14px 0; border: 1px solid var(--edge); border-radius: 999px; cursor: pointer; background: var(--card) }
.tabs > input:checked + label { border-color: var(--blue); color: var(--blue); font-weight: 600 } .tabs > input:focus-visible + label { outline: 2px solid var(--blue) }
.panel { display: none }
code { font: 12.5px/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere }
pre { margin: 0; white-space: pre-wrap } pre .option { white-space: nowrap }
@media (max-width: 640px) { body { padding: 14px 10px 40px; font-size: 14px } section { padding: 14px 12px } .pair { grid-template-columns: 1fr }
  .tiles { grid-template-columns: 1fr 1fr } .tile b { font-size: 18px } .xs:not(.ends) span:nth-child(even) { display: none } .frame { padding-left: 50px } .xs { margin-left: 50px } .y { width: 45px; font-size: 10.5px }
  th, td { padding: 5px 7px } .heat td { min-width: 58px } .bar-names span:nth-child(even) { visibility: hidden } }
@media print { section { break-inside: avoid } body { max-width: none } }
`

const PAGE_SCRIPT = `
const report = JSON.parse(document.getElementById('report').textContent)
const charts = [...document.querySelectorAll('.chart')]
const valuesOf = (path) => path.split('/').reduce((part, key) => part && part[key], report)
const show = (value, unit) => value === null || value === undefined ? '–'
  : unit === 'share' ? (value * 100).toFixed(2) + ' %'
  : value.toLocaleString('en-US', unit === 'price' ? { maximumSignificantDigits: 8 } : { maximumFractionDigits: 2 })
function readOut(group, share) {
  for (const chart of charts) {
    if (chart.dataset.group !== group) continue
    const { start, step, count, unit } = chart.dataset
    const bucket = Math.max(0, Math.min(count - 1, Math.floor(share * count)))
    const cursor = chart.querySelector('.cursor')
    cursor.style.display = share < 0 ? 'none' : 'block'
    cursor.style.left = ((bucket + 0.5) / count) * 100 + '%'
    chart.querySelector('time').textContent = share < 0 ? ''
      : new Date(Number(start) + bucket * step).toISOString().slice(0, 16).replace('T', ' ')
    for (const key of chart.querySelectorAll('.key[data-path]')) {
      key.querySelector('b').textContent = share < 0 ? '' : show((valuesOf(key.dataset.path) || [])[bucket], unit)
    }
  }
}
for (const chart of charts) {
  const plot = chart.querySelector('.plot')
  plot.addEventListener('pointermove', (event) => {
    const { left, width } = plot.getBoundingClientRect()
    readOut(chart.dataset.group, (event.clientX - left) / width)
  })
  plot.addEventListener('pointerleave', () => readOut(chart.dataset.group, -1))
}
`

/** The page needs no network, and a script only for the pointer. */
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
    renderParams(report),
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
      `${showCount(fills.count, 'fill')}, ${(fills.makerShare * 100).toFixed(0)} % maker`,
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
      'highest margin ratio',
      { text: ratioText(run, 'highest margin ratio') },
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

function renderParams({ params = {} }: BacktestReport): string {
  const rows = Object.entries(params).flatMap(([id, given]) =>
    [...toFlatFields(given)].map(([name, text]) => [id, name, text.replaceAll(/^"|"$/g, '')]),
  )
  if (rows.length === 0) return ''
  return renderSection(
    'Parameters',
    renderTable(['strategy', 'parameter', 'value'], rows, [0, 1, 2]),
    'All parameters of the strategies in this run, also those that the configuration leaves at their defaults.',
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
