import { read } from '../api.js'
import { age, exact, percent, price, signed, time, words } from '../format.js'
import { Card, Gain, html, Table, usePolled } from '../parts.js'

/** The daemon folds all fills: a second for a hundred thousand. */
const EVERY_MS = 30_000
const SHOWN = 50

export function ClosedTrades({ live, symbol }) {
  const { value, error } = usePolled(
    () => read('/v1/trades', { limit: SHOWN, symbol }),
    [live.head.startedAt, symbol],
    EVERY_MS,
  )
  const trades = (value?.trades ?? []).toReversed()
  const hasTags = trades.some(({ entryTag, exitTag }) => entryTag !== '' || exitTag !== '')
  const hasRemarks = trades.some(({ uncounted }) => uncounted !== '')
  return html`<${Card} title="Closed trades" aside=${html`<code>intentd trades</code>`}>
    ${error && html`<p role="alert" class="problem">${error}</p>`}
    <${Table}
      keyOf=${(row) => [row.strategyId, row.symbol, row.side, row.openedAt, row.closedAt].join(' ')}
      rows=${trades}
      empty=${value === undefined ? 'Reads the journal …' : 'No trade was closed: each goes from flat to flat.'}
      pageRows=${20}
      columns=${[
        ['instrument', (row) => row.symbol],
        ['side', (row) => `${row.side === 'long' ? '▲' : '▼'} ${row.side}`],
        [
          'net',
          (row) =>
            html`<${Gain} value=${row.net} text=${signed(row.net, row.coin)} /> <small>${row.coin}</small>`,
          'number',
        ],
        ['of its size', (row) => percent(row.share, 2), 'number'],
        ['closed', (row) => time(row.closedAt)],
        ['strategy', (row) => row.strategyId],
        ['ended by', (row) => words(row.reason)],
        ...(hasTags ? [['tags', (row) => [row.entryTag, row.exitTag].filter(Boolean).join(' → ')]] : []),
        ['held', (row) => age(row.closedAt - row.openedAt), 'number'],
        ['size', (row) => exact(row.size), 'number'],
        ['entry', (row) => price(row.entryPrice), 'number'],
        ['exit', (row) => price(row.exitPrice), 'number'],
        ['gross', (row) => signed(row.gross, row.coin), 'number'],
        ['fees', (row) => feesOf(row), 'number'],
        ['funding', (row) => (Number(row.funding) === 0 ? '–' : signed(row.funding, row.coin)), 'number'],
        ['fills', (row) => row.fills, 'number'],
        ...(hasRemarks ? [['', (row) => row.uncounted, 'wrap']] : []),
      ]}
    />
    ${(value?.unexplained ?? []).map(
      ([strategy, traded]) =>
        html`<p key=${`${strategy} ${traded}`} class="soft legend">
          The fills of the journal do not explain what ${strategy} holds of ${traded}: some of its trades may
          be wrong.
        </p>`,
    )}
  <//>`
}

function feesOf({ fees, otherFees, coin }) {
  const others = Object.entries(otherFees).map(([name, paid]) => `${exact(paid)} ${name}`)
  const text = signed(-Number(fees), coin)
  return others.length === 0 ? text : `${text} (${others.join(', ')})`
}
