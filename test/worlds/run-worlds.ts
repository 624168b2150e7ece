import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure } from '../../src/lib/failure.ts'
import { createRandom } from '../../src/lib/random.ts'
import { drawTimeline } from '../support/world/timeline.ts'
import { COPIES } from '../support/copies/copies-plan.ts'
import { HAND } from '../support/hand/hand-plan.ts'
import { LIQUIDATIONS } from '../support/liquidations/liquidation-plan.ts'
import { MONEY } from '../support/money/money-plan.ts'
import { MONTHS } from '../support/months/months-plan.ts'
import { TAKEOVERS } from '../support/takeovers/takeovers-plan.ts'
import { WIRE } from '../support/wire/wire-plan.ts'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { runInOwnTurn } from '../support/world/virtual-world.ts'
import { type WorldPlan } from '../support/world/world-plan.ts'
import { type Elapsed, renderFailure, renderProgress, renderSummary } from './campaign-report.ts'
import { runCampaign } from './campaign.ts'
import { runLiquidations } from './liquidation-campaign.ts'
import { keepWorld, loadKeptWorld } from './kept-world.ts'
import { runMutants } from './mutant-campaign.ts'
import { type CampaignSummary, type WorldFailure } from './campaign-summary.ts'
import { WorldThread } from './world-thread.ts'

const USAGE = `npm run fuzz -- [options]

  --worlds N     how many worlds; 200 unless told, 400 at most for each mutant
  --seed S       the first world's seed; a random one, printed, unless told
  --months       worlds that last for months, with seeds of their own: months-1, months-2, …
  --money        worlds that lie about money, with seeds of their own: money-1, money-2, …
  --copies       worlds in which an older copy of the journal is put back: copies-1, copies-2, …
  --wire         worlds whose calls go through the daemon's own client, with seeds of their own: wire-1, wire-2, …
  --hand         worlds in which a person commands and trades too, with seeds of their own: hand-1, hand-2, …
  --liquidations worlds that gap and slide, played with risk.survives and without any protection: liquidations-1, …
  --takeovers    worlds in which machines take the account over, with seeds of their own: takeovers-1, …
  --workers K    on K threads; 1 unless told
  --trace        with --seed or --script: one world, its timeline of client against exchange
  --script FILE  a world that was kept, instead of a seed
  --keep         write the first world that fails to test/regress/, shrunk; with --mutants, one for each
  --mutants      plant errors in the code and see whether the worlds notice; names after it choose some
  --json         the closing table as JSON
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    worlds: { type: 'string' },
    seed: { type: 'string' },
    months: { type: 'boolean', default: false },
    money: { type: 'boolean', default: false },
    copies: { type: 'boolean', default: false },
    wire: { type: 'boolean', default: false },
    hand: { type: 'boolean', default: false },
    liquidations: { type: 'boolean', default: false },
    takeovers: { type: 'boolean', default: false },
    workers: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    script: { type: 'string' },
    keep: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** A campaign goes on to this many worlds that fail: one is shrunk, the others say whether they are alike. */
const FAILURES_MAX = 5
/** Where there is no terminal, progress is said this often. */
const PROGRESS_MS = 10_000

const stopped = new AbortController()
process.once('SIGINT', () => stopped.abort())

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(
    `${error instanceof Failure ? error.message : String((error as Error).stack)}\n`,
  )
  process.exitCode = 1
}

async function main(): Promise<number> {
  const workers = parseCount('--workers', values.workers, 4 * availableParallelism())
  // The clock is as random as a first seed has to be: it is printed, and everything follows from it.
  const drawn =
    values.seed ?? String(createRandom(String(process.hrtime.bigint())).integer(2 ** 32))
  const kind = kindGiven()
  const seed = drawn.startsWith(kind) ? drawn : `${kind}${drawn}`
  if (values.help) {
    say(USAGE)
    return 0
  }
  if (values.liquidations) {
    const worlds = parseCount('--worlds', values.worlds ?? '200', 100_000_000)
    return lookForLiquidations(worlds, workers)
  }
  if (values.script !== undefined) return await traceOne(loadKeptWorld(values.script).plan)
  if (values.trace) return await traceOne(planOfSeed(seed))
  if (values.mutants) {
    const worldsMax = parseCount('--worlds', values.worlds ?? '400', 1_000_000)
    const { signal } = stopped
    const { keep } = values
    return (await runMutants({
      keep,
      names: positionals,
      worldsMax,
      firstSeed: seed,
      workers,
      signal,
      say,
    }))
      ? 0
      : 1
  }
  return runMany({
    worlds: parseCount('--worlds', values.worlds ?? '200', 100_000_000),
    seed,
    workers,
  })
}

async function lookForLiquidations(worlds: number, workers: number): Promise<number> {
  const first = parseCount('--seed', (values.seed ?? '1').replace(LIQUIDATIONS, ''), 1_000_000_000)
  let saidAt = process.hrtime.bigint()
  let failed = 0
  const { failures, ...counts } = await runLiquidations({
    worlds,
    first,
    workers,
    signal: stopped.signal,
    onProgress(tally) {
      for (const failure of tally.failures.slice(failed)) process.stderr.write(`${failure}\n`)
      failed = tally.failures.length
      if (Number(process.hrtime.bigint() - saidAt) / 1e6 < PROGRESS_MS) return
      saidAt = process.hrtime.bigint()
      process.stderr.write(`${tally.worlds} worlds, ${tally.failures.length} failures\n`)
    },
  })
  say(JSON.stringify(counts))
  sayAll(failures)
  return failures.length > 0 || counts.worlds < worlds ? 1 : 0
}

function kindGiven(): string {
  if (values.months) return MONTHS
  if (values.takeovers) return TAKEOVERS
  if (values.wire) return WIRE
  if (values.copies) return COPIES
  if (values.hand) return HAND
  return values.money ? MONEY : ''
}

interface ManyWorlds {
  readonly worlds: number
  readonly seed: string
  readonly workers: number
}

async function runMany({ worlds, seed, workers }: ManyWorlds): Promise<number> {
  if (!values.json) say(`${worlds.toLocaleString('en')} worlds from seed ${seed} on`)
  const stopwatch = startStopwatch()
  const summary = await runCampaign({
    worlds,
    firstSeed: seed,
    workers,
    failuresMax: FAILURES_MAX,
    onProgress: createProgress(stopwatch),
    signal: stopped.signal,
  })
  const elapsed = stopwatch()
  if (values.json) say(JSON.stringify({ seed, ...elapsed, ...summary }))
  else sayAll(renderSummary(summary, elapsed))
  if (summary.worlds < worlds && summary.failures.length < FAILURES_MAX)
    say('interrupted: this is what there was')
  const [first, ...others] = summary.failures
  if (!first) return 0
  say(
    `\nseed ${first.seed} violates ${first.violation.id}: ${first.violation.detail}\nshrinking it …`,
  )
  await printFailure(first)
  for (const { seed: other, violation } of others)
    say(`also seed ${other}: ${violation.id} ${violation.detail}`)
  return 1
}

/** Shrinks the world that failed in a thread of its own and prints what is left of it. */
async function printFailure(failure: WorldFailure): Promise<void> {
  const thread = new WorldThread()
  try {
    const { shrunk, timeline } = await thread.perform<'shrink'>({
      kind: 'shrink',
      seed: failure.seed,
    })
    sayAll(['', ...renderFailure(failure, shrunk, timeline)])
    if (!values.keep || !shrunk) return
    const { violation, plan } = shrunk
    const name = `${violation.id.toLowerCase()}-seed-${failure.seed}`
    const path = keepWorld(name, { what: violation.detail, invariant: violation.id, plan })
    say(`kept as ${relative(process.cwd(), path)}: say in its "what" what was wrong`)
  } finally {
    await thread.stop()
  }
}

async function traceOne(plan: WorldPlan): Promise<number> {
  const { lines, report } = await runInOwnTurn(() => drawTimeline(plan))
  sayAll(lines)
  say(
    `${report.violations.length} violations, ${report.script.length} faults, trace ${report.traceHash}`,
  )
  return report.violations.length > 0 ? 1 : 0
}

/** A line that is written over on a terminal, and now and then a new one elsewhere. */
function createProgress(stopwatch: () => Elapsed): (summary: CampaignSummary) => void {
  let saidAt = 0
  return (summary) => {
    const elapsed = stopwatch()
    const isTerminal = process.stderr.isTTY
    if (values.json || (!isTerminal && elapsed.wallMs - saidAt < PROGRESS_MS)) return
    saidAt = elapsed.wallMs
    const line = renderProgress(summary, elapsed)
    process.stderr.write(isTerminal ? `\r${line}\u001B[K` : `${line}\n`)
  }
}

/** How long ago it was started. */
function startStopwatch(): () => Elapsed {
  const startedAt = process.hrtime.bigint()
  return () => {
    const { user, system } = process.cpuUsage()
    return {
      wallMs: Math.round(Number(process.hrtime.bigint() - startedAt) / 1e6),
      cpuMs: Math.round((user + system) / 1000),
    }
  }
}

function parseCount(option: string, text: string, max: number): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= 1 && count <= max) return count
  throw new Failure({
    code: 'FUZZ_OPTION_INVALID',
    sentence: `${option} must be a whole number from 1 to ${max}`,
    facts: { given: text },
  })
}

function sayAll(lines: readonly string[]): void {
  for (const line of lines) say(line)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
