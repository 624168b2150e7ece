import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { takeLease, type LeaseAttempt } from '../../../src/journal/postgres/lease.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { untilDurable } from '../../../src/journal/journal.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { instants, Machine, record } from './scene.ts'

/** Far above what a test takes on a busy machine. */
const LASTING_S = 600
const terms = { lastingMs: LASTING_S * 1000, validityMs: 20_000 }

describe.skipIf(postgresMissing !== undefined)(
  '[RSK1] the lease of a journal on PostgreSQL',
  () => {
    let place: PostgresPlace
    let connection: PostgresConnection
    const machines: Machine[] = []
    const closings: (() => unknown)[] = []

    const machine = (name: string): Machine => {
      const made = new Machine(name, place)
      machines.push(made)
      return made
    }
    /** A writer whose lease is not renewed meanwhile: it lasts for {@link LASTING_S}. */
    const open = async (name: string) => {
      const { journal } = await machine(name).open({ terms })
      closings.push(() => journal.close(false))
      return journal
    }
    const take = (who: string, on = connection): Promise<LeaseAttempt> =>
      takeLease(
        { connection: on, schema: place.schema, clock: systemClock },
        { place: who, name: who },
        terms,
      )
    const ask = (sql: string): Promise<unknown> =>
      connection.query(sql.replaceAll('$schema', `"${place.schema}"`))
    /** As if so much time had passed on the server. */
    const pass = (seconds: number): Promise<unknown> =>
      ask(`UPDATE $schema.lease SET expires_at = expires_at - interval '${seconds} s'`)

    beforeEach(async () => {
      place = (await postgresServer()).newPlace()
      connection = new PostgresConnection(place)
    })

    afterEach(async () => {
      for (const close of closings.splice(0)) await Promise.resolve(close()).catch(() => undefined)
      await connection.close()
      for (const made of machines.splice(0)) made.remove()
    })

    test('is one writer’s, who is named to the other', async () => {
      await open('a')

      await expect(machine('b').open()).rejects.toThrow(/JOURNAL_LEASE_HELD[^]*holder *a/)
    })

    test('is free when its time is over and that of every request that was signed under it, and not before', async () => {
      await open('a')
      await pass(LASTING_S + 19)
      const before = await take('b')
      await pass(1.01)
      const after = await take('b')

      expect(before).toMatchObject({ kind: 'held', holder: 'a' })
      expect(after).toMatchObject({ kind: 'taken', token: 2, isAbandoned: true })
    })

    test('a writer that was passed over writes nothing any more: the server refuses its token', async () => {
      const journal = await open('a')
      journal.append(record(1))
      await untilDurable(journal)
      const lost: string[] = []
      journal.lease?.onLost((failure) => lost.push(failure.code))
      await pass(LASTING_S + 21)
      await take('b')
      journal.append(record(2))

      await expect(untilDurable(journal)).rejects.toThrow(/JOURNAL_POISONED/)
      expect(() => journal.append(record(3))).toThrow(/JOURNAL_POISONED/)
      expect([journal.lease?.objection(), lost[0]]).toEqual([
        expect.any(String),
        'JOURNAL_LEASE_LOST',
      ])
      const rows = await connection.query(`SELECT at FROM "${place.schema}".records`)
      expect(rows).toEqual([{ at: '1' }])
    })

    test('what was under way when it was taken is there before, or never', async () => {
      const journal = await open('a')
      await pass(LASTING_S + 21)
      journal.append(record(1))
      const [written, taken] = await Promise.allSettled([untilDurable(journal), take('b')])
      const rows = await connection.query(`SELECT at FROM "${place.schema}".records`)
      const head =
        taken.status === 'fulfilled' && taken.value.kind === 'taken' ? taken.value.feedPlace : -1

      expect(rows).toHaveLength(written.status === 'fulfilled' ? 1 : 0)
      expect(head).toBe(rows.length)
    })

    test('of two that ask at once one gets it', async () => {
      await open('a')
      await pass(LASTING_S + 21)
      const others = [
        new PostgresConnection(place),
        new PostgresConnection(place),
        new PostgresConnection(place),
      ]
      const attempts = await Promise.all(others.map((on, index) => take(`b${index}`, on)))
      for (const on of others) await on.close()

      expect(attempts.filter(({ kind }) => kind === 'taken')).toHaveLength(1)
    })

    test('a process that died is followed at once by the next of its own directory', async () => {
      const dead = await open('a')
      dead.append(record(1))
      await untilDurable(dead)
      await dead.close(false)

      const { journal } = await (machines[0] ?? machine('a')).open()
      closings.push(() => journal.close())
      expect([instants(journal), journal.lease?.isAbandoned]).toEqual([[1], false])
    })

    test('given back it is free at once, and kept for a reload only for the same directory', async () => {
      const one = machine('a')
      const first = (await one.open()).journal
      await first.close()
      const second = (await one.open()).journal
      second.lease?.keep()
      await second.close()

      expect(await take('b')).toMatchObject({ kind: 'held' })
      expect(await take('a')).toMatchObject({ kind: 'taken', token: 3 })
    })

    test('handed over it goes elsewhere: who gave it away may not take it back at once', async () => {
      const one = machine('a')
      const { journal } = await one.open()
      await ask('UPDATE $schema.lease SET handover_at = clock_timestamp()')
      await journal.close()

      expect(await take('a')).toMatchObject({ kind: 'held' })
      expect(await take('b')).toMatchObject({ kind: 'taken', isAbandoned: false })
    })
  },
)
