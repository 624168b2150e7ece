import { h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import htm from 'htm'

export const html = htm.bind(h)

const MODES = {
  active: ['ok', '●'],
  reducing: ['warn', '▼'],
  halted: ['bad', '■'],
  killed: ['bad', '✕'],
  off: ['bad', '○'],
}

export function Mode({ mode, but = 0 }) {
  const [tone, sign] = mode === 'active' && but > 0 ? ['warn', '▼'] : (MODES[mode] ?? ['soft', '○'])
  return html`<span class=${`badge ${tone}`}
    ><i aria-hidden="true">${sign}</i> ${mode}${mode === 'active' && but > 0 && ` but for ${but}`}</span
  >`
}

/** After the end of a run nothing leaves, whatever is restricted. */
export function shownMode(account, mode = account.mode) {
  return account.phase === 'stopped' ? 'off' : mode
}

export function Badge({ tone = 'soft', sign = '●', children }) {
  return html`<span class=${`badge ${tone}`}><i aria-hidden="true">${sign}</i> ${children}</span>`
}

export function Card({ title, aside, children, class: own = '' }) {
  return html`<section class=${`card ${own}`}>
    ${
      title &&
      html`<header>
        <h2>${title}</h2>
        <div class="aside">${aside}</div>
      </header>`
    }
    ${children}
  </section>`
}

/** The sign tells gain from loss; the colour only repeats it. */
export function Gain({ value, text }) {
  // An amount that rounds to zero is neither.
  const tone = !/[1-9]/.test(text) ? '' : Number(value) > 0 ? 'gain' : 'loss'
  return html`<span class=${tone}>${text}</span>`
}

/** `columns`: [heading, cell of a row, 'number' | 'text']. */
export function Table({ columns, rows, keyOf, empty, onRow, pageRows = 100 }) {
  const [shown, setShown] = useState(pageRows)
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map(([name, , kind]) => html`<th scope="col" class=${kind ?? 'text'}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, shown).map(
          (row) =>
            html`<tr key=${keyOf(row)}>
              ${columns.map(
                ([, cell, kind], index) =>
                  html`<td class=${kind ?? 'text'}>
                    ${onRow && index === 0 ? html`<button class="link" onClick=${() => onRow(row)}>${cell(row)}</button>` : cell(row)}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
    ${
      rows.length > shown &&
      html`<p>
        <button onClick=${() => setShown(shown + pageRows)}>
          ${rows.length - shown} more: show ${Math.min(pageRows, rows.length - shown)}
        </button>
      </p>`
    }
  </div>`
}

/** Market orders come first. */
export function asLadder(one, other) {
  const dearness = ({ price }) => (price === null ? Infinity : Number(price))
  return one.symbol.localeCompare(other.symbol) || dearness(other) - dearness(one) || 0
}

export function Fields({ fields }) {
  return html`<span class="fields"
    >${Object.entries(fields).map(([name, value]) => html`<span key=${name}><i>${name}</i> ${textOf(value)}</span> `)}</span
  >`
}

export function toLine(fields) {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${textOf(value)}`)
    .join(' ')
}

function textOf(value) {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function Use({ share, label }) {
  const tone = share >= 0.9 ? 'bad' : share >= 0.7 ? 'warn' : 'accent'
  return html`<meter
    class=${tone}
    min="0"
    max="1"
    value=${Math.min(1, Math.max(0, share))}
    aria-label=${label}
  ></meter>`
}

export function usePolled(load, inputs, everyMs) {
  const [found, setFound] = useState({ value: undefined, error: undefined })
  useEffect(() => {
    let [isOver, timer] = [false, undefined]
    const ask = async () => {
      if (!document.hidden) {
        try {
          const value = await load()
          if (!isOver) setFound({ value, error: undefined })
        } catch (error) {
          if (!isOver) setFound((before) => ({ ...before, error: error.message }))
        }
      }
      if (!isOver && everyMs > 0) timer = setTimeout(ask, everyMs)
    }
    void ask()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, inputs)
  return found
}

export function scopeName(scope) {
  if (scope === '*') return 'the account'
  return scope.startsWith('strategy:') ? `strategy ${scope.slice(9)}` : scope
}

export const ACTIONS = {
  kill: () => ({
    title: 'Kill',
    verb: 'Kill',
    isGrave: true,
    effect:
      'Cancels every order of the account, and no order leaves any more, over restarts too. Positions stay open. Only a release ends it.',
    order: { kind: 'kill' },
  }),
  releaseKill: () => ({
    title: 'Release the kill switch',
    verb: 'Release',
    effect: 'Once it is proved that nothing rests, strategies are asked again and orders may leave.',
    order: { kind: 'releaseKill' },
  }),
  release: (scope) => ({
    title: `Release ${scopeName(scope)}`,
    verb: 'Release',
    effect: `Ends what holds ${scopeName(scope)}: orders may leave again, as far as nothing else holds them.`,
    order: { kind: 'release', scope },
  }),
  pause: (scope) => ({
    title: `Pause ${scopeName(scope)}`,
    verb: 'Pause',
    effect: `No order of ${scopeName(scope)} leaves any more until it is released. What it holds stays. Orders that rest and could add risk are cancelled; flatten takes all away.`,
    order: { kind: 'restrict', scope, mode: 'halted' },
  }),
  reduce: (scope) => ({
    title: `Only reduce ${scopeName(scope)}`,
    verb: 'Only reduce',
    effect: `From now on new orders of ${scopeName(scope)} may only make its positions smaller, until it is released. Orders that rest and could do anything else are cancelled.`,
    order: { kind: 'restrict', scope, mode: 'reducing' },
  }),
  flatten: (scope) => ({
    title: `Flatten ${scopeName(scope)}`,
    verb: 'Flatten',
    isGrave: true,
    effect: `Cancels all orders of ${scopeName(scope)} and closes what it holds at the market. That costs fees, and the price that is there. Nothing else leaves until it is released.`,
    order: { kind: 'flatten', scope },
  }),
}
