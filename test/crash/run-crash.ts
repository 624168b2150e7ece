// Kills real daemons and compares the books afterwards; see points.ts for where, and random-kills.ts.
import { parseArgs } from 'node:util'
import { killLeftOver } from '../daemon/intentd-process.ts'
import { type CrashCase, type CrashReport, listCases, nameCase, runCase } from './crash-case.ts'
import { POINTS } from './points.ts'
import { killAtRandom } from './random-kills.ts'
import { type Mode, MODES, type Reading, READINGS } from './scenario.ts'

const { values } = parseArgs({
  options: {
    /** How many of the named points' cases. */
    cases: { type: 'string' },
    /** Instead: one daemon a reading and position mode, killed as often as this at random moments. */
    random: { type: 'string' },
    /** How long each of these may go on killing. */
    minutes: { type: 'string', default: '60' },
    /** Decides which come first, and what market they meet. */
    seed: { type: 'string', default: '1' },
    /** Only cases of points whose phase and name match this: a regular expression. */
    point: { type: 'string' },
    /** Prints the named points. */
    list: { type: 'boolean', default: false },
    /** How many run at a time. */
    jobs: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
  // An option that is not known is answered with the help, not with a stack.
  strict: false,
})

const HELP = `npm run crash -- [options]
  --cases <n>      how many of the named points' cases; all without it
  --random <n>     instead: daemons killed so often at random moments
  --minutes <n>    how long each of these may go on, 60 by default
  --point <regex>  only cases of points whose phase and name match
  --seed <n>       which come first, and what market they meet
  --jobs <n>       how many run at a time, 2 by default
  --list           print the named points
`
const OPTIONS = ['cases', 'random', 'minutes', 'seed', 'point', 'list', 'jobs', 'help']
const unknown = Object.keys(values).filter((name) => !OPTIONS.includes(name))
if (values.help === true || unknown.length > 0) {
  process.stdout.write(`${unknown.map((name) => `there is no option --${name}\n`).join('')}${HELP}`)
  process.exit(unknown.length > 0 ? 64 : 0)
}

// At once: whatever is waited for would start the next one meanwhile.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void killLeftOver()
    process.kill(process.pid, signal)
  })
}

if (values.list) listPoints()
else if (values.random !== undefined) await runRandom(Number(values.random))
else await runCases()

function listPoints(): void {
  for (const { phase, name, scenarios } of POINTS) {
    console.log(`${phase.padEnd(10)} ${name.padEnd(38)} ${scenarios.join(' ')}`)
  }
  console.log(`${POINTS.length} named points, ${listCases(1).length} cases`)
}

async function runCases(): Promise<void> {
  const pattern = new RegExp(String(values.point ?? ''))
  const all = listCases(Number(values.seed)).filter(({ point }) =>
    pattern.test(`${point.phase} ${point.name}`),
  )
  summarise(await inTurn(all.slice(0, Number(values.cases ?? all.length)), runOne))
}

/** A few at a time, in order. */
async function inTurn<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const waiting = [...items]
  const results: Result[] = []
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results.push(await run(next))
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
  return results
}

async function runOne(crash: CrashCase): Promise<CrashReport> {
  const startedAt = process.hrtime.bigint()
  const report = await runCase(crash)
  const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9
  const verdict = report.differences.length === 0 ? 'ok  ' : 'FAIL'
  console.log(`${verdict} ${seconds.toFixed(1).padStart(5)} s  ${nameCase(crash)}`)
  for (const difference of report.differences) console.log(`     ${difference}`)
  return report
}

function summarise(reports: readonly CrashReport[]): void {
  const total = (count: (report: CrashReport) => number) =>
    reports.reduce((sum, one) => sum + count(one), 0)
  const failed = reports.filter(({ differences }) => differences.length > 0).length
  const hit = new Set(reports.filter(({ hits }) => hits > 0).map(({ case: { point } }) => point))
    .size
  console.log(
    `${hit} points hit of ${POINTS.length}, ${total(({ kills }) => kills)} kills, ` +
      `${total(({ orders }) => orders)} orders, ${total(({ fills }) => fills)} fills, ` +
      `${total(({ unknowns }) => unknowns)} unknown for a while, ` +
      `${total(({ differences }) => differences.length)} differences`,
  )
  conclude(reports.length, failed)
}

async function runRandom(kills: number): Promise<void> {
  const worlds = READINGS.flatMap((reading) => MODES.map((mode) => ({ reading, mode })))
  const verdicts = await inTurn(worlds, (world) => runOneRandom(kills, world))
  conclude(verdicts.length, verdicts.filter((isGood) => !isGood).length)
}

async function runOneRandom(
  kills: number,
  { reading, mode }: { readonly reading: Reading; readonly mode: Mode },
): Promise<boolean> {
  const name = `${reading}, ${mode}`
  const seed = Number(values.seed)
  const onKill = (done: number) => {
    if (done % 20 === 0) console.log(`     ${name}: ${done} kills`)
  }
  try {
    const { differences, faults, ...counts } = await killAtRandom({
      kills,
      seed,
      mode,
      reading,
      onKill,
      forMs: Number(values.minutes) * 6e4,
    })
    console.log(`${differences.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${JSON.stringify(counts)}`)
    console.log(`     on purpose: ${JSON.stringify(faults)}`)
    for (const difference of differences) console.log(`     ${difference}`)
    return differences.length === 0
  } catch (error) {
    console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

function conclude(all: number, failed: number): void {
  console.log(`${all - failed} passed, ${failed} failed`)
  if (failed > 0 || all === 0) process.exitCode = 1
}
