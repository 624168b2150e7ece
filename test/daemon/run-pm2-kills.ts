import { parseArgs } from 'node:util'
import { parseCount, parseDuration } from '../../src/cli/process/options.ts'
import { runPm2Kills } from './pm2-kills.ts'

const USAGE = `npm run pm2:kills -- --every DURATION --times N

The daemon under the real pm2, trading on an exchange that goes on, killed (SIGKILL) again and again.

  --every D   how long it is up before it is killed: 10s, 1m; 1m unless told
  --times N   how often it is killed; 10 unless told

It fails (exit code 1) when pm2 did not start it again after a kill, or when its books differ from the exchange's in
the end: fills, fees, profit, positions, and what rests.
`

const { values } = parseArgs({
  options: {
    every: { type: 'string', default: '1m' },
    times: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(USAGE)
else process.exitCode = (await run(parseCount(values.times), parseDuration(values.every))) ? 0 : 1

/** Whether everything agreed in the end. */
async function run(times: number, everyMs: number): Promise<boolean> {
  const waits: number[] = []
  const { kills, fills, orders, differences } = await runPm2Kills({
    times,
    everyMs,
    onKill: (upAfterMs) => {
      waits.push(upAfterMs)
      process.stdout.write(
        `killed ${waits.length} times, up again after ${Math.round(upAfterMs)} ms\n`,
      )
    },
  })
  process.stdout.write(`kills ${kills}, orders ${orders}, fills ${fills}\n`)
  for (const difference of differences) process.stdout.write(`DIFFERENT  ${difference}\n`)
  if (differences.length === 0) process.stdout.write('the books agree\n')
  return differences.length === 0 && kills === times
}
