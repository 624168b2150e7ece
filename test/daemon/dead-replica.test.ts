import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { STATE } from '../crash/crash-config.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { isOpenThere } from '../support/virtual/exchange-truth.ts'
import { killLeftOver } from './intentd-process.ts'
import { Machines } from './machines.ts'

afterAll(() => killLeftOver())

/** The writer keeps its lease while its renewals wait: nothing in the test depends on how fast the machine is. */
const LEASE_MS = 60_000

/** From now on each commit waits for a server that is not there; read by the server itself, not by a commit. */
async function loseReplica(place: PostgresPlace): Promise<void> {
  const connection = new PostgresConnection(place)
  await connection.query(`ALTER SYSTEM SET synchronous_standby_names = 'gone'`)
  await connection.query('SELECT pg_reload_conf()')
  await connection.close()
}

async function findReplica(place: PostgresPlace): Promise<void> {
  const connection = new PostgresConnection(place, 0, 'SET synchronous_commit = local')
  await connection.query('ALTER SYSTEM RESET synchronous_standby_names')
  await connection.query('SELECT pg_reload_conf()')
  await connection.close()
}

describe.skipIf(postgresMissing !== undefined)('[RSK3] a synchronous replica that is dead', () => {
  test('keeps no kill back: it goes to the exchange first, its order is written, and the writer obeys', async () => {
    const place = await (await postgresServer()).newDatabase()
    const machines = await Machines.open(place, LEASE_MS)
    try {
      const writer = machines.run('a')
      await Machines.trades(writer)
      await loseReplica(place)

      // From a machine that has the configuration and the keys, and from one that has neither.
      const here = machines.start('b', ['kill', '--all', '--reason', 'drill', '--wait', '1s'])
      const { code } = await here.ended
      const said = here.stderr.join('\n')
      expect(said).toMatch(
        /crash: (cancelled at the exchange from here|nothing rests at the exchange now)/,
      )
      expect(code).toBe(75)
      const { orders } = await machines.readTruth()
      expect([...orders.values()].filter(isOpenThere)).toEqual([])

      const connection = new PostgresConnection(place)
      const [row] = await connection.query(`SELECT reason FROM "${place.schema}".kill_order`)
      await connection.close()
      expect(row).toEqual({ reason: 'drill' })
      const killFile = join(machines.placeOf('a').directory, STATE, 'KILL')
      await vi.waitFor(() => expect(readFileSync(killFile, 'utf8')).toContain('drill'), LEASE_MS)
      const before = (await machines.readTruth()).orders.size
      await findReplica(place)
      await writer.untilEvent('kill.clean')
      // What waited for its commit is said to be sent, and is not.
      expect((await machines.readTruth()).orders.size).toBe(before)
      expect(await writer.stop()).toMatchObject({ code: 0 })
    } finally {
      await findReplica(place)
      await machines.close()
    }
  })
})
