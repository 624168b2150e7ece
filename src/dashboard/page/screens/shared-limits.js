import { age, number, time } from '../format.js'
import { Badge, Card, html, Table } from '../parts.js'

const STATES = {
  shared: ['ok', '●', 'shared'],
  joining: ['soft', '○', 'waits for Redis'],
  alone: ['warn', '▼', 'not shared'],
  refused: ['bad', '■', 'no call leaves'],
}

export function SharedLimits({ shared, now }) {
  const { state, limits } = shared
  const [tone, sign, word] = STATES[state]
  return html`<${Card}
    title="Shared with other daemons"
    aside=${html`<${Badge} tone=${tone} sign=${sign}>${word}<//>`}
  >
    <p role=${state === 'refused' ? 'alert' : undefined}>${describe(shared, now)}</p>
    <${Table}
      keyOf=${(row) => row.name}
      rows=${limits}
      columns=${[
        ['limit', (row) => row.name],
        ['may make', (row) => number(row.mayMake, 0), 'number'],
        ['of', (row) => number(row.calls, 0), 'number'],
        ['in', (row) => age(row.perMs), 'number'],
        ['ended', (row) => number(row.gone, 0), 'number'],
      ]}
    />
    <p class="soft">
      “May make” are the calls that this daemon holds now; “ended” those that daemons which ended may have
      made: they may still count at the exchange, and nobody has them until then.
    </p>
  <//>`
}

function describe({ state, since, reason, members, membersMax }, now) {
  const held = `since ${time(since)}, for ${age(Math.max(0, now - since))}`
  const others = members === 2 ? 'daemon' : 'daemons'
  const said = {
    joining: 'Waits for the first answer of Redis; no call leaves before it.',
    shared: `With ${members - 1} other ${others} (at most ${membersMax - 1}), ${held}.`,
    alone: `Not shared ${held}: at most an even share of ${membersMax} is used.`,
    refused: `No call leaves, not even a cancel, ${held}.`,
  }[state]
  return reason === null ? said : `${said} The reason: ${reason}.`
}
