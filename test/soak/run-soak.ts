import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type EventTime, ownMsOf } from './event-meter.ts'
import { compareLedger } from './compare-ledger.ts'
import { SoakAccount } from './soak-account.ts'
import {
  EVENT_MS_MAX,
  fitGrowth,
  JUDGED_MS_MIN,
  LOAD_SHARE_MIN,
  LONGEST_EVENT,
  MEASURES,
  renderCollections,
  renderEvents,
  renderGrowth,
  renderHeading,
  renderSample,
  repeatSamples,
  timesOfBoth,
} from './soak-report.ts'
import { Collections, type SoakSample, takeSample } from './soak-sample.ts'

const USAGE = `npm run soak -- --load N --for DURATION

The core, interpreter, limiter and the journal on disk, with N orders a second, in virtual time.

  --load N       orders a second: 1 to 250; 250 unless told
  --for D        how long, in virtual time: 90s, 10m, 1h, 30d; 1h unless told
  --samples K    lines of the table; 20 unless told

It fails (exit code 1) when
  - less than ${LOAD_SHARE_MIN * 100} % of the load was sent;
  - an event took more than ${EVENT_MS_MAX} ms: a step and all that was done for it, with the journal and its
    checkpoint, without strategies. The smaller of wall and CPU time of the thread (known to some 4 ms) counts.
    The load is played twice, and the smaller of the two times of each event counts: what the code takes, it
    takes in both; what the machine was busy with, in one;
  - a garbage collection took more than that, in both runs;
  - something grew: its fitted line rises over the second half of the run by more than a share of its mean there,
    or, where that is more, than it goes up and down by itself:
${MEASURES.map(({ name, unit, shareMax, riseMax }) => `      ${name}: ${shareMax * 100} %, ${riseMax} ${unit}`).join('\n')}
       not judged where the second half is shorter than ${JUDGED_MS_MIN / 60_000} minutes;
  - a restart rebuilt another book, or the books differ from the exchange's at the end.

Memory is what stays after a garbage collection. The exchange and its prices are part of the process; they
remember three minutes. A restart is timed in a process of its own. The file grows by design: records for seven
days, used keys for a year; so it is judged by its bytes a record or key. The journal lies in TMPDIR; on a disk
most of the time is waiting for it, which is not counted.
`

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const LOAD_MAX = 250
/** Node has things to do between turns of its loop, such as giving memory back: so often, in virtual ms. */
const TURN_MS = 1000

interface SoakOptions {
  readonly load: number
  readonly forMs: number
  readonly samples: number
}

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: '250' },
    for: { type: 'string', default: '1h' },
    samples: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(USAGE)
else process.exitCode = (await runSoak(readOptions())) ? 0 : 1

function readOptions(): SoakOptions {
  const [load, samples] = [Number(values.load), Number(values.samples)]
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(values.for) ?? []
  const forMs = Number(count) * (UNITS_MS[unit] ?? Number.NaN)
  const isSound =
    load >= 1 && load <= LOAD_MAX && forMs >= 10_000 && Number.isInteger(samples) && samples >= 4
  if (!isSound) throw new Error(`these options make no sense; the usage is\n\n${USAGE}`)
  return { load, forMs, samples }
}

/** Whether it passed. */
async function runSoak(options: SoakOptions): Promise<boolean> {
  const account = new SoakAccount(options.load)
  const collected = new Collections()
  try {
    const samples = await takeSamples({ account, collected }, options)
    const problems = [...judge(samples, options), ...finish(account)]
    collected.close()
    const again = await playAgain(options)
    if (again.events !== samples.at(-1)?.events) problems.push('the two runs were not the same')
    const pauseMs = Math.min(collected.longestMs, again.pauseMs)
    problems.push(...judgeTimes(samples, timesOfBoth(account.meter.kept, again.times), pauseMs))
    console.log(problems.length === 0 ? '\npassed' : `\nFAILED\n${problems.join('\n')}`)
    return problems.length === 0
  } finally {
    account.close()
  }
}

/** The same load once more, for the times alone. */
async function playAgain({ load, forMs }: SoakOptions): Promise<{
  times: ReadonlyMap<number, EventTime>
  events: number
  pauseMs: number
}> {
  const account = new SoakAccount(load)
  const collected = new Collections()
  try {
    await play(account, forMs)
    return { times: account.meter.kept, events: account.meter.events, pauseMs: collected.longestMs }
  } finally {
    collected.close()
    account.close()
  }
}

async function play(account: SoakAccount, untilMs: number): Promise<void> {
  while (account.elapsedMs < untilMs) {
    account.run(Math.min(TURN_MS, untilMs - account.elapsedMs))
    await turn()
  }
}

async function takeSamples(
  { account, collected }: { readonly account: SoakAccount; readonly collected: Collections },
  { load, forMs, samples: count }: SoakOptions,
): Promise<readonly SoakSample[]> {
  console.log(`${load} orders a second for ${values.for} of virtual time\n\n${renderHeading()}`)
  const samples: SoakSample[] = []
  for (let number = 1; number <= count; number++) {
    await play(account, (forMs * number) / count)
    const sample = await takeSample(account, collected)
    console.log(renderSample(sample))
    samples.push(sample)
  }
  return samples
}

/** Says what the samples come to, and returns what is wrong with it. */
function judge(samples: readonly SoakSample[], { load, forMs }: SoakOptions): readonly string[] {
  const last = samples.at(-1)
  if (!last) return ['there are no samples']
  console.log(
    `\n${renderCollections(last)}\n\nthe longest event of each kind\n${renderEvents(samples)}\n`,
  )
  const sent = (last.orders * 1000) / forMs
  const growth = isJudged(samples) ? fitGrowth(samples, MEASURES) : []
  console.log(`${sent.toFixed(1)} orders a second were sent, ${load} asked for`)
  for (const measured of growth) console.log(renderGrowth(measured))
  return [
    ...(sent >= load * LOAD_SHARE_MIN ? [] : ['the load was not reached']),
    ...growth.filter(({ isFlat }) => !isFlat).map(({ measure }) => `not flat: ${measure.name}`),
    ...(samples.every(({ isRestored }) => isRestored) ? [] : ['a restart rebuilt another book']),
  ]
}

function judgeTimes(
  samples: readonly SoakSample[],
  times: ReadonlyMap<number, EventTime>,
  pauseMs: number,
): readonly string[] {
  const repeated = repeatSamples(samples, times)
  const growth = isJudged(samples) ? fitGrowth(repeated, [LONGEST_EVENT]) : []
  const longest = Math.max(...repeated.map(({ longestMs }) => longestMs))
  console.log(`the longest event of both runs: ${longest.toFixed(1)} ms at the most`)
  console.log(`the longest garbage collection: ${pauseMs.toFixed(1)} ms`)
  for (const measured of growth) console.log(renderGrowth(measured))
  return [
    ...[...times.values()]
      .filter((event) => ownMsOf(event) > EVENT_MS_MAX)
      .map((event) => `an event ${event.kind} took ${ownMsOf(event).toFixed(1)} ms`),
    ...(pauseMs > EVENT_MS_MAX ? [`a garbage collection took ${pauseMs.toFixed(1)} ms`] : []),
    ...growth.filter(({ isFlat }) => !isFlat).map(({ measure }) => `not flat: ${measure.name}`),
  ]
}

function isJudged(samples: readonly SoakSample[]): boolean {
  return (samples.at(-1)?.atMs ?? 0) / 2 >= JUDGED_MS_MIN
}

/** Ends the run flat, and returns what the books say differently. */
function finish(account: SoakAccount): readonly string[] {
  const isClean = account.stop('flatten')
  const { orders, rejected, cancelled, cancelAlls, fills } = account.exchange.counts
  const denied = [...account.denied].map(([code, count]) => `${count} ${code}`)
  console.log(
    `at the exchange: ${orders} orders (${rejected} rejected), ${fills} fills, ${cancelled} cancelled by ` +
      `${cancelAlls} cancel-alls; denied here: ${denied.join(', ') || 'none'}`,
  )
  return [...(isClean ? [] : ['the run did not end clean']), ...compareLedger(account)]
}
