import { describe, expect, test } from 'vitest'
import { judgeKill, killFleet } from '../../src/cli/fleet/kill-fleet.ts'
import { type OrderedKill } from '../../src/journal/journal.ts'
import { type FleetAccount } from '../../src/journal/postgres/read-fleet.ts'
import { ManualTime } from '../support/manual-time.ts'

const HOLDER = 'live on host-a, pid 12, /var/lib/intentd/live'

function account(more: Partial<FleetAccount> = {}): FleetAccount {
  return {
    ...{ schema: 'intentd_live', state: 'writes', holder: HOLDER, takenAt: 0, leaseLeftMs: 1, freeInMs: 1 },
    ...{ isHandoverAsked: false, lastSequence: 0, standbys: [], kill: undefined, shown: undefined },
    ...more,
  }
}

function kill(state: OrderedKill['state'], number = 3): FleetAccount['kill'] {
  const answered = { answeredBy: state === 'asked' ? '' : HOLDER, answeredAt: undefined }
  return { number, state, reason: 'drill', by: 'me', orderedAt: 0, ...answered }
}

const standby = { holder: 'spare on host-b, pid 7, /s', behind: 0, seenAgoMs: 1, isFollowing: true }

/** A server that takes orders as it is set, and whose accounts come on as it is asked. */
class Server {
  accounts: readonly FleetAccount[]
  /** What becomes of the accounts before each answer. */
  turn: (asked: number) => void = () => undefined
  asked = 0
  readonly orders: string[] = []

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

  orderKill(schema: string): Promise<number> {
    this.orders.push(schema)
    return Promise.resolve(3)
  }

  set(more: Partial<FleetAccount>): void {
    this.accounts = this.accounts.map((one) => ({ ...one, ...more }))
  }
}

async function run(server: Server, withinMs = 60_000): Promise<{ code: number | undefined; text: string }> {
  const time = new ManualTime(1_000_000)
  const lines: string[] = []
  const order = { reason: 'drill', by: 'me' }
  const print = (text: string): number => lines.push(text)
  let code: number | undefined
  void killFleet({ reader: server, order, withinMs, clock: time, timers: time, print }).then((ended) => {
    code = ended
  })
  for (let passedMs = 0; code === undefined && passedMs <= withinMs + 1000; passedMs += 250)
    await time.pass(250)
  return { code, text: lines.join('\n') }
}

describe('[RSK3] a kill of the whole fleet', () => {
  test('is done when the holder of the lease has proved it, and orders each account once', async () => {
    const server = new Server([account()])
    server.turn = (asked) => server.set({ kill: kill(asked < 4 ? 'asked' : asked < 8 ? 'seen' : 'clean') })
    const { code, text } = await run(server)

    expect([code, server.orders]).toEqual([0, ['intentd_live']])
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
    ['whose proof is of an order before', { kill: kill('clean', 2) }, /the order could not be written/],
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
    ['that was moved', { state: 'moved' }, /moved elsewhere/],
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
    expect([judgeKill(nobody, 3, false).kind, judgeKill(nobody, 3, true).kind]).toEqual(['waiting', 'failed'])
    const server = new Server([account({ state: 'new', holder: '', kill: kill('asked') })])
    const { code, text } = await run(server)

    expect([code, server.asked < 4, text]).toEqual([
      0,
      true,
      expect.stringContaining('nobody has ever traded it'),
    ])
  })

  test('orders with no time to wait as well', async () => {
    const server = new Server([account({ kill: kill('asked') })])
    expect([(await run(server, 0)).code, server.orders]).toEqual([75, ['intentd_live']])
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

  test('a server that never answers has taken no order', async () => {
    const server = new Server([])
    server.turn = () => {
      throw new Error('connection refused')
    }
    const { code, text } = await run(server)
    expect([code, text]).toEqual([75, expect.stringContaining('nothing was ordered')])
  })
})
