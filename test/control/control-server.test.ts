import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Controlled } from '../../src/control/controlled.ts'
import { ProposalBench } from '../support/approval/memory-pairing.ts'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { ControlServer, type ControlServerOptions } from '../../src/control/control-server.ts'
import { EventHistory } from '../../src/control/event-history.ts'
import { Secret } from '../../src/lib/secret.ts'

const directory = mkdtempSync(join(tmpdir(), 'control-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Nobody asks it anything. */
const daemon = { events: new EventHistory(10) } as Controlled

function serverAt(
  socket: string,
  unreachable: string[] = [],
  broken: string[] = [],
  change: Partial<ControlServerOptions> = {},
): ControlServer {
  return new ControlServer({
    daemon,
    socket,
    monotonic: () => 0,
    version: '1.2.3',
    readOnly: false,
    port: undefined,
    answered: new AnsweredRequests(),
    proposals: new ProposalBench().proposals,
    onRefused: () => {},
    onBroken: (reason) => broken.push(reason),
    onUnreachable: (address) => unreachable.push(address),
    ...change,
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

test('a socket whose path is too long is said to be, and the port is listened at all the same', async () => {
  const folder = join(directory, 'd'.repeat(200))
  mkdirSync(folder)
  const reasons: string[] = []
  const server = new ControlServer({
    daemon,
    monotonic: () => 0,
    version: '1.2.3',
    readOnly: true,
    socket: join(folder, 'control.sock'),
    port: {
      host: '127.0.0.1',
      number: 0,
      tokens: {
        full: new Secret('t'.repeat(40)),
        read: new Secret('r'.repeat(40)),
      },
    },
    answered: new AnsweredRequests(),
    proposals: new ProposalBench().proposals,
    onRefused: () => {},
    onBroken: () => {},
    onUnreachable: (_, reason) => reasons.push(reason),
  })
  await server.start()
  await server.look()

  expect(reasons).toEqual([
    expect.stringMatching(
      /control\.sock has \d+ bytes, and the system takes \d+ .* shorter state\.directory$/,
    ),
  ])
  expect(server.socket).toBeUndefined()
  expect(await statusOf(`${server.baseUrl}/openapi.json`)).toBe(200)
  await server.stop()
})

test('a command whose sender leaves in the middle of it is no trouble of the daemon', async () => {
  const socket = join(directory, 'left.sock')
  const broken: string[] = []
  const server = serverAt(socket, [], broken)
  await server.start()
  const sender = connect(socket)
  const head = 'POST /v1/commands HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  sender.write(`${head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n`)
  // It has begun to read the body.
  await once(sender, 'data')
  sender.write('{"requestId":')
  sender.destroy()
  await new ControlClient(socket).read('/openapi.json').catch(() => {})
  await server.stop()

  expect(broken).toEqual([])
})

test('a socket whose file has vanished is made again, and said to be', async () => {
  const socket = join(directory, 'vanishing.sock')
  const unreachable: string[] = []
  const server = serverAt(socket, unreachable)
  await server.start()
  await server.look()
  expect(unreachable).toEqual([])
  rmSync(socket)

  await server.look()
  await server.look()

  expect([server.socket, unreachable]).toEqual([socket, [socket]])
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  const client = new ControlClient(socket)
  expect(await client.read('/livez')).toMatchObject({
    kind: 'silent',
    reason: expect.stringContaining('JSON') as string,
  })
  await client.close()
  await server.stop()
  expect(statSync(socket, { throwIfNoEntry: false })).toBeUndefined()
})

test('a port that another program has is tried at each look, said once, and listened at when it is free', async () => {
  const other = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const reasons: string[] = []
  const tokens = { full: new Secret('t'.repeat(40)), read: new Secret('r'.repeat(40)) }
  const server = serverAt(join(directory, 'beside.sock'), [], [], {
    port: { host: '127.0.0.1', number: port, tokens },
    onUnreachable: (address, reason) => reasons.push(`${address}: ${reason}`),
  })
  await server.start()
  await server.look()
  expect([server.baseUrl, reasons]).toEqual([
    undefined,
    [expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:${port}: .*EADDRINUSE`))],
  ])

  other.close()
  await once(other, 'close')
  await server.look()

  expect(server.baseUrl).toBe(`http://127.0.0.1:${port}`)
  expect(await statusOf(`${server.baseUrl}/openapi.json`)).toBe(200)
  await server.stop()
  await server.look()
  expect(server.baseUrl).toBeUndefined()
})

test('a socket whose folder has vanished is tried again, and said once', async () => {
  const folder = mkdtempSync(join(directory, 'folder-'))
  const socket = join(folder, 'control.sock')
  const unreachable: string[] = []
  const server = serverAt(socket, unreachable)
  await server.start()
  rmSync(folder, { recursive: true })
  for (let time = 0; time < 3; time++) await server.look()
  expect([server.socket, unreachable]).toEqual([undefined, [socket, socket]])

  mkdirSync(folder)
  await server.look()

  expect(server.socket).toBe(socket)
  await server.stop()
})

test('[BND1] of sixty-four connections that say nothing each may stay a while, and one more is closed at once', async () => {
  const socket = join(directory, 'crowded.sock')
  const server = serverAt(socket)
  await server.start()
  const idle = Array.from({ length: 64 }, () => connect(socket))
  await Promise.all(idle.map((one) => once(one, 'connect')))

  await once(connect(socket).resume(), 'close')
  expect(idle.filter(({ readableEnded }) => readableEnded)).toEqual([])
  for (const one of idle) one.destroy()
  await server.stop()
})

/** An answer that is not read whole holds its connection. */
async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url)
  await answer.arrayBuffer()
  return answer.status
}
