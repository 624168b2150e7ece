import { age, number, percent } from '../format.js'
import { Badge, Card, html, Table, Use } from '../parts.js'
import { SharedLimits } from './shared-limits.js'

export function Limits({ live, account }) {
  const { limiter } = account
  const { sharedLimits, now } = live.head
  const rejected = limiter.reduce((sum, one) => sum + one.rateLimited, 0)
  return html` <section class=${`verdict ${rejected === 0 ? 'ok' : 'bad'}`}>
      <p class="headline">
        <i aria-hidden="true">${rejected === 0 ? '●' : '■'}</i>
        ${rejected === 0 ? 'No call was rejected' : `${number(rejected, 0)} calls were rejected (429)`}
      </p>
      <p class="because">A rejected call slows its endpoint down, and loses no order.</p>
    </section>
    ${sharedLimits && html`<${SharedLimits} shared=${sharedLimits} now=${now} />`}
    <${Card} title="Calls by endpoint">
      <${Table}
        keyOf=${(row) => row.endpoint}
        rows=${limiter}
        empty="No call was made yet."
        columns=${[
          ['endpoint', (row) => row.endpoint],
          ['used', (row) => percent(row.usedShare), 'number'],
          [
            '429',
            (row) =>
              row.rateLimited === 0 ? '0' : html`<${Badge} tone="bad" sign="!">${row.rateLimited}<//>`,
            'number',
          ],
          ['in the queue', (row) => number(row.waiting, 0), 'number'],
          ['late, 99 of 100', (row) => age(row.waitedMsP99), 'number'],
          ['', (row) => html`<${Use} share=${row.usedShare} label=${`${row.endpoint}, used`} />`],
          ['calls', (row) => number(row.made, 0), 'number'],
          ['limit', (row) => row.limit],
        ]}
      />
      <p class="soft">
        “Late” is how long a call waited in the queue for its turn; “used” the share of the allowed calls
        since the first one.
      </p>
    <//>`
}
