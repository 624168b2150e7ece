import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { differencesOf, type JournalWriter } from '../../src/journal/journal-writer.ts'
import { repairJournal } from '../../src/journal/repair-journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { Machine, record } from './postgres/scene.ts'

const folder = mkdtempSync(join(tmpdir(), 'intentd-writer-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ALICE: JournalWriter = {
  keys: 'a'.repeat(32),
  by: 'live on one (INTENTD_API_KEY)',
  setup: { risk: '1' },
}
const BOB: JournalWriter = {
  keys: 'b'.repeat(32),
  by: 'live on two (INTENTD_API_KEY)',
  setup: { risk: '1' },
}

const openFile = (file: string) =>
  openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })

test('a journal in a file keeps who wrote it last, also through a repair', () => {
  const file = join(folder, 'journal.sqlite')
  const first = openFile(file)
  first.noteWriter(ALICE)
  first.append(record(1))
  first.close()
  const second = openFile(file)
  second.close()
  rmSync(`${file}.mark`)
  const report = repairJournal({
    file,
    identity: 'live 1',
    stamp: 'now',
    buildRecord: (reason) => ({ kind: 'repaired', at: 1, strategies: [], symbols: [], reason }),
  })
  const third = openFile(file)
  third.close()

  expect(report?.refusal.code).toBe('JOURNAL_MARK_DAMAGED')
  expect([first.writer, second.writer, third.writer]).toEqual([undefined, ALICE, ALICE])
})

test('what two would trade otherwise is named, also what only one of them has', () => {
  const own = { setup: { risk: '1', 'strategy grid': '2', 'code of grid': '3' } }
  const other = { setup: { risk: '2', 'strategy grid': '2', 'strategy trend': '4' } }

  expect(differencesOf(own, other)).toEqual([
    'code of grid is only here',
    'risk',
    'strategy trend is missing here',
  ])
  expect([differencesOf(own, own), differencesOf(own, undefined)]).toEqual([[], []])
})

describe.skipIf(postgresMissing !== undefined)('a journal on PostgreSQL', () => {
  const machines: Machine[] = []
  afterAll(() => machines.forEach((machine) => machine.remove()))
  const machineAt = (name: string, place: PostgresPlace): Machine => {
    const made = new Machine(name, place)
    machines.push(made)
    return made
  }

  test('refuses whoever has the keys of another account, with both names, before the lease is taken', async () => {
    const place = (await postgresServer()).newPlace()
    const { journal } = await machineAt('one', place).open({ own: ALICE })
    await journal.noteWriter(ALICE)
    await journal.close()
    const tokenOf = async () => {
      const connection = new PostgresConnection(place)
      const [row] = await connection.query(`SELECT token FROM "${place.schema}".lease`)
      await connection.close()
      return row?.['token']
    }
    const token = await tokenOf()

    await expect(machineAt('two', place).open({ own: BOB })).rejects.toThrow(
      /^STATE_OF_OTHER_KEYS: [^]*keys aaaaaaaa of live on one[^]*keys bbbbbbbb of live on two[^]*journal rekey/,
    )
    expect(await tokenOf()).toBe(token)
    const { journal: again } = await machineAt('three', place).open({
      own: { ...ALICE, by: 'elsewhere' },
    })
    expect(again.writer).toEqual(ALICE)
    await again.close()
  })

  test('refuses a standby once the writer has noted its keys, and takes no note of one that lost its lease', async () => {
    const place = (await postgresServer()).newPlace()
    const { journal } = await machineAt('one', place).open({ own: ALICE })
    let looks = 0
    const standby = machineAt('two', place).open({
      own: BOB,
      following: {
        onState: () => undefined,
        pause: async () => {
          if (looks++ === 1) await journal.noteWriter(ALICE)
          if (looks > 5) throw new Error('it follows on')
        },
      },
    })

    await expect(standby).rejects.toThrow(/^STATE_OF_OTHER_KEYS/)
    expect(looks).toBe(2)
    const connection = new PostgresConnection(place)
    await connection.query(`UPDATE "${place.schema}".lease SET token = token + 1`)
    await journal.noteWriter(BOB)
    const [row] = await connection.query(
      `SELECT value FROM "${place.schema}".meta WHERE name = 'writer'`,
    )
    expect(row?.['value']).toBe(JSON.stringify(ALICE))
    await connection.close()
    await journal.close(false)
  })

  test('a standby that differs takes over, or nothing where that is refused, and the server knows what differs', async () => {
    const place = (await postgresServer()).newPlace()
    const { journal } = await machineAt('one', place).open({ own: ALICE })
    await journal.noteWriter(ALICE)
    await journal.close()
    const own = { ...ALICE, setup: { risk: '10' } }
    const states: (readonly string[])[] = []
    const follow = (refusesDifference: boolean, looksMax: number) =>
      machineAt(`two ${refusesDifference}`, place).open({
        own,
        refusesDifference,
        following: {
          onState: ({ differs }) => states.push(differs),
          pause: async () => {
            if (states.length >= looksMax) throw new Error('it follows on')
          },
        },
      })

    await expect(follow(true, 3)).rejects.toThrow(/it follows on/)
    const connection = new PostgresConnection(place)
    const rows = await connection.query(`SELECT differs FROM "${place.schema}".followers`)
    await connection.close()
    expect([states, rows]).toEqual([[['risk'], ['risk'], ['risk']], [{ differs: 'risk' }]])
    const taken = await follow(false, 9)
    expect(states).toHaveLength(4)
    await taken.journal.close()
  })
})
