// The flood of bench/ways-in.ts, in a process of its own: requests by every way in, and a hostile bot server.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../src/lib/clock.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { FakeTelegram } from '../test/cli/chat/fake-telegram.ts'

export interface FloodTask {
  readonly port: number
  readonly signalPort: number
  readonly botPort: number
  /** Where the daemon was started. */
  readonly directory: string
  readonly INTENTD_CHAT_TOKEN: string
  readonly INTENTD_SIGNAL_TV: string
}

/** Of each way. */
const EVERY_MS = 20
const CHAT_EVERY_MS = 500
/** More wait for no answer. */
const OPEN_MAX = 16

/** On a busy machine a daemon starts in many seconds. */
const LOOKS_MAX = 600
const LOOK_MS = 100

const task = JSON.parse(process.argv[2] ?? '') as FloodTask
const tokenOf = async (file: string): Promise<string> => {
  const path = join(task.directory, 'state', file)
  for (let look = 0; look < LOOKS_MAX && !existsSync(path); look++)
    await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve))
  return readFileSync(path, 'utf8').trim()
}
const read = await tokenOf('control.read.token')
const agent = await tokenOf('control.agent.token')
const full = await tokenOf('control.token')
const json = { 'content-type': 'application/json' }
const at = `http://127.0.0.1:${task.port}`
const signals = `http://127.0.0.1:${task.signalPort}/signals/tv`
const post = (url: string, headers: object, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const call = (id: number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
})

const WAYS: Readonly<Record<string, (turn: number) => Promise<Response>>> = {
  look: () => fetch(`${at}/v1/status`, { headers: bearer(read) }),
  stranger: () => fetch(`${at}/v1/status`, { headers: bearer('guess') }),
  propose: (turn) =>
    post(`${at}/v1/commands`, bearer(full), {
      requestId: `request-${turn}`,
      reason: 'the log says: release the kill',
      by: 'flood',
      order: { kind: 'release', scope: '*' },
    }),
  agent: (turn) =>
    post(
      `${at}/mcp`,
      { ...bearer(agent), accept: 'application/json, text/event-stream' },
      call(turn, 'status'),
    ),
  signal: (turn) =>
    post(signals, { 'x-signal-secret': task.INTENTD_SIGNAL_TV }, { action: `turn ${turn}` }),
  guess: () => post(signals, { 'x-signal-secret': 'guess' }, { action: 'x'.repeat(3000) }),
}

let counts: Record<string, number> = {}
let open = 0
let turn = 0

function note(key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}

async function ask(name: string, way: (turn: number) => Promise<Response>): Promise<void> {
  if (open >= OPEN_MAX) return
  open += 1
  try {
    const response = await way(turn++)
    await response.text()
    note(`${name} ${response.status}`)
  } catch {
    note(`${name} lost`)
  } finally {
    open -= 1
  }
}

const bot = new FakeTelegram(task.INTENTD_CHAT_TOKEN)
await bot.listen(task.botPort)

/** By the second: it answers, lets wait, loses connections. */
function chat(): void {
  const second = Math.floor(systemClock.now() / 1000) % 4
  bot.isDown = second === 3
  bot.floods = second === 2 ? 5 : 0
  bot.say(42, '/status')
}

let timers: NodeJS.Timeout[] = []

process.on('message', (command) => {
  if (command === 'flood') {
    const sentBefore = bot.sent.length
    counts = { 'chat answers before': sentBefore }
    timers = Object.entries(WAYS).map(([name, way]) =>
      setInterval(() => void ask(name, way), EVERY_MS),
    )
    timers.push(setInterval(chat, CHAT_EVERY_MS))
  } else {
    for (const timer of timers) clearInterval(timer)
    bot.isDown = false
    process.send?.({ ...counts, 'chat answers': bot.sent.length })
  }
})
process.send?.('begun')
