import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ProposalBench } from '../support/approval/memory-pairing.ts'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import { ControlServer } from '../../src/control/control-server.ts'
import { Secret } from '../../src/lib/secret.ts'
import { browserMissing, openBrowser } from './browser.ts'
import { BusyDaemon } from './busy-daemon.ts'

const TOKEN = 'a-token-of-a-tab-that-stands-open'
/** More than a tab keeps. */
const EVENTS_A_ROUND = 1200
const ROUNDS = 4

test.skipIf(browserMissing !== undefined)(
  `a tab that stands open keeps no more after ${ROUNDS * EVENTS_A_ROUND} events than after the first of them`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'intentd-tab-'))
    const busy = new BusyDaemon()
    const server = new ControlServer({
      daemon: busy.controlled,
      version: '0',
      readOnly: true,
      answered: new AnsweredRequests(),
      proposals: new ProposalBench().proposals,
      socket: join(directory, 'control.sock'),
      port: {
        host: '127.0.0.1',
        number: 0,
        tokens: {
          full: new Secret(TOKEN),
          read: new Secret(`${TOKEN}-read`),
        },
      },
      monotonic: () => performance.now(),
      onRefused: () => undefined,
      onBroken: () => undefined,
      onUnreachable: () => undefined,
    })
    await server.start()
    const { context, close } = await openBrowser()
    try {
      await context.addInitScript(
        (kept) => globalThis.sessionStorage.setItem('intentd.token', kept),
        TOKEN,
      )
      const page = await context.newPage()
      const session = await context.newCDPSession(page)
      await page.goto(`${server.baseUrl ?? ''}/#journal`)
      const heaps: number[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        for (let event = 0; event < EVENTS_A_ROUND; event += 1) {
          busy.move()
          if (event % 150 === 149) await wait(250)
        }
        await page
          .getByText(new RegExp(`\\b${busy.lastClientOid}\\b`))
          .first()
          .waitFor()
        await session.send('HeapProfiler.collectGarbage')
        const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number }
        heaps.push(usedSize)
      }

      const [first = 0] = heaps
      expect(await page.getByText('500 events, the newest first').count()).toBe(1)
      expect(Math.max(...heaps.slice(1))).toBeLessThan(1.25 * first)
    } finally {
      await close()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  },
)
