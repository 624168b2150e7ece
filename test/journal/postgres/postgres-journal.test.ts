import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { JournalReader } from '../../../src/journal/journal-reader.ts'
import { untilDurable } from '../../../src/journal/journal.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { fill, instants, Machine, record, send, type TestJournal } from './scene.ts'

describe.skipIf(postgresMissing !== undefined)('[ORD1] the journal on PostgreSQL', () => {
  let place: PostgresPlace
  const machines: Machine[] = []
  const opened: TestJournal[] = []

  const machine = (name: string): Machine => {
    const made = new Machine(name, place)
    machines.push(made)
    return made
  }
  const open = async (on: Machine): Promise<TestJournal> => {
    const { journal } = await on.open()
    opened.push(journal)
    return journal
  }
  const ask = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const connection = new PostgresConnection(place)
    try {
      return await connection.query(sql.replaceAll('$schema', `"${place.schema}"`))
    } finally {
      await connection.close()
    }
  }

  beforeEach(async () => {
    place = (await postgresServer()).newPlace()
  })

  afterEach(async () => {
    for (const journal of opened.splice(0))
      await Promise.resolve(journal.close(false)).catch(() => undefined)
    for (const made of machines.splice(0)) made.remove()
  })

  test('gives back on another machine what was written, in order, with the salt that it was made with', async () => {
    const first = await open(machine('a'))
    for (const at of [1, 2, 3]) first.append(record(at))
    await first.close()

    const second = await open(machine('b'))
    expect([instants(second), second.salt]).toEqual([[1, 2, 3], first.salt])
  })

  test('says of a commit that it is done when the server has it, and not before', async () => {
    const journal = await open(machine('a'))
    journal.append(record(1))
    let isDone = false
    journal.commit(() => {
      isDone = true
    })
    expect(isDone).toBe(false)

    await untilDurable(journal)
    const rows = await ask('SELECT at FROM $schema.records')
    expect([isDone, rows]).toEqual([true, [{ at: '1' }]])
  })

  test('takes along what came before a durable record, and what came while a commit was under way', async () => {
    const journal = await open(machine('a'))
    journal.append(record(1))
    const first = untilDurable(journal)
    journal.append(record(2))
    journal.append(record(3))
    const second = untilDurable(journal)
    await Promise.all([first, second])

    const transactions = await ask('SELECT place FROM $schema.feed')
    const rows = await ask('SELECT at FROM $schema.records ORDER BY sequence')
    expect(transactions).toHaveLength(2)
    expect(rows.map(({ at }) => Number(at))).toEqual([1, 2, 3])
  })

  test('[DET2] starts from its checkpoint elsewhere: rows in their order, keys, fills, records behind it', async () => {
    const one = machine('a')
    const journal = await open(one)
    journal.append(send(1, 'early'))
    journal.append(record(2), [fill('t1', 1000), fill('t2', 90_000_000)])
    journal.saveCheckpoint([
      { name: 'orders', key: 'x', value: '1' },
      { name: 'orders', key: 'y', value: '2' },
    ])
    journal.append(send(3, 'late'))
    journal.saveCheckpoint([
      { name: 'orders', key: 'x', value: undefined },
      { name: 'orders', key: 'y', value: 'changed' },
      { name: 'orders', key: 'x', value: 'again' },
    ])
    journal.append(record(4), [
      {
        kind: 'owner',
        tradeId: 't1',
        orderId: 'ot1',
        owner: 'strategy',
        strategyId: 's',
        clientOid: 'c',
        reason: 'stop',
        tag: 'dip',
      },
    ])
    const point = { series: 'account', at: 60_000, value: '1 2 3' }
    journal.notePoints([point])
    await journal.close()

    const other = await open(machine('b'))
    expect([...other.curve({ series: 'account' })]).toEqual([point])
    const keys = ['early', 'late', 'never'].map(
      (key) => ({ purpose: 'place', strategyId: 's', key }) as const,
    )
    const { checkpoint, records } = other.load()
    expect(checkpoint?.map(({ key, value }) => `${key} ${value}`)).toEqual(['y changed', 'x again'])
    expect(records.map(({ at }) => at)).toEqual([4])
    expect(other.usedKeys(keys).map(({ key }) => key)).toEqual(['early', 'late'])
    expect([...other.bookings('fill')].map((row) => ('owner' in row ? row.owner : ''))).toEqual([
      'strategy',
      'waiting',
    ])
  })

  test('[ORD2] stores keys before a checkpoint, one part for each write, and has them elsewhere', async () => {
    const journal = await open(machine('a'))
    journal.saveCheckpoint([{ name: 'orders', key: 'x', value: '1' }])
    const names = Array.from({ length: 200 }, (_, index) => `key ${index}`)
    for (const name of names) journal.append(send(1, name))
    const parts: number[] = []
    await untilDurable(journal)
    while (journal.prepareCheckpoint()) {
      await untilDurable(journal)
      const [row] = await ask('SELECT count(*) AS stored FROM $schema.used_keys')
      parts.push(Number(row?.['stored']))
    }
    await journal.close()

    const other = await open(machine('b'))
    expect(parts).toEqual([64, 128, 192])
    expect([other.load().checkpoint, other.load().records.length]).toEqual([
      [{ name: 'orders', key: 'x', value: '1' }],
      names.length,
    ])
    const keys = names.map((key) => ({ purpose: 'place', strategyId: 's', key }) as const)
    expect(other.usedKeys(keys).map(({ key }) => key)).toEqual(names)
  })

  test('keeps text that PostgreSQL has no letters for', async () => {
    const journal = await open(machine('a'))
    const odd = 'a\0b\uf8ffc\uf8ff0'
    journal.append(send(1, odd))
    journal.saveCheckpoint([{ name: 'orders', key: odd, value: odd }])
    await journal.close()

    const other = await open(machine('b'))
    expect(other.load().checkpoint).toEqual([{ name: 'orders', key: odd, value: odd }])
    expect(other.usedKeys([{ purpose: 'place', strategyId: 's', key: odd }])).toHaveLength(1)
  })

  test('follows on from what it has on this machine, and reads it all anew where that is gone or another', async () => {
    const [one, two] = [machine('a'), machine('b')]
    const first = await open(one)
    first.append(record(1))
    await first.close()
    const second = await open(two)
    second.append(record(2))
    second.saveCheckpoint([])
    second.append(record(3))
    await second.close()

    const third = await open(one)
    expect(instants(third)).toEqual([3])
    await third.close()
    rmSync(one.file)
    const fourth = await open(one)
    expect(instants(fourth)).toEqual([3])
  })

  test('is read on the machine of its writer as any journal is, and holds nothing there that is not durable', async () => {
    const one = machine('a')
    const journal = await open(one)
    journal.append(record(1))
    const done = untilDurable(journal)
    const read = (): number[] => {
      const reader = new JournalReader(one.file)
      const found = [...reader.records()].map((row) => row.record.at)
      reader.close()
      return found
    }
    const before = read()
    await done

    expect([before, read()]).toEqual([[], [1]])
  })

  test.each([
    ['a record was changed', "UPDATE $schema.records SET body = body || ' ' WHERE sequence = 2"],
    ['the last record is gone', 'DELETE FROM $schema.records WHERE sequence = 2'],
    ['a row of the book was changed', "UPDATE $schema.book SET value = '2'"],
    ['a row of the book is gone', 'DELETE FROM $schema.book'],
    ['a day of fills is gone', 'DELETE FROM $schema.booked_days'],
  ])('refuses what is on the server and is not what was written: %s', async (_, damage) => {
    const journal = await open(machine('a'))
    journal.append(record(1), [fill('t1', 1000)])
    journal.saveCheckpoint([{ name: 'orders', key: 'x', value: '1' }])
    journal.append(record(2))
    await journal.close()
    await ask(damage)

    // No repair is for it: that reads files.
    await expect(open(machine('b'))).rejects.toThrow(
      /JOURNAL_CORRUPT: (?![^]*intentd repair)[^]*Damaged rows/,
    )
  })

  test('refuses a server that came back without what it had said was durable', async () => {
    const one = machine('a')
    const journal = await open(one)
    journal.append(record(1))
    await untilDurable(journal)
    await ask('CREATE TABLE $schema.kept AS TABLE $schema.lease')
    journal.append(record(2))
    await journal.close()
    await ask(`BEGIN; DELETE FROM $schema.lease; INSERT INTO $schema.lease TABLE $schema.kept;
      UPDATE $schema.lease SET released = true;
      DELETE FROM $schema.feed WHERE place = 2; DELETE FROM $schema.records WHERE at = 2; COMMIT`)

    await expect(open(one)).rejects.toThrow(/JOURNAL_TAIL_LOST/)
  })

  test('an archive takes away what is old, with the record that says so', async () => {
    const journal = await open(machine('a'))
    journal.append(record(1), [fill('t1', 1000), fill('t2', 90_000_000)])
    journal.dropBookings({
      kind: 'archived',
      at: 2,
      before: 86_400_000,
      fills: 1,
      fundings: 0,
      file: 'f',
    })
    await untilDurable(journal)
    const rows = await ask('SELECT "tradeId" FROM $schema.fills')
    expect(rows).toEqual([{ tradeId: 't2' }])
    await journal.close()

    const other = await open(machine('b'))
    expect([...other.bookings('fill')]).toHaveLength(1)
  })
})
