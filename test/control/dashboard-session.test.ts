import { type Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { ProposalBench } from '../support/approval/memory-pairing.ts'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import { TurnQueue } from '../../src/control/access/turn-queue.ts'
import { Refusals } from '../../src/control/refusals.ts'
import { buildControlApp } from '../../src/control/control-app.ts'
import { type Controlled } from '../../src/control/controlled.ts'
import { EventHistory } from '../../src/control/event-history.ts'
import { SessionCodes } from '../../src/control/access/session-codes.ts'
import { Secret } from '../../src/lib/secret.ts'

const TOKEN = 'canary-of-a-token-that-no-answer-may-hold'
const HOST = '127.0.0.1:8790'

class Bench {
  now = 0
  statusReads = 0
  readonly codes = new SessionCodes(() => this.now)
  readonly events = new EventHistory(0)
  readonly app: Hono

  constructor() {
    const daemon: Partial<Controlled> = {
      events: this.events,
      status: () => {
        this.statusReads += 1
        return {
          name: 'test',
          version: '1.2.3',
          environment: 'simulator',
          speed: 1,
          isReadOnly: false,
          exchange: '',
          configOption: '',
          pid: 1,
          processStartedAt: 0,
          startedAt: 0,
          now: this.now,
          accounts: [],
          off: [],
        }
      },
    }
    this.app = buildControlApp({
      daemon: daemon as Controlled,
      version: '1.2.3',
      readOnly: false,
      answered: new AnsweredRequests(),
      proposals: new ProposalBench().proposals,
      monotonic: () => this.now,
      turns: new TurnQueue(),
      entrance: {
        via: 'port',
        hosts: [HOST],
        tokens: {
          full: new Secret(TOKEN),
          read: new Secret(`${TOKEN}-read`),
        },
        codes: this.codes,
      },
      address: () => undefined,
      refusals: new Refusals(() => {}),
      onBroken: (reason) => expect.fail(reason),
    })
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return this.app.request(`http://${HOST}${path}`, { headers: { host: HOST, ...headers } })
  }

  enter(code: string) {
    return this.app.request(`http://${HOST}/v1/session`, {
      method: 'POST',
      headers: { host: HOST, 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
  }
}

describe('[SEC2] the code in the address', () => {
  test('is exchanged for the token once', async () => {
    const bench = new Bench()
    const code = bench.codes.issue()

    expect(await (await bench.enter(code)).json()).toEqual({ token: TOKEN })
    expect((await bench.enter(code)).status).toBe(403)
  })

  test('is over after a minute, and another one was never good', async () => {
    const bench = new Bench()
    const code = bench.codes.issue()
    bench.now = 60_000

    expect((await bench.enter(code)).status).toBe(403)
    expect((await bench.enter('0'.repeat(32))).status).toBe(403)
  })

  test('is one of eight at most: the oldest goes', () => {
    const { codes } = new Bench()
    const issued = Array.from({ length: 9 }, () => codes.issue())

    expect(issued.map((code) => codes.redeem(code))).toEqual([
      false,
      ...Array<boolean>(8).fill(true),
    ])
  })
})

describe('the stream of a screen', () => {
  const AUTHORISED = { authorization: `Bearer ${TOKEN}` }

  test('needs the token in a header', async () => {
    const bench = new Bench()
    expect((await bench.get('/v1/live')).status).toBe(401)
    expect((await bench.get(`/v1/live?token=${TOKEN}`)).status).toBe(401)
  })

  test('begins with the whole state and goes on behind an event', async () => {
    const bench = new Bench()
    for (const event of ['order.sent', 'order.fill'])
      bench.events.add({ at: 0, level: 'info', event, fields: {} })

    const text = await readOnce(await bench.get('/v1/live?after=1', AUTHORISED))
    expect(text).toContain('event: state\ndata: {"name":"test"')
    expect(text).toContain('id: 2\nevent: log\n')
    expect(text).not.toContain('order.sent')
  })

  test('a tab that takes nothing is written nothing more: it misses events, and hears how many', async () => {
    const bench = new Bench()
    const stalled = await bench.get('/v1/live?after=0', AUTHORISED)
    const add = (count: number) => {
      for (let index = 0; index < count; index += 1)
        bench.events.add({ at: 0, level: 'info', event: 'order.fill', fields: {} })
    }
    add(10)
    await untilRead(bench, 2)
    add(10_000)
    const reader = stalled.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('event: missed')) text += (await reader?.read())?.value ?? ''
    await reader?.cancel()

    expect(Number(/event: missed\ndata: (\d+)/.exec(text)?.[1])).toBeGreaterThan(5000)
  })

  test('works the state out once for all who follow', async () => {
    const bench = new Bench()
    await Promise.all(
      Array.from({ length: 20 }, async () => readOnce(await bench.get('/v1/live', AUTHORISED))),
    )
    expect(bench.statusReads).toBe(1)
  })
})

/** Other followers go on, whatever one of them does. */
async function untilRead(bench: Bench, times: number): Promise<void> {
  while (bench.statusReads < times) {
    bench.now += 1000
    await readOnce(await bench.get('/v1/live', { authorization: `Bearer ${TOKEN}` }))
  }
}

/** The first piece; then the follower goes. */
async function readOnce(answer: Response): Promise<string> {
  const reader = answer.body?.getReader()
  const piece = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(piece?.value)
}
