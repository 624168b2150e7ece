import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { read } from '../api.js'
import { exact, orderWords, time } from '../format.js'
import { asLadder, Card, html, Table, usePolled } from '../parts.js'
import { State } from './instrument.js'

const EVERY_MS = 1000

export function Orders({ live, subject }) {
  const { value: orders, error } = usePolled(() => read('/v1/orders'), [live.head.startedAt], EVERY_MS)
  const [filter, setFilter] = useState({ symbol: '', strategy: '', state: '', side: '' })
  const found = useMemo(
    () => (orders ?? []).filter((order) => matches(order, filter)).toSorted(asLadder),
    [orders, filter],
  )
  const hasTags = found.some(({ tag }) => tag !== '')
  const hasReasons = found.some(({ reason }) => reason)
  const open = (clientOid) => (location.hash = `#orders/${encodeURIComponent(clientOid)}`)
  const choice = (name, label, valueOf) => {
    const values = [...new Set((orders ?? []).map(valueOf))].toSorted((one, other) =>
      one.localeCompare(other),
    )
    return html`<label
      >${label}
      <select
        value=${filter[name]}
        onChange=${(event) => setFilter({ ...filter, [name]: event.target.value })}
      >
        <option value="">all</option>
        ${values.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select></label
    >`
  }
  return html` ${subject && html`<${Story} subject=${subject} />`}
    ${error && html`<p role="alert" class="problem">${error}</p>`}
    <div class="choices">
      ${choice('symbol', 'Instrument', (one) => one.symbol)}
      ${choice('strategy', 'Strategy', (one) => one.strategy)} ${choice('state', 'State', (one) => one.state)}
      ${choice('side', 'Order', orderWords)}
      <form
        class="grow"
        onSubmit=${(event) => {
          event.preventDefault()
          open(new FormData(event.target).get('subject').trim())
        }}
      >
        <label>One that is over <input name="subject" placeholder="clientOid or key" required /></label>
        <button>Explain</button>
      </form>
    </div>
    <${Card} title=${`${found.length} open ${found.length === 1 ? 'order' : 'orders'}`}>
      <${Table}
        keyOf=${(row) => row.clientOid}
        rows=${found}
        onRow=${(row) => open(row.clientOid)}
        empty=${orders === undefined ? 'Reads …' : 'No such order is open.'}
        columns=${[
          ['order', orderWords],
          ['state', (row) => html`<${State} order=${row} />`],
          ['instrument', (row) => row.symbol],
          ['price', (row) => (row.price === null ? 'market' : exact(row.price)), 'number'],
          ['size', (row) => exact(row.size), 'number'],
          ['filled', (row) => exact(row.filled), 'number'],
          ['strategy', (row) => row.strategy],
          [
            'wanted by',
            (row) => (row.key.startsWith(`${row.purpose}:`) ? row.key : `${row.purpose} ${row.key}`),
          ],
          ...(hasTags ? [['tag', (row) => row.tag]] : []),
          ['force', (row) => row.force],
          ...(hasReasons ? [['why', (row) => row.reason, 'wrap']] : []),
        ]}
      />
    <//>`
}

function matches(order, { symbol, strategy, state, side }) {
  return (
    (symbol === '' || order.symbol === symbol) &&
    (strategy === '' || order.strategy === strategy) &&
    (state === '' || order.state === state) &&
    (side === '' || orderWords(order) === side)
  )
}

function Story({ subject }) {
  const { value, error } = usePolled(() => read('/v1/explain', { subject }), [subject], 0)
  const place = useRef(null)
  // The row that opened it may be far below.
  useEffect(() => {
    place.current.scrollIntoView({ block: 'nearest' })
    place.current.focus({ preventScroll: true })
  }, [subject, value])
  return html`<div ref=${place} tabindex="-1" class="story-place">
    <${Card} title="The whole history" class="story" aside=${html`<a href="#orders">close</a>`}>
      ${error && html`<p role="alert" class="problem">${error}</p>`}
      ${value === undefined && !error && html`<p class="soft">Reads the journal …</p>`}
      ${value?.length === 0 && html`<p class="empty">The journal has nothing of ${subject}: it keeps a week, and knows a clientOid or a key as it was spelt.</p>`}
      ${(value ?? []).map(
        (story) =>
          html`<article key=${story.title}>
            <h3>${story.title}</h3>
            <p class="headline small">${story.verdict}</p>
            <ol class="moments">
              ${story.moments.map((moment) => html`<li key=${`${moment.sequence} ${moment.what}`}><time>${time(moment.at)}</time> <b>${moment.what}</b> ${moment.text}</li>`)}
            </ol>
          </article>`,
      )}
    <//>
  </div>`
}
