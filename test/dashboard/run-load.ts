// How the page bears a busy daemon, and a daemon its tabs: `npm run dashboard:load -- [--minutes 1] [--followers 20]
// [--every 5] [--fills 100000]`. Followers of which one takes nothing, one tab in a browser on each screen in turn, an
// event each so many milliseconds, and a journal of so many fills on disk, searched and read. `--minutes 60
// --followers 1 --every 100` is an hour of one tab: its heap must not grow.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ProposalBench } from '../support/approval/memory-pairing.ts'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import { ControlServer } from '../../src/control/control-server.ts'
import { BackgroundReadings } from '../../src/daemon/explain/background-readings.ts'
import { RecentActivity } from '../../src/views/recent-activity.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { Secret } from '../../src/lib/secret.ts'
import { type Page } from 'playwright-core'
import { browserMissing, openBrowser } from './browser.ts'
import { BusyDaemon } from './busy-daemon.ts'
import { fillJournal } from './filled-journal.ts'

const TOKEN = 'a-token-of-a-daemon-that-trades-nothing'
const ROUND_MS = 4000
const SCREENS = ['overview', 'instrument', 'strategies', 'orders', 'limits', 'journal']

if (browserMissing !== undefined) throw new Error(browserMissing)
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    followers: { type: 'string', default: '20' },
    every: { type: 'string', default: '5' },
    fills: { type: 'string', default: '100000' },
  },
})
const endsAt = performance.now() + Number(values.minutes) * 60_000
const directory = mkdtempSync(join(tmpdir(), 'intentd-load-'))
const file = join(directory, 'journal.sqlite')
const backtests = join(directory, 'backtests')
fillJournal(file, { fills: Number(values.fills), now: Date.now() })
measureStart()
const busy = new BusyDaemon()
const readings = new BackgroundReadings({
  config: busy.config,
  journal: file,
  backtests,
})
busy.readings = readings
const server = new ControlServer({
  daemon: busy.controlled,
  version: '0',
  readOnly: true,
  answered: new AnsweredRequests(),
  proposals: new ProposalBench().proposals,
  socket: join(directory, 'control.sock'),
  port: {
    host: '127.0.0.1',
    number: 0,
    tokens: {
      full: new Secret(TOKEN),
      read: new Secret(`${TOKEN}-read`),
    },
  },
  monotonic: () => performance.now(),
  onRefused: (why) => process.stderr.write(`refused: ${why}\n`),
  onBroken: (reason) => process.stderr.write(`broken: ${reason}\n`),
  onUnreachable: (address, reason) => process.stderr.write(`${address}: ${reason}\n`),
})
await server.start()
const base = server.baseUrl ?? ''
const sockets = Array.from({ length: Number(values.followers) }, (_, index) => follow(index === 0))
const loop = monitorEventLoopDelay({ resolution: 5 })
const { context, close } = await openBrowser()
let moved = 0
try {
  await context.addInitScript(
    (kept) => globalThis.sessionStorage.setItem('intentd.token', kept),
    TOKEN,
  )
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await page.goto(base)
  await page.locator('.verdict').waitFor()
  loop.enable()
  const mover = setInterval(() => {
    busy.move()
    moved += 1
  }, Number(values.every))
  for (let round = 0; performance.now() < endsAt || round < SCREENS.length; round += 1) {
    const screen = SCREENS[round % SCREENS.length] ?? ''
    const begun = performance.now()
    await page.evaluate(`location.hash = '${screen}'`)
    await page.locator('main .card').first().waitFor()
    const shownMs = performance.now() - begun
    await wait(ROUND_MS)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number }
    const nodes = await page.locator('*').count()
    const daemonRssMb = process.memoryUsage.rss() / 1e6
    print({ screen, moved, shownMs, tabHeapMb: usedSize / 1e6, nodes, daemonRssMb })
  }
  clearInterval(mover)
  print({ loopDelayP50Ms: loop.percentile(50) / 1e6, loopDelayP99Ms: loop.percentile(99) / 1e6 })
  await measureJournal(page)
} finally {
  await close()
  for (const socket of sockets) socket.destroy()
  await server.stop()
  readings.stop()
  rmSync(directory, { recursive: true, force: true })
}

/** What a start pays for the fills of a week. */
function measureStart(): void {
  const begun = performance.now()
  const reader = new JournalReader(file)
  const recent = new RecentActivity({
    timeZone: 'UTC',
    now: () => Date.now(),
    booked: (kind, since) => reader.bookings(kind, { since }),
  })
  reader.close()
  const { fills } = recent.week.money
  print({ fillsOfTheWeek: fills, readAtStartMs: performance.now() - begun })
}

/** The records of the week, as they are opened and as one that is rare is searched, and one order's history. */
async function measureJournal(page: Page): Promise<void> {
  await page.evaluate("location.hash = 'journal'")
  const measured = async (action: () => Promise<void>, shown: string): Promise<number> => {
    const begun = performance.now()
    await action()
    await page.getByText(shown).first().waitFor()
    return performance.now() - begun
  }
  const oldest = `order-${Math.round(Number(values.fills) / 50)}`
  print({
    recordsMs: await measured(
      () => page.getByRole('button', { name: 'Journal, a week' }).click(),
      'COIN',
    ),
    searchedMs: await measured(
      async () => {
        await page.getByRole('searchbox').fill(`t${Math.round(Number(values.fills) / 50)}`)
        await page.keyboard.press('Enter')
      },
      `t${Math.round(Number(values.fills) / 50)}`,
    ),
    historyMs: await measured(() => page.evaluate(`location.hash = 'orders/${oldest}'`), oldest),
  })
}

/** @param isStalled It never reads. */
function follow(isStalled: boolean): Socket {
  const { hostname, port, host } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET /v1/live?after=0 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  )
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
