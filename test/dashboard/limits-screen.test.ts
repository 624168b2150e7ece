import { beyondNames, isPublicBeyond } from '../../src/protocol/beyond/beyond-endpoints.ts'
import { type Locator } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { killLeftOver } from '../daemon/intentd-process.ts'
import { Projects } from '../daemon/project.ts'
import { findExchange, startDaemon, startExchange } from '../daemon/remote-exchange.ts'
import { RedisServer, redisMissing } from '../support/redis-server.ts'
import { browserMissing, openBrowser } from './browser.ts'
import { findSerious, openScreen } from './look-at-page.ts'

const WAIT_MS = 60_000
const projects = new Projects()
const missing = browserMissing ?? redisMissing

afterAll(async () => {
  await killLeftOver()
  await projects.close()
})

describe.skipIf(missing !== undefined)(`the limits in a browser (${missing ?? 'found'})`, () => {
  test('shows what is held of the limits of the address, with how many others, and why not', async () => {
    const redis = await RedisServer.start()
    const project = projects.open()
    const exchange = await findExchange(project)
    const simulator = startExchange(project, exchange)
    await simulator.untilEvent('simulator.listening')
    const shared = [`exchange.shared.redis=${redis.url}`, 'exchange.shared.members=3']
    const run = startDaemon(
      project,
      exchange,
      [...shared, 'control.port=0'].flatMap((one) => ['--set', one]),
    )
    const opened = await openBrowser()
    const page = await opened.context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    const card = page.locator('section', {
      has: page.getByRole('heading', { name: 'Shared with other' }),
    })
    const look = async (shown: Locator) => {
      await shown.waitFor()
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        expect(await findSerious(page)).toEqual([])
      }
      expect(await card.locator('.scroll').evaluate((it) => it.scrollWidth <= it.clientWidth)).toBe(
        true,
      )
    }

    await openScreen(page, run, 'limits')
    await look(card.getByText(/^With 0 other daemons \(at most 2\), since \d/))
    expect(await card.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^all endpoints\s+\d[\d,]*\s+6,000\s+1 min\s+0$/),
      expect.stringMatching(/^tickers\s+\d+\s+20\s+1\.0 s\s+0$/),
      expect.stringMatching(/^longShortRatio\s+\d\s+1\s+1\.0 s\s+0$/),
      ...['spotSymbols', ...beyondNames.filter(isPublicBeyond)].map((name) =>
        expect.stringMatching(new RegExp(`^${name}\\s+\\d+\\s+20\\s+1\\.0 s\\s+0$`)),
      ),
    ])

    await redis.kill()
    await look(
      card.getByText(/^Not shared since .*: at most an even share of 3 is used\. The reason: ./),
    )
    expect(await card.locator('.badge').innerText()).toBe('▼ not shared')
    expect(complaints).toEqual([])

    await opened.close()
    await run.stop()
    await simulator.stop()
  })
})
