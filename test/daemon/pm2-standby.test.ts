import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { CONFIG_FILE } from '../crash/crash-config.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { killLeftOver } from './intentd-process.ts'
import { Machines } from './machines.ts'
import { Pm2 } from './pm2.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** A writer hears of a handover when it renews: within a quarter of it. */
const LEASE_MS = 40_000

afterAll(() => killLeftOver())

/** The shipped file with the one change that docs/scaling.md names, where the keys of a machine lie. */
function writeStandbyFile({ directory, keys }: ReturnType<Machines['placeOf']>): string {
  const shipped = readFileSync(join(ROOT, 'ecosystem.config.cjs'), 'utf8')
  expect(shipped).toContain("args: ['run', ")
  const file = join(directory, 'standby.config.cjs')
  const changed = shipped
    .replace("args: ['run', ", "args: ['standby', ")
    .replace('cwd: __dirname', `cwd: ${JSON.stringify(directory)}`)
    .replaceAll('__dirname', JSON.stringify(ROOT))
  writeFileSync(file, changed)
  const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(directory, '.env'), lines.join(''), { mode: 0o600 })
  return file
}

describe.skipIf(postgresMissing !== undefined)('a standby under pm2', () => {
  test('is started again after it has handed over, stands by, and is stopped for good', async () => {
    const machines = await Machines.open((await postgresServer()).newPlace(), LEASE_MS)
    const place = machines.placeOf('a')
    const pm2 = new Pm2({
      INTENTD_CONFIG: join(place.directory, CONFIG_FILE),
      XDG_STATE_HOME: place.directory,
    })
    try {
      await pm2.start(writeStandbyFile(place))
      const first = await pm2.until(() => pm2.logs().includes('"order.sent"'))
      const other = machines.standby('b')
      await other.untilEvent('standby.following')
      expect(await machines.start('b', ['handover']).ended).toMatchObject({ code: 0 })

      const again = await pm2.until(({ status, pid }) => status === 'online' && pid !== first.pid)
      await pm2.until(() => pm2.logs().split('"standby.following"').length > 1)
      await Machines.trades(other)
      await pm2.run('stop', 'intentd')

      expect(again.restarts).toBe(1)
      expect(await pm2.status()).toMatchObject({ status: 'stopped', pid: 0 })
      expect(pm2.endings()).toEqual([
        'exited with code [75] via signal [SIGINT]',
        'exited with code [0] via signal [SIGINT]',
      ])
      expect(await other.stop()).toEqual({ code: 0, signal: null })
      expect(await machines.compare('b', other)).toEqual([])
    } finally {
      await pm2.close()
      await machines.close()
    }
  })
})
