import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exitOfFleet, formatFleet } from '../../../src/cli/fleet/fleet.ts'
import { type OpenedJournal, untilDurable } from '../../../src/journal/journal.ts'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { readAccounts } from '../../../src/journal/fleet/fleet-accounts.ts'
import { type Fleet, FleetReader } from '../../../src/journal/fleet/fleet-reader.ts'
import { FleetMember } from '../../../src/journal/postgres/fleet-member.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { Machine, record } from '../postgres/scene.ts'

/** Far above what a test takes on a busy machine. */
const terms = { lastingMs: 600_000, validityMs: 20_000 }

describe.skipIf(postgresMissing !== undefined)('the fleet, read from the server', () => {
  let place: PostgresPlace
  let other: PostgresPlace
  let journal: OpenedJournal
  let reader: FleetReader
  let sql: PostgresConnection
  const machines: Machine[] = []

  const open = async (name: string, at: PostgresPlace): Promise<OpenedJournal> => {
    const machine = new Machine(name, at)
    machines.push(machine)
    return (await machine.open({ terms })).journal
  }
  const ask = (text: string): Promise<unknown> =>
    sql.query(text.replaceAll('$schema', `"${place.schema}"`))
  /** Other tests have journals on the same server. */
  const read = async (): Promise<Fleet> => {
    const { accounts, unread, ...rest } = await reader.read()
    const isOwn = ({ schema }: { readonly schema: string }): boolean =>
      schema === place.schema || schema === other.schema
    return { ...rest, accounts: accounts.filter(isOwn), unread: unread.filter(isOwn) }
  }

  beforeEach(async () => {
    const server = await postgresServer()
    place = server.newPlace()
    other = server.newPlace()
    sql = new PostgresConnection(place)
    reader = new FleetReader(place)
    journal = await open('machine a', place)
  })
  afterEach(async () => {
    await journal.close(false)
    await reader.close()
    await sql.close()
    for (const machine of machines.splice(0)) machine.remove()
  })

  test('says who writes each journal, and since when', async () => {
    journal.append(record(1))
    await untilDurable(journal)
    const second = await open('machine b', other)
    const fleet = await read()
    await second.close()

    expect(fleet.accounts.map(({ schema, state, holder }) => [schema, state, holder])).toEqual([
      [place.schema, 'writes', 'machine a'],
      [other.schema, 'writes', 'machine b'],
    ])
    expect(fleet.accounts.map(({ lastSequence }) => lastSequence)).toEqual([1, 0])
    for (const { takenAt, leaseLeftMs, freeInMs } of fleet.accounts) {
      expect(takenAt).toBeLessThanOrEqual(fleet.now)
      expect(leaseLeftMs).toBeGreaterThan(0)
      expect(freeInMs - leaseLeftMs).toBe(terms.validityMs)
    }
    expect([exitOfFleet(fleet), formatFleet(fleet)]).toEqual([
      0,
      expect.stringContaining('written by machine a'),
    ])
  })

  test('tells an end in good order from a writer that vanished', async () => {
    const second = await open('machine b', other)
    await second.close()
    await ask(`UPDATE $schema.lease SET expires_at = clock_timestamp() - interval '5 minutes'`)
    const fleet = await read()

    expect(fleet.accounts.map(({ state, freeInMs }) => [state, freeInMs])).toEqual([
      ['vanished', 0],
      ['ended', 0],
    ])
    expect(exitOfFleet(fleet)).toBe(75)
    expect(formatFleet(fleet)).toContain('the lease of machine a ran out 5 min ago')
    expect(exitOfFleet({ accounts: fleet.accounts.slice(1), unread: [] })).toBe(0)
  })

  test('lists who stands by and how far behind; one that is gone for a while, and for more than a day no more', async () => {
    for (const at of [1, 2]) {
      journal.append(record(at))
      await untilDurable(journal)
    }
    const followers = [
      ['follows', 1, '0'],
      ['is gone', 0, '2 hours'],
      ['is forgotten', 0, '25 hours'],
    ] as const
    for (const [name, feedPlace, ago] of followers)
      await ask(
        `INSERT INTO $schema.followers VALUES ('${name}', '${name}', ${feedPlace}, clock_timestamp() - interval '${ago}')`,
      )
    const fleet = await read()

    expect(fleet.accounts[0]?.standbys).toMatchObject([
      { holder: 'follows', behind: 1, isFollowing: true },
      { holder: 'is gone', behind: 2, isFollowing: false },
    ])
    expect(formatFleet(fleet)).toMatch(
      /standby follows: 1 transaction behind[^]*standby is gone: not seen for 2 h/,
    )
    expect(exitOfFleet(fleet)).toBe(0)
  })

  test('reads the others where one is of another version, and says which', async () => {
    const second = await open('machine b', other)
    await second.close()
    await ask('ALTER TABLE $schema.lease RENAME COLUMN validity TO valid_for')
    const fleet = await read()
    await ask('ALTER TABLE $schema.lease RENAME COLUMN valid_for TO validity')

    expect(fleet.accounts.map(({ schema }) => schema)).toEqual([other.schema])
    expect(fleet.unread).toMatchObject([
      { schema: place.schema, reason: expect.stringContaining('validity') },
    ])
    expect(exitOfFleet(fleet)).toBe(75)
    expect(formatFleet(fleet)).toContain('! it cannot be read')
  })

  test('asks once for many accounts, and for each by itself only where one cannot be read', async () => {
    let asked = 0
    const query: PostgresConnection['query'] = (text) => {
      asked += 1
      return sql.query(text)
    }
    const found = { schema: place.schema, hasOrder: true }
    const { accounts } = await readAccounts(
      { query },
      Array.from({ length: 50 }, () => found),
    )
    expect([accounts.length, accounts[49], asked]).toEqual([
      50,
      expect.objectContaining({ state: 'writes' }),
      2,
    ])

    asked = 0
    const spoilt = await readAccounts({ query }, [
      found,
      { schema: 'nowhere', hasOrder: false },
      found,
    ])
    expect([spoilt.accounts.length, spoilt.unread, asked]).toEqual([
      2,
      [{ schema: 'nowhere', reason: expect.stringContaining('nowhere') }],
      4,
    ])
  })

  test('whoever holds a lock on one journal keeps no other from being read or killed', async () => {
    const second = await open('machine b', other)
    const hostile = new PostgresConnection(place)
    await hostile.query('BEGIN')
    await hostile.query(`LOCK TABLE "${place.schema}".lease IN ACCESS EXCLUSIVE MODE`)
    const fleet = await read()
    await hostile.query('ROLLBACK')
    await hostile.close()
    await second.close()

    expect([fleet.accounts.length, fleet.unread]).toEqual([
      1,
      [{ schema: place.schema, reason: expect.stringContaining('lock timeout') }],
    ])
  })

  test('what a writer said is not shown as what the next one says', async () => {
    const member = {
      connection: sql,
      id: place.schema,
      kind: 'daemon',
      schema: place.schema,
    } as const
    const state = { version: '1', phase: 'running', mode: 'active', openOrders: 7 }
    await new FleetMember({ ...member, holder: 'machine a' }).show(state)
    const own = await read()
    await ask(`UPDATE $schema.lease SET holder = 'machine b', token = token + 1`)
    const next = await read()

    expect(
      [own, next].map(({ accounts: [account] }) => account?.shown?.state['openOrders']),
    ).toEqual([7, undefined])
    expect(formatFleet(next)).not.toContain('7 orders')
  })

  test('a server that is not there is said by its code', async () => {
    const nowhere = new FleetReader({ ...place, url: 'postgresql://postgres@127.0.0.1:1/postgres' })
    await expect(nowhere.read()).rejects.toMatchObject({ code: 'JOURNAL_UNREACHABLE' })
    await nowhere.close()
  })
})
