import { createServer } from 'node:http'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { createPairingFile, type Pairing } from '../../src/control/approval/pairing-file.ts'
import { codeAt, MemoryPairing } from '../support/approval/memory-pairing.ts'
import { browserMissing, openBrowser, type OpenedBrowser } from './browser.ts'

const projects = new Projects()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SCREENS = ['overview', 'instrument', 'strategies', 'orders', 'limits', 'journal', 'backtests']
/** Of another place, but the same machine: what DNS rebinding does. */
const REBOUND = 'rebound.example'
const HOSTILE = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>'
/** A tab reads on for so long after it was seen last: src/dashboard/page/live.js. */
const HIDDEN_MS = 10_000
const WAIT_MS = 60_000

let project: Project
let run: IntentdProcess
let opened: OpenedBrowser
let page: Page
let base: string
let token: string
/** What the page complained of. */
const complaints: string[] = []

/** One daemon and one tab for all: the tests go on from each other. */
async function startDaemon(args: readonly string[]): Promise<void> {
  run = project.run(['--set', 'simulator.speed=600', '--summary', 'json', ...args])
  const line = await run.untilEvent('control.listening')
  base = String(line['url'])
  token = readFileSync(String(line['token']), 'utf8').trim()
}

async function newAddress(): Promise<string> {
  const answer = await fetch(`${base}/v1/addresses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  return ((await answer.json()) as { url: string }).url
}

/** An authenticator that was paired before, by hand. */
function pairByHand(): void {
  const file = join(project.directory, '.intentd/paper/pairing.json')
  createPairingFile(file).save({ ...new MemoryPairing().pairing, usedCounter: 0 } as Pairing)
}

let usedStep = 0

/** Three steps count at any moment, each once. */
async function confirmByCode(): Promise<void> {
  usedStep = Math.max(usedStep + 1, Math.floor(Date.now() / 30_000) - 1)
  await page.getByLabel('Code of the authenticator').fill(codeAt(usedStep * 30_000))
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
}

async function show(screen: string): Promise<void> {
  await page.goto(`${base}/#${screen}`)
  await page.locator('h1.title').waitFor({ timeout: WAIT_MS })
}

async function findSerious(): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: AxeFinding[]; passes: unknown[] }> }
    }
    const { violations, passes } = await axe.run()
    if (passes.length < 10) return ['nothing was looked at']
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

/** As a browser does with a tab that is behind another: Playwright has no way to do it. */
async function hide(isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}

interface AxeFinding {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

describe.skipIf(browserMissing !== undefined)(
  `the dashboard in a browser (${browserMissing ?? 'found'})`,
  () => {
    beforeAll(async () => {
      project = projects.open()
      await startDaemon(['--set', 'account.capital=10000', '--set', 'risk.survives.move=0.05'])
      pairByHand()
      await run.untilEvent('order.fill', 2)
      opened = await openBrowser([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`])
      page = await opened.context.newPage()
      page.setDefaultTimeout(WAIT_MS)
      page.on('console', (message) => {
        // A busy machine may read the journal too late: the page says so, and the browser has a line of its own.
        const isLate = /^Failed to load resource: .* status of 503/.test(message.text())
        if (message.type() === 'error' && !isLate) complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
    })

    beforeEach(() => void complaints.splice(0))

    afterAll(async () => {
      await opened?.close()
      await projects.close()
    })

    test('opens by its address once, and keeps the token out of every address', async () => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      const address = await newAddress()
      await page.goto(address)
      await page.locator('.verdict').waitFor()

      expect(page.url()).toBe(`${base}/`)
      expect(asked.filter((url) => url.includes(token) || url.includes('code='))).toEqual([])
      const other = await opened.context.newPage()
      await other.goto(address)
      await other.getByRole('alert').waitFor({ timeout: WAIT_MS })
      expect(await other.getByRole('alert').textContent()).toContain('was used')
      await other.getByLabel('or the token').fill(token)
      await other.getByRole('button', { name: 'Open' }).click()
      await other.locator('.verdict').waitFor({ timeout: WAIT_MS })
      await other.close()

      // A new address given to a tab that asks for one, and a part of an address that is no address.
      const asking = await opened.context.newPage()
      await asking.goto(base)
      await asking.getByRole('button', { name: 'Open' }).waitFor()
      await asking.goto(await newAddress())
      await asking.locator('.verdict').waitFor({ timeout: WAIT_MS })
      expect(asking.url()).toBe(`${base}/`)
      await asking.goto(`${base}/#orders/100%`)
      await asking.reload()
      await asking.locator('h1.title').waitFor({ timeout: WAIT_MS })
      await asking.close()
      expect(complaints).toEqual([])
    })

    test.each(SCREENS)(
      'shows %s, wide and narrow, light and dark, open to everybody',
      async (screen) => {
        for (const [width, colorScheme] of [[1280, 'light'] as const, [375, 'dark'] as const]) {
          await page.setViewportSize({ width, height: 800 })
          await page.emulateMedia({ colorScheme })
          await show(screen)
          await page.locator('main .card, main .empty').first().waitFor()
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(
            true,
          )
          expect(await findSerious()).toEqual([])
        }
        expect(complaints).toEqual([])
      },
    )

    test('shows the worst case among the limits, with its share and its scenario', async () => {
      await show('overview')
      const row = page.locator('section tbody tr', { hasText: 'survives' })
      await row.waitFor()

      expect(await row.locator('td').nth(0).innerText()).toMatch(
        /^survives \w+ (?:down|up) 5 %$|^survives all instruments against us at once$/,
      )
      expect(await row.locator('td').nth(1).innerText()).toMatch(/^\d+\.\d % of the equity$/)
      expect(complaints).toEqual([])
    })

    test('a backtest on made-up prices says so above its figures', async () => {
      const [folder, coverage] = [
        join(project.directory, 'backtests', 'seeded'),
        [{ symbol: 'BTCUSDT', kind: 'seeded' }],
      ]
      const backtest = {
        model: 'default',
        fromAt: 0,
        toAt: 1,
        ratios: [],
        series: { close: [1, 2] },
        money: { opening: '1', final: '2', fees: '0' },
      }
      mkdirSync(folder, { recursive: true })
      const report = { format: 1, name: 'paper', coin: 'USDT', coverage, runs: [backtest] }
      writeFileSync(join(folder, 'report.json'), JSON.stringify(report))

      // The screen reads the reports when it is opened.
      await show('overview')
      await show('backtests')

      const heading = page.locator('table.beside thead th').last()
      await heading.waitFor()
      expect(await heading.textContent()).toMatch(/seeded.*made-up prices/)
      expect(await page.locator('table.beside').textContent()).toContain('made up: BTCUSDT')
      rmSync(folder, { recursive: true })
    })

    test('draws what the account would be worth against the move of the market', async () => {
      await show('overview')
      const chart = page.locator('.moves')
      await chart.waitFor()
      expect(await chart.getAttribute('aria-label')).toMatch(
        /^Equity in USDT against the move of every price\. −20 %: [\d,]+\.\d\d, with the orders filled [\d,]+\.\d\d;/,
      )
      expect(await chart.locator('polyline').count()).toBe(2)
      expect(complaints).toEqual([])
    })

    test('draws the equity beyond this run', async () => {
      await show('overview')
      const week = page.getByRole('button', { name: 'week' })
      await week.click()
      await page.getByText(/^Last week, of all runs: equity above/).waitFor()
      expect(await week.getAttribute('aria-pressed')).toBe('true')
      expect(complaints).toEqual([])
      await page.getByRole('button', { name: 'this run' }).click()
    })

    test('draws prices, orders and fills, and says what an instrument waits for', async () => {
      await show('instrument/ETHUSDT')
      await page.locator('.chart canvas').first().waitFor()
      expect(await page.locator('select').first().inputValue()).toBe('ETHUSDT')
      expect(await page.locator('.verdict .badge').first().textContent()).toMatch(/waits/)
      await page.getByText(/Lines: fast of trend-eth, slow of trend-eth\./).waitFor()
      expect(complaints).toEqual([])
    })

    test('tells the whole history of an order', async () => {
      await show('orders')
      await page.locator('td button').first().click()
      await page.locator('.story .moments li').first().waitFor()
      expect(await page.locator('.story').textContent()).toContain('approved by risk')
    })

    test('carries a command out, after saying what it does; hostile words stay words', async () => {
      await show('strategies')
      const trades = page.locator('section.card', { hasText: 'Closed trades' }).last()
      await trades.getByText(/No trade was closed|ended by/).waitFor()
      const strategy = page.locator('section[aria-label=grid-btc]')
      await strategy.getByRole('button', { name: 'Pause' }).click()
      expect(await page.getByRole('dialog').textContent()).toContain(
        'No order of strategy grid-btc leaves',
      )
      await page.getByLabel('Why').fill(HOSTILE)
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('dialog').getByText('is held halted').waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await strategy.getByText(HOSTILE).waitFor()

      for (const screen of [
        'overview',
        'journal',
        `instrument/${encodeURIComponent(HOSTILE)}`,
        `orders/${encodeURIComponent(HOSTILE)}`,
      ])
        await show(screen)
      await show('journal')
      await page.getByText(HOSTILE).first().waitFor()
      expect(await page.evaluate(() => 'wasRun' in globalThis)).toBe(false)
      expect(await page.locator('main img').count()).toBe(0)

      await show('strategies')
      await strategy.getByRole('button', { name: 'Resume' }).click()
      await page.getByLabel('Why').fill('looked')
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
      await confirmByCode()
      await page.getByRole('dialog').getByText('is released').waitFor()
      await page.keyboard.press('Escape')
      await strategy.getByText('● active').waitFor()
      expect(complaints).toEqual([])
    })

    test('the kill switch works on a small screen by keyboard alone, without a reason', async () => {
      const restrict = ['restrict', '*', 'reducing', '--reason', 'before the drill']
      expect(await project.start(restrict).ended).toMatchObject({ code: 0 })
      expect(
        await project.start(['flatten', '*', '--reason', 'before the drill']).ended,
      ).toMatchObject({ code: 0 })
      await page.setViewportSize({ width: 375, height: 700 })
      await show('overview')
      await page.locator('.skip').focus()
      const isAtKill = () => page.evaluate("document.activeElement.textContent === 'Kill'")
      for (let pressed = 0; pressed < 10 && !(await isAtKill()); pressed += 1)
        await page.keyboard.press('Tab')
      expect(await isAtKill()).toBe(true)
      await page.keyboard.press('Enter')
      await page.locator('dialog[open] input:focus').waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByText('killed: nothing').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('.verdict.bad .headline', { hasText: 'Killed' }).waitFor()
      await page.locator('.reasons li', { hasText: 'no reason given' }).waitFor()
      expect(await findSerious()).toEqual([])

      // One for the kill, and one for both other restrictions of the account.
      const releases = page.locator('.reasons').getByRole('button', { name: 'Release' })
      for (const [left, done] of [
        [2, 'the kill switch is released'],
        [1, '* is released'],
      ] as const) {
        await expect.poll(() => releases.count(), { timeout: WAIT_MS }).toBe(left)
        await releases.first().click()
        await page.getByLabel('Why').fill('drill is over')
        await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
        await confirmByCode()
        await page.getByRole('dialog').getByText(done).waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await expect.poll(() => releases.count(), { timeout: WAIT_MS }).toBe(0)
    })

    test('[SEC2] another site, and another name of this machine, get nothing', async () => {
      const server = createServer((_, answer) =>
        answer.setHeader('content-type', 'text/html').end('<p>hostile'),
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const other = await opened.context.newPage()
      try {
        await other.goto(`http://${REBOUND}:${new URL(base).port}/`)
        expect(await other.textContent('body')).toContain('the Host is none of this daemon')
        await other.goto(`http://${REBOUND}:${port}/`)
        const got = await other.evaluate(
          async ([url]) => {
            const attempt = (path: string, init: RequestInit) =>
              fetch(`${url}${path}`, init).then(
                (answer) => `${answer.type} ${answer.status}`,
                () => 'refused',
              )
            const order = JSON.stringify({
              requestId: 'r-12345678',
              reason: 'x',
              by: 'x',
              order: { kind: 'kill' },
            })
            return [
              await attempt('/v1/status', {}),
              await attempt('/v1/session', { method: 'POST', body: '{}', mode: 'no-cors' }),
              await attempt('/v1/commands', { method: 'POST', body: order, mode: 'no-cors' }),
            ]
          },
          [base],
        )
        expect(got.every((answer) => answer === 'refused' || answer === 'opaque 0')).toBe(true)
        await run.until('the refusals', () => run.events('control.refused').length > 0)
        expect(run.events('control.commanded').filter(({ reason }) => reason === 'x')).toEqual([])
      } finally {
        await other.close()
        server.close()
      }
    })

    test('a tab that nobody sees reads nothing after a while, and catches up when it is seen', async () => {
      await show('journal')
      const streams: string[] = []
      const note = (request: { url(): string }) =>
        void streams.push(new URL(request.url()).pathname)
      await hide(true)
      await new Promise((resolve) => setTimeout(resolve, HIDDEN_MS + 1000))
      page.on('request', note)
      const heard = await page.locator('tbody tr').first().textContent()
      await run.untilEvent('order.fill', run.events('order.fill').length + 2)
      const missed = run.events('order.fill').at(-1)

      expect(streams).toEqual([])
      expect(await page.locator('tbody tr').first().textContent()).toBe(heard)

      run.kill('SIGSTOP')
      await hide(false)
      await page.getByText('The daemon has not answered since').waitFor({ timeout: WAIT_MS })
      run.kill('SIGCONT')
      await page.getByText(String(missed?.['tradeId'])).first().waitFor()
      page.off('request', note)
      expect(streams).toContain('/v1/live')
    })

    test('a restart is shown as such; without commands where they are not taken', async () => {
      await show('overview')
      await page.getByRole('button', { name: 'Kill', exact: true }).waitFor()
      const { port } = new URL(base)
      await run.stop()
      await page.getByText(/The daemon (was stopping|has not answered since)/).waitFor()
      expect(await page.locator('.verdict').textContent()).toMatch(/Unknown since \d\d:/)
      expect(await page.title()).toMatch(/^no answer · /)
      // Any user of the machine may listen there now. The page, which looks for the daemon, sends its token to none.
      const [former, heard] = [token, [] as string[]]
      const stranger = createServer((request, response) => {
        heard.push(JSON.stringify([request.url, request.headers]))
        response.end('{"proofs":["00"],"token":"none"}')
      })
      stranger.listen(Number(port), '127.0.0.1')
      await page.getByText('another program answers').waitFor()
      await new Promise((resolve) => stranger.close(resolve).closeAllConnections())
      expect(heard.filter((one) => one.includes('/v1/proof')).length).toBeGreaterThan(0)
      expect(heard.filter((one) => one.includes(former))).toEqual([])

      await startDaemon(['--set', `control.port=${port}`, '--set', 'control.readOnly=true'])
      expect(token).not.toBe(former)
      const dead = await fetch(`${base}/v1/status`, {
        headers: { authorization: `Bearer ${former}` },
      })
      expect(dead.status).toBe(401)
      await page.goto(await newAddress())
      await page.getByText('The daemon was restarted').waitFor()
      await page.getByText('read only').waitFor()

      expect(await page.getByRole('button', { name: 'Kill' }).count()).toBe(0)
      expect(await page.locator('.verdict').count()).toBe(1)
      for (const line of run.log) expect(JSON.stringify(line)).not.toContain(token)
      const complained = complaints.filter((text) => !/Failed to load resource|ERR_/.test(text))
      expect(complained).toEqual([])
    })
  },
)
