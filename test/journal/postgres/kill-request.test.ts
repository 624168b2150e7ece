import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type KillAnswer,
  type OpenedJournal,
  type KillRequest,
} from '../../../src/journal/journal.ts'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { requestKill, readKillRequest } from '../../../src/journal/postgres/kill-request.ts'
import { FleetReader } from '../../../src/journal/fleet/fleet-reader.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { Machine } from './scene.ts'

const order = { reason: 'drill', by: 'me' }
const terms = { lastingMs: 600_000, validityMs: 0 }

describe.skipIf(postgresMissing !== undefined)(
  '[RSK2] [RSK3] a kill that is ordered on the server',
  () => {
    let place: PostgresPlace
    let reader: FleetReader
    let sql: PostgresConnection
    let time: ManualTime
    let machine: Machine
    let journal: OpenedJournal
    let heard: KillRequest[]
    let answer: KillAnswer | undefined

    const open = async (): Promise<void> => {
      journal = (await machine.open({ terms, clock: time, timers: time })).journal
      journal.lease?.onKill((kill) => {
        heard.push(kill)
        return answer
      })
    }
    const state = async (): Promise<readonly unknown[]> => {
      const row = await readKillRequest(sql, place.schema)
      return [row?.number, row?.state, row?.answeredBy]
    }
    /** Until a renewal has been answered. */
    const renew = async (): Promise<void> => {
      await time.pass(terms.lastingMs / 4)
      for (const before = heard.length; heard.length === before;)
        await new Promise<void>((resolve) => setImmediate(resolve))
      // Its answer is written over a connection of its own.
      await journal.lease?.answerKill()
    }

    beforeEach(async () => {
      place = (await postgresServer()).newPlace()
      reader = new FleetReader(place)
      sql = new PostgresConnection(place)
      time = new ManualTime(1_000_000)
      machine = new Machine('machine a', place)
      heard = []
      answer = undefined
      await open()
    })
    afterEach(async () => {
      await journal.close()
      await reader.close()
      await sql.close()
      machine.remove()
    })

    test('is heard at a renewal of the lease until it is answered, and is one order however often it is given meanwhile', async () => {
      const other = new PostgresConnection(place)
      const numbers = await Promise.all([
        requestKill(sql, place.schema, order),
        requestKill(other, place.schema, { reason: 'half \ud83d of\0 it', by: 'me' }),
      ])
      await other.close()
      await renew()
      expect([numbers, await state()]).toEqual([
        [1, 1],
        [1, 'asked', ''],
      ])
      answer = 'seen'
      await renew()
      expect([await requestKill(sql, place.schema, order), await state()]).toEqual([
        1,
        [1, 'seen', 'machine a'],
      ])
      answer = 'clean'
      await renew()
      expect(heard[0]).toMatchObject({ number: 1, state: 'asked', by: 'me' })
      expect(await state()).toEqual([1, 'clean', 'machine a'])
    })

    test('given again after its proof it is proved anew, unless nobody has taken the lease since', async () => {
      answer = 'clean'
      await requestKill(sql, place.schema, order)
      await renew()
      answer = undefined
      expect(await requestKill(sql, place.schema, order)).toBe(2)
      expect(await state()).toEqual([2, 'asked', ''])
      answer = 'clean'
      await renew()
      await journal.close()
      expect([await requestKill(sql, place.schema, order), await state()]).toEqual([
        2,
        [2, 'clean', 'machine a'],
      ])
      await open()
      expect(await requestKill(sql, place.schema, order)).toBe(3)
    })

    test('stands for whoever writes next, and once released is answered no more', async () => {
      await journal.close()
      await requestKill(sql, place.schema, order)
      await open()
      expect(journal.lease?.kill).toMatchObject({ number: 1, state: 'asked' })
      answer = 'released'
      await renew()
      answer = 'clean'
      await renew()
      expect(await state()).toEqual([1, 'released', 'machine a'])
    })

    test('what was proved at the end of a run is said before the lease is given back, and nothing by one that has lost it', async () => {
      await requestKill(sql, place.schema, order)
      await renew()
      answer = 'clean'
      await journal.close()
      expect(await state()).toEqual([1, 'clean', 'machine a'])

      answer = undefined
      await open()
      await requestKill(sql, place.schema, order)
      await renew()
      answer = 'clean'
      await sql.query(`UPDATE "${place.schema}".lease SET token = token + 1`)
      await journal.lease?.answerKill()
      await sql.query(`UPDATE "${place.schema}".lease SET token = token - 1`)
      expect(await state()).toEqual([2, 'asked', ''])
    })

    test('is one question, and a journal that was moved takes none', async () => {
      const asked: string[] = []
      const query: PostgresConnection['query'] = (text, values) => {
        asked.push(text)
        return sql.query(text, values)
      }
      await requestKill({ query }, place.schema, order)
      expect(asked).toHaveLength(1)

      await sql.query(`UPDATE "${place.schema}".kill_order SET state = 'released'`)
      await sql.query(`UPDATE "${place.schema}".lease SET moved_to = 'a file'`)
      expect([await requestKill({ query }, place.schema, order), await state()]).toEqual([
        'moved',
        [1, 'released', ''],
      ])
    })

    test('a journal of an earlier version has no such table until it is opened or ordered', async () => {
      await sql.query(`DROP TABLE "${place.schema}".kill_order`)
      const { accounts } = await reader.read()
      expect(accounts.find(({ schema }) => schema === place.schema)).toMatchObject({
        state: 'writes',
        kill: undefined,
      })
      expect(await requestKill(sql, place.schema, order)).toBe(1)
      await sql.query(`DROP TABLE "${place.schema}".kill_order`)
      await journal.close()
      await open()
      expect(journal.lease?.kill).toBe(undefined)
    })
  },
)
