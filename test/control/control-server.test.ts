import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Controlled } from '../../src/control/controlled.ts'
import { ControlServer } from '../../src/control/control-server.ts'
import { EventHistory } from '../../src/control/event-history.ts'

const directory = mkdtempSync(join(tmpdir(), 'control-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Nobody asks it anything. */
const daemon = { events: new EventHistory(10) } as Controlled

function serverAt(socket: string, unreachable: string[] = []): ControlServer {
  return new ControlServer({
    ...{ daemon, socket, monotonic: () => 0, version: '1.2.3', readOnly: true, port: undefined },
    onRefused: () => {},
    onBroken: () => {},
    onUnreachable: (address) => unreachable.push(address),
  })
}

test('a socket that is listened at is named', async () => {
  const socket = join(directory, 'control.sock')
  const server = serverAt(socket)
  await server.start()

  expect(server.socket).toBe(socket)
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  await server.stop()
})

test('a socket that cannot be listened at is not named', async () => {
  const socket = join(directory, 'missing', 'control.sock')
  const unreachable: string[] = []
  const server = serverAt(socket, unreachable)
  await server.start()

  expect(server.socket).toBeUndefined()
  expect(unreachable).toEqual([socket])
  await server.stop()
})
