import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Page } from 'playwright-core'
import { type IntentdProcess } from '../daemon/intentd-process.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The dashboard of a daemon, entered by an address of its own. */
export async function openScreen(page: Page, run: IntentdProcess, screen: string): Promise<void> {
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

/** What keeps people out. */
export async function findSerious(page: Page): Promise<readonly string[]> {
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
