import { useState } from 'preact/hooks'
import { read } from '../api.js'
import { Sparkline } from '../charts.js'
import { exact, money, number, signed, time, uncounted } from '../format.js'
import { ACTIONS, Gain, html, Mode, scopeName, shownMode, usePolled } from '../parts.js'
import { ClosedTrades } from './closed-trades.js'
import { Universes } from './universe.js'

const EVERY_MS = 5000
const DECISIONS_SHOWN = 20

export function Strategies({ live, account, order }) {
  const found = usePolled(
    async () => {
      const [curves, denials] = await Promise.all([read('/v1/curves'), read('/v1/denials')])
      return { curves, denials }
    },
    [live.head.startedAt],
    EVERY_MS,
  )
  if (account.strategies.length === 0) return html`<p class="empty">No strategy is configured.</p>`
  return html` ${found.error && html`<p role="alert" class="problem">${found.error}</p>`}
    <div class="grid">
      ${account.strategies.map(
        (one) =>
          html`<${Strategy}
            key=${one.id}
            strategy=${one}
            account=${account}
            order=${order}
            curve=${found.value?.curves.strategies[one.id] ?? []}
            denials=${found.value?.denials[one.id] ?? {}}
          />`,
      )}
    </div>
    <${Universes} live=${live} /> <${ClosedTrades} live=${live} />`
}

function Strategy({ strategy, account, order, curve, denials }) {
  const { id, mode, symbols, openOrders, wants, capital } = strategy
  const scope = `strategy:${id}`
  const held = account.positions.flatMap(({ symbol, strategies }) =>
    strategies[id] === undefined ? [] : [describeHeld(strategies[id], symbol)],
  )
  const made = account.profit.strategies[id]
  const holds = account.restrictions.filter(
    (one) => one.scope === scope || one.scope === '*' || symbols.includes(one.scope),
  )
  const causes = Object.entries(denials).toSorted(([, one], [, other]) => other - one)
  return html`<section class="card strategy" aria-label=${id}>
    <header>
      <h2>${id}</h2>
      <${Mode} mode=${shownMode(account, mode)} but=${holds.length} /><span class="grow"></span> ${
        order &&
        (holds.some((one) => one.scope === scope)
          ? html`<button onClick=${() => order(ACTIONS.release(scope))}>Resume</button>`
          : html`<button class="quiet" onClick=${() => order(ACTIONS.pause(scope))}>Pause</button>`)
      }
      ${order && html`<button class="quiet" onClick=${() => order(ACTIONS.flatten(scope))}>Flatten</button>`}
    </header>
    ${holds.map((one) => html`<p class="because">${one.scope === scope ? '' : `${scopeName(one.scope)} `}${one.mode}: ${one.reason} <small>by ${one.by}, since ${time(one.at)}</small></p>`)}
    <div class="figures small">
      <div class="figure">
        <span class="label">${made?.netWithUnrealised === null ? 'Net' : 'With unrealised'}</span
        ><span class="value"
          ><${Gain}
            value=${made?.netWithUnrealised ?? made?.net}
            text=${signed(made?.netWithUnrealised ?? made?.net, account.coin)}
          />${' '}<small>${account.coin}</small></span
        >
      </div>
      <div class="figure">
        <span class="label">Fills</span><span class="value">${number(made?.fills, 0)}</span>
      </div>
      <div class="figure">
        <span class="label">Fees</span
        ><span class="value">${money(made?.fees, account.coin)} <small>${account.coin}</small></span>
      </div>
      <div class="figure">
        <span class="label">Orders open</span><span class="value">${number(openOrders, 0)}</span>
      </div>
      ${
        capital &&
        html`<div class="figure">
          <span class="label">${`Uses of its ${capital.set.endsWith('%') ? capital.set : 'capital'}`}</span
          ><span class="value"
            >${capital.used === null ? 'not known' : money(capital.used, account.coin)}${' '}<small
              >${`of ${capital.max === null ? 'not known' : money(capital.max, account.coin)} ${account.coin}`}</small
            ></span
          >
        </div>`
      }
    </div>
    <p class="soft">
      ${`Realised ${money(made?.realised, account.coin)}, fees ${money(made?.fees, account.coin)}, unrealised ${(made?.unrealised ?? null) === null ? 'not known' : money(made.unrealised, account.coin)}`}
      ${uncounted(made) && html`<br /><strong>${uncounted(made)}</strong>`}
    </p>
    <${Sparkline} values=${curve} label=${`Profit of ${id} in this run`} />
    <p>
      <span class="soft">Holds</span> ${held.join(', ') || 'nothing'}<span class="soft">
        ${` · trades ${symbols.slice(0, 8).join(', ')}${symbols.length > 8 ? ` and ${symbols.length - 8} more` : ''}`}</span
      >
    </p>
    <p>
      <span class="soft">Wants</span>${' '}
      ${wants.slice(0, 8).map(describeWish).join(', ')}${wants.length > 8 && ` and more on ${wants.length - 8}`}
    </p>
    <p>
      <span class="soft">Denied in this run</span>${' '}
      ${causes.length === 0 ? 'nothing' : causes.map(([code, count]) => html`<span class="tag" key=${code}>${code} ${number(count, 0)}</span> `)}
    </p>
    <${Decisions} id=${id} />
  </section>`
}

function describeWish({ symbol, what, since }) {
  return `${symbol} ${what}${since === null ? '' : ` since ${time(since)}`}`
}

function describeHeld(size, symbol) {
  return `${Number(size) > 0 ? '▲ long' : '▼ short'} ${exact(String(size).replace('-', ''))} ${symbol}`
}

function Decisions({ id }) {
  const [isOpen, setOpen] = useState(false)
  return html`<details onToggle=${(event) => setOpen(event.target.open)}>
    <summary>Last decisions</summary>
    ${isOpen && html`<${DecisionList} id=${id} />`}
  </details>`
}

function DecisionList({ id }) {
  const { value, error } = usePolled(
    () => read('/v1/journal', { strategy: id, kind: 'decision', limit: DECISIONS_SHOWN }),
    [id],
    0,
  )
  if (error) return html`<p class="problem">${error}</p>`
  if (value === undefined) return html`<p class="soft">Reads the journal …</p>`
  if (value.length === 0) return html`<p class="empty">It has decided nothing yet.</p>`
  return html`<ul class="moments">
    ${value.map((row) => html`<li key=${row.sequence + row.text}><time>${time(row.at)}</time> ${row.text}</li>`)}
  </ul>`
}
