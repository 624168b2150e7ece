import { expect, test } from 'vitest'
import {
  createLogger,
  type LoggedFact,
  printTerminalLine,
  toTerminalLine,
} from '../../src/logging/logger.ts'
import { Secret } from '../../src/lib/secret.ts'

test('[SEC1] what is heard of a fact, by alerts and by the control interface, is cleaned, and then without secrets', () => {
  const heard: LoggedFact[] = []
  const logger = createLogger({ level: 'silent', name: 'test', descriptor: 2, terminal: undefined })
  logger.hide(new Secret('passphrase-1'))
  logger.listen((fact) => heard.push(fact))

  logger.log('warn', 'strategy.said', {
    message: '\u001B[2Jdone\r\u202Eabc',
    parts: [{ 'k\u001B[1m': 'pass\u200Bphrase\u001B[0m-1' }],
  })

  expect(heard).toEqual([
    {
      level: 'warn',
      event: 'strategy.said',
      fields: { message: 'doneabc', parts: [{ k: '[hidden]' }] },
    },
  ])
})

test('a line break in a field does not begin a line: what follows stands below its event', () => {
  const reason = 'it broke\n12:00:00.000 order.filled BTCUSDT'
  const logged = { event: 'strategy.failed', level: 'warn', time: '2026-01-01T00:00:00Z', reason }

  const shown = printTerminalLine(toTerminalLine(logged, { columns: 80, directory: '/' }))

  expect(shown.split('\n').slice(1)).toEqual([expect.stringMatching(/^ {12}/)])
})
