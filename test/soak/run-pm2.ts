import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parseDuration } from '../../src/cli/process/options.ts'
import { Pm2 } from '../daemon/pm2.ts'
import { Project } from '../daemon/project.ts'

const USAGE = `npm run soak:pm2 -- --for DURATION --every DURATION

The daemon under the real pm2, trading on paper in real time, killed (SIGKILL) again and again.

  --for D     how long: 90s, 10m; 10m unless told
  --every D   how often it is killed: 10s, 1m; 1m unless told

It fails (exit code 1) when pm2 did not start it again after a kill, when it did not stop in good order in the end,
or when its books differ from the exchange's then.
`

const { values } = parseArgs({
  options: {
    for: { type: 'string', default: '10m' },
    every: { type: 'string', default: '1m' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(USAGE)
else process.exitCode = (await runKills(parseDuration(values.for), parseDuration(values.every))) ? 0 : 1

/** Whether everything agreed in the end. */
async function runKills(forMs: number, everyMs: number): Promise<boolean> {
  const project = new Project()
  const pm2 = new Pm2({ INTENTD_CONFIG: join(project.directory, 'config/paper.yaml') })
  try {
    await pm2.start()
    const endAt = Date.now() + forMs
    let kills = 0
    while (Date.now() + everyMs <= endAt) {
      await sleep(everyMs)
      await pm2.killOnce()
      kills += 1
      process.stdout.write(`${new Date().toISOString()} killed ${kills} times, and up again\n`)
    }
    await pm2.run('stop', 'intentd')
    const killed = pm2.endings().filter((ending) => ending.includes('SIGKILL')).length
    const fills = pm2.logs().split('"order.fill"').length - 1
    const agrees = /"run\.summary","clean":true.*"exchangeAgrees":true/.test(pm2.logs())
    process.stdout.write(
      `kills ${killed}, fills ${fills}, books agree with the exchange: ${agrees ? 'yes' : 'NO'}\n`,
    )
    return agrees && killed === kills
  } finally {
    await pm2.close()
    project.remove()
  }
}
