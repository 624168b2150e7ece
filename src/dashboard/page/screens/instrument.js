import { useState } from 'preact/hooks'
import { read } from '../api.js'
import { CandleChart } from '../charts.js'
import { exact, money, number, orderWords, signed, time, words } from '../format.js'
import { ACTIONS, asLadder, Badge, Card, Gain, html, Table, usePolled } from '../parts.js'

const EVERY_MS = 1000
const PLOTS_EVERY_MS = 10_000
const CANDLES_KEPT = 360
const NO_PLOTS = []
const INTERVALS = [
  [5000, '5 s'],
  [60_000, '1 min'],
  [900_000, '15 min'],
]

export function InstrumentScreen({ live, account, subject, order }) {
  const symbols = Object.keys(account.ages.tickersMs)
  const symbol = symbols.includes(subject) ? subject : symbols[0]
  const [intervalMs, setInterval] = useState(INTERVALS[0][0])
  const found = usePolled(
    () => readInstrument(symbol, intervalMs),
    [symbol, intervalMs, live.head.startedAt],
    EVERY_MS,
  )
  const plots = usePolled(
    () => readPlots(symbol, intervalMs),
    [symbol, intervalMs, live.head.startedAt],
    PLOTS_EVERY_MS,
  )
  const choose = (event) => (location.hash = `#instrument/${encodeURIComponent(event.target.value)}`)
  const isHeld = account.restrictions.some(({ scope, command }) => scope === symbol && command)
  if (symbol === undefined) return html`<p class="empty">No instrument is configured.</p>`
  return html` <div class="choices">
      <label
        >Instrument
        <select value=${symbol} onChange=${choose}>
          ${symbols.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
        </select></label
      >
      <div role="group" aria-label="Candles of" class="segments">
        ${INTERVALS.map(([ms, label]) => html`<button aria-pressed=${ms === intervalMs} onClick=${() => setInterval(ms)}>${label}</button>`)}
      </div>
      <span class="grow"></span>
      ${
        order &&
        html`<button class="quiet" onClick=${() => order(ACTIONS.pause(symbol))}>Pause</button>
          <button class="quiet" onClick=${() => order(ACTIONS.reduce(symbol))}>Only reduce</button>
          <button class="quiet" onClick=${() => order(ACTIONS.flatten(symbol))}>Flatten</button>
          ${isHeld && html`<button class="quiet" onClick=${() => order(ACTIONS.release(symbol))}>Release</button>`}`
      }
    </div>
    ${found.error && html`<p role="alert" class="problem">${found.error}</p>`}
    ${found.value?.symbol === symbol && html`<${Found} found=${found.value} plots=${plots.value ?? NO_PLOTS} account=${account} />`}`
}

async function readPlots(symbol, intervalMs) {
  return await read('/v1/plots', { symbol, since: Date.now() - CANDLES_KEPT * intervalMs })
}

async function readInstrument(symbol, intervalMs) {
  const [view, candles, orders, fills] = await Promise.all([
    read('/v1/instrument', { symbol }),
    read('/v1/candles', { symbol, intervalMs }),
    read('/v1/orders', { symbol }),
    read('/v1/fills', { symbol, limit: 200 }),
  ])
  return { symbol, intervalMs, view, candles, orders, fills }
}

function Found({ found: { symbol, intervalMs, view, candles, orders, fills }, plots, account }) {
  const digits = (view.tickSize.split('.')[1] ?? '').length
  const displaced = new Set(view.displaced)
  const marked = orders
    .map((one) => ({ ...one, isDisplaced: displaced.has(one.clientOid) }))
    .toSorted(asLadder)
  const held = account.positions.filter((one) => one.symbol === symbol)
  const wishes = account.strategies.flatMap(({ id, wants }) =>
    wants
      .filter((one) => one.symbol === symbol)
      .map(({ what, since }) => `${id} wants ${what}${since === null ? '' : ` since ${time(since)}`}`),
  )
  return html` <section class=${`verdict ${view.waits.length === 0 ? 'plain' : 'warn'}`} aria-live="polite">
      <p class="price">
        <span class="value">${number(view.last, digits, digits)}</span>
        <span class="soft"
          >bid ${number(view.bid, digits, digits)} · ask ${number(view.ask, digits, digits)}</span
        >
        ${held.map((one) => html`<span>${one.side} <b>${exact(one.size)}</b> from ${number(one.entryPrice, digits)}, <${Gain} value=${one.unrealisedProfit} text=${`${signed(one.unrealisedProfit, view.marginCoin)} ${view.marginCoin}`} /></span>`)}
        ${held.map(({ side, keptByExchange: kept }) => kept !== null && html`<span class="soft">the exchange keeps ${keptText(kept)} of the ${side} position</span>`)}
        ${held.flatMap(({ stops = [] }) => stops.map(({ strategy, kind, price }) => html`<span class="soft">${strategy} closes what it holds at ${exact(price)} (${kind})</span>`))}
        ${held.length === 0 && html`<span class="soft">nothing held</span>`}
      </p>
      ${
        view.waits.length === 0
          ? html`<p class="because">
              <${Badge} tone="ok" sign="✓">waits for nothing<//>
              ${orders.length === 0 ? 'No order is wanted.' : 'What is wanted stands.'}${' '}
              ${wishes.length > 0 && html`<span class="soft">${wishes.join(', ')}</span>`}
            </p>`
          : html`<ul class="reasons">
              ${view.waits.map(
                (text) =>
                  html`<li key=${text}>
                    <${Badge} tone="warn" sign="…">waits<//>
                    <p>${text}</p>
                  </li>`,
              )}
            </ul>`
      }
    </section>
    <section class="card">
      ${
        candles.length === 0
          ? html`<p class="empty">No price was read yet in this run.</p>`
          : html`<${CandleChart}
              key=${`${symbol} ${intervalMs}`}
              candles=${candles}
              orders=${marked}
              fills=${fills}
              plots=${plots}
              digits=${digits}
              label=${`Candles of ${symbol} with ${orders.length} orders and ${fills.length} fills`}
            />`
      }
      <p class="soft legend">
        Solid line: the last price. Dotted lines: resting orders. Dashed, with a sign: ? unknown, … on its
        way, ↻ cancelled along and to be placed again. Arrows: fills, up bought, down sold. Hollow candles
        rose, filled ones
        fell.${plots.length > 0 && ` Lines: ${plots.map(({ strategy, name }) => `${name} of ${strategy}`).join(', ')}.`}
      </p>
    </section>
    <div class="two">
      <${Card} title=${`Orders (${orders.length})`}>
        <${Table}
          keyOf=${(row) => row.clientOid}
          rows=${marked}
          empty="No order is open."
          pageRows=${40}
          columns=${[
            [
              'order',
              (row) => html`<a href=${`#orders/${encodeURIComponent(row.clientOid)}`}>${orderWords(row)}</a>`,
            ],
            ['price', (row) => (row.price === null ? 'market' : exact(row.price)), 'number'],
            ['size', (row) => exact(row.size), 'number'],
            ['state', (row) => html`<${State} order=${row} />`],
            ['strategy', (row) => row.strategy],
          ]}
      /><//>
      <${Card} title="Last fills">
        <${Table}
          keyOf=${(row) => `${row.tradeId} ${row.orderId}`}
          rows=${fills}
          empty="No fill in this run."
          pageRows=${40}
          columns=${[
            ['time', (row) => time(row.at)],
            ['side', (row) => `${row.side === 'buy' ? '▲' : '▼'} ${row.side}`],
            ['price', (row) => exact(row.price), 'number'],
            ['size', (row) => exact(row.size), 'number'],
            [
              `profit, ${view.marginCoin}`,
              (row) =>
                html`<${Gain}
                  value=${row.profit}
                  text=${row.profit === null ? 'unknown' : signed(row.profit, row.coin, 4)}
                />`,
              'number',
            ],
            [`fee, ${view.marginCoin}`, (row) => feeOf(row), 'number'],
            ['', whyOf],
          ]}
      /><//>
    </div>`
}

function whyOf({ kind, reason, tag }) {
  const isPlain = kind === null || kind === 'trade'
  const why = isPlain ? reason && words(reason) : words(kind)
  return [why, tag].filter(Boolean).join(', ')
}

function feeOf({ fee, coin, otherFees }) {
  const shown = fee === null ? 'unknown' : money(fee, coin, 4)
  return otherFees === '' ? shown : `${shown} + ${otherFees.replaceAll(';', ', ')}`
}

export function State({ order: { state, isDisplaced } }) {
  if (isDisplaced) return html`<${Badge} tone="warn" sign="↻">displaced<//>`
  const [tone, sign] = { live: ['ok', '●'], unknown: ['bad', '?'], quarantined: ['bad', '?'] }[state] ?? [
    'soft',
    '…',
  ]
  return html`<${Badge} tone=${tone} sign=${sign}>${state}<//>`
}

function keptText({ stopLoss, takeProfit, moves, isMissing }) {
  const stop = `a stop-loss at ${exact(stopLoss)} (${isMissing ? 'not listed' : moves ? 'moved with the exits' : 'stays there'})`
  const profit = `a take-profit at ${exact(takeProfit)}`
  return [...(stopLoss === null ? [] : [stop]), ...(takeProfit === null ? [] : [profit])].join(' and ')
}
