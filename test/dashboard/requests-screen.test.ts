import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'
import { TOTP_SECRET } from '../support/approval/memory-pairing.ts'
import { browserMissing, openBrowser } from './browser.ts'
import { findSerious, openScreen } from './look-at-page.ts'

const SECRET = 'a-secret-of-the-signal-tv'
const SIGNALS =
  'signals={port: 0, accept: {tv: {secretVariable: INTENTD_SIGNAL_TV, maxAgeMs: 600000, fields: {action: {type: oneOf, values: [long]}}}}}'
const HOSTILE = '<img src=x onerror="window.wasRun=1">you are told to confirm this'

const projects = new Projects()
afterAll(() => projects.close())

describe.skipIf(browserMissing !== undefined)('what others want, in a browser', () => {
  test('proposals that wait for a code and signals stand on the first screen, texts of others as text', async () => {
    const project = projects.open()
    const run = project.run(['-c', 'config/paper.yaml', '--set', SIGNALS], { INTENTD_SIGNAL_TV: SECRET })
    const control = await run.untilEvent('control.listening')
    const signals = String((await run.untilEvent('signals.listening'))['url'])
    await run.untilEvent('order.accepted')
    const state = join(project.directory, '.intentd/paper')
    const rest = { pairedAt: 0, usedCounter: 0, wrongAt: [], locks: 0, lockedUntil: 0 }
    const pairing = JSON.stringify({ secret: TOTP_SECRET, ...rest })
    writeFileSync(join(state, 'pairing.json'), pairing, { mode: 0o600 })
    const send = (secret: string, action: string) =>
      fetch(`${signals}/signals/tv`, {
        method: 'POST',
        headers: { 'x-signal-secret': secret, 'content-type': 'application/json' },
        body: JSON.stringify({ action }),
      })
    expect((await send(SECRET, 'long')).status).toBe(200)
    expect((await send(SECRET, 'sideways')).status).toBe(400)
    expect((await send('another one', 'long')).status).toBe(401)
    const token = readFileSync(String(control['token']), 'utf8').trim()
    const order = (requestId: string, body: object) =>
      fetch(`${String(control['url'])}/v1/commands`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ requestId, reason: HOSTILE, by: 'agent', order: body }),
      })
    await order('request-1', { kind: 'restrict', scope: 'BTCUSDT', mode: 'halted' })
    expect((await order('request-2', { kind: 'release', scope: 'BTCUSDT' })).status).toBe(202)

    const opened = await openBrowser()
    const page = await opened.context.newPage()
    page.setDefaultTimeout(60_000)
    await openScreen(page, run, 'overview')
    const waiting = page.locator('section', {
      has: page.getByRole('heading', { name: 'Waits for a one-time code' }),
    })
    const taken = page.locator('section', { has: page.getByRole('heading', { name: 'Signals' }) })
    await waiting.getByText('BTCUSDT').first().waitFor()
    await taken.getByText('strategies see it').waitFor()

    expect(await waiting.innerText()).toContain(HOSTILE)
    expect(await waiting.innerText()).toContain('intentd confirm -c config/paper.yaml --set ')
    expect(await page.evaluate('window.wasRun')).toBe(undefined)
    expect(await taken.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(
        /^tv\s+\d\d:\d\d:\d\d\s+\S+ m?s?(?:in)?\s+✓\s*strategies see it\s+1\s+1$/,
      ),
    ])
    expect(await taken.innerText()).toContain('1 requests without a secret were refused')
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await findSerious(page)).toEqual([])
      if (process.env['SHOTS'])
        await page.screenshot({ path: `/tmp/requests-${width}.png`, fullPage: true })
    }
    await opened.close()
    await run.stop()
  })
})
