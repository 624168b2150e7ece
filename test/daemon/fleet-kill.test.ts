import { afterAll, describe, expect, test, vi } from 'vitest'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { requestKill } from '../../src/journal/postgres/kill-request.ts'
import { killLeftOver } from './intentd-process.ts'
import { Machines } from './machines.ts'

afterAll(() => killLeftOver())

/** Heard within a quarter of it. */
const LEASE_MS = 20_000
/** The longest one: its writer hears of nothing for more than a minute. */
const LEASE_MS_MAX = 300_000

async function withMachines(
  use: (machines: Machines, kill: readonly string[], place: PostgresPlace) => Promise<void>,
  leaseMs = LEASE_MS,
): Promise<void> {
  const place = await (await postgresServer()).newDatabase()
  const machines = await Machines.open(place, leaseMs)
  try {
    await use(machines, ['kill', '--all', '--url', place.url, '--reason', 'drill'], place)
  } finally {
    await machines.close()
  }
}

describe.skipIf(postgresMissing !== undefined)('[RSK2] [RSK3] intentd kill --all', () => {
  test.concurrent('is obeyed by the writer on another machine and proved, stands over a takeover, and ends with a release there', () =>
    withMachines(async (machines, kill) => {
      const writer = machines.run('a')
      await Machines.trades(writer)
      // From a machine that has no configuration, and twice.
      const orders = [machines.command('c', kill), machines.command('c', kill)]
      for (const { ended, stderr } of orders) {
        expect([await ended, stderr.join('\n')]).toMatchObject([
          { code: 0 },
          expect.stringMatching(/killed: nothing rests[^]*proved of 1 of 1 accounts/),
        ])
      }
      expect(writer.events('trading.killed')).toMatchObject([{ reason: 'drill' }])
      const killedAt = writer.log.findIndex(({ event }) => event === 'trading.killed')
      expect(writer.log.slice(killedAt).filter(({ event }) => event === 'order.sent')).toEqual([])

      // How it stands is written when the lease is renewed: after the proof, which is written at once.
      await vi.waitFor(async () => {
        const status = machines.command('c', ['fleet', 'status', ...kill.slice(2, 4)])
        expect(await status.ended).toMatchObject({ code: 0 })
        expect(status.stdout.join('\n')).toMatch(
          /killed, running.*: 0 orders open[^]*a kill was ordered[^]*alerts[^]*! the kill switch is on/,
        )
      }, LEASE_MS)

      // No daemon is here, so nothing here knows of the kill but the server.
      const nowhere = machines.start('b', ['release', '--reason', 'given where nothing runs'])
      expect(await nowhere.ended).toMatchObject({ code: 75 })
      expect(nowhere.stdout.join('\n')).toMatch(
        /not done: a kill was ordered on the server of the journal by .+ \(drill\); .+ has proved that nothing rests; release it there: on \S+, `intentd release --state \S+ --reason ...`/,
      )

      const standby = machines.standby('b')
      await standby.untilEvent('standby.following')
      const early = machines.start('b', ['release', '--reason', 'given at the wrong machine'])
      expect(await early.ended).toMatchObject({ code: 1 })
      expect([...early.stderr, ...early.stdout].join('\n')).toMatch(
        /a standby has read this, and obeys nothing: give it to whoever writes the account, which is crash on/,
      )
      await writer.stop('SIGKILL')
      await machines.passLease()
      await standby.untilEvent('kill.clean')
      expect(standby.events('order.sent')).toEqual([])
      const release = machines.start('b', ['release', '--reason', 'over', '--wait', '60s'])
      expect(await release.ended).toMatchObject({ code: 0 })
      await standby.untilEvent('order.accepted')
      expect(await standby.stop()).toMatchObject({ code: 0 })

      // What was thrown on the first machine was released on the second.
      const next = machines.run('a')
      await Machines.trades(next)
      expect(next.events('daemon.killed')).toEqual([])
    }))

  test.concurrent('names an account whose writer is gone as not killed, and who takes over obeys before it trades', () =>
    withMachines(async (machines, kill) => {
      const writer = machines.run('a')
      await Machines.trades(writer)
      await writer.stop('SIGKILL')
      await machines.passLease()
      const order = machines.command('c', [...kill, '--wait', '0s'])
      expect(await order.ended).toMatchObject({ code: 75 })
      expect(order.stderr.join('\n')).toMatch(
        /proved of 0 of 1[^]*NOT killed: .*ran out[^]*intentd kill --state/,
      )
      const release = machines.start('a', ['release', '--reason', 'too early'])
      expect(await release.ended).toMatchObject({ code: 75 })
      expect(release.stdout.join('\n')).toMatch(
        /not done: a kill was ordered on the server .+, and no daemon has obeyed it yet; whoever trades the account next obeys it/,
      )

      const standby = machines.standby('b')
      await standby.untilEvent('kill.clean')
      expect(standby.events('order.sent')).toEqual([])
      const again = machines.command('c', kill)
      expect(await again.ended).toMatchObject({ code: 0 })
      expect(await standby.stop()).toMatchObject({ code: 0 })
      expect(await machines.compare('b', standby)).toEqual([])
    }))

  // Not beside the others: it has to be over before the writer renews its lease.
  test('is named by a release that comes before the writer has heard of it', () =>
    withMachines(async (machines, _, place) => {
      const writer = machines.run('a')
      await writer.untilEvent('daemon.running')
      const server = new PostgresConnection(place)
      await requestKill(server, place.schema, { reason: 'drill', by: 'anna' })
      await server.close()

      const early = machines.start('a', ['release', '--reason', 'too early', '--wait', '60s'])
      expect(await early.ended).toMatchObject({ code: 1 })
      expect(early.stdout.join('\n')).toMatch(
        /^not done: a kill was ordered on the server of the journal by anna at [\d-]+ [\d:]+ UTC \(drill\), and no daemon has obeyed it yet; the daemon here hears of it within \d+ s/,
      )
    }, LEASE_MS_MAX))
})
