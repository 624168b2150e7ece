import { read } from '../api.js'
import { time } from '../format.js'
import { Card, html, Table, usePolled } from '../parts.js'

const EVERY_MS = 30_000

export function Universes({ live }) {
  const { value = [], error } = usePolled(() => read('/v1/universe'), [live.head.startedAt], EVERY_MS)
  if (error) return html`<p role="alert" class="problem">${error}</p>`
  return value.map((one) => html`<${Universe} key=${one.strategy} universe=${one} />`)
}

function Universe({ universe }) {
  const { strategy, evaluatedAt, dueAt, waitsFor, count, left, leftMax, instruments } = universe
  const members = instruments.filter(({ state }) => state === 'in').length
  const when =
    evaluatedAt === null
      ? `not evaluated yet${waitsFor === null ? '' : `: waits for ${waitsFor}`}`
      : `evaluated ${time(evaluatedAt)}, next ${waitsFor === null ? time(dueAt) : `waits for ${waitsFor}`}`
  const changes = `${left}${leftMax === null ? '' : ` of ${leftMax}`} have left within 24 h`
  return html`<${Card} title=${`Universe of ${strategy}`} aside=${html`<code>intentd universe</code>`}>
    <p class="soft">${`${members} of ${count} chosen; ${when}; ${changes}`}</p>
    <${Table}
      keyOf=${(row) => row.symbol}
      rows=${instruments}
      empty="No instrument was judged yet."
      pageRows=${30}
      columns=${[
        ['instrument', (row) => row.symbol],
        ['state', (row) => row.state],
        ['since', (row) => time(row.since ?? row.at)],
        ['why', (row) => (row.waitsFor === null ? row.words : `${row.words}; ${row.waitsFor}`), 'wrap'],
      ]}
    />
  <//>`
}
