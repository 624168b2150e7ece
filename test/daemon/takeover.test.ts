import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { networkMissing } from '../support/private-network.ts'
import { shareOf } from '../support/share.ts'
import { killLeftOver, type IntentdProcess } from './intentd-process.ts'
import { Machines } from './machines.ts'
import { failOverNetwork } from './network-failovers.ts'
import { listFaults } from './network-faults.ts'

const SUSPENDED_CLOCK = new URL('./suspended-clock.ts', import.meta.url).href
const KILL_AT_COMMIT = new URL('./kill-at-commit.ts', import.meta.url).href

afterAll(() => killLeftOver())

async function withMachines(
  use: (machines: Machines) => Promise<void>,
  leaseMs?: number,
): Promise<void> {
  const machines = await Machines.open((await postgresServer()).newPlace(), leaseMs)
  try {
    await use(machines)
  } finally {
    await machines.close()
  }
}

/** Of two that wait for one account. */
function firstToTakeOver(
  standbys: readonly (readonly [string, IntentdProcess])[],
): Promise<readonly [string, IntentdProcess]> {
  return Promise.any(
    standbys.map(async (each) => {
      await each[1].untilEvent('standby.tookOver')
      return each
    }),
  )
}

/** A writer hears of a handover when it renews: within a quarter of it. */
const LEASE_HANDED_OVER_MS = 40_000

/** It renews after more than a minute: what is asked of it before it reloads is not heard. */
const LEASE_UNHEARD_MS = 300_000

/** Far longer than a busy machine holds a process up, and short enough to be waited for. */
const LEASE_RUN_OUT_MS = 8000

/** The rest is `npm run failovers -- --network`. */
const NETWORK_FAULTS = [
  'its cable pulled',
  'what the server sends it lost',
  'stopped, its clock set back meanwhile, and continued',
  'stopped at wire.batch-place-order.first, and continued',
]

describe.skipIf(postgresMissing !== undefined)(
  '[ORD1] [ORD2] [ORD5] an account whose journal is on PostgreSQL',
  () => {
    test.concurrent.each(shareOf(['after:send:3', 'before:send:3', 'after:outcome:2'], 3))(
      'its writer killed %s: a standby goes on, and no order is doubled or lost',
      (point) =>
        withMachines(async (machines) => {
          const writer = machines.run('a', { env: { KILL_AT: point }, preload: KILL_AT_COMMIT })
          await writer.untilEvent('journal.opened')
          const standbys = ['b', 'c'].map((name) => [name, machines.standby(name)] as const)
          expect(await writer.ended).toEqual({ code: null, signal: 'SIGKILL' })
          await Promise.all(standbys.map(([, standby]) => standby.untilEvent('standby.following')))
          await machines.passLease()

          const [name, next] = await firstToTakeOver(standbys)
          await Machines.trades(next)
          // It ends first: else it would take the account over from the one that ends.
          const other = standbys.find(([each]) => each !== name)?.[1]
          expect(await other?.stop()).toEqual({ code: 0, signal: null })
          expect(await next.stop()).toEqual({ code: 0, signal: null })
          expect(await machines.compare(name, next)).toEqual([])
          expect(other?.events('order.sent')).toEqual([])
        }),
    )

    test.concurrent('a writer that stood still beyond its lease signs nothing and writes nothing when it goes on', () =>
      withMachines(async (machines) => {
        const suspended = `${machines.journalFile('a')}.suspended`
        const env = { INTENTD_SUSPENDED: suspended }
        const writer = machines.run('a', { env, preload: SUSPENDED_CLOCK })
        await Machines.trades(writer)
        const standby = machines.standby('b')
        await standby.untilEvent('standby.following')
        // No lease runs out while somebody waits: how fast the machine is does not count.
        writer.kill('SIGSTOP')
        await machines.passLease()
        expect(await standby.untilEvent('standby.tookOver')).toMatchObject({
          level: 'warn',
          abandoned: true,
        })
        expect(await standby.untilEvent('retreat.found')).toMatchObject({ onRestart: 'adopt' })
        await Machines.trades(standby)
        const wokeAt = Date.now()
        writeFileSync(suspended, '')
        writer.kill('SIGCONT')

        expect(await writer.ended).toEqual({ code: 75, signal: null })
        expect(writer.events('lease.lost')).toHaveLength(1)
        // One whose commit was answered while it stood still is said to be sent, and is not.
        const named = (run: IntentdProcess) =>
          new Set(run.events('order.sent').map((line) => line['clientOid']))
        const [own, next] = [named(writer), named(standby)]
        const { orders } = await machines.readTruth()
        const sent = [...orders.values()].filter(
          ({ clientOid }) => own.has(clientOid) && !next.has(clientOid),
        )
        expect(sent.filter(({ createdAt }) => createdAt >= wokeAt)).toEqual([])
        expect(sent.length).toBeGreaterThan(0)
        // Both are of one user: the account is kept from a third one again.
        await standby.untilEvent('account.held')
        expect(await standby.stop()).toEqual({ code: 0, signal: null })
        expect(await machines.compare('b', standby)).toEqual([])
      }))

    test.concurrent('its server lost in the middle: it ends as broken, takes away what rests, and goes on when it is started again', () =>
      withMachines(async (machines) => {
        const first = machines.run('a')
        await Machines.trades(first)
        await machines.cutCommit()
        expect(await first.ended).toEqual({ code: 70, signal: null })
        expect(String(first.events('daemon.broken')[0]?.['reason'])).toContain('JOURNAL_POISONED')
        expect(first.events('retreat.ended')).toMatchObject([
          { policy: 'cancel', end: 'cancelled' },
        ])

        const second = machines.run('a')
        await Machines.trades(second)
        expect(await second.stop()).toEqual({ code: 0, signal: null })
        expect(await machines.compare('a', second)).toEqual([])
      }))

    test.concurrent('handed over, it goes on elsewhere without a wait, and its writer ends in good order', () =>
      withMachines(async (machines) => {
        const writer = machines.run('a')
        await Machines.trades(writer)
        const nobody = machines.start('a', ['handover'])
        expect(await nobody.ended).toMatchObject({ code: 1 })
        const standby = machines.standby('b')
        await standby.untilEvent('standby.following')
        const handover = machines.start('a', ['handover'])

        expect([await handover.ended, await writer.ended]).toMatchObject([{ code: 0 }, { code: 0 }])
        expect(writer.summary).toMatchObject({ decisionLatency: { count: expect.any(Number) } })
        expect(Number(writer.summary?.decisionLatency.count)).toBeGreaterThan(0)
        expect(await standby.untilEvent('standby.tookOver')).toMatchObject({
          level: 'info',
          abandoned: false,
        })
        await Machines.trades(standby)
        expect(await standby.stop()).toEqual({ code: 0, signal: null })
        expect(await machines.compare('b', standby)).toEqual([])
      }, LEASE_HANDED_OVER_MS))

    test.concurrent('a handover that the writer misses because it reloads just then is asked for again', () =>
      withMachines(async (machines) => {
        const writer = machines.run('a')
        await Machines.trades(writer)
        const standby = machines.standby('b')
        await standby.untilEvent('standby.following')
        const handover = machines.start('a', ['handover'])
        await handover.until('asked', () => handover.stdout.length > 0)

        // The lease that it takes anew is one under which it hears of it soon.
        machines.changeLease('a', LEASE_HANDED_OVER_MS)
        writer.kill('SIGHUP')
        await writer.until('reloaded', () => writer.events('daemon.opened').length === 2)

        expect(await handover.ended).toMatchObject({ code: 0 })
        expect(await standby.untilEvent('standby.tookOver')).toMatchObject({ abandoned: false })
        // On a busy machine it hears of it while it begins anew, and has proved nothing yet.
        expect([0, 75]).toContain((await writer.ended).code)
        await Machines.trades(standby)
        expect(await standby.stop()).toEqual({ code: 0, signal: null })
        expect(await machines.compare('b', standby)).toEqual([])
      }, LEASE_UNHEARD_MS))

    test.concurrent('handed over, one that was started as a standby ends so that it is started again, and stands by', () =>
      withMachines(async (machines) => {
        const first = machines.standby('a')
        expect(await first.untilEvent('standby.tookOver')).not.toHaveProperty('from')
        await Machines.trades(first)
        const second = machines.standby('b')
        await second.untilEvent('standby.following')
        const handover = machines.start('a', ['handover'])
        expect([await handover.ended, await first.ended]).toMatchObject([{ code: 0 }, { code: 75 }])

        // As a supervisor does after this code.
        const again = machines.standby('a')
        await again.untilEvent('standby.following')
        await Machines.trades(second)
        expect(await second.stop()).toEqual({ code: 0, signal: null })
        expect(await again.untilEvent('standby.tookOver')).toMatchObject({
          level: 'info',
          abandoned: false,
        })
        await Machines.trades(again)
        expect(await again.stop()).toEqual({ code: 0, signal: null })
        expect(await machines.compare('a', again)).toEqual([])
      }, LEASE_HANDED_OVER_MS))

    test.skipIf(networkMissing !== undefined).concurrent.each(shareOf(NETWORK_FAULTS, 2))(
      'on machines with cables between them, no order of it is doubled or lost, and none comes late: %s',
      async (name) => {
        const faults = listFaults().filter((fault) => fault.name === name)

        const report = await failOverNetwork({
          faults: faults.slice(0, 1),
          leaseMs: LEASE_RUN_OUT_MS,
          seed: 1,
        })

        expect(report.differences).toEqual([])
        expect(report.failovers).toMatchObject([{ fault: name, isByFault: true }])
        expect(report.orders).toBeGreaterThan(0)
      },
    )
  },
)
