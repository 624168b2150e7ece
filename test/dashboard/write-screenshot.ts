// The picture of the README: `npm run screenshots`. A paper daemon trades for a while, and its dashboard is taken. With
// `-- --all FOLDER` each screen too, wide and narrow, light and dark: of an empty account, a busy one and one in trouble.

import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Page } from 'playwright-core'
import { type Project, Projects } from '../daemon/project.ts'
import { browserMissing, openBrowser } from './browser.ts'

interface Shown {
  readonly page: Page
  readonly base: string
  readonly token: string
}

const PICTURE = fileURLToPath(new URL('../../docs/dashboard.png', import.meta.url))
const TRADES_MS = 150_000
const BYTES_MAX = 300_000
const SCREENS = ['overview', 'instrument', 'strategies', 'orders', 'limits', 'journal', 'backtests']
const IN_TROUBLE = [
  { kind: 'restrict', scope: 'BTCUSDT', mode: 'reducing' },
  { kind: 'restrict', scope: 'strategy:trend-eth', mode: 'halted' },
  { kind: 'kill' },
]

if (browserMissing !== undefined) throw new Error(browserMissing)
const { values } = parseArgs({ options: { all: { type: 'string' } } })
const projects = new Projects()
try {
  if (values.all === undefined) await withDaemon(projects.open(), takePicture)
  else await takeStates(values.all)
  const { size } = statSync(PICTURE)
  if (size > BYTES_MAX) throw new Error(`${PICTURE} has ${size} bytes; ${BYTES_MAX} at most`)
  process.stdout.write(`${PICTURE}: ${size} bytes\n`)
} finally {
  await projects.close()
}

async function takeStates(folder: string): Promise<void> {
  const untraded = projects.open()
  for (const name of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
    untraded.edit(`config/strategies/${name}.yaml`, '\nmodule:', '\nenabled: false\nmodule:')
  await withDaemon(untraded, (shown) => takeScreens(shown, join(folder, 'empty')))

  const traded = projects.open()
  for (const levels of [8, 4])
    await traded.start(['backtest', '--days', '2', '--param', `grid-btc.levels=${levels}`]).ended
  await withDaemon(traded, async (shown) => {
    await takePicture(shown)
    await takeScreens(shown, join(folder, 'busy'))
    for (const order of IN_TROUBLE) await command(shown, order)
    await takeScreens(shown, join(folder, 'trouble'))
  })
}

async function withDaemon(project: Project, take: (shown: Shown) => Promise<void>): Promise<void> {
  const run = project.run(['--summary', 'json'])
  const line = await run.untilEvent('control.listening')
  const token = readFileSync(String(line['token']), 'utf8').trim()
  const { context, close } = await openBrowser()
  try {
    await context.addInitScript(
      (kept) => globalThis.sessionStorage.setItem('intentd.token', kept),
      token,
    )
    await take({ page: await context.newPage(), base: String(line['url']), token })
  } finally {
    await close()
    await run.stop()
  }
}

async function takePicture({ page, base }: Shown): Promise<void> {
  await wait(TRADES_MS)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(base)
  await page.locator('.chart canvas').first().waitFor()
  await wait(2000)
  await page.screenshot({ path: PICTURE })
}

async function takeScreens({ page, base }: Shown, to: string): Promise<void> {
  mkdirSync(to, { recursive: true })
  for (const [width, colorScheme] of [[1280, 'light'] as const, [375, 'dark'] as const]) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    for (const screen of SCREENS) {
      await page.goto(`${base}/#${screen}`)
      await page.locator('main .card, main .empty').first().waitFor()
      await wait(1000)
      await page.screenshot({
        path: join(to, `${screen}-${colorScheme}-${width}.png`),
        fullPage: true,
      })
    }
  }
}

async function command({ base, token }: Shown, order: object): Promise<void> {
  const answer = await fetch(`${base}/v1/commands`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      order,
      reason: 'to be looked at',
      by: 'a person',
      requestId: crypto.randomUUID(),
    }),
  })
  const text = await answer.text()
  if (!answer.ok || !text.includes('"isObeyed":true'))
    throw new Error(`${JSON.stringify(order)}: ${text}`)
}
