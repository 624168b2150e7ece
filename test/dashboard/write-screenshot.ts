// The picture of the README: `npm run screenshots`. A paper daemon trades for a while, and its dashboard is taken.

import { readFileSync, statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Projects } from '../daemon/project.ts'
import { browserMissing, openBrowser } from './browser.ts'

const PICTURE = fileURLToPath(new URL('../../docs/dashboard.png', import.meta.url))
const TRADES_MS = 150_000
const BYTES_MAX = 300_000

if (browserMissing !== undefined) throw new Error(browserMissing)
const projects = new Projects()
const run = projects.open().run(['--summary', 'json'])
try {
  const line = await run.untilEvent('control.listening')
  const token = readFileSync(String(line['token']), 'utf8').trim()
  await wait(TRADES_MS)
  const { context, close } = await openBrowser()
  try {
    await context.addInitScript((kept) => globalThis.sessionStorage.setItem('intentd.token', kept), token)
    const page = await context.newPage()
    await page.goto(String(line['url']))
    await page.locator('.chart canvas').first().waitFor()
    await wait(2000)
    await page.screenshot({ path: PICTURE })
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
