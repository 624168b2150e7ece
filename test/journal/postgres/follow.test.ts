import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import type { StandbyState } from '../../../src/journal/postgres/follow.ts'
import { type OpenedJournal, untilDurable } from '../../../src/journal/journal.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { instants, Machine, record } from './scene.ts'

/** Far above what a test takes on a busy machine. */
const terms = { lastingMs: 600_000, validityMs: 20_000 }

/** Somebody who waits for the lease, and looks when the test says so. */
class Waiter {
  readonly states: StandbyState[] = []
  journal: OpenedJournal | undefined
  error: unknown
  #look: (() => void) | undefined
  #looked: (() => void) | undefined
  readonly #done: Promise<void>

  constructor(machine: Machine) {
    this.#done = machine
      .open({
        terms,
        following: {
          onState: (state) => this.states.push(state),
          pause: () =>
            new Promise((resolve) => {
              this.#look = resolve
              this.#looked?.()
            }),
        },
      })
      .then(
        ({ journal }) => {
          this.journal = journal
        },
        (error: unknown) => {
          this.error = error
        },
      )
      .finally(() => this.#looked?.())
  }

  /** Resolves when it has looked once more, or waits no longer. @returns what it found */
  async look(): Promise<StandbyState | undefined> {
    const looked = new Promise<void>((resolve) => {
      this.#looked = resolve
    })
    const look = this.#look
    this.#look = undefined
    look?.()
    await Promise.race([looked, this.#done])
    return this.states.at(-1)
  }
}

describe.skipIf(postgresMissing !== undefined)('a standby of a journal on PostgreSQL', () => {
  let place: PostgresPlace
  let writer: OpenedJournal
  let waiter: Waiter
  const machines: Machine[] = []

  const machine = (name: string): Machine => {
    const made = new Machine(name, place)
    machines.push(made)
    return made
  }
  const ask = async (sql: string): Promise<void> => {
    const connection = new PostgresConnection(place)
    await connection.query(sql.replaceAll('$schema', `"${place.schema}"`))
    await connection.close()
  }

  beforeEach(async () => {
    place = (await postgresServer()).newPlace()
    writer = (await machine('a').open({ terms })).journal
    waiter = new Waiter(machine('b'))
    await waiter.look()
  })

  afterEach(async () => {
    for (const journal of [writer, waiter.journal])
      await Promise.resolve(journal?.close(false)).catch(() => undefined)
    for (const made of machines.splice(0)) made.remove()
  })

  test('says whom it follows, and how far behind it was', async () => {
    for (const at of [1, 2]) {
      writer.append(record(at))
      await untilDurable(writer)
    }

    expect(await waiter.look()).toMatchObject({ holder: 'a', behind: 2 })
    expect(await waiter.look()).toMatchObject({ holder: 'a', behind: 0 })
  })

  test('takes over what is given back, with everything that was durable', async () => {
    writer.append(record(1))
    writer.saveCheckpoint([{ name: 'orders', key: 'x', value: '1' }])
    writer.append(record(2))
    await writer.close()
    await waiter.look()

    const { journal } = waiter
    expect([journal && instants(journal), journal?.lease?.isAbandoned]).toEqual([[2], false])
  })

  test.each(['53100', '53300', '25006', '58030'])(
    'waits while its server has no room, or is not the one that is written yet (%s)',
    async (state) => {
      await ask(`CREATE FUNCTION $schema.refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '${state}'; END $$`)
      await ask(
        'CREATE TRIGGER refused BEFORE INSERT ON $schema.followers FOR EACH ROW EXECUTE FUNCTION $schema.refuse()',
      )
      const found = await waiter.look()
      await ask('DROP TRIGGER refused ON $schema.followers')
      const next = await waiter.look()

      expect([found?.trouble, next?.trouble, waiter.error]).toEqual([
        'not now',
        undefined,
        undefined,
      ])
    },
  )

  test('does not take over from a server that came back without what it had followed', async () => {
    for (const at of [1, 2]) {
      writer.append(record(at))
      await untilDurable(writer)
    }
    await waiter.look()
    await writer.close(false)
    await ask('DELETE FROM $schema.records WHERE sequence = 2')
    await ask('DELETE FROM $schema.feed WHERE place = (SELECT feed_place FROM $schema.lease)')
    await ask(`UPDATE $schema.lease SET feed_place = feed_place - 1, expires_at = expires_at - interval '1 day',
      last_sequence = 1, last_link = (SELECT link FROM $schema.records WHERE sequence = 1)`)
    const found = await waiter.look()

    expect(found?.trouble).toContain('JOURNAL_TAIL_LOST')
    expect(waiter.journal).toBeUndefined()
  })

  test('waits while its server is away, and takes over from a writer that broke of it, once its lease is over', async () => {
    writer.append(record(1))
    await untilDurable(writer)
    ;(await postgresServer()).restart()
    writer.append(record(2))
    const written = await untilDurable(writer).then(
      () => [1, 2],
      () => [1],
    )
    const found = [await waiter.look(), await waiter.look()]
    await writer.close(false)
    await ask(`UPDATE $schema.lease SET expires_at = expires_at - interval '1 day'`)
    for (let looks = 0; waiter.journal === undefined && looks < 5; looks++) await waiter.look()

    const { journal } = waiter
    expect(found.map((state) => state?.trouble === undefined)).toContain(true)
    expect([journal && instants(journal), journal?.lease?.isAbandoned]).toEqual([written, true])
  })
})
