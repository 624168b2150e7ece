import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { type IntentdProcess, killLeftOver } from '../daemon/intentd-process.ts'
import { Machines } from '../daemon/machines.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { browserMissing, openBrowser } from './browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PORT = ['--set', 'control.port=0', '--summary', 'json']
const WAIT_MS = 60_000

afterAll(() => killLeftOver())

/** The dashboard of a daemon, entered by an address of its own. */
async function open(page: Page, run: IntentdProcess, screen: string): Promise<void> {
  const line = await run.untilEvent('control.listening')
  const base = String(line['url'])
  const token = readFileSync(String(line['token']), 'utf8').trim()
  const answer = await fetch(`${base}/v1/addresses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  await page.goto(((await answer.json()) as { url: string }).url)
  await page.locator('h1.title').waitFor()
  await page.goto(`${base}/#${screen}`)
}

async function findSerious(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string }[] }> }
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id }) => id)
  })
}

describe.skipIf((browserMissing ?? postgresMissing) !== undefined)(
  'the dashboard of several machines',
  () => {
    test('lists accounts, standbys and alerts of the server, and what a standby does', async () => {
      const machines = await Machines.open(await (await postgresServer()).newDatabase())
      const opened = await openBrowser()
      const complaints: string[] = []
      try {
        const page = await opened.context.newPage()
        page.setDefaultTimeout(WAIT_MS)
        page.on('console', (message) => {
          if (message.type() === 'error') complaints.push(message.text())
        })
        page.on('pageerror', (error) => complaints.push(error.message))
        const writer = machines.start('a', ['run', ...PORT])
        await Machines.trades(writer)
        const standby = machines.start('b', ['standby', ...PORT])
        await standby.untilEvent('standby.following')

        await open(page, writer, 'fleet')
        const standbys = page.locator('section', { has: page.getByRole('heading', { name: 'Standbys' }) })
        await standbys.getByText(`pid ${standby.pid}`).waitFor()
        const accounts = page.locator('section', { has: page.getByRole('heading', { name: 'Accounts' }) })
        expect(await accounts.locator('tbody tr').allInnerTexts()).toEqual([
          expect.stringMatching(new RegExp(`writes[^]*pid ${writer.pid}`)),
        ])
        expect(await findSerious(page)).toEqual([])

        await open(page, standby, '')
        await page.getByText(/transactions? behind when it looked/).waitFor()
        expect(await page.locator('.headline').innerText()).toContain(`pid ${writer.pid}`)
        expect(await page.locator('nav a').allInnerTexts()).toEqual(['Fleet'])
        await page.getByText('writes').waitFor()
        expect([await findSerious(page), complaints]).toEqual([[], []])
      } finally {
        await opened.close()
        await machines.close()
      }
    }, 240_000)
  },
)
