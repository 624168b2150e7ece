import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { SignalGuard } from '../../src/control/signals/signal-guard.ts'
import { SignalGate } from '../../src/control/signals/signal-gate.ts'
import { SignalServer } from '../../src/control/signals/signal-server.ts'
import type { Signal } from '../../src/domain/signal.ts'
import { Secret } from '../../src/lib/secret.ts'
import { MAIN, Workspace } from '../config/workspace.ts'

const SECRET = 'a-secret-of-its-own-0'

let workspace: Workspace
let server: SignalServer
const taken: Signal[] = []

beforeEach(async () => {
  vi.stubEnv('INTENTD_SIGNAL_TV', SECRET)
  taken.length = 0
  const rules = [
    {
      name: 'tv',
      secret: new Secret(SECRET),
      windowMs: 1000,
      perMinute: 10,
      fields: { isOn: { type: 'boolean', optional: false } },
    },
  ] as const
  const onAnswered = (): void => undefined
  const gate = new SignalGate({
    rules,
    now: () => 0,
    take: (signal) => Promise.resolve(taken.push(signal) > 0 ? 'taken' : undefined),
    onAnswered,
  })
  server = new SignalServer({
    host: '127.0.0.1',
    port: 0,
    guard: new SignalGuard({ keys: rules, monotonic: () => 0, onAnswered }),
    take: (signal) => gate.answer(signal),
    onBroken: () => undefined,
    monotonic: () => performance.now(),
    onClosed: () => undefined,
  })
  const port = await server.start()
  workspace = new Workspace()
  workspace.fill({
    'config/main.yaml': `${MAIN}signals:\n  port: ${port}\n  accept:\n    tv: { secretVariable: INTENTD_SIGNAL_TV, maxAgeMs: 60000, fields: { isOn: { type: boolean } } }\n`,
  })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.stop()
  workspace.remove()
})

const send = (name: string, fields: string): Promise<number> =>
  main(['signal', name, fields, '-c', `${workspace.directory}/config/main.yaml`])

test('a signal is sent by hand as its sender would, and the exit code says whether it was taken', async () => {
  expect(await send('tv', '{"isOn":true}')).toBe(0)
  expect(taken.map(({ feed, value }) => [feed, value])).toEqual([['signal:tv', { isOn: true }]])
  expect(await send('tv', '{"isOn":1}')).toBe(1)
  expect(await send('other', '{}')).toBe(1)
  await server.stop()
  expect(await send('tv', '{"isOn":true}')).toBe(75)
})
