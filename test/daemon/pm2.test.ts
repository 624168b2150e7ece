import { chmodSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'
import { Pm2 } from './pm2.ts'
import { runPm2Kills } from './pm2-kills.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const projects = new Projects()
const managers: Pm2[] = []
afterAll(async () => {
  await Promise.all(managers.map((pm2) => pm2.close()))
  await projects.close()
})

function openPm2(
  project: Project,
  config: string,
  env: Readonly<Record<string, string>> = {},
): Pm2 {
  const pm2 = new Pm2({ INTENTD_CONFIG: join(project.directory, config), ...env })
  managers.push(pm2)
  return pm2
}

test.concurrent('pm2 runs the named configuration, starts it again after kill -9, stops it in good order, and keeps no key and nothing else of the shell', async () => {
  const project = projects.open()
  // A strategy with a timer of its own must not keep the process either.
  project.edit(
    'strategies/trend.ts',
    'export default',
    'setInterval(() => undefined, 1000)\nexport default',
  )
  const pm2 = openPm2(project, 'config/paper.yaml', {
    INTENTD_API_SECRET: 'canary-5b20',
    AWS_SECRET_ACCESS_KEY: 'canary-of-another',
  })
  chmodSync(pm2.fileOf(), 0o755)

  await pm2.start()
  const first = await pm2.status()
  process.kill(first.pid, 'SIGKILL')
  const second = await pm2.until(({ status, pid }) => status === 'online' && pid !== first.pid)
  await pm2.run('save')
  const log = pm2.fileOf('logs', 'intentd-out.log')
  renameSync(log, `${log}.1`)
  await pm2.run('reloadLogs')
  await pm2.run('restart', 'intentd')
  const third = await pm2.status()
  await pm2.run('stop', 'intentd')
  const stopped = await pm2.status()

  expect(first).toMatchObject({ status: 'online', restarts: 0 })
  expect(second.restarts).toBe(1)
  expect(third).toMatchObject({ status: 'online' })
  expect(stopped).toMatchObject({ status: 'stopped', pid: 0 })
  const inOrder = 'exited with code [0] via signal [SIGINT]'
  expect(pm2.endings()).toEqual(['exited with code [0] via signal [SIGKILL]', inOrder, inOrder])
  const dump = readFileSync(pm2.fileOf('dump.pm2'), 'utf8')
  expect(dump).toContain('intentd.mjs')
  expect(dump).not.toContain('canary')
  expect(dump).toContain('"PATH"')
  expect(statSync(pm2.fileOf()).mode & 0o777).toBe(0o700)
  // What was rotated is left alone, and a new file goes on.
  expect(readFileSync(`${log}.1`, 'utf8')).toContain(join(project.directory, '.intentd'))
  expect(readFileSync(log, 'utf8').split('"run.summary"')).toHaveLength(3)
})

test.concurrent('under pm2 a wrong configuration ends the process, and it is not started again', async () => {
  const project = projects.open()
  project.edit('config/paper.yaml', 'onStop: leave', 'onStop: stay')
  const pm2 = openPm2(project, 'config/paper.yaml')

  await pm2.start().catch(() => undefined)
  const status = await pm2.until(({ pid }) => pid === 0)

  expect(status).toMatchObject({ status: 'stopped', exitCode: 78, restarts: 0 })
  expect(pm2.endings()).toEqual(['exited with code [78] via signal [SIGINT]'])
  expect(pm2.logs()).toContain('onStop: expected')
})

test.concurrent('pm2 hears `ready`; a daemon that grows beyond the memory limit is stopped in good order and started again', async () => {
  const project = projects.open()
  const shipped = readFileSync(join(ROOT, 'ecosystem.config.cjs'), 'utf8')
  const small = shipped
    .replaceAll('__dirname', JSON.stringify(ROOT))
    // Where nobody said `ready`, the start would end after this long test only.
    .replace('listen_timeout: 60_000', 'listen_timeout: 600_000')
    .replace("max_memory_restart: '1G'", "max_memory_restart: '20M'")
  project.write('small.config.cjs', small)
  // How often pm2 looks, ms: half a minute by itself.
  const pm2 = openPm2(project, 'config/paper.yaml', { PM2_WORKER_INTERVAL: '2000' })

  await pm2.start(join(project.directory, 'small.config.cjs'))
  await pm2.until(({ restarts }) => restarts >= 1)
  await pm2.run('stop', 'intentd')

  expect(small).toMatch(/wait_ready: true[^]*listen_timeout: 600_000[^]*'20M'/)
  expect(pm2.endings()[0]).toBe('exited with code [0] via signal [SIGINT]')
})

test.concurrent('[ORD5] killed again and again while it trades, its books are those of the exchange in the end', async () => {
  const { kills, fills, differences } = await runPm2Kills({ times: 3, everyMs: 1000 })

  expect({ kills, differences }).toEqual({ kills: 3, differences: [] })
  expect(fills).toBeGreaterThan(0)
})
