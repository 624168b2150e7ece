import { expect, test } from 'vitest'
import { ServerNews } from '../../src/daemon/fleet/fleet-news.ts'
import { type DaemonLogger, type LoggedFact } from '../../src/logging/logger.ts'
import { ManualTime } from '../support/manual-time.ts'

function createScene() {
  const hears: ((fact: LoggedFact) => void)[] = []
  const lines: string[] = []
  const time = new ManualTime(1_000_000)
  const logger: Pick<DaemonLogger, 'log' | 'listen'> = {
    log: (_, event) => lines.push(event),
    listen: (hear) => hears.push(hear),
  }
  const shown = new ServerNews({
    config: { alerts: undefined },
    version: '1',
    clock: time,
    logger,
  })
  const fact = (event: LoggedFact['event'], fields = {}): void => {
    for (const hear of hears) hear({ level: 'error', event, fields })
  }
  return { shown, lines, fact, titles: () => shown.news().alerts.map(({ title }) => title) }
}

test('alerts wait until the server has taken them, and trouble is logged once', () => {
  const { shown, lines, fact, titles } = createScene()
  fact('trading.killed', { reason: 'drill' })
  fact('order.sent')
  expect(titles()).toHaveLength(1)
  shown.onShown('no route')
  shown.onShown('no route')
  fact('standby.tookOver')
  expect(titles()).toHaveLength(2)
  // What came after they were handed out is for the next time.
  fact('daemon.broken', { reason: 'x' })
  shown.onShown()
  expect(titles()).toHaveLength(1)
  shown.onShown()
  expect([titles(), lines]).toEqual([[], ['fleet.unable', 'fleet.shown']])
})

test('[BND1] a server that is away for long costs no memory, and the newest alerts are kept', () => {
  const { shown, fact, titles } = createScene()
  for (let number = 0; number < 300; number++)
    fact('trading.halted', { scope: `S${number}`, code: 'operator', reason: 'r' })
  const waiting = titles()
  expect([waiting.length, waiting.at(-1)?.includes('S299')]).toEqual([100, true])
  fact('trading.halted', { scope: 'LAST', code: 'operator', reason: 'r' })
  shown.onShown()
  expect(titles()).toEqual([expect.stringContaining('LAST')])
})

test('a run that is over hears nothing of the next one', () => {
  const { shown, fact, titles } = createScene()
  shown.end()
  fact('trading.killed')
  expect(titles()).toEqual([])
})
