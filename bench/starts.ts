// From the command to `daemon.running`, and how much memory a daemon takes, beside a process that only imports what it
// imports; and a start with two hundred instruments. Each daemon has the simulator inside. Rows of `npm run bench`.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { systemTimers } from '../src/lib/timers.ts'
import { writeRisk, writeStrategy } from '../test/support/made-limits.ts'

const ROOT = join(import.meta.dirname, '..')
const INTENTD = join(ROOT, 'bin/intentd.mjs')
/** With many instruments: until all ladders stand, and how long the daemon is watched then. */
const SETTLING_MS = 15_000
const WATCHED_MS = 20_000
/** The kernel's clock ticks a second. */
const TICKS = 100
/** As `npm start` sets it. */
const HEAP = '--max-semi-space-size=2'

export interface StartRound {
  /** From the command to `daemon.running`. */
  readonly runningMs: number
  /** From the command to the end of a process that only imports. */
  readonly importsMs: number
  /** CPU of both, which a busy machine changes least. */
  readonly runningCpuMs: number
  readonly importsCpuMs: number
}

export async function measureStarts(rounds: number): Promise<readonly StartRound[]> {
  const measured: StartRound[] = []
  // The first one compiles what the cache keeps.
  for (let round = 0; round <= rounds; round++) {
    const bare = imports('0')
    const cpu = text(bare.stdout)
    const importsMs = await elapsed(async () => end(bare))
    const daemon = startDefaults()
    const runningMs = await elapsed(() => daemon.until('daemon.running'))
    const runningCpuMs = cpuSeconds(daemon.process) * 1000
    await daemon.stop()
    if (round > 0)
      measured.push({ runningMs, importsMs, runningCpuMs, importsCpuMs: Number(await cpu) })
  }
  return measured
}

export interface MemoryRound {
  /** Resident, MB. */
  readonly daemonMb: number
  readonly importsMb: number
}

/** A daemon at the defaults, so long after it runs. */
export async function measureMemory(seconds: number): Promise<MemoryRound> {
  const bare = imports('600000')
  const daemon = startDefaults()
  await daemon.until('daemon.running')
  await sleep(seconds * 1000)
  const measured = { daemonMb: residentMb(daemon.process), importsMb: residentMb(bare) }
  bare.kill('SIGKILL')
  await daemon.stop()
  return measured
}

export interface ManyRound {
  readonly firstOrderMs: number
  readonly allMs: number
  readonly failedReads: number
  /** Of a core, once all run. */
  readonly cpuShare: number
}

/** Each instrument with a ladder of its own, two a strategy. Times count from the first line of the log. */
export async function measureMany(instruments: number): Promise<ManyRound> {
  const directory = writeMany(instruments)
  const daemon = startDaemon(directory, ['-c', join(directory, 'config.yaml')])
  await daemon.until('daemon.opened')
  const openedAt = performance.now()
  await daemon.until('order.sent')
  const firstOrderMs = performance.now() - openedAt
  await daemon.until('recovery.ended')
  const started = {
    firstOrderMs,
    allMs: performance.now() - openedAt,
    failedReads: daemon.count('read.failed'),
  }
  await sleep(SETTLING_MS)
  const cpuBefore = cpuSeconds(daemon.process)
  const watchedAt = performance.now()
  await sleep(WATCHED_MS)
  const cpuShare =
    (cpuSeconds(daemon.process) - cpuBefore) / ((performance.now() - watchedAt) / 1000)
  await daemon.stop()
  return { ...started, cpuShare }
}

function writeMany(count: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'intentd-many-'))
  const symbols = Array.from({ length: count }, (_, index) => `S${index}USDT`)
  const instruments = symbols.map(
    (symbol) =>
      `  ${symbol}: { tickSize: "0.1", lotSize: "0.001", minSize: "0.001", minNotional: "5" }`,
  )
  // A strategy for each two of them: a file lists a hundred at most.
  const strategies = symbols
    .filter((_, index) => index % 2 === 0)
    .map((_, index) => `grid-${index}`)
  for (const [index, id] of strategies.entries())
    writeFileSync(
      join(directory, `${id}.yaml`),
      writeStrategy({
        id,
        module: join(ROOT, 'strategies/grid.ts'),
        instruments: symbols.slice(2 * index, 2 * index + 2),
        isolation: 'inline',
        params: { spacingBps: 50, levels: 1, size: '0.1', recentreAfterLevels: 4 },
        risk: { positionMax: '10' },
      }),
    )
  writeFileSync(
    join(directory, 'config.yaml'),
    `${[
      'name: many',
      'environment: simulator',
      'account: { productType: USDT-FUTURES, marginCoin: USDT, marginMode: crossed, positionMode: one_way_mode }',
      'instruments:',
      ...instruments,
      writeRisk({ dataAgeMaxMs: 5000, accountAgeMaxMs: 120_000, priceCollarRatio: 0.1 }).trim(),
      'state: { directory: state }',
      'simulator: { seed: 1, startingBalance: "1000000", market: { startPrices:',
      `  { ${symbols.map((symbol) => `${symbol}: "1000"`).join(', ')} } } }`,
      `strategies: [${strategies.map((id) => `${id}.yaml`).join(', ')}]`,
    ].join('\n')}\n`,
  )
  return directory
}

/** As `npm start`, with a state and a port of its own. */
function startDefaults() {
  const directory = mkdtempSync(join(tmpdir(), 'intentd-start-'))
  return startDaemon(directory, [
    '-c',
    join(ROOT, 'config/paper.yaml'),
    '--set',
    `state.directory=${directory}`,
  ])
}

/** @param directory Taken away at the end. */
function startDaemon(directory: string, options: readonly string[]) {
  const args = [HEAP, INTENTD, 'run', ...options, '--set', 'control.port=0']
  const child = spawn(process.execPath, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const counts = new Map<string, number>()
  const awaited = new Map<string, () => void>()
  const last: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    last.splice(0, Math.max(0, last.length - 20))
    last.push(line)
    const event = /"event":"([^"]+)"/.exec(line)?.[1] ?? ''
    counts.set(event, (counts.get(event) ?? 0) + 1)
    awaited.get(event)?.()
  })
  const until = async (event: string): Promise<void> => {
    if (counts.has(event)) return
    await Promise.race([
      new Promise<void>((resolve) => awaited.set(event, resolve)),
      once(child, 'exit').then(() => {
        throw new Error(`the daemon ended before ${event}:\n${last.join('\n')}`)
      }),
    ])
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  return { process: child, until, count: (event: string) => counts.get(event) ?? 0, stop }
}

/** What `run` imports, and nothing else, compiled before as that of a daemon is; says its CPU, ms, and waits so many. */
function imports(waitMs: string) {
  const code = `await import(${JSON.stringify(join(ROOT, 'src/cli/run/run.ts'))})
    const { user, system } = process.cpuUsage()
    console.log((user + system) / 1000)
    setTimeout(() => {}, ${waitMs})`
  const args = [
    '--import',
    join(ROOT, 'bin/resolve-sources.mjs'),
    '--input-type=module',
    '-e',
    code,
  ]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile') }
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function end(child: ChildProcess): Promise<void> {
  await once(child, 'exit')
}

function residentMb({ pid }: ChildProcess): number {
  const [, kB] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kB) / 1024
}

/** Of all its threads, since it began. */
function cpuSeconds({ pid }: ChildProcess): number {
  const [, figures = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = figures.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) / TICKS
}

async function elapsed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => systemTimers.after(ms, resolve))
}
