// Uses `fetch`, since an EventSource sends no headers; resumes after the last event seen.

import { doubtServer, Refused, request, token, UNPROVED } from './api.js'

const EVENTS_KEPT = 500
const ALERTS_KEPT = 200
const PIECE = 100
const RETRY_MS = [250, 500, 1000, 2000, 4000]
/** A running daemon sends something four times a second. */
const SILENT_MS = 6000
const ANSWER_MS = 3000
const HIDDEN_MS = 10_000
/** Events with a restart's findings, and their fields. */
const FOUND_IN = { 'recovery.started': 'recovered', 'daemon.running': 'found', 'daemon.killed': 'found' }

/** A busy minute's fills would push alerts out. */
export function isAlert({ level }) {
  return level === 'warn' || level === 'error' || level === 'fatal'
}

/** Lets a reopened page report a restart's findings. */
let kept

export function followDaemon({ onChange, onRefused }) {
  const state = kept ?? {
    head: {},
    accounts: {},
    events: [],
    alerts: [],
    restarts: [],
    link: 'connecting',
    lostAt: undefined,
    missed: 0,
    isCatchingUp: true,
    lastId: 0,
  }
  kept = state
  let [heardAt, used, isStopped, failures] = [undefined, null, false, 0]
  let abort = new AbortController()
  let wake = () => undefined

  const publish = () => onChange({ ...state })

  function takeState(parts) {
    const before = state.head.startedAt
    const accounts = { ...state.accounts }
    const head = { ...state.head }
    for (const [name, value] of Object.entries(parts)) {
      const [kind, account, field] = name.split('/')
      if (kind === 'accounts') accounts[account] = { ...accounts[account], [field]: value }
      else head[name] = value
    }
    if (before !== undefined && head.startedAt !== before) {
      const own = new Set(Object.keys(parts).flatMap((name) => name.split('/')[1] ?? []))
      for (const name of Object.keys(accounts)) if (!own.has(name)) delete accounts[name]
      state.restarts = [...state.restarts, { at: head.startedAt, after: before }].slice(-20)
    }
    Object.assign(state, { head, accounts, link: 'live', lostAt: undefined })
  }

  function takeLog(event) {
    state.lastId = event.id
    state.events = [...state.events, event].slice(-EVENTS_KEPT)
    const restart = state.restarts.at(-1)
    const part = FOUND_IN[event.event]
    if (restart && part && event.at >= restart.at)
      state.restarts = [
        ...state.restarts.slice(0, -1),
        { ...restart, [part]: event.fields, isKilled: event.event === 'daemon.killed' },
      ]
    if (isAlert(event)) state.alerts = [...state.alerts, event].slice(-ALERTS_KEPT)
  }

  function take(block) {
    const lines = block.split('\n')
    const kind = lines.find((line) => line.startsWith('event: '))?.slice(7)
    const data = lines.find((line) => line.startsWith('data: '))?.slice(6)
    if (data === undefined) return
    if (kind === 'state') takeState(JSON.parse(data))
    else if (kind === 'log') takeLog(JSON.parse(data))
    else if (kind === 'missed') state.missed += Number(data)
  }

  async function readStream() {
    abort = new AbortController()
    const stalled = abort
    used = token()
    let silence = setTimeout(() => stalled.abort(), ANSWER_MS)
    try {
      // On the first request the last events are context.
      const response = await request(`/v1/live?after=${state.lastId}`, { signal: abort.signal })
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      let rest = ''
      for (;;) {
        clearTimeout(silence)
        silence = setTimeout(() => stalled.abort(), SILENT_MS)
        const { value, done } = await reader.read()
        if (done) return
        failures = 0
        heardAt = Date.now()
        const blocks = (rest + value).split('\n\n')
        rest = blocks.pop()
        for (const block of blocks) take(block)
        state.isCatchingUp = blocks.length >= PIECE
        if (blocks.length > 0) publish()
      }
    } finally {
      clearTimeout(silence)
      stalled.abort()
    }
  }

  // A browser has six connections per address for all tabs, so a hidden tab releases its own.
  let hiding
  function lookAway() {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(() => abort.abort(), HIDDEN_MS)
    else wake()
  }
  document.addEventListener('visibilitychange', lookAway)

  async function untilSeen() {
    while (document.hidden && !isStopped) await new Promise((resolve) => (wake = resolve))
  }

  async function run() {
    while (!isStopped) {
      await untilSeen()
      try {
        await readStream()
      } catch (error) {
        if (isStopped) return
        // Another token may have been set meanwhile.
        if (error instanceof Refused && [401, UNPROVED].includes(error.status) && token() === used)
          return onRefused(error.message)
      }
      doubtServer()
      if (isStopped) return
      if (document.hidden) continue
      state.link = 'lost'
      state.lostAt ??= heardAt ?? Date.now()
      publish()
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]))
      failures += 1
    }
  }

  void run()
  return () => {
    isStopped = true
    document.removeEventListener('visibilitychange', lookAway)
    clearTimeout(hiding)
    wake()
    abort.abort()
  }
}
