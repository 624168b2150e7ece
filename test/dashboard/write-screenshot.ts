// The picture of the README: `npm run screenshots`. A paper daemon trades for a while, and its dashboard is taken. With
// `-- --all FOLDER` each screen too, wide and narrow, light and dark: of an empty account, a busy one and one in trouble.

import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Page } from 'playwright-core'
import { Projects } from '../daemon/project.ts'
import { browserMissing, openBrowser } from './browser.ts'

const PICTURE = fileURLToPath(new URL('../../docs/dashboard.png', import.meta.url))
const TRADES_MS = 150_000
const BYTES_MAX = 300_000
const SCREENS = ['overview', 'instrument', 'strategies', 'orders', 'limits', 'journal', 'backtests']

if (browserMissing !== undefined) throw new Error(browserMissing)
const { values } = parseArgs({ options: { all: { type: 'string' } } })
const projects = new Projects()
const run = projects.open().run(['--summary', 'json'])
try {
  const line = await run.untilEvent('control.listening')
  const base = String(line['url'])
  const token = readFileSync(String(line['token']), 'utf8').trim()
  const { context, close } = await openBrowser()
  try {
    await context.addInitScript((kept) => globalThis.sessionStorage.setItem('intentd.token', kept), token)
    const page = await context.newPage()
    if (values.all !== undefined) await takeAll(page, { base, to: join(values.all, 'empty') })
    await page.goto('about:blank')
    await wait(TRADES_MS)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(base)
    await page.locator('.chart canvas').first().waitFor()
    await wait(2000)
    await page.screenshot({ path: PICTURE })
    if (values.all !== undefined) {
      await takeAll(page, { base, to: join(values.all, 'busy') })
      const orders = [
        { kind: 'restrict', scope: 'BTCUSDT', mode: 'reducing' },
        { kind: 'restrict', scope: 'strategy/trend-eth', mode: 'halted' },
        { kind: 'kill' },
      ]
      for (const order of orders) await command({ base, token, order })
      await takeAll(page, { base, to: join(values.all, 'trouble') })
    }
  } finally {
    await close()
  }
  const { size } = statSync(PICTURE)
  if (size > BYTES_MAX) throw new Error(`${PICTURE} has ${size} bytes; ${BYTES_MAX} at most`)
  process.stdout.write(`${PICTURE}: ${size} bytes\n`)
} finally {
  await run.stop()
  await projects.close()
}

async function takeAll(page: Page, { base, to }: { base: string; to: string }): Promise<void> {
  mkdirSync(to, { recursive: true })
  for (const [width, colorScheme] of [[1280, 'light'] as const, [375, 'dark'] as const]) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    for (const screen of SCREENS) {
      await page.goto(`${base}/#${screen}`)
      await page.locator('main .card, main .empty').first().waitFor()
      await wait(1000)
      await page.screenshot({ path: join(to, `${screen}-${colorScheme}-${width}.png`), fullPage: true })
    }
  }
}

async function command({
  base,
  token,
  order,
}: {
  base: string
  token: string
  order: object
}): Promise<void> {
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
  if (!answer.ok) throw new Error(`${JSON.stringify(order)}: ${await answer.text()}`)
}
