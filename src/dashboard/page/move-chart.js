// Its axis is no time.

import { money, percent } from './format.js'
import { html } from './parts.js'

const LINES = 4

export function MoveChart({ curve, coin }) {
  const { moves, none, reached, liquidations } = curve
  const known = [...none, ...reached].filter((value) => value !== null)
  if (known.length < 2)
    return html`<p class="empty">The equity is not known, so there is nothing to draw.</p>`
  const [from, to] = [moves[0], moves.at(-1)]
  const lines = roundAmounts(Math.min(...known), Math.max(...known))
  const [low, high] = [lines[0], lines.at(-1)]
  const x = (move) => (100 * (move - from)) / (to - from)
  const y = (value) => 100 - (100 * (value - low)) / (high - low)
  const points = (values) =>
    moves
      .flatMap((move, index) => (values[index] === null ? [] : [`${x(move)},${y(values[index])}`]))
      .join(' ')
  const isShown = (move) => move >= from && move <= to
  const ends = [
    ...liquidations.none.filter(isShown).map((move) => ({ move, line: 'none' })),
    ...liquidations.reached.filter(isShown).map((move) => ({ move, line: 'reached' })),
  ]
  return html`<div class="moves" role="img" aria-label=${describe(curve, coin)}>
      <div class="plot">
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          ${lines.map((value) => html`<line class=${value === 0 ? 'zero' : 'across'} x1="0" x2="100" y1=${y(value)} y2=${y(value)} />`)}
          <line class="across" x1=${x(0)} x2=${x(0)} y1="0" y2="100" />
          ${ends.map(({ move, line }) => html`<rect class="lost" x=${move < 0 ? 0 : x(move)} width=${move < 0 ? x(move) : 100 - x(move)} y="0" height="100" key=${line + move} />`)}
          ${ends.map(({ move, line }) => html`<line class=${`end ${line}`} x1=${x(move)} x2=${x(move)} y1="0" y2="100" />`)}
          <polyline class="reached" points=${points(reached)} />
          <polyline class="none" points=${points(none)} />
        </svg>
        ${lines.map((value) => html`<span class=${value === high ? 'amount highest' : value === low ? 'amount lowest' : 'amount'} style=${{ top: `${y(value)}%` }}>${money(value, coin)}</span>`)}
      </div>
      <div class="scale">
        ${[from, from / 2, 0, to / 2, to].map((move) => html`<span>${move > 0 ? '+' : ''}${percent(move, 0)}</span>`)}
      </div>
    </div>
    <p class="soft legend">
      Equity in ${coin}, if every price moves.${' '}<b class="none">Line</b>: no resting order is
      filled;${' '} <b class="reached">dashes</b>: those on the way are.
      ${' '}${liquidationText(liquidations, isShown)}
    </p>`
}

function liquidationText({ none, reached }, isShown) {
  const texts = (moves) => moves.filter(isShown).map((move) => percent(move))
  const [without, filled] = [texts(none), texts(reached)]
  if (without.length + filled.length === 0) return 'Nothing is liquidated within this range.'
  const parts = [
    ...(without.length > 0 ? [`at ${without.join(' and ')}`] : []),
    ...(filled.length > 0 ? [`with the orders filled at ${filled.join(' and ')}`] : []),
  ]
  return html`<span class="bad-text">■ Liquidated ${parts.join(', ')}.</span>`
}

function describe({ moves, none, reached, liquidations }, coin) {
  const at = (move) => moves.findIndex((one) => Math.abs(one - move) < 1e-9)
  const row = (move) =>
    `${percent(move, 0)}: ${money(none[at(move)], coin)}, with the orders filled ${money(reached[at(move)], coin)}`
  const ends = [...liquidations.none, ...liquidations.reached].map((move) => percent(move))
  return `Equity in ${coin} against the move of every price. ${[-0.2, -0.1, 0, 0.1, 0.2].map(row).join('; ')}. ${ends.length === 0 ? 'No liquidation.' : `Liquidations at ${ends.join(', ')}.`}`
}

function roundAmounts(low, high) {
  const rough = (high - low || Math.abs(high) || 1) / LINES
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough) ?? rough
  const first = Math.floor(low / step)
  const last = Math.max(first + 1, Math.ceil(high / step))
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}
