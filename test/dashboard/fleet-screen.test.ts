import { afterAll, describe, expect, test } from 'vitest'
import { killLeftOver } from '../daemon/intentd-process.ts'
import { Machines } from '../daemon/machines.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { browserMissing, openBrowser } from './browser.ts'
import { findSerious, openScreen } from './look-at-page.ts'

const PORT = ['--set', 'control.port=0', '--summary', 'json']
const WAIT_MS = 60_000

afterAll(() => killLeftOver())

/** Tables of which a part is out of sight. */
const OVERHANGS = `[...document.querySelectorAll('.scroll')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ innerText }) => innerText)`

const state = {
  version: '1',
  phase: 'running',
  mode: 'active',
  equity: '123456.78901234',
  coin: 'USDT',
  openOrders: 40,
  positions: Array.from({ length: 20 }, (_, index) => `COIN${index}USDT long 0.0${index + 1}`),
}
const account = {
  holder: 'a-long-name on trading-host-7.example, pid 1234567, /var/lib/intentd/a-long-name/state',
  takenAt: 178e10,
  leaseLeftMs: 1,
  freeInMs: 1,
  isHandoverAsked: false,
  lastSequence: 1,
  standbys: [],
}
const shown = { holder: account.holder, startedAt: 1_780_000_000_000, seenAgoMs: 100, state }
const old = { ...shown, seenAgoMs: 7_200_000, state: { ...state, positions: [] } }
const held = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT', 'strategy:grid'].map(
  (scope) => `${scope} halted (operator): odd prices of ${'this kind '.repeat(8)}`,
)
const MOVED_TO = 'trading-host-8.example /var/lib/intentd/a-long-name/state/journal.sqlite'
/** As no server of a test has it: much of everything. */
const CROWDED = {
  now: 178e10,
  accounts: [
    {
      ...account,
      schema: 'intentd_active',
      state: 'writes',
      shown: {
        ...shown,
        state: {
          ...state,
          held,
        },
      },
    },
    {
      ...account,
      schema: 'intentd_moved',
      state: 'moved',
      shown: old,
      movedTo: MOVED_TO,
    },
    {
      ...account,
      schema: 'intentd_vanished',
      state: 'vanished',
      shown: old,
    },
  ],
  unread: [],
  workers: [],
  alerts: [
    {
      id: 1,
      at: 178e10,
      holder: account.holder,
      schema: 'intentd_active',
      urgency: 'urgent',
      event: 'e',
      title: 'the outcome of orders has been unknown for too long '.repeat(4),
      lines: [],
    },
  ],
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

        await openScreen(page, writer, 'fleet')
        const standbys = page.locator('section', {
          has: page.getByRole('heading', { name: 'Standbys' }),
        })
        await standbys.getByText(`pid ${standby.pid}`).waitFor()
        const accounts = page.locator('section', {
          has: page.getByRole('heading', { name: 'Accounts' }),
        })
        expect(await accounts.locator('tbody tr').allInnerTexts()).toEqual([
          expect.stringMatching(new RegExp(`writes[^]*pid ${writer.pid}`)),
        ])
        expect(await findSerious(page)).toEqual([])

        await openScreen(page, standby, '')
        await page.getByText(/transactions? behind when it looked/).waitFor()
        expect(await page.locator('.headline').innerText()).toContain(`pid ${writer.pid}`)
        expect(await page.locator('nav a').allInnerTexts()).toEqual(['Fleet'])
        await page.getByText('writes').waitFor()
        expect([await findSerious(page), complaints]).toEqual([[], []])
        await page.setViewportSize({ width: 390, height: 844 })
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)

        await page.route('**/v1/fleet', (route) => route.fulfill({ json: CROWDED }))
        await page.setViewportSize({ width: 1280, height: 900 })
        await page.getByText('intentd_vanished').first().waitFor()
        const rows = await accounts.locator('tbody tr').allInnerTexts()
        expect(rows).toEqual([
          expect.stringMatching(/^intentd_vanished\s+✕ vanished[^]*active, 2 h 0 min ago/),
          expect.stringMatching(
            /^intentd_active[^]*▼ active but for 5[^]*BTCUSDT halted \(operator\): odd[^]*2 more/,
          ),
          expect.stringMatching(
            /^intentd_moved[^]*active, 2 h 0 min ago[^]*moved to trading-host-8\.example \/var\S+\/journal\.sqlite\s+last written here by a-long-name/,
          ),
        ])
        expect(await accounts.locator('.badge.ok').allInnerTexts()).toEqual(['● writes'])
        expect(
          await accounts.locator('tbody tr').nth(1).locator('details').last().innerText(),
        ).toBe('17 more')
        expect(await page.evaluate(OVERHANGS)).toEqual([])
        expect([await findSerious(page), complaints]).toEqual([[], []])

        const error =
          'JOURNAL_UNREACHABLE: it cannot be opened\n  found  no route\n  hint   look at it'
        await page.unroute('**/v1/fleet')
        await page.route('**/v1/fleet', (route) => route.fulfill({ status: 503, json: { error } }))
        await page.getByRole('alert').waitFor()
        expect((await page.getByRole('alert').innerText()).split('\n')).toEqual([
          '✕ The server of the journal cannot be asked. What stands here is of before.',
          'JOURNAL_UNREACHABLE: it cannot be opened',
          expect.stringMatching(/^found +no route$/),
          expect.stringMatching(/^hint +look at it$/),
        ])
      } finally {
        await opened.close()
        await machines.close()
      }
    })
  },
)
