import { age, exact, money, number, percent, price, signed, time, uncounted } from '../format.js'
import { CurveChart } from '../charts.js'
import { drawdownsOf, gainAtPeak } from '../drawdowns.js'
import { ACTIONS, Badge, Card, Fields, Gain, html, Mode, scopeName, Table, Use, usePolled } from '../parts.js'
import { read } from '../api.js'
import { useState } from 'preact/hooks'
import { MoveChart } from '../move-chart.js'
import { Requests } from './requests.js'

const CURVE_EVERY_MS = 5000
/** A point a minute is kept, and one that is older than a week by hour. */
const KEPT_EVERY_MS = 60_000
const DAY_MS = 86_400_000
const SPANS = [
  ['this run', undefined],
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['all', Number.POSITIVE_INFINITY],
]
/** The daemon takes some milliseconds to compute it. */
const WHAT_IF_EVERY_MS = 20_000
const ALERTS_SHOWN = 8

export function Overview({ live, account, order }) {
  const [span, setSpan] = useState(0)
  const [label, spanMs] = SPANS[span]
  const curves = usePolled(
    () => readCurve(spanMs),
    [live.head.startedAt, span],
    spanMs === undefined ? CURVE_EVERY_MS : KEPT_EVERY_MS,
  )
  return html` <${Verdict} live=${live} account=${account} order=${order} />
    <${Requests} live=${live} />
    <${Money}
      account=${account}
      curves=${curves.value?.spanMs === spanMs ? curves.value : undefined}
      problem=${curves.error}
      label=${label}
    >
      <${Spans} chosen=${span} onChoose=${setSpan} />
    <//>
    <div class="two">
      <${Positions} account=${account} order=${order} />
      <${Health} account=${account} isLost=${live.link === 'lost'} />
    </div>
    <${WhatIf} live=${live} account=${account} />
    <div class="two">
      <${Losses} account=${account} />
      <${Alerts} live=${live} account=${account} />
    </div>`
}

async function readCurve(spanMs) {
  if (spanMs === undefined) return await read('/v1/curves')
  const since = Number.isFinite(spanMs) ? { since: Date.now() - spanMs } : {}
  const kept = await read('/v1/equity', since)
  return { ...kept, peak: null, spanMs }
}

function Spans({ chosen, onChoose }) {
  return html`<div role="group" aria-label="Curve of" class="segments">
    ${SPANS.map(([name], index) => html`<button aria-pressed=${index === chosen} onClick=${() => onChoose(index)}>${name}</button>`)}
  </div>`
}

function Verdict({ live, account, order }) {
  const { mode, isTrading, hindrances, restrictions, waits, phase, strategies } = account
  if (live.link === 'lost')
    return html`<section class="verdict bad" aria-live="polite">
      <p class="headline"><i aria-hidden="true">?</i> Unknown since ${time(live.lostAt)}</p>
      <p class="because">
        All that stands below is of
        then.${(account.restrictions.length > 0 || account.hindrances.length > 0) && ' What held it when it was heard last:'}
      </p>
      <${Reasons} account=${account} />
    </section>`
  const isIdle = strategies.length === 0
  const isWell =
    !isIdle && mode === 'active' && isTrading && hindrances.length === 0 && restrictions.length === 0
  const isHeld = !isIdle && strategies.every((strategy) => isStrategyHeld(strategy, restrictions))
  const isWaiting = isWell && strategies.every((strategy) => waitsOnAll(strategy, waits))
  const tone = isWaiting
    ? 'wait'
    : isWell
      ? 'ok'
      : isHeld || mode === 'halted' || mode === 'killed' || hindrances.length > 0
        ? 'bad'
        : 'warn'
  const headline =
    phase === 'stopped'
      ? 'Off: its run is over'
      : isWaiting
        ? 'Waiting'
        : isWell
          ? 'Trading'
          : mode === 'active'
            ? isTrading
              ? hindrances.length > 0 && !isHeld
                ? 'Not everything is traded'
                : isIdle
                  ? 'No strategy is enabled'
                  : isHeld
                    ? 'Nothing can trade'
                    : 'Trading, with limits'
              : `Not trading: ${phase}`
            : titleOf(mode)
  return html`<section class=${`verdict ${tone}`} aria-live="polite">
    <p class="headline">
      <i aria-hidden="true">${isWaiting ? '…' : isWell ? '●' : tone === 'warn' ? '▼' : '■'}</i> ${headline}
    </p>
    ${isWell && html`<p class="because">Every strategy is asked, prices and account are fresh, nothing is held back.</p>`}
    ${account.kill && html`<p class="because">${proofOf(account.kill)}</p>`}
    ${isIdle && html`<p class="because">Prices and account are read, and nobody is asked what to do with them.</p>`}
    <${Reasons} account=${account} order=${order} />
  </section>`
}

/** A kill has its own release. */
function endTogether(one, other) {
  return one.scope === other.scope && (one.code === 'kill') === (other.code === 'kill')
}

function hasButton(one, index, all) {
  return all.findLastIndex((other) => other.command && endTogether(one, other)) === index
}

function Release({ of: one, restrictions, order }) {
  const ending = restrictions.filter((other) => endTogether(one, other))
  const until = Math.max(...ending.map(({ releasableAt }) => releasableAt ?? 0))
  if (until > Date.now()) return html`<small>may be released from ${time(until)} on</small>`
  const action = one.code === 'kill' ? ACTIONS.releaseKill() : ACTIONS.release(one.scope)
  return html`<button onClick=${() => order(action)}>Release</button>`
}

function Reasons({ account: { restrictions, hindrances, warnings, waits, pauses }, order }) {
  return html`<ul class="reasons">
    ${restrictions
      .toSorted((one, other) => severityOf(other) - severityOf(one))
      .map(
        (one, index, all) =>
          html`<li key=${one.scope + one.code}>
            <${Mode} mode=${one.mode} />
            <p>
              <b>${scopeName(one.scope)}</b>: ${one.reason}${' '}
              <small>by ${one.by}, since ${time(one.at)}; ends when ${one.ends}</small>${' '}
              ${one.command && html`<code>${one.command}</code>`}
            </p>
            ${one.command && order && hasButton(one, index, all) && html`<${Release} of=${one} restrictions=${restrictions} order=${order} />`}
          </li>`,
      )}
    ${hindrances.slice(0, 6).map(
      (text) =>
        html`<li key=${text}>
          <${Badge} tone="bad" sign="!">in the way<//>
          <p>${text}</p>
        </li>`,
    )}
    ${hindrances.length > 6 && html`<li>and ${hindrances.length - 6} more</li>`}
    ${warnings.map(
      (text) =>
        html`<li key=${text}>
          <${Badge} tone="warn" sign="▲">to know<//>
          <p>${text}</p>
        </li>`,
    )}
    ${waits.slice(0, 6).map(
      ({ strategy, symbol, what }) =>
        html`<li key=${[strategy, symbol, what].join(' ')}>
          <${Badge} tone="soft" sign="…">waits<//>
          <p>${symbol}: ${strategy} waits for ${what}</p>
        </li>`,
    )}
    ${waits.length > 6 && html`<li>and ${waits.length - 6} more</li>`}
    ${pauses.slice(0, 6).map(
      (text) =>
        html`<li key=${text}>
          <${Badge} tone="soft" sign="‖">pause<//>
          <p>${text}</p>
        </li>`,
    )}
    ${pauses.length > 6 && html`<li>and ${pauses.length - 6} more</li>`}
  </ul>`
}

function waitsOnAll({ id, symbols }, waits) {
  return symbols.every((symbol) => waits.some((wait) => wait.strategy === id && wait.symbol === symbol))
}

function isStrategyHeld({ mode, symbols }, restrictions) {
  const stopped = new Set(
    restrictions.filter((one) => one.mode === 'halted' || one.mode === 'killed').map(({ scope }) => scope),
  )
  return mode === 'halted' || mode === 'killed' || symbols.every((symbol) => stopped.has(symbol))
}

function proofOf({ phase, isReleaseAsked }) {
  const proof =
    phase === 'clean'
      ? 'It is proved that nothing rests.'
      : `It is not proved yet that nothing rests (${phase}).`
  return isReleaseAsked ? `${proof} A release waits for that; another kill takes it back.` : proof
}

function severityOf({ mode }) {
  return ['reducing', 'halted', 'killed'].indexOf(mode)
}

function titleOf(mode) {
  return { reducing: 'Reducing only', halted: 'Halted', killed: 'Killed' }[mode]
}

function Money({ account, curves, problem, label, children }) {
  const { equity, profit } = account
  const known = curves ? (equity === null ? curves.netWithUnrealised : curves.equity) : []
  // The curve is read every few seconds, so the present value is appended.
  const values = equity === null || known.length === 0 ? known : [...known, Number(equity)]
  const at =
    values.length === known.length ? curves?.at : [...curves.at, Math.max(Date.now(), curves.at.at(-1) + 1)]
  const isRun = label === 'this run'
  const weekly = profit.week
  const { net, netWithUnrealised } = profit.total
  const gained = curves?.netWithUnrealised ?? []
  const isAppended = values.length > known.length
  const gains = isAppended
    ? [...gained, netWithUnrealised === null ? null : Number(netWithUnrealised)]
    : gained
  const drawdown = account.drawdown ?? drawdownsOf(gains).at(-1)
  const inAll = html`<${Gain}
    value=${netWithUnrealised ?? net}
    text=${signed(netWithUnrealised ?? net, account.coin)}
  />`
  const inAllNote = netWithUnrealised === null ? 'net of fees' : 'with unrealised'
  return html`<section class="card money">
    <div class="figures">
      <${Figure}
        big
        label=${equity === null ? 'All runs' : 'Equity'}
        unit=${account.coin}
        value=${equity === null ? inAll : money(equity, account.coin)}
        note=${equity === null && inAllNote}
      />
      <${Figure}
        label="Today"
        unit=${account.coin}
        value=${html`<${Gain} value=${profit.today.net} text=${signed(profit.today.net, account.coin)} />`}
        note=${[shareOf(profit.today.net, equity), fillsOf(profit.today)].filter(Boolean).join(', ')}
      />
      ${weekly && html`<${Figure} label="7 days" unit=${account.coin} value=${html`<${Gain} value=${weekly.net} text=${signed(weekly.net, account.coin)} />`} note=${fillsOf(weekly)} />`}
      ${equity !== null && html`<${Figure} label="All runs" unit=${account.coin} value=${inAll} note=${inAllNote} />`}
      <${Figure}
        label="Fees paid"
        unit=${account.coin}
        value=${money(profit.total.fees, account.coin)}
        note=${['all runs', uncounted(profit.total)].filter(Boolean).join(', ')}
      />
      <${Figure}
        label="Below its peak"
        unit=${account.coin}
        value=${drawdown === undefined ? '–' : money(drawdown, account.coin)}
        note=${account.peak === null ? 'of this run' : `${percent(drawdown / Number(account.peak), 2)} of ${money(account.peak, account.coin)}`}
      />
    </div>
    ${
      curves && values.filter((value) => value !== null).length > 1
        ? html`<${CurveChart}
              at=${at}
              values=${values}
              gains=${gains}
              peak=${gainAtPeak(curves)}
              label=${`The curve of ${isRun ? label : `the ${label}`}, and below it how far it is under its peak`}
            />
            <p class="soft legend">
              ${`${spanWords(label)}: ${equity === null ? 'profit' : 'equity'} above, distance from its peak below, in ${account.coin}`}
            </p>`
        : html`<p class="empty">
            ${problem ?? (isRun ? 'The curve begins with the first readings of this run.' : 'No points are kept yet: the first comes after a minute.')}
          </p>`
    }
    ${children}
  </section>`
}

function spanWords(label) {
  if (label === 'this run') return 'This run'
  return label === 'all' ? 'All that is kept' : `Last ${label}, of all runs`
}

function shareOf(net, equity) {
  const before = Number(equity) - Number(net)
  return equity === null || before <= 0 ? '' : percent(Number(net) / before, 2)
}

function fillsOf({ fills }) {
  return `${number(fills, 0)} ${fills === 1 ? 'fill' : 'fills'}, net of fees`
}

function Figure({ label, value, unit, note, big }) {
  return html`<div class=${big ? 'figure big' : 'figure'}>
    <span class="label">${label}</span> <span class="value">${value} <small>${unit}</small></span
    >${note && html`<span class="note">${note}</span>`}
  </div>`
}

/** Colours change at `risk.liquidation`'s default steps. */
function Distance({ of }) {
  if (of === null || of.distance === null) return '–'
  const tone = of.distance <= 0.08 ? 'bad' : of.distance <= 0.15 ? 'warn' : ''
  const isDisputed = of.trust === 'disputed' || of.trust === 'alone'
  const text = `${percent(of.distance)}${isDisputed ? ' ?' : ''}`
  const moves = of.moves === null ? '' : `${number(of.moves, 1)} moves`
  return html`<small title="in typical moves of an hour">${moves}</small> ${text}
    <meter
      class=${`beside ${tone}`}
      min="0"
      max="0.33"
      value=${of.distance}
      aria-label=${`${text} to its liquidation`}
    />`
}

/** As a share of what backs the position: at 100 % it is liquidated. */
function MarginRatio({ of }) {
  const ratio = of?.ratio ?? of?.statedRatio ?? null
  if (ratio === null) return '–'
  return `${percent(ratio)}${of.ratioTrust === 'disputed' ? ' ?' : ''}`
}

function Positions({ account, order }) {
  const { positions, coin } = account
  return html`<${Card}
    title=${positions.length === 0 ? 'Positions' : `Positions, profit in ${coin}`}
    aside=${order && positions.length > 0 && html`<button class="quiet" onClick=${() => order(ACTIONS.flatten('*'))}>Flatten all</button>`}
  >
    <${Table}
      keyOf=${(row) => row.symbol + row.side}
      rows=${positions}
      empty="Nothing is held."
      pageRows=${25}
      columns=${[
        [
          'instrument',
          (row) => html`<a href=${`#instrument/${encodeURIComponent(row.symbol)}`}>${row.symbol}</a>`,
        ],
        ['side', (row) => `${row.side === 'long' ? '▲' : '▼'} ${row.side}`],
        ['size', (row) => exact(row.size), 'number'],
        ['entry', (row) => price(row.entryPrice), 'number'],
        [
          'unrealised',
          (row) =>
            html`<${Gain} value=${row.unrealisedProfit} text=${signed(row.unrealisedProfit, row.coin)} />`,
          'number',
        ],
        ['mark', (row) => price(row.markPrice), 'number'],
        ['to liquidation', (row) => html`<${Distance} of=${row.liquidation} />`, 'number'],
        ['margin ratio', (row) => html`<${MarginRatio} of=${row.liquidation} />`, 'number'],
      ]}
    />
  <//>`
}

function Health({ account, isLost }) {
  const { ages, clock, openOrders, unknownSince, limiter, limits } = account
  const oldest = (values) => {
    const known = Object.values(values)
    return known.some((value) => value === null) ? null : Math.max(0, ...known)
  }
  const unknown = openOrders.unknown ?? 0
  const open = Object.values(openOrders).reduce((sum, count) => sum + count, 0)
  const most = limiter.reduce((top, one) => (one.usedShare > (top?.usedShare ?? -1) ? one : top), undefined)
  const row = (name, isWell, value) =>
    html`<tr>
      <th scope="row">${name}</th>
      <td class="number">${value}</td>
      <td>
        ${isWell && !isLost ? html`<${Badge} tone="ok" sign="✓">fresh<//>` : html`<${Badge} tone="bad" sign="!">old<//>`}
      </td>
    </tr>`
  const isFresh = (ms, max) => ms !== null && ms <= max
  const [tickersMs, positionsMs] = [oldest(ages.tickersMs), oldest(ages.positionsMs)]
  return html`<${Card} title="Health">
    <div class="scroll">
      <table class="health">
        <tbody>
          ${row('oldest price', isFresh(tickersMs, limits.dataAgeMaxMs), age(tickersMs))}
          ${row('oldest position', isFresh(positionsMs, limits.accountAgeMaxMs), age(positionsMs))}
          ${row('fills', isFresh(ages.fillsMs, limits.accountAgeMaxMs), age(ages.fillsMs))}
          <tr>
            <th scope="row">clock against the exchange</th>
            <td class="number">${number(clock.offsetMs, 0)} ms</td>
            <td>
              ${clock.isSynchronised && !isLost ? html`<${Badge} tone="ok" sign="✓">known<//>` : html`<${Badge} tone="bad" sign="!">not known<//>`}
            </td>
          </tr>
          <tr>
            <th scope="row">orders open</th>
            <td class="number">${number(open, 0)}</td>
            <td>
              ${isLost ? html`<${Badge} tone="bad" sign="!">old<//>` : unknown === 0 ? html`<${Badge} tone="ok" sign="✓">all known<//>` : html`<${Badge} tone="bad" sign="?">${unknown} unknown since ${time(unknownSince)}<//>`}
            </td>
          </tr>
          ${
            most &&
            html`<tr>
              <th scope="row">exchange's limits</th>
              <td class="number">${percent(most.usedShare, 0)}</td>
              <td class="soft">${most.endpoint}</td>
            </tr>`
          }
        </tbody>
      </table>
    </div>
  <//>`
}

function WhatIf({ live, account }) {
  const found = usePolled(() => read('/v1/whatif'), [live.head.startedAt], WHAT_IF_EVERY_MS)
  const view = found.value?.find(({ name }) => name === account.name)
  if (!view) return undefined
  const isIdle =
    view.notCounted.length === 0 &&
    view.scenario.positions.length === 0 &&
    view.curve.reached.every((value) => value === view.curve.none[0])
  return html`<${Card} title="If the market moves" aside=${html`<code>intentd whatif</code>`}>
    ${isIdle ? html`<p class="empty">Nothing is held and nothing rests: no move changes the equity.</p>` : html`<${MoveChart} curve=${view.curve} coin=${view.coin} />`}
    ${view.notCounted.length > 0 && html`<p class="soft legend">Not counted: ${view.notCounted.join('; ')}.</p>`}
  <//>`
}

function Losses({ account }) {
  const { losses, worstCase } = account
  const ahead = { scope: '*', limit: 'survives', max: 1, level: null }
  return html`<${Card} title=${`Limits on losses, amounts in ${account.coin}`}>
    <${Table}
      keyOf=${(row) => row.scope + row.limit}
      rows=${[...(worstCase === null ? [] : [{ ...ahead, ...worstCase }]), ...losses]}
      empty="None is set (risk.losses, risk.survives)."
      pageRows=${20}
      columns=${[
        ['limit', (row) => limitOf(row), 'short'],
        ['used', (row) => usedOf(row, account.coin), 'number'],
        [
          '',
          (row) =>
            html`<${Use}
              share=${row.used === null ? 0 : row.used / row.max}
              label=${`${scopeName(row.scope)} ${row.limit}`}
            />`,
        ],
        ['reached at', (row) => (row.level === null ? '' : money(row.level, account.coin)), 'number'],
      ]}
    />
  <//>`
}

function limitOf({ scope, limit, scenario }) {
  if (scenario !== undefined) return html`${limit} <small>${scenario}</small>`
  return `${scope === '*' ? '' : `${scopeName(scope)}: `}${limit}`
}

/** Two limits are shares; others are money, or a number of losses. */
function usedOf({ scope, limit, used, max }, coin) {
  if (limit === 'survives') return `${percent(used)} of the equity`
  if (limit === 'streak') return `${number(used, 0)} of ${max}`
  const isShare = scope === '*' && limit.startsWith('drawdown')
  return isShare ? `${percent(used, 2)} of ${percent(max)}` : `${money(used, coin)} of ${number(max, 2)}`
}

function foldRepeats(alerts) {
  const lines = new Map()
  for (const alert of alerts) {
    const { symbol, scope, strategy, what } = alert.fields
    const key = [alert.event, symbol, scope, strategy, what, scope && alert.fields.reason].join(' ')
    const before = lines.get(key)
    lines.set(key, { ...alert, times: (before?.times ?? 0) + 1, since: before?.since ?? alert.at })
  }
  return [...lines.values()]
}

function sortAlerts(alerts, restrictions) {
  const rankOf = ({ level, isOver }) => (isOver ? 2 : level === 'warn' ? 1 : 0)
  return alerts
    .map((alert) => ({ ...alert, isOver: isReleased(alert, restrictions) }))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || other.id - one.id)
}

function isReleased({ event, fields: { scope, code } }, restrictions) {
  const isOfMode = ['trading.reducing', 'trading.halted', 'trading.killed'].includes(event)
  return isOfMode && !restrictions.some((one) => one.scope === scope && one.code === code)
}

function Alerts({ live, account }) {
  const alerts = sortAlerts(foldRepeats(live.alerts), account.restrictions).slice(0, ALERTS_SHOWN)
  return html`<${Card}
    title="Warnings and errors"
    aside=${live.isCatchingUp ? 'reads what was before …' : html`<a href="#journal">all events</a>`}
  >
    ${
      alerts.length === 0
        ? html`<p class="empty">None since the daemon remembers.</p>`
        : html`<ul class="alerts">
            ${alerts.map(
              (one) =>
                html`<li key=${one.id}>
                  <${Badge}
                    tone=${one.isOver ? 'soft' : one.level === 'warn' ? 'warn' : 'bad'}
                    sign=${one.isOver ? '○' : one.level === 'warn' ? '▲' : '■'}
                    >${one.isOver ? 'released' : one.level}<//
                  >
                  <time>${time(one.at)}</time> <b>${one.event}</b>${' '}
                  ${one.times > 1 && html`<span class="tag">× ${one.times} since ${time(one.since)}</span> `}
                  <${Fields} fields=${one.fields} />
                </li>`,
            )}
          </ul>`
    }
  <//>`
}
