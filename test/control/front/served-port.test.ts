import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test, vi } from 'vitest'
import { AnsweredRequests } from '../../../src/control/answered-requests.ts'
import { ControlClient } from '../../../src/control/control-client.ts'
import { ControlServer } from '../../../src/control/control-server.ts'
import type { Controlled } from '../../../src/control/controlled.ts'
import { EventHistory } from '../../../src/control/event-history.ts'
import { ListeningThread } from '../../../src/control/front/listening-thread.ts'
import { openPortThread, type OpenPort } from '../../../src/control/front/served-port.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { ProposalBench } from '../../support/approval/memory-pairing.ts'

const FULL = 'f'.repeat(40)

const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

class PortBench {
  readonly directory = mkdtempSync(join(tmpdir(), 'port-'))
  readonly events = new EventHistory(10)
  readonly commands: string[] = []
  readonly refused: string[] = []
  readonly unreachable: string[] = []
  readonly server: ControlServer

  constructor(openPort: OpenPort) {
    this.server = new ControlServer({
      socket: join(this.directory, 'control.sock'),
      port: {
        host: '127.0.0.1',
        number: 0,
        tokens: { full: new Secret(FULL), read: new Secret('r'.repeat(40)) },
      },
      openPort,
      version: '1.2.3',
      readOnly: false,
      monotonic: () => performance.now(),
      answered: new AnsweredRequests(),
      proposals: new ProposalBench().proposals,
      onRefused: (why, count) => this.refused.push(`${count} ${why}`),
      onBroken: (reason) => expect.fail(reason),
      onUnreachable: (_, reason) => this.unreachable.push(reason),
      daemon: {
        events: this.events,
        readiness: () => ({ isReady: true, checks: {} }),
        metrics: () => '',
        positions: () => [],
        command: ({ requestId, order }) => {
          this.commands.push(order.kind)
          const nothing = { held: [], lifted: [], stillHeld: {} }
          return { answer: { requestId, isObeyed: true, text: 'done', ...nothing } }
        },
      } as Partial<Controlled> as Controlled,
    })
  }

  async open(): Promise<this> {
    await this.server.start()
    closing.push(async () => {
      await this.server.stop()
      rmSync(this.directory, { recursive: true })
    })
    return this
  }

  async ask(path: string, token: string, body?: object): Promise<IncomingMessage> {
    const sent = request(`${this.server.baseUrl}${path}`, {
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    sent.end(body === undefined ? '' : JSON.stringify(body))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return answer
  }

  async kill(requestId: string): Promise<number> {
    const order = { kind: 'kill' }
    const answer = await this.ask('/v1/commands', FULL, { requestId, reason: 'r', by: 't', order })
    await text(answer)
    return answer.statusCode ?? 0
  }
}

test('a thread serves the port: looks, commands and streams reach the daemon, guesses are counted and do not', async () => {
  const bench = await new PortBench(openPortThread).open()
  expect(await text(await bench.ask('/readyz', 'none'))).toBe('ok\n')
  expect(await text(await bench.ask('/v1/positions', FULL))).toBe('[]')
  const kills = Array.from({ length: 30 }, (_, index) => bench.kill(`request-${index}`))
  expect(new Set(await Promise.all(kills))).toEqual(new Set([200]))
  expect(bench.commands).toHaveLength(30)

  const guesses = Array.from({ length: 20 }, async () => {
    const answer = await bench.ask('/v1/positions', 'guess')
    await text(answer)
    return answer.statusCode
  })
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]))
  const metrics = await text(await bench.ask('/metrics', FULL))
  expect(metrics).toContain('intentd_control_refused_total{what="request"} 20')

  const stream = await bench.ask('/v1/events?after=0', FULL)
  bench.events.add({ at: 0, level: 'info', event: 'order.fill', fields: {} })
  let seen = ''
  stream.on('data', (chunk) => (seen += String(chunk)))
  await vi.waitFor(() => expect(seen).toContain('order.fill'), 60_000)
  const ended = new Promise((resolve) => stream.on('error', resolve))
  await bench.server.stop()
  expect(await ended).toMatchObject({ message: 'aborted' })
})

test('a follower that reads nothing holds up no other, and misses events', async () => {
  const slow: boolean[] = []
  const bench = await new PortBench((task, handlers) => {
    const onNews: typeof handlers.onNews = (news) => {
      if (news.kind === 'slow') slow.push(news.isSlow)
      handlers.onNews(news)
    }
    return openPortThread(task, { ...handlers, onNews })
  }).open()
  const fields = { text: 'y'.repeat(20_000) }
  const add = (count: number): void => {
    for (let index = 0; index < count; index++)
      bench.events.add({ at: 0, level: 'info', event: 'order.fill', fields })
  }
  const stalled = await bench.ask('/v1/events?after=0', FULL)
  await vi.waitFor(() => {
    add(200)
    expect(slow.at(-1)).toBe(true)
  }, 60_000)
  add(10_000)
  expect(await bench.kill('request-1')).toBe(200)
  let seen = ''
  for await (const chunk of stalled) {
    seen = seen.slice(-100) + String(chunk)
    if (seen.includes('event: missed')) break
  }
  expect(slow).toContain(false)
})

test.each([
  ['/fail', /thread failed: .*a defect of the port/],
  ['/hang', /thread hung/],
])(
  'a port whose thread ends (%s) is closed, and opened again at the next look, and the socket stays',
  async (how, reason) => {
    let opened = 0
    const bench = await new PortBench((task, handlers) => {
      opened += 1
      if (opened > 1) return openPortThread(task, handlers)
      const file = './faulty-thread'
      const patienceMs = 1000
      return new ListeningThread({ file, askedBy: import.meta.url, task, patienceMs, ...handlers })
    }).open()
    expect(await text(await bench.ask('/', FULL))).toBe('served')
    await bench.ask(how, FULL).catch(() => undefined)
    await vi.waitFor(
      () => expect(bench.unreachable).toEqual([expect.stringMatching(reason)]),
      30_000,
    )
    expect(bench.server.baseUrl).toBeUndefined()
    const client = new ControlClient(bench.server.socket ?? '')
    expect(await client.read('/v1/positions')).toMatchObject({ kind: 'answered' })
    await client.close()

    await bench.server.look()
    expect(await bench.kill('request-1')).toBe(200)
    expect([bench.commands, opened]).toEqual([['kill'], 2])
  },
)
