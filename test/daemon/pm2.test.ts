import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'
import { Pm2 } from './pm2.ts'

const projects = new Projects()
const managers: Pm2[] = []
afterAll(async () => {
  await Promise.all(managers.map((pm2) => pm2.close()))
  await projects.close()
})

function openPm2(project: Project, config: string): Pm2 {
  const pm2 = new Pm2({ INTENTD_CONFIG: join(project.directory, config) })
  managers.push(pm2)
  return pm2
}

test.concurrent('pm2 runs the named configuration, sees it end by itself, and starts it again after kill -9', async () => {
  const project = projects.open()
  // A strategy with a timer of its own must not keep the process either.
  project.edit('strategies/trend.ts', 'export default', 'setInterval(() => undefined, 1000)\nexport default')
  const pm2 = openPm2(project, 'config/paper.yaml')

  await pm2.start()
  const first = await pm2.status()
  process.kill(first.pid, 'SIGKILL')
  const second = await pm2.until(({ status, pid }) => status === 'online' && pid !== first.pid)
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
  expect(pm2.logs()).toContain(join(project.directory, '.intentd'))
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
