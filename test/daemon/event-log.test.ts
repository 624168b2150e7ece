import { expect, test } from 'vitest'
import { EventLog } from '../../src/daemon/reporting/event-log.ts'
import { ManualTime } from '../support/manual-time.ts'

const FAILED = { symbols: ['BTCUSDT'], code: '40725', message: 'service return an error' }

/** A log whose lines a test reads, at `debug` and above. */
function createLog() {
  const time = new ManualTime(0)
  const lines: { level: string; event: string; sinceLastLogged: unknown }[] = []
  const log = new EventLog({
    logger: {
      isTerminal: false,
      hide: () => undefined,
      listen: () => undefined,
      setLevel: () => undefined,
      descriptor: 1 as const,
      log: (level, event, fields) =>
        void lines.push({ level, event, sinceLastLogged: fields?.['sinceLastLogged'] }),
    },
    grids: new Map(),
    clock: time,
  })
  const fail = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      log.announce({ kind: 'announce', level: 'info', event: 'cancelAll.sent', fields: FAILED })
      log.announce({ kind: 'announce', level: 'warn', event: 'cancelAll.failed', fields: FAILED })
      await time.pass(1000)
    }
  }
  return { log, lines, fail, time }
}

test('a cancel-all that fails every second is logged at once, and then at growing intervals', async () => {
  const { lines, fail } = createLog()

  await fail(300)

  const failed = lines.filter(({ event }) => event === 'cancelAll.failed')
  expect(failed.map(({ sinceLastLogged }) => sinceLastLogged)).toEqual([
    undefined,
    undefined,
    undefined,
    4,
    9,
    19,
    39,
    79,
  ])
  const sent = lines.filter(({ event, level }) => event === 'cancelAll.sent' && level === 'info')
  expect(sent).toHaveLength(3)
})

test('one that is answered, and fails for some orders, is thinned the same way, until it fails for none', async () => {
  const { log, lines, time } = createLog()
  const answer = async (seconds: number, failed: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      const fields = { symbols: FAILED.symbols, cancelled: 0, failed }
      const level = failed > 0 ? 'warn' : 'info'
      log.announce({ kind: 'announce', level: 'info', event: 'cancelAll.sent', fields })
      log.announce({ kind: 'announce', level, event: 'cancelAll.answered', fields })
      await time.pass(1000)
    }
  }

  await answer(300, 2)

  const answered = lines.filter(({ event }) => event === 'cancelAll.answered')
  expect(
    answered.map(({ level, sinceLastLogged }) => `${level} ${String(sinceLastLogged)}`),
  ).toEqual([
    ...Array.from({ length: 3 }, () => 'warn undefined'),
    ...[4, 9, 19, 39, 79].map((count) => `warn ${count}`),
  ])
  const sent = lines.filter(({ event, level }) => event === 'cancelAll.sent' && level === 'info')
  expect(sent).toHaveLength(3)

  lines.length = 0
  await answer(1, 0)
  await answer(1, 2)
  expect(lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
    'debug cancelAll.sent',
    'info cancelAll.answered',
    'info cancelAll.sent',
    'warn cancelAll.answered',
  ])
})

test('an answer ends the trouble: the next failure is logged at once', async () => {
  const { log, lines, fail } = createLog()
  await fail(6)
  lines.length = 0
  log.announce({
    kind: 'announce',
    level: 'info',
    event: 'cancelAll.answered',
    fields: { symbols: FAILED.symbols, cancelled: 1, failed: 0 },
  })

  await fail(1)

  expect(lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
    'info cancelAll.answered',
    'info cancelAll.sent',
    'warn cancelAll.failed',
  ])
})
