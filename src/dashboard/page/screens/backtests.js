import { read } from '../api.js'
import { Sparkline } from '../charts.js'
import { day, money, percent, signed, time } from '../format.js'
import { Card, Gain, html, usePolled } from '../parts.js'

export function Backtests() {
  const { value, error } = usePolled(() => read('/v1/backtests'), [], 0)
  if (error) return html`<p role="alert" class="problem">${error}</p>`
  if (value === undefined) return html`<p class="soft">Reads the reports …</p>`
  const runs = value.flatMap((report) => report.runs.map((run) => ({ ...run, report })))
  if (runs.length === 0)
    return html`<p class="empty">
      No report lies in <code>backtests/</code>. <code>intentd backtest</code> writes one.
    </p>`
  const row = (name, cell) =>
    html`<tr>
      <th scope="row">${name}</th>
      ${runs.map((run) => html`<td class="number" key=${run.report.id + run.model}>${cell(run)}</td>`)}
    </tr>`
  const names = [...new Set(runs.flatMap(({ ratios }) => ratios.map(({ name }) => name)))]
  return html`<${Card} title="Side by side, the newest first">
    <div class="scroll" tabindex="0">
      <table class="beside">
        <thead>
          <tr>
            <th></th>
            ${runs.map(({ report, model }) => html`<th scope="col" class="number" key=${report.id + model}>${report.id}<br /><small>${model}, ${time(report.writtenAt)}</small>${report.madeUp.length > 0 && html`<br /><small class="problem">made-up prices</small>`}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${row('equity', (run) => html`<${Sparkline} values=${run.curve} label=${`Equity of ${run.report.id}`} />`)}
          ${runs.some(({ report }) => report.madeUp.length > 0) && row('prices', ({ report }) => (report.madeUp.length > 0 ? `made up: ${report.madeUp.join(', ')}` : 'real'))}
          ${runs.some(({ report }) => report.given.length > 0) && row('changed', ({ report }) => report.given.join(', ') || 'nothing')}
          ${row('from', ({ fromAt }) => day(fromAt))}${row('to', ({ toAt }) => day(toAt))}
          ${row('opening', ({ opening, report }) => `${money(opening, report.coin)} ${report.coin}`)}
          ${row('final', ({ final, report }) => `${money(final, report.coin)} ${report.coin}`)}
          ${row('profit', ({ opening, final, report }) => html`<${Gain} value=${final - opening} text=${`${signed(final - opening, report.coin)} (${percent((final - opening) / opening, 2)})`} />`)}
          ${row('fees', ({ fees, report }) => `${money(fees, report.coin)} ${report.coin}`)}
          ${names.map((name) => row(name, ({ ratios }) => asShown(ratios.find((one) => one.name === name)?.text)))}
        </tbody>
      </table>
    </div>
    <p class="soft">
      <code>intentd compare</code> sets them side by side in full; each folder's report.html has the charts.
    </p>
  <//>`
}

function asShown(text) {
  return text === undefined || text === '-' ? '–' : text.replace('-', '−')
}
