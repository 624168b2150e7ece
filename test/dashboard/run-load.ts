// How the page bears a busy daemon, and a daemon its tabs: `npm run dashboard:load -- --events 36000`. Twenty followers
// of which one takes nothing, one tab in a browser on each screen in turn, and events as fast as they are taken.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import { ControlServer } from '../../src/control/control-server.ts'
import { Secret } from '../../src/lib/secret.ts'
import { browserMissing, openBrowser } from './browser.ts'
import { BusyDaemon } from './busy-daemon.ts'

const TOKEN = 'a-token-of-a-daemon-that-trades-nothing'
const FOLLOWERS = 20
const ROUND_MS = 4000
const EVENT_MS = 5
const SCREENS = ['overview', 'instrument', 'strategies', 'orders', 'limits', 'journal']

if (browserMissing !== undefined) throw new Error(browserMissing)
const { values } = parseArgs({ options: { events: { type: 'string', default: '12000' } } })
const eventsMax = Number(values.events)
const directory = mkdtempSync(join(tmpdir(), 'intentd-load-'))
const busy = new BusyDaemon()
const server = new ControlServer({
  ...{
    daemon: busy.controlled,
    version: '0',
    readOnly: true,
    answered: new AnsweredRequests(),
    socket: join(directory, 'control.sock'),
  },
  port: { host: '127.0.0.1', number: 0, token: new Secret(TOKEN) },
  monotonic: () => performance.now(),
  onRefused: (why) => process.stderr.write(`refused: ${why}\n`),
  onBroken: (reason) => process.stderr.write(`broken: ${reason}\n`),
  onUnreachable: (address, reason) => process.stderr.write(`${address}: ${reason}\n`),
})
await server.start()
const base = server.baseUrl ?? ''
const sockets = Array.from({ length: FOLLOWERS }, (_, index) => follow(index === 0))
const loop = monitorEventLoopDelay({ resolution: 5 })
const { context, close } = await openBrowser()
let moved = 0
try {
  await context.addInitScript((kept) => globalThis.sessionStorage.setItem('intentd.token', kept), TOKEN)
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await page.goto(base)
  await page.locator('.verdict').waitFor()
  loop.enable()
  const mover = setInterval(() => {
    busy.move()
    moved += 1
  }, EVENT_MS)
  for (let round = 0; moved < eventsMax || round < SCREENS.length; round += 1) {
    const screen = SCREENS[round % SCREENS.length] ?? ''
    const begun = performance.now()
    await page.evaluate(`location.hash = '${screen}'`)
    await page.locator('main .card').first().waitFor()
    const shownMs = performance.now() - begun
    await wait(ROUND_MS)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number }
    const nodes = await page.locator('*').count()
    print({
      screen,
      moved,
      shownMs,
      tabHeapMb: usedSize / 1e6,
      nodes,
      daemonRssMb: process.memoryUsage.rss() / 1e6,
    })
  }
  clearInterval(mover)
  print({ loopDelayP50Ms: loop.percentile(50) / 1e6, loopDelayP99Ms: loop.percentile(99) / 1e6 })
} finally {
  await close()
  for (const socket of sockets) socket.destroy()
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
}

/** @param isStalled It never reads. */
function follow(isStalled: boolean): Socket {
  const { hostname, port, host } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /v1/live?after=0 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)
  if (isStalled) socket.pause()
  else socket.resume()
  return socket
}

function print(row: Readonly<Record<string, number | string>>): void {
  const cells = Object.entries(row).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? value.toFixed(1) : value}`,
  )
  process.stdout.write(`${cells.join('  ')}\n`)
}
