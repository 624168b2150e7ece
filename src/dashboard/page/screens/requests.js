import { age, number, time } from '../format.js'
import { Badge, Card, html, Table, usePolled } from '../parts.js'
import { read } from '../api.js'

const PROPOSALS_EVERY_MS = 5000

export function Requests({ live }) {
  return html`<${Proposals} live=${live} /><${Signals} signals=${live.head.signals} />`
}

/** A proposal's texts are its maker's. */
function Proposals({ live }) {
  const { value = [] } = usePolled(() => read('/v1/proposals'), [live.head.startedAt], PROPOSALS_EVERY_MS)
  if (value.length === 0) return undefined
  return html`<${Card} title="Waits for a one-time code" aside=${html`<code>intentd confirm${live.head.configOption} ID</code>`}>
    <${Table}
      keyOf=${(row) => row.id}
      rows=${value}
      columns=${[
        ['proposal', (row) => html`<code>${row.id}</code>`],
        ['would change', (row) => row.changes.map((text) => html`<div key=${text}>${text}</div>`)],
        ['proposed by, and why', (row) => `${row.by}: ${row.reason}`],
        ['until', (row) => time(row.expiresAt)],
      ]}
    />
  <//>`
}

function Signals({ signals }) {
  if (signals === undefined) return undefined
  const unproved = countOf(signals.unproved)
  return html`<${Card} title="Signals">
    <${Table}
      keyOf=${(row) => row.name}
      rows=${signals.accepted}
      empty="None is taken."
      columns=${[
        ['name', (row) => row.name],
        ['last', (row) => (row.at === null ? 'none known' : time(row.at))],
        ['age', (row) => (row.at === null ? '–' : age(Date.now() - row.at)), 'number'],
        [
          '',
          (row) =>
            row.isShown
              ? html`<${Badge} tone="ok" sign="✓">strategies see it<//>`
              : html`<${Badge} sign="○">${row.at === null ? 'none' : 'expired'}<//>`,
        ],
        ['taken', (row) => number(row.answered.taken ?? 0, 0), 'number'],
        ['refused', (row) => number(countOf(row.answered), 0), 'number'],
      ]}
    />
    ${unproved > 0 && html`<p class="soft legend">${number(unproved, 0)} requests without a secret were refused.</p>`}
  <//>`
}

function countOf({ refused = 0, limited = 0, notNow = 0 }) {
  return refused + limited + notNow
}
