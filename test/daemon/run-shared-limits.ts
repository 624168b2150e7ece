// Four daemons on one address at its limits, with Redis and daemons killed meanwhile: shared-address.ts.
// `npm run limits:shared`.
import { parseArgs } from 'node:util'
import { RedisServer, redisMissing } from '../support/redis-server.ts'
import { mostInWindow, ratesOf, usedShare } from './call-rates.ts'
import { killLeftOver } from './intentd-process.ts'
import { type Ended, type Load, LOADS, SharedAddress } from './shared-address.ts'
import { findUnsaid, findUnused, type Part } from './shared-findings.ts'

const { values } = parseArgs({
  options: {
    /** One after the other: `address`, `overall`. */
    load: { type: 'string', multiple: true, default: [...LOADS] },
    /** Of each of them; at least three minutes. */
    seconds: { type: 'string', default: '600' },
  },
})

/** The limits that hold the daemons up. */
const REACHED: Readonly<Record<Load, readonly string[]>> = {
  address: ['tickers', 'spotSymbols'],
  overall: ['all together'],
}

// At once: whatever is waited for would start the next one meanwhile.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    RedisServer.killAll()
    void killLeftOver()
    process.kill(process.pid, signal)
  })
}

if (redisMissing === undefined) {
  for (const load of LOADS.filter((each) => values.load.includes(each))) {
    console.log(`\n${load}, ${values.seconds} s`)
    try {
      const address = await SharedAddress.start(load)
      await address.play(Math.max(180, Number(values.seconds)) * 1000)
      report(await address.end(), address, REACHED[load])
      await address.close()
    } finally {
      RedisServer.killAll()
      await killLeftOver()
    }
  }
} else {
  console.log(redisMissing)
  process.exitCode = 1
}

function report(
  { arrivals, tooManyRequests, codes, said }: Ended,
  { startedAt, troubles }: SharedAddress,
  reached: readonly string[],
) {
  const rates = ratesOf(arrivals)
  const endedAt = Math.max(...arrivals.map(({ at }) => at))
  const marks = [{ at: startedAt, what: 'all started' }, ...troubles, { at: endedAt, what: '' }]
  console.log(
    `% of the limit used${' '.repeat(41)}${rates.map(({ name }) => name.padStart(16)).join('')}`,
  )
  const parts: Part[] = []
  for (const [place, { at, what }] of marks.slice(0, -1).entries()) {
    const to = marks[place + 1]?.at ?? endedAt
    parts.push({ what, from: at, to })
    const used = rates.map((rate) => inPercent(usedShare(rate, at, to)).padStart(16))
    console.log(
      `${inSeconds(at - startedAt)} to ${inSeconds(to - startedAt)}  ${what.padEnd(41)}${used.join('')}`,
    )
  }
  for (const rate of rates) {
    const { name, calls, perMs } = rate
    const most = mostInWindow(rate)
    const perSecond = (rate.arrivals.length / ((endedAt - startedAt) / 1000)).toFixed(2)
    console.log(
      `${name}: ${rate.arrivals.length} calls, ${perSecond} a second, ${inPercent(usedShare(rate, startedAt, endedAt))} of the limit; most in any ${perMs / 1000} s ${most} of ${calls}`,
    )
    if (most > calls) process.exitCode = 1
  }
  console.log(`429: ${tooManyRequests}; exit codes ${codes.join(', ')}`)
  for (const [place, events] of said.entries())
    console.log(`daemon ${place + 1}: ${JSON.stringify(events)}`)
  // At first each holds half of an even share.
  const unused = findUnused(
    rates.filter(({ name }) => reached.includes(name)),
    parts.slice(1),
  )
  const findings = [...unused, ...findUnsaid(said)]
  for (const finding of findings) console.log(finding)
  if (findings.length > 0) process.exitCode = 1
  if (tooManyRequests !== 0 || codes.some((code) => code !== 0)) process.exitCode = 1
}

function inPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(0).padStart(4)}`
}
