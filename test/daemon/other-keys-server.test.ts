import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { CONFIG_FILE } from '../crash/crash-config.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { IntentdProcess, killLeftOver } from './intentd-process.ts'
import { Machines } from './machines.ts'

afterAll(() => killLeftOver())

const OTHER_KEYS = { INTENTD_API_KEY: 'key-of-another-account' }
const BOTH_NAMED =
  /STATE_OF_OTHER_KEYS[^]*keys [0-9a-f]{8} of crash on [^]*keys [0-9a-f]{8} of crash on [^]*journal rekey/

/** As if the key of the account had been another one until now. */
async function rotateKey(place: PostgresPlace): Promise<void> {
  const connection = new PostgresConnection(place)
  const [row] = await connection.query(
    `SELECT value FROM "${place.schema}".meta WHERE name = 'writer'`,
  )
  const writer = JSON.parse(String(row?.['value'])) as object
  await connection.query(`UPDATE "${place.schema}".meta SET value = $1 WHERE name = 'writer'`, [
    JSON.stringify({ ...writer, keys: '0'.repeat(32) }),
  ])
  await connection.close()
}

async function ended(machines: Machines, words: readonly string[], env = {}) {
  const run = machines.start('b', words, { env })
  const { code } = await run.ended
  return { code, said: [...run.stdout, ...run.stderr].join('\n') }
}

describe.skipIf(postgresMissing !== undefined)(
  'a journal on a server, and a machine that is not like its writer',
  () => {
    test('[REC1] with the keys of another account it stands by, hands over and starts nothing, and both are named; a rotated key is taken over', async () => {
      const place = (await postgresServer()).newPlace()
      const machines = await Machines.open(place)
      try {
        const writer = machines.run('a')
        await Machines.trades(writer)

        for (const words of [['standby'], ['handover'], ['run']])
          expect(await ended(machines, words, OTHER_KEYS)).toMatchObject({
            code: 78,
            said: expect.stringMatching(BOTH_NAMED),
          })
        expect(await ended(machines, ['doctor'], OTHER_KEYS)).toMatchObject({
          code: 1,
          said: expect.stringMatching(BOTH_NAMED),
        })
        expect(writer.events('lease.lost')).toEqual([])
        expect(await writer.stop()).toMatchObject({ code: 0 })

        await rotateKey(place)
        const { directory: cwd, keys } = machines.placeOf('b')
        const words = ['journal', 'rekey', '-c', CONFIG_FILE]
        const rekey = new IntentdProcess(words, { cwd, env: { ...keys, XDG_STATE_HOME: cwd } })
        expect(await rekey.ended).toMatchObject({ code: 0 })
        expect(rekey.stdout.join('\n')).toMatch(
          /agrees: +positions of 2 [^]*agrees: +fill \d+[^]*taken:/,
        )
      } finally {
        await machines.close()
      }
    })

    test('whose settings and strategy code differ is named by its log, by fleet status and by doctor', async () => {
      const machines = await Machines.open((await postgresServer()).newPlace())
      try {
        const writer = machines.run('a')
        await Machines.trades(writer)
        const { directory } = machines.placeOf('b')
        const code = join(directory, 'elsewhere/busy.ts')
        writeFileSync(code, `${readFileSync(code, 'utf8')}\n// another version\n`)
        const file = join(directory, CONFIG_FILE)
        const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
        writeFileSync(
          file,
          JSON.stringify({ ...config, risk: { ...config['risk'], openOrdersMax: 399 } }),
        )

        const standby = machines.standby('b')
        const differs = ['code of busy-btc', 'code of busy-eth', 'risk']
        expect(await standby.untilEvent('standby.differs')).toMatchObject({
          level: 'warn',
          differs,
        })
        await standby.untilEvent('standby.following')
        const names = differs.join(', ')
        const fleet = machines.command('b', ['fleet', 'status', '-c', CONFIG_FILE])
        // A busy machine may renew its lease late, and is then said to have vanished (75).
        expect([0, 75]).toContain((await fleet.ended).code)
        expect(fleet.stdout.join('\n').replaceAll(/\s+/g, ' ')).toMatch(
          new RegExp(`standby crash on [^]*! it would trade otherwise than the writer: ${names}`),
        )
        expect((await ended(machines, ['doctor'])).said).toMatch(
          new RegExp(
            `journal, setup +this machine would trade otherwise than crash on [^]*: ${names}\\n +-> install the same`,
          ),
        )
        await standby.stop()
        expect(await writer.stop()).toMatchObject({ code: 0 })
      } finally {
        await machines.close()
      }
    })
  },
)
