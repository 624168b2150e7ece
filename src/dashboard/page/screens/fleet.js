import { read } from '../api.js'
import { age, time } from '../format.js'
import { Badge, Card, html, Mode, Table, usePolled } from '../parts.js'

const EVERY_MS = 3000
/** Members report at each renewal of their lease, every 75 s at most. */
const SHOWN_WITHIN_MS = 90_000
const WRITERS = {
  writes: ['ok', '●', 'writes'],
  vanished: ['bad', '✕', 'vanished'],
  ended: ['soft', '○', 'ended'],
  new: ['soft', '○', 'not yet traded'],
  moved: ['soft', '○', 'moved elsewhere'],
}
const LISTED = 3
const KILLS = {
  asked: ['bad', '!', 'kill ordered, not seen yet'],
  seen: ['warn', '▼', 'kill seen, not proved yet'],
  clean: ['bad', '✕', 'killed, nothing rests'],
}

export function Fleet({ live }) {
  const { value: fleet, error } = usePolled(() => read('/v1/fleet'), [], EVERY_MS)
  const { standby } = live.head
  return html` ${standby && html`<${Standby} standby=${standby} now=${live.head.now} />`}
  ${
    error &&
    html`<div class="notice bad" role="alert">
      <b>✕ The server of the journal cannot be asked.</b>${fleet && ' What stands here is of before.'}
      <div class="lines">${error}</div>
    </div>`
  }
  ${!fleet && !error && html`<p class="empty">Asking the server …</p>`}
  ${fleet && html`<${Found} fleet=${fleet} />`}`
}

function Standby({ standby: { holder, behind, seenAt, freeInMs, trouble }, now }) {
  const [tone, sign] = trouble ? ['bad', '■'] : seenAt === null ? ['soft', '○'] : ['ok', '●']
  const follows = holder === '' ? 'Standing by' : `Standing by for ${holder}`
  return html`<section class=${`verdict ${tone}`}>
    <p class="headline"><i aria-hidden="true">${sign}</i> ${trouble ? 'Cannot follow just now' : follows}</p>
    <p class="because lines">
      ${
        trouble ??
        (seenAt === null
          ? 'It has not looked yet.'
          : `${behind} ${behind === 1 ? 'transaction' : 'transactions'} behind when it looked ${age(Math.max(0, now - seenAt))} ago; it takes over in ${age(freeInMs)}, unless the lease is renewed. It trades nothing yet.`)
      }
    </p>
  </section>`
}

function Found({ fleet: { accounts, unread, workers, alerts, trouble } }) {
  const standbys = accounts.flatMap((account) =>
    account.standbys.map((one) => ({ ...one, schema: account.schema })),
  )
  return html` ${unread.map(
      ({ schema, reason }) =>
        html`<div class="notice bad">
          <b>■ ${schema} cannot be read.</b>
          <div class="lines">${reason}</div>
        </div>`,
    )}
    ${
      trouble &&
      html`<div class="notice warn">
        <b>▲ Workers and alerts cannot be read.</b>
        <div class="lines">${trouble}</div>
      </div>`
    }
    <${Card} title="Accounts">
      <${Table}
        keyOf=${(row) => row.schema}
        rows=${accounts.toSorted((one, other) => isVanished(other) - isVanished(one))}
        empty="There is no journal in this database."
        columns=${[
          ['journal', (row) => row.schema, 'narrow'],
          ['writer', (row) => html`<${Signed} of=${WRITERS[row.state]} />`],
          ['mode', describeMode, 'wrap'],
          ['orders', (row) => dim(row, row.shown?.state.openOrders ?? '–'), 'number'],
          ['positions', (row) => dim(row, html`<${Few} texts=${row.shown?.state.positions} />`), 'narrow'],
          ['equity', (row) => dim(row, describeEquity(row)), 'number'],
          ['who', describeWho, 'wrap'],
          ['since', (row) => (row.holder === '' ? '–' : time(row.takenAt))],
        ]}
      />
    <//>
    <${Card} title="Standbys">
      <${Table}
        keyOf=${(row) => `${row.schema} ${row.holder}`}
        rows=${standbys}
        empty="Nobody stands by: an account whose machine fails is traded by nobody."
        columns=${[
          ['journal', (row) => row.schema, 'narrow'],
          [
            'follows',
            (row) =>
              row.isFollowing
                ? html`<${Badge} tone="ok">yes<//>`
                : html`<${Badge} tone="bad" sign="✕">not seen for ${age(row.seenAgoMs)}<//>`,
          ],
          ['transactions behind', (row) => row.behind, 'number'],
          [
            'as its writer',
            (row) =>
              row.differs === ''
                ? html`<${Badge} tone="ok">yes<//>`
                : html`<${Badge} tone="bad" sign="✕">differs: ${row.differs}<//>`,
          ],
          ['who', (row) => row.holder, 'wrap'],
        ]}
      />
    <//>
    ${
      workers.length > 0 &&
      html`<${Card} title="Workers of sweeps">
        <${Table}
          keyOf=${(row) => row.holder}
          rows=${workers}
          columns=${[
            ['who', (row) => row.holder, 'wrap'],
            [
              'does',
              (row) =>
                row.isConnected
                  ? Object.entries(row.state)
                      .map(([name, value]) => `${name} ${value}`)
                      .join(', ')
                  : html`<${Badge} tone="bad" sign="✕">not connected<//>`,
              'wrap',
            ],
            ['seen', (row) => `${age(row.seenAgoMs)} ago`, 'number'],
          ]}
        />
      <//>`
    }
    <${Card} title="Alerts of all, the newest first">
      <${Table}
        keyOf=${(row) => row.id}
        rows=${alerts.toReversed()}
        empty="There was none within a month."
        columns=${[
          ['time', (row) => html`<time>${time(row.at)}</time>`],
          [
            'urgency',
            (row) =>
              html`<${Badge}
                tone=${row.urgency === 'urgent' ? 'bad' : 'soft'}
                sign=${row.urgency === 'urgent' ? '!' : '●'}
                >${row.urgency}<//
              >`,
          ],
          ['what', (row) => row.title, 'wrap'],
          ['journal', (row) => row.schema, 'narrow'],
          ['who', (row) => row.holder, 'wrap'],
        ]}
      />
    <//>`
}

function Signed({ of: [tone, sign, text] = ['soft', '?', 'unknown'] }) {
  return html`<${Badge} tone=${tone} sign=${sign}>${text}<//>`
}

const isVanished = ({ state }) => state === 'vanished'

const isOld = ({ state, shown }) => state !== 'writes' || shown?.seenAgoMs >= SHOWN_WITHIN_MS

const dim = (row, cell) => (isOld(row) ? html`<span class="soft">${cell}</span>` : cell)

function describeWho({ holder, movedTo }) {
  const writer = holder || '–'
  return movedTo === undefined
    ? writer
    : html`<div>moved to ${movedTo}</div>
        <div class="because">last written here by ${writer}</div>`
}

function describeMode(row) {
  const { shown, kill } = row
  const { mode, held = [] } = shown?.state ?? {}
  const now = mode ? html`<${Mode} mode=${mode} but=${held.length} />` : '–'
  return html`${mode && isOld(row) ? html`<span class="soft">${mode}, ${age(shown.seenAgoMs)} ago</span>` : now}${' '}
  ${kill && KILLS[kill.state] && html`<${Signed} of=${KILLS[kill.state]} />`}
  ${held.length > 0 && html`<div class="because"><${Few} texts=${held} /></div>`}`
}

function Few({ texts }) {
  if (!Array.isArray(texts) || texts.length === 0) return '–'
  const [first, rest] = [texts.slice(0, LISTED), texts.slice(LISTED)]
  const lines = (some) => some.map((text) => html`<div key=${text}>${text}</div>`)
  return html`${lines(first)}
  ${
    rest.length > 0 &&
    html`<details>
      <summary>${rest.length} more</summary>
      ${lines(rest)}
    </details>`
  }`
}

function describeEquity({ shown }) {
  const { equity, coin } = shown?.state ?? {}
  return equity === null || equity === undefined ? '–' : `${equity} ${coin}`
}
