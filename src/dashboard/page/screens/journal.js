import { useMemo, useState } from 'preact/hooks'
import { read } from '../api.js'
import { time } from '../format.js'
import { isAlert } from '../live.js'
import { Badge, Card, Fields, html, Table, toLine, usePolled } from '../parts.js'

const ROWS = 100
const LEVELS = { info: ['soft', '●'], warn: ['warn', '▲'], error: ['bad', '■'], fatal: ['bad', '✕'] }
const KINDS = [
  'decision',
  'denial',
  'send',
  'outcome',
  'fills',
  'cancel',
  'settle',
  'expire',
  'adopt',
  'funding',
  'restricted',
  'released',
  'boot',
  'foreign',
  'repaired',
]

export function Journal({ live }) {
  const [isRecords, setRecords] = useState(false)
  return html` <div class="choices">
      <div role="group" aria-label="What is shown" class="segments">
        <button aria-pressed=${!isRecords} onClick=${() => setRecords(false)}>Log, live</button>
        <button aria-pressed=${isRecords} onClick=${() => setRecords(true)}>Journal, a week</button>
      </div>
    </div>
    ${isRecords ? html`<${Records} />` : html`<${Log} events=${withAlerts(live)} />`}`
}

function withAlerts({ alerts, events }) {
  const first = events[0]?.id ?? Infinity
  return [...alerts.filter(({ id }) => id < first), ...events]
}

function Log({ events }) {
  const [text, setText] = useState('')
  const [level, setLevel] = useState('')
  const found = useMemo(() => {
    const wanted = text.toLowerCase()
    return events
      .filter(
        (one) =>
          (level === '' || (level === 'warn' ? isAlert(one) : isAlert(one) && one.level !== 'warn')) &&
          (wanted === '' || `${one.event} ${toLine(one.fields)}`.toLowerCase().includes(wanted)),
      )
      .toReversed()
  }, [events, text, level])
  return html` <div class="choices">
      <label class="grow"
        >Search <input type="search" value=${text} onInput=${(event) => setText(event.target.value)}
      /></label>
      <label
        >Level
        <select value=${level} onChange=${(event) => setLevel(event.target.value)}>
          <option value="">all</option>
          <option value="warn">warnings and errors</option>
          <option value="error">errors</option>
        </select></label
      >
    </div>
    <${Card} title=${`${found.length} events, the newest first`}>
      <${Table}
        keyOf=${(row) => row.id}
        rows=${found}
        empty="No such event."
        columns=${[
          ['time', (row) => html`<time>${time(row.at)}</time>`],
          [
            'level',
            (row) =>
              html`<${Badge}
                tone=${(LEVELS[row.level] ?? LEVELS.info)[0]}
                sign=${(LEVELS[row.level] ?? LEVELS.info)[1]}
                >${row.level}<//
              >`,
          ],
          ['event', (row) => row.event],
          ['', (row) => html`<${Fields} fields=${row.fields} />`, 'wrap'],
        ]}
    /><//>`
}

function Records() {
  const [query, setQuery] = useState({ containing: '', kind: '', limit: ROWS })
  const { value, error } = usePolled(() => read('/v1/journal', query), [query], 0)
  const search = (event) => {
    event.preventDefault()
    const form = new FormData(event.target)
    setQuery({ containing: form.get('containing').trim(), kind: form.get('kind'), limit: ROWS })
  }
  return html` <form class="choices" onSubmit=${search}>
      <label class="grow"
        >Contains <input type="search" name="containing" placeholder="a symbol, an orderId, a clientOid"
      /></label>
      <label
        >Kind
        <select name="kind">
          <option value="">all</option>
          ${KINDS.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
        </select></label
      >
      <button class="main">Search</button>
    </form>
    ${error && html`<p role="alert" class="problem">${error}</p>`}
    <${Card}
      title=${value === undefined ? 'Reads the journal …' : `${value.length} records, the newest first`}
    >
      <${Table}
        keyOf=${(row) => `${row.sequence} ${row.what} ${row.text}`}
        rows=${value ?? []}
        empty=${value === undefined ? '' : 'No such record.'}
        columns=${[
          ['time', (row) => html`<time>${time(row.at)}</time>`],
          ['what', (row) => row.what],
          ['of', (row) => row.symbols.join(', ')],
          ['', (row) => html`<span class="fields">${row.text}</span>`, 'wrap'],
        ]}
      />
      ${query.before !== undefined && html`<p><button onClick=${() => setQuery({ ...query, before: undefined })}>The newest ones</button></p>`}
      ${value?.length >= query.limit && html`<p><button onClick=${() => setQuery({ ...query, before: value.at(-1).sequence })}>Older ones</button></p>`}
    <//>`
}
