import { render } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { enterByCode, keepToken, read, token } from './api.js'
import { time } from './format.js'
import { followDaemon } from './live.js'
import { Confirm, killCommand, WHERE_TO_TYPE } from './confirm.js'
import { ACTIONS, Badge, html, Mode, shownMode } from './parts.js'
import { Backtests } from './screens/backtests.js'
import { Fleet } from './screens/fleet.js'
import { InstrumentScreen } from './screens/instrument.js'
import { Journal } from './screens/journal.js'
import { Limits } from './screens/limits.js'
import { Orders } from './screens/orders.js'
import { Overview } from './screens/overview.js'
import { Strategies } from './screens/strategies.js'

const SCREENS = [
  ['overview', 'Overview', Overview],
  ['instrument', 'Instrument', InstrumentScreen],
  ['strategies', 'Strategies', Strategies],
  ['orders', 'Orders', Orders],
  ['limits', 'Limits', Limits],
  ['journal', 'Journal', Journal],
  ['backtests', 'Backtests', Backtests],
]
const FLEET = ['fleet', 'Fleet', Fleet]

function screensOf(head = {}) {
  if (head.standby) return [FLEET]
  return head.hasFleet ? [...SCREENS, FLEET] : SCREENS
}

function readAddress() {
  const [screen = '', ...rest] = location.hash.slice(1).split('/')
  return { screen: screen || 'overview', subject: rest.map(decode).join('/') }
}

/** The address may have been typed. */
function decode(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function useAddress() {
  const [address, setAddress] = useState(readAddress)
  useEffect(() => {
    const change = () => setAddress(readAddress())
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return address
}

function App() {
  const [entry, setEntry] = useState({ isOpen: token() !== null, why: '' })
  useEffect(() => {
    const enter = () => {
      enterByCode().then(
        (found) => found && setEntry({ isOpen: true, why: '' }),
        (error) => setEntry((before) => (before.isOpen ? before : { isOpen: false, why: error.message })),
      )
    }
    enter()
    // Opening the address in an open tab changes only the fragment.
    addEventListener('hashchange', enter)
    return () => removeEventListener('hashchange', enter)
  }, [])
  const onRefused = (why) => {
    keepToken(undefined)
    setEntry({ isOpen: false, why })
  }
  if (!entry.isOpen)
    return html`<${Entry} why=${entry.why} onEntered=${() => setEntry({ isOpen: true, why: '' })} />`
  return html`<${Dashboard} onRefused=${onRefused} />`
}

function Entry({ why, onEntered }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState(why)
  useEffect(() => setProblem(why), [why])
  const enter = async (event) => {
    event.preventDefault()
    keepToken(text.trim())
    try {
      await read('/v1/curves')
      onEntered()
    } catch (error) {
      keepToken(undefined)
      setProblem(error.message)
    }
  }
  return html`<main class="entry">
    <h1>intentd</h1>
    <p>
      For an address that opens this page by itself, with the <code>-c FILE</code> that the daemon was started
      with:
    </p>
    <pre><code>intentd dashboard</code></pre>
    <form onSubmit=${enter}>
      <label
        >or the token, which stands in <code>control.token</code> of the state directory
        <input
          type="password"
          value=${text}
          onInput=${(event) => setText(event.target.value)}
          autocomplete="off"
          required
      /></label>
      <button class="main" type="submit">Open</button>
      ${problem && html`<p role="alert" class="problem">${problem}</p>`}
    </form>
  </main>`
}

function Dashboard({ onRefused }) {
  const [live, setLive] = useState(undefined)
  const [action, setAction] = useState(undefined)
  const { screen, subject } = useAddress()
  useEffect(() => followDaemon({ onChange: setLive, onRefused }), [])
  const account = useMemo(() => Object.values(live?.accounts ?? {})[0], [live])
  const order = live?.head.isReadOnly === false ? setAction : undefined
  const screens = screensOf(live?.head)
  const [shown, title, Screen] = screens.find(([name]) => name === screen) ?? screens[0]
  const isShown = account?.mode !== undefined || live?.head.standby !== undefined
  const isLost = live?.link === 'lost'
  useEffect(() => {
    const state = isLost ? 'no answer · ' : !account || account.mode === 'active' ? '' : `${account.mode} · `
    document.title = account || live?.head.standby ? `${state}${title} · intentd` : 'intentd'
  }, [title, account?.mode, isLost])
  return html` <a class="skip" href="#main">To the content</a>
    <${Head} live=${live} account=${account} screens=${screens} screen=${shown} order=${order} />
    <main id="main" tabindex="-1" class=${isLost ? 'old' : ''}>
      <${Link} live=${live} account=${account} />
      ${
        !isShown
          ? html`<p class="empty">Waiting for the daemon …</p>`
          : html`<h1 class="title">${title}</h1>
              <${Screen} live=${live} account=${account} subject=${subject} order=${order} />`
      }
    </main>
    <footer>
      intentd ${live?.head.version} · ${live?.head.name} at ${live?.head.exchange}, pid ${live?.head.pid},
      since ${live?.head.processStartedAt && time(live.head.processStartedAt)} · Charts:${' '}
      <a href="https://www.tradingview.com/" rel="noreferrer noopener" target="_blank"
        >TradingView Lightweight Charts™</a
      >, © 2025 TradingView, Inc.
    </footer>
    ${action && html`<${Confirm} action=${action} live=${live} account=${account} onClose=${() => setAction(undefined)} />`}`
}

function Head({ live, account, screens, screen, order }) {
  const nav = useRef(null)
  useEffect(
    () =>
      nav.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [screen],
  )
  return html`<header class="top">
    <div class="bar">
      <strong class="name">${live?.head.name ?? 'intentd'}</strong>
      <span class="soft environment">
        ${live?.head.environment}${live && live.head.speed !== 1 && `, demonstration at ${live.head.speed} times the speed`}
      </span>
      ${live && html`<span class="soft short-environment">${shortEnvironment(live.head)}</span>`}
      ${
        live?.link === 'lost'
          ? html`<${Badge} tone="bad" sign="?">unknown<//>`
          : live?.head.standby
            ? html`<${Badge}>standby<//>`
            : account?.mode && html`<${Mode} mode=${shownMode(account)} but=${account.restrictions.length} />`
      }
      <span class="grow"></span>
      ${live?.head.isReadOnly && html`<${Badge}>read only<//>`}
      ${
        order &&
        account &&
        account.mode === 'killed' &&
        html`<button onClick=${() => order(ACTIONS.releaseKill())}>Release kill</button>`
      }
      ${
        order &&
        account &&
        (account.mode !== 'killed' || account.kill?.isReleaseAsked) &&
        html`<button class="grave" onClick=${() => order(ACTIONS.kill())}>Kill</button>`
      }
    </div>
    <nav ref=${nav} aria-label="Screens">
      ${screens.map(([name, label]) => html`<a href=${`#${name}`} aria-current=${name === screen ? 'page' : undefined}>${label}</a>`)}
    </nav>
  </header>`
}

function Link({ live, account }) {
  const [closed, setClosed] = useState(0)
  if (!live) return undefined
  const restart = live.restarts.at(-1)
  return html` ${
    live.link === 'lost' &&
    html`<div class="notice bad" role="alert">
      ${
        account?.phase === 'stopping' || account?.phase === 'stopped'
          ? html`<b>○ The daemon was stopping when it was seen last</b>, at ${time(live.lostAt)}.`
          : html`<b>✕ The daemon has not answered since ${time(live.lostAt)}.</b> What stands here is of then;
              it may trade all the same. To stop it all without
              it:${' '}<code>${killCommand(live)}</code>${' '} ${WHERE_TO_TYPE}.`
      }${' '}
      This page looks for it again by itself.
    </div>`
  }
  ${
    restart &&
    closed < restart.at &&
    html`<div class="notice warn" role="status">
      <b>↻ The daemon was restarted</b> at ${time(restart.at)}.${' '}
      ${restart.found && ` ${describeFound(restart)}`}
      ${!restart.found && account?.phase === 'starting' && ' It reads what the exchange holds.'}
      <button class="link" onClick=${() => setClosed(restart.at)}>Understood</button>
    </div>`
  }
  ${live.missed > 0 && html`<p class="soft">${live.missed} events came faster than they were taken; the journal has what counts.</p>`}`
}

function shortEnvironment({ environment, speed }) {
  if (environment !== 'simulator') return environment === 'live' ? 'LIVE' : environment
  return speed === 1 ? 'sim' : `sim ×${speed}`
}

function describeFound({ recovered = {}, isKilled }) {
  const { openOrders = 0, unknownOrders = 0, positions = {} } = recovered
  const held = Object.entries(positions).map(([symbol, size]) => `${size} ${symbol}`)
  return [
    `It found ${openOrders} open ${openOrders === 1 ? 'order' : 'orders'}`,
    `, ${unknownOrders === 0 ? 'none' : unknownOrders} of unknown fate`,
    `, and ${held.length === 0 ? 'no position' : `a position of ${held.join(' and ')}`}`,
    isKilled ? ', and a kill still stands.' : ', and goes on with them.',
  ].join('')
}

render(html`<${App} />`, document.getElementById('page'))
