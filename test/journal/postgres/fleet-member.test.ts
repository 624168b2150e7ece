import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { formatFleet } from '../../../src/cli/fleet/fleet.ts'
import { type FleetAlert, type OpenedJournal } from '../../../src/journal/journal.ts'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { FleetMember } from '../../../src/journal/postgres/fleet-member.ts'
import { FleetReader } from '../../../src/journal/fleet/fleet-reader.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { Machine } from './scene.ts'

const alert = (title: string): FleetAlert => ({
  urgency: 'urgent',
  event: 'e',
  title,
  lines: ['a line'],
})

describe.skipIf(postgresMissing !== undefined)(
  'what members show to all who look at the server',
  () => {
    let place: PostgresPlace
    let sql: PostgresConnection
    let reader: FleetReader

    const member = (id: string, more: object = {}): FleetMember =>
      new FleetMember({
        connection: sql,
        id,
        kind: 'worker',
        holder: `${id} on host, pid 1`,
        schema: '',
        ...more,
      })

    beforeEach(async () => {
      place = await (await postgresServer()).newDatabase()
      sql = new PostgresConnection(place)
      reader = new FleetReader(place)
    })
    afterEach(async () => {
      await reader.close()
      await sql.close()
    })

    test('is there when first needed, a row in place for each, and gone with an end in good order', async () => {
      expect(await reader.read()).toMatchObject({ workers: [], alerts: [], trouble: undefined })
      const other = new PostgresConnection(place)
      const second = member('two', { connection: other })
      await Promise.all([member('one').show({ done: 1 }), second.show({ done: 5 })])
      await member('one').show({ done: 2 })
      const { workers } = await reader.read()
      await second.leave()
      await other.close()

      expect(workers).toMatchObject([
        { holder: 'one on host, pid 1', state: { done: 2 } },
        { holder: 'two on host, pid 1', state: { done: 5 } },
      ])
      expect((await reader.read()).workers).toHaveLength(1)
    })

    test('says who was not seen for how long, lists it for a day, and forgets it after a week', async () => {
      const ago = (id: string, time: string): Promise<unknown> =>
        sql.query(
          `UPDATE intentd_fleet.members SET seen_at = clock_timestamp() - interval '${time}' WHERE id = '${id}'`,
        )
      for (const id of ['hours', 'days', 'weeks']) await member(id).show({})
      await ago('hours', '2 hours')
      await ago('days', '2 days')
      await ago('weeks', '8 days')
      await member('now').show({ sweep: 'grid', done: 3 })
      const fleet = await reader.read()

      expect(fleet.workers.map(({ holder }) => holder.split(' ')[0])).toEqual(['hours', 'now'])
      expect(formatFleet(fleet)).toMatch(
        /hours on host, pid 1: ! not seen for 2 h[^]*now on host, pid 1: done 3, sweep grid/,
      )
      expect(await sql.query('SELECT id FROM intentd_fleet.members ORDER BY id')).toHaveLength(3)
    })

    test('what is urgent is shown for a day, however much is said after it', async () => {
      const said = (title: string, urgency: FleetAlert['urgency'] = 'info'): FleetAlert => ({
        ...alert(title),
        urgency,
      })
      const later = Array.from({ length: 30 }, (_, index) => said(`said ${index}`))
      await member('one').show({}, [
        said('vanished long ago', 'urgent'),
        said('vanished', 'urgent'),
        ...later,
      ])
      await sql.query(
        `UPDATE intentd_fleet.alerts SET at = at - interval '2 days' WHERE title = 'vanished long ago'`,
      )

      const { alerts } = await reader.read()
      expect(alerts.map(({ title }) => title)).toEqual([
        'vanished',
        ...later.slice(-10).map(({ title }) => title),
      ])
    })

    test('a user without a right to the schema still sees the journals, and is said what it does not see', async () => {
      await member('one').show({})
      const user = `watcher_${process.pid}`
      await sql.query(`CREATE ROLE ${user} LOGIN`)
      const watcher = new FleetReader({ ...place, url: place.url.replace('postgres@', `${user}@`) })
      const fleet = await watcher.read()
      await watcher.close()

      expect(fleet).toMatchObject({
        accounts: [],
        workers: [],
        trouble: expect.stringMatching(/permission denied/),
      })
    })

    test('alerts of all are one stream, bounded by count and age', async () => {
      await member('one').show({}, [alert('first'), alert('second')])
      await member('two').show(undefined, [alert('third')])
      const all = await reader.readAlerts(undefined, 10)
      expect(all.map(({ holder, title, lines }) => [holder.slice(0, 3), title, lines])).toEqual([
        ['one', 'first', ['a line']],
        ['one', 'second', ['a line']],
        ['two', 'third', ['a line']],
      ])
      expect((await reader.readAlerts(all[0]?.id, 10)).map(({ title }) => title)).toEqual([
        'second',
        'third',
      ])
      expect((await reader.readAlerts(undefined, 1)).map(({ title }) => title)).toEqual(['third'])

      await sql.query(
        `UPDATE intentd_fleet.alerts SET at = at - interval '31 days' WHERE title = 'first'`,
      )
      await member('one').show(
        {},
        Array.from({ length: 5100 }, (_, index) => alert(String(index))),
      )
      const [counted] = await sql.query(
        "SELECT count(*) AS count, max(at) - min(at) < interval '1 day' AS young FROM intentd_fleet.alerts",
      )
      expect(counted).toEqual({ count: '5000', young: true })
    })

    test('a text that the server would refuse keeps nothing back', async () => {
      await member('one').show({ held: ['a\0b', 'half \ud83d of it'] }, [
        alert('NUL \0'),
        alert('half \udc00'),
      ])
      const { workers, alerts } = await reader.read()

      expect(workers).toMatchObject([{ state: { held: ['a\ufffdb', 'half \ufffd of it'] } }])
      expect(alerts.map(({ title }) => title)).toEqual(['NUL \ufffd', 'half \ufffd'])
    })

    test('an account shows itself whenever its lease was renewed, and trouble there costs it nothing', async () => {
      const time = new ManualTime(1_000_000)
      const machine = new Machine('machine a', place)
      const terms = { lastingMs: 600_000, validityMs: 0 }
      const { journal }: { journal: OpenedJournal } = await machine.open({
        terms,
        clock: time,
        timers: time,
      })
      const said: (string | undefined)[] = []
      journal.lease?.show({
        news: () => ({
          state: { mode: 'active', phase: 'running', openOrders: 2 },
          alerts: [alert('a')],
        }),
        onShown: (trouble) => said.push(trouble),
      })
      const renew = async (): Promise<string | undefined> => {
        const before = said.length
        await time.pass(terms.lastingMs / 4)
        while (said.length === before) await new Promise<void>((resolve) => setImmediate(resolve))
        return said.at(-1)
      }
      expect(await renew()).toBe(undefined)
      const fleet = await reader.read()
      expect(fleet.accounts[0]?.shown).toMatchObject({
        holder: 'machine a',
        state: { mode: 'active' },
      })
      expect(formatFleet(fleet)).toMatch(
        /active, running: 2 orders open, flat[^]*alerts\n.*! a \(machine a\)/,
      )

      // Somebody locks it for long; then its tables are spoilt.
      const hostile = new PostgresConnection(place)
      await hostile.query('BEGIN')
      await hostile.query('LOCK TABLE intentd_fleet.members IN ACCESS EXCLUSIVE MODE')
      expect(await renew()).toContain('lock timeout')
      await hostile.query('ROLLBACK')
      await hostile.close()
      await sql.query('ALTER TABLE intentd_fleet.members RENAME COLUMN state TO other')
      expect(await renew()).toContain('state')
      expect([journal.lease?.objection(), (await reader.read()).trouble]).toEqual([
        undefined,
        expect.stringContaining('state'),
      ])
      await sql.query('ALTER TABLE intentd_fleet.members RENAME COLUMN other TO state')
      expect(await renew()).toBe(undefined)
      await journal.close()
      machine.remove()
    })
  },
)
