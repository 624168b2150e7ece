// What it saves, and what it costs, that daemons behind one address read tickers for each other: four of them on one
// exchange and one Redis, all processes of their own, in turn with `exchange.shared.marketData` and without. Ticker
// calls, readings of all daemons and CPU a second, and tick to order: from the last byte of 600 tickers out to the
// first byte of the batch of fifty in that follows from them, whoever had read them.
// `npm run bench:shared-tickers [rounds] [ms between two polls]`, default 3 and 250. A round takes four minutes, of which
// three are for the limits to be shared out.

import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type StatusView } from '../src/control/views.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { RedisServer, redisMissing } from '../test/support/redis-server.ts'
import { percentileOf } from './figures.ts'
import { ORDERS } from './floor.ts'
import type { Said } from './shared-tickers-exchange.ts'
import { makeRisk, writeStrategy } from '../test/support/made-limits.ts'

const DAEMONS = 4
const ROUNDS_DEFAULT = 3
const TICKERS_MS = Number(process.argv[3] ?? 250)
/** A window of all endpoints is a minute: before that each has half of its even share. */
const WARM_UP_MS = 80_000
const MEASURED_MS = 40_000
/** Of /proc, a second. */
const CPU_TICKS = 100

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

function configOf(url: string, redis: string, marketData: boolean): string {
  return JSON.stringify({
    name: 'bench',
    environment: 'simulator',
    account: {
      productType: 'USDT-FUTURES',
      marginCoin: 'USDT',
      marginMode: 'crossed',
      positionMode: 'one_way_mode',
    },
    instruments: {
      S0USDT: {
        tickSize: '0.5',
        lotSize: '0.001',
        minSize: '0.001',
        minNotional: '5',
      },
    },
    exchange: {
      baseUrl: url,
      shared: {
        redis,
        members: DAEMONS,
        marketData,
      },
    },
    polling: {
      tickersMs: TICKERS_MS,
      positionsMs: 1e3,
      fillsMs: 1e3,
    },
    risk: makeRisk(),
    execution: { fillVisibilityMs: 0 },
    state: { directory: 'state' },
    strategies: ['quoting.yaml'],
  })
}

const STRATEGY = writeStrategy({
  id: 'quoting',
  module: fileOf('quoting.ts'),
  instruments: ['S0USDT'],
  isolation: 'inline',
  params: { orders: ORDERS },
  risk: { positionMax: '1000', openOrdersMax: 400 },
})

interface Part {
  /** A second; readings are those of all daemons, `troubles` what was refused or failed in all. */
  readonly calls: number
  readonly readings: number
  readonly troubles: number
  /** Seconds of CPU a second, by process. */
  readonly cpu: { readonly daemons: number; readonly exchange: number; readonly redis: number }
  /** Tick to order, ms: of the first daemon that follows an answer, and of the others. */
  readonly first: readonly number[]
  readonly others: readonly number[]
}

async function measure(marketData: boolean): Promise<Part> {
  const redis = await RedisServer.start()
  const exchange = fork(fileOf('shared-tickers-exchange.ts'))
  const [listening]: Said[] = await once(exchange, 'message')
  if (listening?.kind !== 'listening') throw new Error('the exchange of the bench did not start')
  const config = configOf(`http://127.0.0.1:${listening.port}`, redis.url, marketData)
  const directory = mkdtempSync(join(tmpdir(), 'intentd-bench-'))
  const folders = Array.from({ length: DAEMONS }, (_, place) =>
    mkdtempSync(join(directory, `daemon-${place}-`)),
  )
  const daemons = folders.map((folder, place) => startDaemon(folder, config, place))
  const heard: Said[] = []
  exchange.on('message', (said: Said) => heard.push(said))
  await pause(WARM_UP_MS)
  const readBefore = await countReadings(folders)
  heard.length = 0
  const pids = { daemons: daemons.map(pidOf), exchange: [pidOf(exchange)], redis: [redis.pid] }
  const before = cpuOf(pids)
  await pause(MEASURED_MS)
  const after = cpuOf(pids)
  const all = [...heard]
  const readAfter = await countReadings(folders)
  for (const child of [...daemons, exchange]) await end(child)
  await redis.kill()
  rmSync(directory, { recursive: true, force: true })
  const spent = (name: keyof Part['cpu']) => ((after[name] - before[name]) * 1000) / MEASURED_MS
  const calls = (all.filter(({ kind }) => kind === 'tickers').length * 1000) / MEASURED_MS
  return {
    calls,
    troubles: readAfter.troubles,
    readings: marketData
      ? ((readAfter.read - readBefore.read) * 1e3) / (readAfter.at - readBefore.at)
      : calls,
    cpu: {
      daemons: spent('daemons'),
      exchange: spent('exchange'),
      redis: spent('redis'),
    },
    ...byPlace(all),
  }
}

function byPlace(heard: readonly Said[]): Pick<Part, 'first' | 'others'> {
  const batches = heard.flatMap((said) => (said.kind === 'batch' ? said : []))
  const groups = Map.groupBy(batches, ({ bid }) => bid).values()
  const sorted = [...groups].map((group) =>
    group.map(({ elapsedMs }) => elapsedMs).toSorted((a, b) => a - b),
  )
  return {
    first: sorted.flatMap(([first]) => first ?? []),
    others: sorted.flatMap(([, ...rest]) => rest),
  }
}

/** Of all of them, as `status` says: readings, and what went wrong. */
async function countReadings(folders: readonly string[]) {
  const at = performance.now()
  const counts = await Promise.all(
    folders.map(async (cwd) => {
      const args = [fileOf('../bin/intentd.mjs'), 'status', '-c', 'bench.yaml', '--json']
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: envOf(cwd) })
      return (JSON.parse(stdout) as StatusView).sharedTickers
    }),
  )
  const sum = (of: (one: NonNullable<StatusView['sharedTickers']>) => number) =>
    counts.reduce((all, one) => all + (one ? of(one) : 0), 0)
  return {
    at,
    read: sum(({ taken, own }) => taken + own),
    troubles: sum(({ refused, failed }) => refused + failed),
  }
}

const envOf = (folder: string): NodeJS.ProcessEnv => ({ ...process.env, XDG_STATE_HOME: folder })

function startDaemon(folder: string, config: string, place: number): ChildProcess {
  writeFileSync(join(folder, 'bench.yaml'), config)
  writeFileSync(join(folder, 'quoting.yaml'), STRATEGY)
  return spawn(process.execPath, [fileOf('../bin/intentd.mjs'), 'run', '-c', 'bench.yaml'], {
    cwd: folder,
    env: {
      ...envOf(folder),
      INTENTD_API_KEY: `key-${place}`,
      INTENTD_API_SECRET: 'measured-secret',
      INTENTD_API_PASSPHRASE: 'measured-passphrase',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

const pidOf = ({ pid = 0 }: ChildProcess): number => pid

function cpuOf(pids: Readonly<Record<keyof Part['cpu'], readonly number[]>>): Part['cpu'] {
  const of = (all: readonly number[]): number =>
    all.reduce((sum, pid) => sum + cpuOfProcess(pid), 0)
  return { daemons: of(pids.daemons), exchange: of(pids.exchange), redis: of(pids.redis) }
}

/** Seconds, with what its threads took. */
function cpuOfProcess(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CPU_TICKS
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemTimers.after(ms, resolve))
}

function print(name: string, { calls, readings, troubles, cpu, first, others }: Part): void {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const times = (all: readonly number[]) =>
    all.length === 0
      ? 'none'
      : `${[0.5, 0.9, 0.99].map((share) => percentileOf(all, share).toFixed(2)).join(' ')} ms (${all.length})`
  console.log(
    `${name.padEnd(8)} ${calls.toFixed(2).padStart(6)} ticker calls/s, ${readings.toFixed(2)} readings/s, ${troubles} refused or failed; CPU daemons ${percent(cpu.daemons)}, exchange ${percent(cpu.exchange)}, Redis ${percent(cpu.redis)}`,
  )
  console.log(
    `         tick to order, p50 p90 p99: all ${times([...first, ...others])}, first ${times(first)}, others ${times(others)}`,
  )
}

if (redisMissing !== undefined) throw new Error(redisMissing)
process.once('SIGINT', () => {
  RedisServer.killAll()
  process.exit(130)
})
for (let round = 0; round < Number(process.argv[2] ?? ROUNDS_DEFAULT); round++) {
  print('without', await measure(false))
  print('with', await measure(true))
}
