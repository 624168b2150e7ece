import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  nameQueue,
  readRequest,
  type TakenTrial,
  TrialQueue,
  type TrialRequest,
} from '../../../src/sweep-run/queue/trial-queue.ts'
import { FleetMember } from '../../../src/journal/postgres/fleet-member.ts'
import { FleetReader } from '../../../src/journal/fleet/fleet-reader.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { askServer, newQueue } from './sweep-scene.ts'

const QUEUE = nameQueue('0123456789abcdef0123456789abcdef0123')
const REQUEST: TrialRequest = {
  format: 1,
  name: 'paper',
  recipe: '{}',
  param: [],
  periodMs: 6e4,
  limitMs: 1e3,
  options: {
    market: ['a.csv'],
    set: [],
    param: ['a.b=1'],
  },
}
const idOf = (number: number): string =>
  `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`
const requests = (...numbers: readonly number[]) =>
  new Map(numbers.map((number) => [idOf(number), REQUEST] as const))

describe.skipIf(postgresMissing !== undefined)('the queue of trials', () => {
  let url: string
  let sweep: TrialQueue
  let other: TrialQueue
  let worker: TrialQueue
  let supervisor: PgBoss

  beforeAll(async () => {
    url = await newQueue()
    // All at once: each may be the first that finds no schema.
    ;[sweep, other, worker] = await Promise.all([
      TrialQueue.open(url, undefined, 'sweep'),
      TrialQueue.open(url, undefined, 'sweep'),
      TrialQueue.open(url, undefined, 'worker'),
    ])
    await Promise.all([sweep.openQueue(QUEUE), other.openQueue(QUEUE)])
    supervisor = new PgBoss({
      connectionString: url,
      schema: 'intentd_sweeps',
      supervise: false,
      schedule: false,
      registerInstance: false,
    })
    supervisor.on('error', () => undefined)
    await supervisor.start()
  })
  afterAll(async () => {
    await supervisor.stop({ graceful: false })
    await Promise.all([sweep, other, worker].map((queue) => queue.close()))
  })

  /** As pg-boss does by itself when ten seconds have passed. */
  const loseWorkers = async (): Promise<void> => {
    await askServer(
      url,
      `UPDATE intentd_sweeps.job SET heartbeat_on = now() - interval '11 seconds' WHERE state = 'active'`,
    )
    await askServer(
      url,
      `UPDATE intentd_sweeps.queue SET monitor_on = NULL, monitor_claim_on = NULL`,
    )
    await supervisor.supervise(QUEUE)
  }

  const take = async (from = worker): Promise<TakenTrial> => {
    const taken = await from.take([])
    if (taken === undefined) throw new Error('nothing to take')
    return taken
  }
  const stateOf = async (number: number) =>
    (await sweep.look(QUEUE, [idOf(number)])).get(idOf(number))

  test('two sweeps put the same trial: it is there once, and both read what came of it, to the byte', async () => {
    await Promise.all([sweep.put(QUEUE, requests(1)), other.put(QUEUE, requests(1))])
    const taken = await take()
    // Names of one length in another order than a server keeps them; and what JSON in a database cannot hold.
    const outcome = { returns: [1e-7, -0.1], figures: { fills: 1, final: 'b' } } as never
    await worker.settle(taken, outcome)
    await worker.settle(taken, { failed: 'too late' })

    expect(taken.request).toEqual(REQUEST)
    expect(await worker.take([])).toBeUndefined()
    for (const queue of [sweep, other])
      expect(JSON.stringify((await queue.look(QUEUE, [idOf(1)])).get(idOf(1)))).toBe(
        JSON.stringify({ outcome }),
      )
    await sweep.put(QUEUE, requests(1))
    expect(await worker.take([])).toBeUndefined()
  })

  test('what failed is kept whatever its words are', async () => {
    await sweep.put(QUEUE, requests(2))
    await worker.settle(await take(), { failed: 'a \0 and a \uD800' })

    expect(await stateOf(2)).toEqual({ outcome: { failed: 'a \0 and a \uD800' } })
  })

  test('one that was given back is there at once, and has lost no try', async () => {
    await sweep.put(QUEUE, requests(3))
    for (let time = 0; time < 5; time++) await worker.giveBack(await take())
    const taken = await take()

    expect(taken.retryCount).toBe(0)
    expect(await worker.beat([taken])).toEqual([])
    await worker.settle(taken, { failed: 'done' })
    expect(await worker.beat([taken])).toEqual([taken])
  })

  test('a sweep takes out what nobody computes, and a worker leaves the sweeps that it refuses', async () => {
    await sweep.put(QUEUE, requests(4, 5))
    expect(await worker.take([QUEUE])).toBeUndefined()
    const taken = await take()
    await sweep.withdraw(QUEUE)

    expect(await worker.take([])).toBeUndefined()
    await worker.settle(taken, { failed: 'done' })
    expect([await stateOf(4), await stateOf(5)]).toContainEqual({ outcome: { failed: 'done' } })
  })

  test('a worker without heartbeats is missed, and a trial that was lost five times is given up', async () => {
    await sweep.put(QUEUE, requests(6))
    const tries: number[] = []
    for (let time = 0; time < 5; time++) {
      tries.push((await take()).retryCount)
      expect(await stateOf(6)).toBe('waiting')
      await loseWorkers()
    }

    expect(tries).toEqual([0, 1, 2, 3, 4])
    expect([await stateOf(6), await worker.take([])]).toEqual(['lost', undefined])
    await sweep.remove(QUEUE, [idOf(6)])
    await sweep.put(QUEUE, requests(6))
    const again = await take()
    expect(again.retryCount).toBe(0)
    await worker.settle(again, { failed: 'done' })
  })

  test('who was taken for lost and was not changes nothing for the next', async () => {
    await sweep.put(QUEUE, requests(7))
    const first = await take()
    await loseWorkers()
    const second = await take()
    await worker.settle(first, { failed: 'of the first' })
    await worker.giveBack(first)

    expect([first.retryCount, second.retryCount, await stateOf(7)]).toEqual([0, 1, 'waiting'])
    expect(await worker.beat([first, second])).toEqual([first])
    await worker.settle(second, { failed: 'of the second' })
    expect(await stateOf(7)).toEqual({ outcome: { failed: 'of the second' } })
  })

  test('a server that was restarted finds the same workers at the same trials', async () => {
    await sweep.put(QUEUE, requests(8))
    const taken = await take()
    const server = await postgresServer()
    server.restart()
    while ((await sweep.countWorkers().catch(() => 0)) === 0) continue

    expect(await worker.beat([taken])).toEqual([])
    await worker.settle(taken, { failed: 'done' })
    expect(await stateOf(8)).toEqual({ outcome: { failed: 'done' } })
  })

  test('workers are counted while they run, and three heartbeats longer if they are killed', async () => {
    const second = await TrialQueue.open(url, undefined, 'worker')
    const both = await sweep.countWorkers()
    await second.close()
    const one = await sweep.countWorkers()
    await askServer(
      url,
      `UPDATE intentd_sweeps.instance SET heartbeat_on = heartbeat_on - interval '31 seconds'`,
    )

    expect([both, one, await sweep.countWorkers()]).toEqual([2, 1, 0])
  })

  test('what a worker shows is in the fleet of the database, until it leaves', async () => {
    const of = {
      connection: worker,
      id: 'worker a:1',
      kind: 'worker',
      holder: 'a:1',
      schema: '',
    } as const
    const member = new FleetMember(of)
    const reader = new FleetReader({ url, password: undefined, schema: '' })
    await member.show({ sweep: 'paper', computes: '1 of 2', computed: 3 })
    const shown = await reader.read()
    await member.leave()
    const left = await reader.read()
    await reader.close()

    expect(shown.workers).toMatchObject([
      { holder: 'a:1', state: { sweep: 'paper', computes: '1 of 2', computed: 3 } },
    ])
    expect(left.workers).toEqual([])
  })

  test('a queue without trials is dropped after a day', async () => {
    const old = nameQueue('f'.repeat(32))
    await sweep.openQueue(old)
    await sweep.dropOldQueues()
    const before = await hasQueue(url, old)
    await askServer(url, `UPDATE intentd_sweeps.queue SET created_on = now() - interval '2 days'`)
    await sweep.dropOldQueues()

    expect([before, await hasQueue(url, old), await hasQueue(url, QUEUE)]).toEqual([
      true,
      false,
      true,
    ])
  })
})

test('a server that is not there is named without its password', async () => {
  const opened = TrialQueue.open('postgresql://me:hidden@127.0.0.1:1/sweeps', undefined, 'worker')

  await expect(opened).rejects.toThrow(/SWEEP_QUEUE_UNREACHABLE[^]*127\.0\.0\.1:1\/sweeps/)
  await expect(opened).rejects.not.toThrow(/hidden/)
})

test.each([
  ['of another version', { ...REQUEST, format: 2 }],
  ['with a word more', { ...REQUEST, code: 'process.exit()' }],
  ['without prices', { ...REQUEST, options: { set: [], param: [] } }],
])('a trial %s is not computed', (_what, request) => {
  expect(readRequest({ request: JSON.stringify(request) })).toEqual({
    unreadable: expect.stringMatching(/another version/) as string,
  })
  expect(readRequest({ request: JSON.stringify(REQUEST) })).toEqual(REQUEST)
})

async function hasQueue(url: string, name: string): Promise<boolean> {
  return (
    (await askServer(url, `SELECT 1 FROM intentd_sweeps.queue WHERE name = '${name}'`)).length === 1
  )
}
