import { afterEach, describe, expect, test } from 'vitest'
import { migrateServer } from '../../../src/journal/migrate/migrate-server.ts'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { IDENTITY, restoreOnServer } from '../../install/released-state.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { Machine } from '../postgres/scene.ts'

const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end()
})

async function restored(): Promise<{
  readonly place: PostgresPlace
  readonly connection: PostgresConnection
}> {
  const place = await restoreOnServer('0.1.0', await (await postgresServer()).newDatabase())
  const connection = new PostgresConnection(place)
  ended.push(() => connection.close())
  return { place, connection }
}

const migrate = (place: PostgresPlace, isDry = false) =>
  migrateServer({ place, identity: IDENTITY, taker: { place: 'here', name: 'a test' }, isDry })

async function layoutIn(connection: PostgresConnection): Promise<unknown> {
  const [row] = await connection.query("SELECT value FROM intentd_paper.meta WHERE name = 'layout'")
  return row?.['value']
}

async function schemas(connection: PostgresConnection): Promise<readonly unknown[]> {
  const rows = await connection.query(
    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'intentd_paper%' ORDER BY nspname",
  )
  return rows.map(({ nspname }) => nspname)
}

describe.skipIf(postgresMissing)('[DET2] a journal of an earlier layout on PostgreSQL', () => {
  test('is opened once it is migrated, and stands beside as it was; a dry run changes nothing', async () => {
    const { place, connection } = await restored()
    const machine = new Machine('a', place)
    ended.push(() => machine.remove())
    await expect(machine.open({ identity: IDENTITY })).rejects.toThrow(
      /JOURNAL_LAYOUT_OLD[^]*migrate/,
    )

    const planned = await migrate(place, true)
    expect([await layoutIn(connection), await schemas(connection)]).toEqual([
      '1',
      ['intentd_paper'],
    ])
    expect(await migrate(place)).toEqual(planned)

    expect(planned).toMatchObject({ from: 6, to: 8, counted: { fills: 17, records: 67, book: 86 } })
    expect(await layoutIn(connection)).toBe('8')
    expect(await schemas(connection)).toEqual(['intentd_paper', 'intentd_paper_layout_6'])
    const kept = await connection.query(
      'SELECT count(*)::int AS n FROM intentd_paper_layout_6.fills',
    )
    expect(kept).toEqual([{ n: 17 }])
    const { journal } = await machine.open({ identity: IDENTITY })
    expect([...journal.bookings('fill')]).toHaveLength(17)
    const trades = (journal.load().checkpoint ?? []).filter(({ name }) => name === 'trades')
    expect(trades.filter(({ key }) => !key.includes('|'))).toEqual([])
    await journal.close()
  })

  test('[RSK1] is not migrated while somebody may write it, or stands by for it', async () => {
    const { place, connection } = await restored()
    await connection.query(
      `UPDATE intentd_paper.lease SET released = false, place = 'there', holder = 'another',
        expires_at = clock_timestamp() + interval '1 minute'`,
    )
    await expect(migrate(place)).rejects.toThrow(/JOURNAL_LEASE_HELD[^]*another/)

    await connection.query('UPDATE intentd_paper.lease SET released = true')
    await connection.query(
      "INSERT INTO intentd_paper.followers VALUES ('there', 'a standby', 0, clock_timestamp())",
    )
    await expect(migrate(place)).rejects.toThrow(/JOURNAL_FOLLOWED[^]*a standby/)

    expect([await layoutIn(connection), await schemas(connection)]).toEqual([
      '1',
      ['intentd_paper'],
    ])
  })

  test('[RSK1] gives its lease to no earlier version afterwards, and takes no write of one', async () => {
    const { place, connection } = await restored()
    const [before] = await connection.query('SELECT token, feed_place FROM intentd_paper.lease')
    await migrate(place)

    await expect(
      connection.query(
        "SELECT * FROM intentd_paper.take_lease('x', 'y', interval '1 s', interval '1 s')",
      ),
    ).rejects.toThrow(/does not exist/)
    await expect(
      connection.query(
        "SELECT * FROM intentd_paper.take_lease('x', 'y', interval '1 s', interval '1 s', '9')",
      ),
    ).rejects.toMatchObject({ code: 'IN003' })
    await connection.query('UPDATE intentd_paper.lease SET released = false')
    await expect(
      connection.query("SELECT intentd_paper.write_changes($1, $2, 1, '', '{}')", [
        before?.['token'],
        Number(before?.['feed_place']) + 1,
      ]),
    ).rejects.toMatchObject({ code: 'IN001' })
  })

  test('is left as it was where a row is not as it was written', async () => {
    const { place, connection } = await restored()
    await connection.query("UPDATE intentd_paper.fills SET price = '1'")

    await expect(migrate(place)).rejects.toThrow(/JOURNAL_CORRUPT/)

    expect([await layoutIn(connection), await schemas(connection)]).toEqual([
      '1',
      ['intentd_paper'],
    ])
  })

  test('is not migrated over a copy that is there', async () => {
    const { place, connection } = await restored()
    await connection.query('CREATE SCHEMA intentd_paper_layout_6')

    await expect(migrate(place)).rejects.toThrow(/JOURNAL_MIGRATE_COPY_EXISTS/)

    expect(await layoutIn(connection)).toBe('1')
  })
})
