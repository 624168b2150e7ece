// Sweeps over several workers that are killed again and again, and what the queue costs. `npm run sweeps`.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type TrialRow } from '../../../src/sweep/trial.ts'
import { type IntentdProcess, killLeftOver } from '../../daemon/intentd-process.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { newQueue, says, SweepScene } from './sweep-scene.ts'

const { values } = parseArgs({
  options: {
    /** Of the sweep whose workers are killed. */
    trials: { type: 'string', default: '1000' },
    /** Of each that is only measured, and how often. */
    measured: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    /** Workers at a time, one trial each. */
    workers: { type: 'string', default: '2' },
    /** From one kill to the next, at most, ms. */
    every: { type: 'string', default: '8000' },
    /** Decides the moments. */
    seed: { type: 'string', default: '1' },
  },
})
const FILES = ['sweep.json', 'trials.csv', 'sweep.html']
/** How often it is looked which trials are computed. */
const LOOK_MS = 50

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void killLeftOver()
    process.kill(process.pid, signal)
  })
}

if (postgresMissing === undefined) await run()
else {
  console.log(postgresMissing)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const scene = new SweepScene()
  try {
    write(scene, Number(values.measured))
    for (let round = 0; round < Number(values.rounds); round++)
      await measure(scene, `measured-${round}`)
    write(scene, Number(values.trials))
    await prove(scene, createRandom(values.seed))
  } finally {
    await scene.close()
  }
}

function write(scene: SweepScene, trials: number): void {
  scene.write(
    'sweep.yaml',
    `method: random\ntrials: ${trials}\nfolds: 1\nparams:\n  scripted: { everyMinutes: { from: 1, to: 300, step: 1 }, lots: { from: 1, to: 100, step: 1 } }\n`,
  )
}

/** The same sweep here, with one worker and with two, each trial in one thread at a time. */
async function measure(scene: SweepScene, out: string): Promise<void> {
  const trials = Number(values.measured) + 1
  const figures: string[] = []
  for (const workers of [0, 1, 2]) {
    const queue = workers === 0 ? undefined : await newQueue()
    const cpuBefore = cpuOfEnded()
    const crew = Array.from({ length: workers }, () => startWorker(scene, queue ?? ''))
    await Promise.all(crew.map((worker) => says(worker, 'at a time')))
    const begunAt = performance.now()
    const where = queue === undefined ? ['--jobs', '1'] : ['--queue', queue]
    const sweep = scene.start(scene.words(`${out}-${workers}`, ...where))
    await assertEnded(sweep)
    const seconds = (performance.now() - begunAt) / 1000
    await Promise.all(crew.map((worker) => worker.stop()))
    const cpuMs = (cpuOfEnded() - cpuBefore) / trials
    figures.push(`${(trials / seconds).toFixed(2)} a second, ${cpuMs.toFixed(0)} ms of CPU each`)
  }
  console.log(
    `${trials} trials: here ${figures[0]}; 1 worker ${figures[1]}; 2 workers ${figures[2]}`,
  )
}

/** Workers killed at random, the sweep and the server once: the files are those of one machine all the same. */
async function prove(scene: SweepScene, random: Random): Promise<void> {
  const queue = await newQueue()
  const server = await postgresServer()
  const watch = new pg.Pool({ connectionString: queue, max: 1 })
  watch.on('error', () => undefined)
  const words = scene.words('killed', '--queue', queue)
  let sweep = scene.start(words)
  const crew = Array.from({ length: Number(values.workers) }, () => startWorker(scene, queue))
  await Promise.all(crew.map((worker) => says(worker, 'takes its trials')))
  const takenAfterMs: number[] = []
  const log = `killed/trials.jsonl`
  const half = Number(values.trials) / 2
  let isHalf = false
  for (;;) {
    const isOver = await Promise.race([
      sweep.ended.then(() => true),
      sleep(1000 + random.integer(Number(values.every)), false),
    ])
    if (isOver) break
    if (!isHalf && linesOf(scene, log) > half) {
      isHalf = true
      await sweep.stop('SIGKILL')
      server.restart()
      sweep = scene.start(words)
      continue
    }
    const after = await killOne(scene, crew, random, { queue, watch })
    if (after !== undefined) takenAfterMs.push(after)
  }
  await assertEnded(sweep)
  await Promise.all(crew.map((worker) => worker.stop()))
  await watch.end()
  await assertEnded(scene.start(scene.words('whole', '--jobs', values.workers)))
  report(scene, takenAfterMs)
}

interface Watched {
  readonly queue: string
  readonly watch: pg.Pool
}

/** @returns how long it took until somebody else began its trial, ms; undefined where it had none. */
async function killOne(
  scene: SweepScene,
  crew: IntentdProcess[],
  random: Random,
  { queue, watch }: Watched,
): Promise<number | undefined> {
  const index = random.integer(crew.length)
  const before = await listActive(watch)
  const killedAt = performance.now()
  await crew[index]?.stop('SIGKILL')
  crew[index] = startWorker(scene, queue)
  for (;;) {
    const { rows } = await watch.query<{ id: string; tries: number; state: string }>(
      'SELECT id, retry_count AS tries, state FROM intentd_sweeps.job WHERE id = ANY($1::uuid[])',
      [[...before.keys()]],
    )
    if (rows.some(({ id, tries }) => tries > (before.get(id) ?? 0)))
      return performance.now() - killedAt
    // Its trial ended in the same moment.
    if (rows.every(({ state }) => state === 'completed' || state === 'failed')) return undefined
    await sleep(LOOK_MS)
  }
}

async function listActive(watch: pg.Pool): Promise<ReadonlyMap<string, number>> {
  const { rows } = await watch.query<{ id: string; tries: number }>(
    `SELECT id, retry_count AS tries FROM intentd_sweeps.job WHERE state = 'active'`,
  )
  return new Map(rows.map(({ id, tries }) => [id, tries]))
}

function report(scene: SweepScene, takenAfterMs: readonly number[]): void {
  const sorted = takenAfterMs.toSorted((one, other) => one - other)
  const seconds = (ms = 0): string => `${(ms / 1000).toFixed(1)} s`
  console.log(
    `${sorted.length} workers killed in a trial; it was taken again after ${seconds(sorted[Math.floor(sorted.length / 2)])} (median), ${seconds(sorted.at(-1))} (longest)`,
  )
  for (const name of FILES) {
    const isSame = scene.read('killed', name) === scene.read('whole', name)
    console.log(`${name}: ${isSame ? 'the same' : 'DIFFERS'}`)
    if (!isSame) process.exitCode = 1
  }
  const rows = scene
    .read('killed', 'trials.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Pick<TrialRow, 'id' | 'outcome'>)
  // What was given up before the sweep was killed was tried anew after it.
  const isGivenUp = ({ outcome }: Pick<TrialRow, 'outcome'>): boolean =>
    'failed' in outcome && outcome.isTimeOut === true
  const kept = rows.filter((row) => !isGivenUp(row))
  const names = new Set(kept.map(({ id }) => id))
  console.log(
    `${kept.length} rows of ${names.size} trials, and ${rows.length - kept.length} of trials that were given up`,
  )
  if (kept.length !== names.size) process.exitCode = 1
}

function startWorker(scene: SweepScene, queue: string): IntentdProcess {
  return scene.start(['sweep', 'worker', '--queue', queue, '--threads', '1'])
}

async function assertEnded(sweep: IntentdProcess): Promise<void> {
  const { code } = await sweep.ended
  if (code !== 0) throw new Error(`a sweep ended with ${code}: ${sweep.stderr.join('\n')}`)
}

function linesOf(scene: SweepScene, file: string): number {
  try {
    return scene.read(file).split('\n').length
  } catch {
    return 0
  }
}

/** Of all processes that were started and have ended, ms: user and system, in hundredths of a second. */
function cpuOfEnded(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * 10
}
