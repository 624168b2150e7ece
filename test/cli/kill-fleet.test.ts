import { describe, expect, test } from 'vitest'
import { judgeKill, killFleets } from '../../src/cli/kill/kill-fleet.ts'
import { type KillRequest } from '../../src/journal/journal.ts'
import { type FleetAccount } from '../../src/journal/fleet/fleet-accounts.ts'
import { type KillRequestResult } from '../../src/journal/postgres/kill-request.ts'
import { ManualTime } from '../support/manual-time.ts'

const HOLDER = 'live on host-a, pid 12, /var/lib/intentd/live'

function account(more: Partial<FleetAccount> = {}): FleetAccount {
  return {
    schema: 'intentd_live',
    state: 'writes',
    holder: HOLDER,
    takenAt: 0,
    leaseLeftMs: 1,
    freeInMs: 1,
    isHandoverAsked: false,
    lastSequence: 0,
    standbys: [],
    kill: undefined,
    shown: undefined,
    ...more,
  }
}

function kill(state: KillRequest['state'], number = 3): FleetAccount['kill'] {
  const answered = { answeredBy: state === 'asked' ? '' : HOLDER, answeredAt: undefined }
  return { number, state, reason: 'drill', by: 'me', orderedAt: 0, ...answered }
}

const standby = {
  holder: 'spare on host-b, pid 7, /s',
  behind: 0,
  seenAgoMs: 1,
  isFollowing: true,
  differs: '',
}

/** A server that takes orders as it is set, and whose accounts come on as it is asked. */
class Server {
  accounts: readonly FleetAccount[]
  /** What becomes of the accounts before each answer. */
  turn: (asked: number) => void = () => undefined
  asked = 0
  readonly orders: string[] = []
  /** Of one account, instead of an order. */
  refusal: KillRequestResult | undefined
  isClosed = false

  constructor(accounts: readonly FleetAccount[]) {
    this.accounts = accounts
  }

  read() {
    this.asked += 1
    this.turn(this.asked)
    return Promise.resolve({
      now: 0,
      accounts: this.accounts,
      unread: [],
      workers: [],
      alerts: [],
      trouble: undefined,
    })
  }

  requestKills(_order: object, noted: Map<string, KillRequestResult>): Promise<undefined> {
    for (const { schema, state } of this.accounts) {
      if (noted.has(schema)) continue
      if (state === 'moved') noted.set(schema, { kind: 'moved' })
      else noted.set(schema, this.refusal ?? { kind: 'ordered', number: 3 })
      // Before it is read for the first time.
      this.orders.push(`${schema} after ${this.asked}`)
    }
    return Promise.resolve(undefined)
  }

  /** Whether its trouble is one that no repetition mends. */
  refuses = false

  isRefusal(): boolean {
    return this.refuses
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }

  set(more: Partial<FleetAccount>): void {
    this.accounts = this.accounts.map((one) => ({ ...one, ...more }))
  }
}

interface Ended {
  readonly code: number | undefined
  readonly text: string
  /** Lines, each with the seconds after which it was said. */
  readonly saidAt: readonly string[]
}

async function run(server: Server, withinMs = 60_000): Promise<Ended> {
  return runAll([[undefined, server]], withinMs)
}

async function runAll(
  servers: readonly (readonly [name: string | undefined, reader: Server])[],
  withinMs = 60_000,
): Promise<Ended> {
  const time = new ManualTime(1_000_000)
  const lines: string[] = []
  const saidAt: string[] = []
  const order = { reason: 'drill', by: 'me' }
  const begunAt = time.monotonic()
  const print = (text: string): void => {
    lines.push(text)
    saidAt.push(`${(time.monotonic() - begunAt) / 1000} s ${text}`)
  }
  let code: number | undefined
  const databases = servers.map(([name, reader]) => ({ name, reader }))
  void killFleets(databases, { order, withinMs, clock: time, timers: time, print }).then(
    (ended) => {
      code = ended
    },
  )
  // The first look.
  await time.pass(0)
  for (let passedMs = 0; code === undefined && passedMs <= withinMs + 1000; passedMs += 250)
    await time.pass(250)
  expect(servers.every(([, { isClosed }]) => isClosed)).toBe(true)
  return { code, text: lines.join('\n'), saidAt }
}

describe('[RSK3] a kill of the whole fleet', () => {
  test('is done when the holder of the lease has proved it, and orders each account once', async () => {
    const server = new Server([account()])
    server.turn = (asked) =>
      server.set({ kill: kill(asked < 4 ? 'asked' : asked < 8 ? 'seen' : 'clean') })
    const { code, text } = await run(server)

    expect([code, server.orders]).toEqual([0, ['intentd_live after 0']])
    expect(text).toMatch(
      /ordered; live on host-a[^]*: seen by live[^]*: killed: nothing rests[^]*proved of 1 of 1/,
    )
    expect(text).not.toContain('NOT killed')
  })

  test('of a database without a journal has killed nothing: it may be the wrong one', async () => {
    const { code, text } = await run(new Server([]))

    expect([code, text]).toEqual([
      75,
      expect.stringMatching(/^NOT killed: there is no journal in this database/),
    ])
  })

  test.each<[string, Partial<FleetAccount>, RegExp]>([
    [
      'whose writer is silent',
      { kill: kill('asked') },
      /on host-a: `intentd kill --state \/var\/lib\/intentd\/live`[^]*kill -KILL 12/,
    ],
    ['that is not proved in time', { kill: kill('seen') }, /seen by live[^]*it goes on/],
    [
      'whose proof is of an order before',
      { kill: kill('clean', 2) },
      /the order could not be written/,
    ],
    ['that somebody has released', { kill: kill('released') }, /released it meanwhile/],
    [
      'that nobody writes',
      { state: 'ended', kill: kill('asked') },
      /given its lease back[^]*start it, and it obeys/,
    ],
    [
      'whose writer has vanished',
      { state: 'vanished', kill: kill('seen') },
      /ran out[^]*or on host-a: `intentd kill --state/,
    ],
    [
      'that only a standby could prove',
      { state: 'vanished', kill: kill('asked'), standbys: [standby] },
      /spare on host-b[^]*takes over/,
    ],
    [
      'that was moved',
      { state: 'moved', movedTo: 'host-c /var/lib/dave/journal.sqlite' },
      /moved to host-c \S+\n {2}on host-c: `intentd kill --state \/var\/lib\/dave`/,
    ],
    [
      'that was moved who knows where',
      { state: 'moved' },
      /moved to elsewhere\n {2}kill it where it is now/,
    ],
  ])('never calls an account killed %s, and says what to do', async (_, more, words) => {
    const { code, text } = await run(
      new Server([account({ schema: 'a', kill: kill('clean') }), account(more)]),
    )

    expect(code).toBe(75)
    expect(text).toMatch(/proved of 1 of 2 accounts[^]*NOT killed: intentd_live/)
    expect(text.slice(text.indexOf('NOT killed'))).toMatch(words)
  })

  test('does not wait for an account that nobody will take over, and none that nobody ever traded', async () => {
    const nobody = account({ state: 'ended', kill: kill('asked') })
    const ordered = { kind: 'ordered', number: 3 } as const
    const judge = (isLate: boolean, leaseLeftMs = -1000): string =>
      judgeKill({ ...nobody, leaseLeftMs }, ordered, isLate).kind
    expect([judge(false), judge(true), judge(false, -60_000)]).toEqual([
      'waiting',
      'failed',
      'failed',
    ])
    const server = new Server([account({ state: 'new', holder: '', kill: kill('asked') })])
    const { code, text } = await run(server)

    expect([code, server.asked < 4, text]).toEqual([
      0,
      true,
      expect.stringContaining('nobody has ever traded it'),
    ])
  })

  test('names an account that is out of use at once, for how long, and what ends that', async () => {
    const nobody = account({ state: 'ended', kill: kill('asked'), leaseLeftMs: -86_400_000 })
    const { code, saidAt } = await run(new Server([nobody]))

    expect([code, saidAt.at(-2), saidAt.at(-1)]).toEqual([
      75,
      expect.stringMatching(
        /^0 s NOT killed: intentd_live: nobody writes it: .* lease back 24 h ago$/,
      ),
      expect.stringMatching(/^0 s .*or its schema is dropped/),
    ])
  })

  test('says of an account that takes no order why, and what kills it', async () => {
    const server = new Server([account()])
    server.refusal = { kind: 'refused', reason: 'permission denied' }
    const { code, text } = await run(server)

    expect([code, text]).toEqual([
      75,
      expect.stringMatching(/takes no order: permission denied\n {2}on host-a: `intentd kill/),
    ])
  })

  test('names no process that ended where the account takes no order', async () => {
    const server = new Server([account({ state: 'ended', leaseLeftMs: -90_000 })])
    server.refusal = { kind: 'refused', reason: 'permission denied' }
    const { text } = await run(server)

    expect(text).toMatch(
      /permission denied; nobody writes it: .*given its lease back 90 s ago\n {2}orders may rest/,
    )
    expect(text).not.toContain('kill -KILL')
  })

  test('in two databases is ordered and proved side by side, and one out of reach keeps the other waiting for nothing', async () => {
    const near = new Server([account({ kill: kill('clean') })])
    const far = new Server([])
    far.turn = () => {
      throw new Error('no route')
    }
    const { code, saidAt } = await runAll([
      ['far', far],
      ['near', near],
    ])

    expect([code, near.orders]).toEqual([75, ['intentd_live after 0']])
    expect(saidAt).toContainEqual('0 s near: proved of 1 of 1 accounts that nothing rests')
    expect(saidAt).toContainEqual(
      '60 s far: NOT killed: the server did not answer, so nothing was ordered',
    )
  })

  test('orders with no time to wait as well', async () => {
    const server = new Server([account({ kill: kill('asked') })])
    expect([(await run(server, 0)).code, server.orders]).toEqual([75, ['intentd_live after 0']])
  })

  test('goes on when the server is back, and says what it does not know', async () => {
    const server = new Server([account({ kill: kill('asked') })])
    let isAway = true
    server.turn = (asked) => {
      if (asked > 2 && isAway) throw new Error('connection refused')
      if (asked > 2) server.set({ kill: kill('clean') })
    }
    const away = await run(server)
    expect([away.code, away.text]).toEqual([
      75,
      expect.stringMatching(/NOT killed: intentd_live[^]*orders that it has taken stand/),
    ])
    isAway = false
    expect((await run(server)).code).toBe(0)
  })

  test('a server that went away after it has taken orders has taken them', async () => {
    const server = new Server([account()])
    server.turn = () => {
      throw new Error('connection lost')
    }
    const { code, text } = await run(server)
    expect([code, text]).toEqual([
      75,
      expect.stringContaining('the server has taken 1 order, which stands'),
    ])
  })

  test('a server that refuses the login is not asked again', async () => {
    const server = new Server([])
    server.refuses = true
    server.turn = () => {
      throw new Error('no password was given')
    }
    const { code, text } = await run(server)

    expect([code, server.asked]).toEqual([75, 1])
    expect(text).toMatch(/NOT killed: nothing was ordered.*no password was given\n {2}mend that/)
  })

  test('a server that never answers has taken no order', async () => {
    const server = new Server([])
    server.turn = () => {
      throw new Error('connection refused')
    }
    const { code, text } = await run(server)
    expect([code, text]).toEqual([75, expect.stringContaining('nothing was ordered')])
  })
})
