import { afterAll, describe, expect, test } from 'vitest'
import type { ClosedTrade } from '../../src/domain/closed-trade.ts'
import { toDocument } from '../../src/report/page/page.ts'
import { renderTrades } from '../../src/report/page/run-tables.ts'
import type { RunReport } from '../../src/report/run-report.ts'
import { renderStatement } from '../../src/views/statement/statement-page.ts'
import type { Statement } from '../../src/views/statement/statement.ts'
import { browserMissing, openBrowser } from './browser.ts'

const FORMAT = new URL('../../src/dashboard/page/format.js', import.meta.url).href

const TRADE: ClosedTrade = {
  strategyId: 'rsi-cross',
  symbol: 'DOGEUSDT',
  side: 'long',
  openedAt: Date.UTC(2026, 9, 1, 10),
  closedAt: Date.UTC(2026, 9, 1, 11),
  size: '1000',
  entryPrice: '0.11993',
  exitPrice: '0.12001',
  gross: '0.08',
  fees: '0.1',
  otherFees: {},
  funding: '0',
  net: '-0.02',
  coin: 'USDT',
  share: -0.0001,
  fills: 2,
  reason: 'order',
  entryTag: 'a dip within an hour of a rising day',
  exitTag: 'it came back',
  uncounted: '',
}

const ofReason = (reason: 'order' | 'trailing', trades: number) =>
  ({ reason, coin: 'USDT', trades, wins: 1, gains: 1, losses: 2, heldMs: 1 }) as const

const TRADES = {
  trades: {
    count: 1,
    last: [TRADE],
    reasons: [ofReason('order', 1), ofReason('trailing', 2)],
  },
} as unknown as RunReport

const row = (name: string) => ({
  name,
  net: '-10004.32',
  realised: '-9990.12',
  fees: '12.12',
  funding: '0.12',
  fills: 1234,
})

const STATEMENT = {
  account: 'paper',
  environment: 'simulator',
  timeZone: 'UTC',
  since: Date.UTC(2026, 9, 1),
  until: Date.UTC(2026, 10, 1),
  madeAt: Date.UTC(2026, 10, 2),
  journal: { run: 1, sequence: 1234 },
  coin: 'USDT',
  opening: null,
  closing: null,
  lines: [],
  difference: null,
  remarks: [],
  checks: [],
  days: [row('2026-10-01'), row('2026-10-02')],
  instruments: [row('BTCUSDT')],
  strategies: [row('rsi-cross')],
  fees: [],
  deposits: [],
  conversions: [],
  trades: [TRADE],
} as unknown as Statement

test('a price keeps its ticks on the dashboard', async () => {
  const { price } = (await import(FORMAT)) as { price: (value: number | null) => string }

  expect([0.11993, 0.00001234, 60_012.3, 1.5, 0, null].map(price)).toEqual([
    '0.11993',
    '0.00001234',
    '60,012.3',
    '1.5',
    '0',
    '–',
  ])
})

test('a report says what ended trades in words of a run, and without marks of code', () => {
  const page = renderTrades(TRADES)

  expect(page).toContain('<td class="text">an order of the strategy</td>')
  expect(page).toContain('the trailing stop of <code>exits</code>')
  expect(page).not.toMatch(/`|older one than the journal/)
})

describe.skipIf(browserMissing !== undefined)('tables that are wider than the screen', async () => {
  const browser = browserMissing === undefined ? await openBrowser() : undefined
  afterAll(() => browser?.close())

  async function measure(html: string, width: number) {
    const page = await browser?.context.newPage()
    if (page === undefined) throw new Error('no browser')
    await page.setViewportSize({ width, height: 844 })
    await page.setContent(html)
    const found = await page.evaluate(`({
      page: document.documentElement.scrollWidth,
      shaded: [...document.querySelectorAll('.scroll')].every((one) =>
        getComputedStyle(one).backgroundImage.includes('gradient')),
      first: [...document.querySelectorAll('.scroll td:first-child')].map((cell) =>
        cell.getBoundingClientRect().height),
    })`)
    await page.close()
    return found as { page: number; shaded: boolean; first: number[] }
  }

  test('scroll by themselves on a phone, with a shade, in a statement and in a report', async () => {
    const statement = await measure(renderStatement(STATEMENT), 390)
    expect(statement).toMatchObject({ page: 390, shaded: true })
    // A day or a symbol stands in one line.
    expect(Math.max(...statement.first.slice(0, 3))).toBeLessThan(30)
    const report = await measure(toDocument('report', renderTrades(TRADES), {}), 390)
    expect(report).toMatchObject({ page: 390, shaded: true })
  })
})
